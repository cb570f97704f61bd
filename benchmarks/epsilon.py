"""Epsilon from 10^7 scores beside scikit-learn's roc_curve on them, and from 10^6 canaries.

scikit-learn has the arrays in memory and only the call is counted. mipaudit is measured
in the same way, and again as a command, which pays for its start and for reading the file.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import measure
import roc_curve
import scores

BUDGET: Final = 0.25
ROWS: Final = 10_000_000
ROUNDS: Final = 3
CANARIES: Final = 1_000_000
ONE_RUN_SECONDS: Final = 1.0

# Each prints the CPU seconds and the clock seconds of the call alone.
_LOADED: Final = """
import sys, time
import numpy, pyarrow.parquet, mipaudit, scipy.special
mipaudit.epsilon(design="independent-runs", tp=9, fn=1, fp=1, tn=9)  # loads what it needs
table = pyarrow.parquet.read_table(sys.argv[1])
score = table.column("score").to_numpy()
member = table.column("member").to_numpy()
ins, outs = score[member], score[~member]
"""
RUNS: Final = (
    _LOADED
    + """
cpu, wall = time.process_time(), time.perf_counter()
mipaudit.epsilon(members=ins, holdout=outs, design="independent-runs")
print(time.process_time() - cpu, time.perf_counter() - wall)
"""
)
ONE_RUN: Final = (
    _LOADED
    + f"""
ins, outs = ins[: {CANARIES} // 2], outs[: {CANARIES} // 2]
cpu, wall = time.process_time(), time.perf_counter()
mipaudit.epsilon(members=ins, holdout=outs, design="one-run")
print(time.process_time() - cpu, time.perf_counter() - wall)
"""
)


def main() -> int:
    """Print the table; return 1 when a budget is missed."""
    chosen = measure.settings(__doc__)
    rows = chosen.rows(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.parquet")
        scores.write_parquet(path, rows)
        command = (*chosen.command, "epsilon", str(path), "--design", "independent-runs")
        runs = {
            "call": partial(measure.call_cost, RUNS, path),
            "command": partial(measure.run, command),
            "one run": partial(measure.call_cost, ONE_RUN, path),
            "roc_curve": partial(measure.call_cost, roc_curve.ROC, path),
        }
        costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
    print(measure.HEADER)
    peer, beside = "roc_curve in memory", costs["roc_curve"]
    second = measure.Cost(cpu=ONE_RUN_SECONDS, wall=ONE_RUN_SECONDS, peak=0)
    kept = [
        measure.within(
            f"epsilon, {rows:.0e} scores in memory", costs["call"], peer, beside, budget=BUDGET
        ),
        measure.within(
            f"epsilon, {rows:.0e} Parquet rows", costs["command"], peer, beside, budget=None
        ),
        measure.within(
            f"epsilon, one run, {CANARIES:.0e} canaries",
            costs["one run"],
            "one second",
            second,
            budget=1.0,
        ),
    ]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
