"""A Parquet file of 10^7 rows, all defaults, beside scikit-learn's roc_curve.

scikit-learn has the arrays in memory and only the call is counted; mipaudit pays
for its start and for reading the file twice.
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
ROUNDS: Final = 5

# Prints the CPU seconds and the clock seconds of the call alone.
ROC: Final = """
import sys, time
import pyarrow.parquet
from sklearn.metrics import roc_curve
table = pyarrow.parquet.read_table(sys.argv[1])
score = table.column("score").to_numpy()
member = table.column("member").to_numpy()
cpu, wall = time.process_time(), time.perf_counter()
roc_curve(member, score)
print(time.process_time() - cpu, time.perf_counter() - wall)
"""


def main() -> int:
    """Print the table; return 1 when the budget is missed."""
    chosen = measure.settings(__doc__)
    rows = chosen.rows(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.parquet")
        scores.write_parquet(path, rows)
        runs = {
            "mipaudit": partial(measure.run, (*chosen.command, "estimate", str(path))),
            "roc_curve": partial(measure.call_cost, ROC, path),
        }
        costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
    print(measure.HEADER)
    what = f"estimate, {rows:.0e} Parquet rows"
    kept = measure.within(
        what, costs["mipaudit"], "roc_curve in memory", costs["roc_curve"], budget=BUDGET
    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
