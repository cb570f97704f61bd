"""A small CSV file, all defaults, beside importing pandas and scipy.stats."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import measure
import scores

BUDGET: Final = 0.25
ROWS: Final = 10_000
ROUNDS: Final = 9
IMPORTS: Final = "import pandas, scipy.stats"


def main() -> int:
    """Print the table; return 1 when the budget is missed."""
    chosen = measure.settings(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.csv")
        scores.write_csv(path, ROWS)
        runs = {
            "mipaudit": partial(measure.run, (*chosen.command, "estimate", str(path))),
            "imports": partial(measure.run, (sys.executable, "-c", IMPORTS)),
        }
        costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
    print(measure.HEADER)
    what = f"estimate, {ROWS:.0e} CSV rows"
    kept = measure.within(what, costs["mipaudit"], IMPORTS, costs["imports"], budget=BUDGET)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
