"""A large CSV file, all defaults, beside every single-process reader at hand.

Each reader reads the two columns that are needed and drops them; it runs on as many
threads as it likes, because CPU seconds are compared.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import measure
import scores

BUDGET: Final = 1.5
WALL_BUDGET: Final = 1.0
ROWS: Final = 10_000_000
ROUNDS: Final = 3

READERS: Final = {
    "pandas": (
        "pandas.read_csv, chunks",
        """
import sys, pandas
for part in pandas.read_csv(sys.argv[1], usecols=["score", "member"], chunksize=1 << 18):
    pass
""",
    ),
    "pyarrow": (
        "pyarrow.csv, batches, types given",
        """
import sys, pyarrow, pyarrow.csv
pyarrow.set_cpu_count(1)
types = {"score": pyarrow.float64(), "member": pyarrow.int64()}
wanted = pyarrow.csv.ConvertOptions(
    column_types=types, include_columns=list(types), null_values=[""]
)
with pyarrow.csv.open_csv(sys.argv[1], convert_options=wanted) as reader:
    for part in reader:
        pass
""",
    ),
    "polars": (
        "polars.read_csv",
        """
import sys, polars
polars.read_csv(sys.argv[1], columns=["score", "member"])
""",
    ),
    "duckdb": (
        "duckdb, sums of both",
        """
import sys, duckdb
duckdb.sql("set threads = 1")
duckdb.sql(f"select sum(score), sum(member) from read_csv('{sys.argv[1]}')").fetchall()
""",
    ),
}


def main() -> int:
    """Print the table; return 1 when the budget is missed."""
    chosen = measure.settings(__doc__)
    rows = chosen.rows(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.csv")
        scores.write_csv(path, rows)
        runs = {"mipaudit": partial(measure.run, (*chosen.command, "estimate", str(path)))}
        for module, (name, code) in READERS.items():
            if find_spec(module):
                runs[name] = partial(measure.run, (sys.executable, "-c", code, str(path)))
        costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
    ours = costs.pop("mipaudit")
    fastest = min(costs.values(), key=lambda cost: cost.cpu)
    print(measure.HEADER)
    kept = True
    for name, cost in costs.items():
        # Only the fastest reader sets the budget; the other rows are for the record.
        budget = BUDGET if cost is fastest else None
        what = f"estimate, {rows:.0e} CSV rows"
        kept &= measure.within(what, ours, name, cost, budget=budget)
        if budget is not None:
            row = measure.Row(
                what=what, cost=ours, peer=name, beside=cost, of="wall", budget=WALL_BUDGET
            )
            kept &= measure.show(row)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
