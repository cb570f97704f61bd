"""Parquet files of 10^7 and 10^8 rows, all defaults, beside decoding them once.

Memory must stay under 400 MiB and be flat, within a fifth, between the two sizes.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import measure
import scores

BUDGET: Final = 4.0
SIZES: Final = (10_000_000, 100_000_000)
ROUNDS: Final = 3
MEMORY_BUDGET: Final = 400 * measure.MEBIBYTE
FLATNESS: Final = 1.2

# Decodes every value once, row group by row group, and drops it.
DECODE: Final = """
import sys, pyarrow.parquet
file = pyarrow.parquet.ParquetFile(sys.argv[1], pre_buffer=False)
for group in range(file.num_row_groups):
    for batch in file.iter_batches(row_groups=[group], use_threads=False):
        pass
"""


def cost_of(rows: int, chosen: measure.Settings) -> tuple[measure.Cost, measure.Cost]:
    """Return what estimating and what decoding a file of ``rows`` rows took."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.parquet")
        scores.write_parquet(path, rows)
        runs = {
            "mipaudit": partial(measure.run, (*chosen.command, "estimate", str(path))),
            "decode": partial(measure.run, (sys.executable, "-c", DECODE, str(path))),
        }
        costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
    return costs["mipaudit"], costs["decode"]


def main() -> int:
    """Print the table; return 1 when a budget is missed."""
    chosen = measure.settings(__doc__)
    print(measure.HEADER)
    kept = True
    peaks = []
    for size in SIZES:
        rows = chosen.rows(size)
        ours, decode = cost_of(rows, chosen)
        budget = BUDGET if size == max(SIZES) else None
        what = f"estimate, {rows:.0e} Parquet rows"
        kept &= measure.within(what, ours, "decode only", decode, budget=budget)
        peaks.append(ours.peak)
    growth = peaks[-1] / peaks[0]
    print(f"\nPeak memory {max(peaks) / measure.MEBIBYTE:.0f} MiB (at most 400); ", end="")
    print(f"largest over smallest file {growth:.2f} (at most {FLATNESS}).")
    return 0 if kept and max(peaks) <= MEMORY_BUDGET and growth <= FLATNESS else 1


if __name__ == "__main__":
    sys.exit(main())
