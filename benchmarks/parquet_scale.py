"""Parquet of 10^7, 10^8 and 10^9 rows, all defaults, beside decoding it once.

Memory must stay under 300 MiB and be flat, within a fifth, from the smallest to the
largest. The largest is a directory of copies of the one before, run once.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import measure
import scores

BUDGET: Final = 2.5
IMPORTS: Final = "import numpy, scipy.special, pyarrow.parquet"
IMPORTS_BUDGET: Final = 1.4
SMALLEST: Final = 1_000_000
SIZES: Final = (10_000_000, 100_000_000)
PARTS: Final = 10
ROUNDS: Final = 3
MEMORY_BUDGET: Final = 300 * measure.MEBIBYTE
FLATNESS: Final = 1.2
# Of two processes, where there are two processors to themselves.
SPEED_UP: Final = 1.7

# By number of rows: for whoever draws how costs grow.
MEASURED: Final[dict[int, measure.Cost]] = {}

# Decodes every value once, row group by row group, and drops it.
DECODE: Final = """
import glob, os, sys, pyarrow.parquet
path = sys.argv[1]
for name in sorted(glob.glob(path + "/*")) if os.path.isdir(path) else [path]:
    file = pyarrow.parquet.ParquetFile(name, pre_buffer=False)
    for group in range(file.num_row_groups):
        for batch in file.iter_batches(row_groups=[group], use_threads=False):
            pass
"""


def cost_of(
    path: Path, chosen: measure.Settings, *, rounds: int, one_thread: bool = False
) -> dict[str, measure.Cost]:
    """Return what estimating and what decoding ``path`` took, each under its name."""
    command = (*chosen.command, "estimate", str(path))
    runs = {
        "mipaudit": partial(measure.run, command),
        "decode only": partial(measure.run, (sys.executable, "-c", DECODE, str(path))),
    }
    if one_thread:
        runs["one thread"] = partial(measure.run, (*command, "--jobs", "1"))
    # What runs once is so long that filling the caches does not matter.
    return measure.interleaved(runs, rounds, warm=rounds > 1)


def in_parts(path: Path, folder: Path) -> Path:
    """Return a directory with copies of ``path``; the parts of one are kept apart by name."""
    folder.mkdir()
    for part in range(PARTS):
        shutil.copyfile(path, folder / f"part-{part:02}.parquet")
    return folder


def main() -> int:
    """Print the table; return 1 when a budget is missed."""
    chosen = measure.settings(__doc__)
    small, large = map(chosen.rows, SIZES)
    print(measure.HEADER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.parquet")
        scores.write_parquet(path, SMALLEST)
        kept = beside_imports(path, chosen)
        scores.write_parquet(path, small)
        at_first = cost_of(path, chosen, rounds=chosen.rounds(ROUNDS))
        kept &= shown(f"{small:.0e} Parquet rows", at_first, budget=None)
        scores.write_parquet(path, large)
        costs = cost_of(path, chosen, rounds=chosen.rounds(ROUNDS), one_thread=True)
        kept &= shown(f"{large:.0e} Parquet rows", costs, budget=BUDGET)
        kept &= speed_up(f"{large:.0e} Parquet rows", costs)
        parts = in_parts(path, Path(folder, "parts"))
        at_last = cost_of(parts, chosen, rounds=1)
    found = zip((small, large, large * PARTS), (at_first, costs, at_last), strict=True)
    MEASURED.update((rows, cost["mipaudit"]) for rows, cost in found)
    what = f"{large * PARTS:.0e} Parquet rows in {PARTS} parts"
    kept &= shown(what, at_last, budget=BUDGET)
    kept &= measure.show(
        measure.Row(
            what=f"estimate, {what}",
            cost=at_last["mipaudit"],
            peer=f"{small:.0e} rows",
            beside=at_first["mipaudit"],
            of="peak",
            budget=FLATNESS,
        )
    )
    most = max(cost.peak for cost in MEASURED.values())
    print(f"\nPeak memory {most / measure.MEBIBYTE:.0f} MiB (at most 300).")
    return 0 if kept and most <= MEMORY_BUDGET else 1


def beside_imports(path: Path, chosen: measure.Settings) -> bool:
    """Print what the rows that are kept in memory take; return whether the budget is kept."""
    runs = {
        "mipaudit": partial(measure.run, (*chosen.command, "estimate", str(path))),
        "imports": partial(measure.run, (sys.executable, "-c", IMPORTS)),
    }
    costs = measure.interleaved(runs, chosen.rounds(3 * ROUNDS))
    MEASURED[SMALLEST] = costs["mipaudit"]
    return measure.within(
        f"estimate, {SMALLEST:.0e} Parquet rows",
        costs["mipaudit"],
        IMPORTS,
        costs["imports"],
        budget=IMPORTS_BUDGET,
    )


def shown(what: str, costs: dict[str, measure.Cost], *, budget: float | None) -> bool:
    """Print what an estimate took beside decoding; return whether the budget is kept."""
    return measure.within(
        f"estimate, {what}",
        costs["mipaudit"],
        "decode only",
        costs["decode only"],
        budget=budget,
    )


def speed_up(what: str, costs: dict[str, measure.Cost]) -> bool:
    """Print by how much all threads beat one; return whether the budget is kept."""
    return measure.show(
        measure.Row(
            what=f"estimate, {what}",
            cost=costs["mipaudit"],
            peer="the same with `--jobs 1`",
            beside=costs["one thread"],
            of="wall",
            at_least=True,
            budget=SPEED_UP,
        )
    )


if __name__ == "__main__":
    sys.exit(main())
