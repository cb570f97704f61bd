"""`records --by` with many groups, all defaults, beside the imports that it needs."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import measure
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scores import MEMBER_SHIFT, SEED

GROUPS: Final = 1_000
ROWS: Final = 500  # of each group, half of them members
ROUNDS: Final = 5
SECONDS: Final = 2.0  # on the clock
IMPORTS: Final = "import numpy, scipy.special, pyarrow.parquet"


def write_groups(path: Path, groups: int) -> None:
    """Write a file of Gaussian scores, members shifted, its rows in random order."""
    rng = np.random.default_rng(SEED)
    order = rng.permutation(groups * ROWS)
    member = order % 2 == 0
    site = np.char.add("s", (order // ROWS).astype(str))
    score = rng.standard_normal(order.size) + MEMBER_SHIFT * member
    pq.write_table(pa.table({"score": score, "member": member, "site": site}), path)


def main() -> int:
    """Print the table; return 1 when the time is not kept."""
    chosen = measure.settings(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.parquet")
        write_groups(path, GROUPS)
        command = (*chosen.command, "records", str(path), "--by", "site")
        runs = {
            "records": partial(measure.run, command),
            "imports": partial(measure.run, (sys.executable, "-c", IMPORTS)),
        }
        costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
    print(measure.HEADER)
    what = f"`records --by`, {GROUPS:,} groups of {ROWS:,} rows"
    measure.within(what, costs["records"], IMPORTS, costs["imports"], budget=None)
    return 0 if costs["records"].wall <= SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
