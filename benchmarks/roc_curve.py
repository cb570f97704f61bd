"""A Parquet file of 10^7 rows, all defaults, beside what others compute of the same scores.

They have the arrays in memory and only the call is counted; mipaudit pays for its start
and for reading the file.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import measure
import scores

BUDGET: Final = 0.75
ROWS: Final = 10_000_000
ROUNDS: Final = 3

# Prints the CPU seconds and the clock seconds of the call alone.
_CALL: Final = """
import sys, time
import numpy, pyarrow.parquet
{imports}
table = pyarrow.parquet.read_table(sys.argv[1])
score = table.column("score").to_numpy()
member = table.column("member").to_numpy()
ins, outs = score[member], score[~member]
cpu, wall = time.process_time(), time.perf_counter()
{call}
print(time.process_time() - cpu, time.perf_counter() - wall)
"""
ROC: Final = _CALL.format(
    imports="from sklearn.metrics import roc_curve", call="roc_curve(member, score)"
)
PEERS: Final = {
    "scikit-learn's roc_auc_score in memory": _CALL.format(
        imports="from sklearn.metrics import roc_auc_score", call="roc_auc_score(member, score)"
    ),
    "scipy's ks_2samp in memory": _CALL.format(
        imports="from scipy.stats import ks_2samp",
        call="ks_2samp(ins, outs, method='asymp')",
    ),
    "floor: numpy's sum in memory": _CALL.format(imports="", call="score.sum()"),
}


def main() -> int:
    """Print the table; return 1 when the budget is missed."""
    chosen = measure.settings(__doc__)
    rows = chosen.rows(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.parquet")
        scores.write_parquet(path, rows)
        runs = {
            "mipaudit": partial(measure.run, (*chosen.command, "estimate", str(path))),
            "scikit-learn's roc_curve in memory": partial(measure.call_cost, ROC, path),
            **{name: partial(measure.call_cost, code, path) for name, code in PEERS.items()},
        }
        costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
    ours = costs.pop("mipaudit")
    print(measure.HEADER)
    what = f"estimate, {rows:.0e} Parquet rows"
    kept = True
    for name, cost in costs.items():
        budget = BUDGET if "roc_curve" in name else None
        kept &= measure.within(what, ours, name, cost, budget=budget)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
