"""Nearest neighbours of 20 mixed columns beside the raw speed of two libraries.

10^5 records against 10^6 synthetic rows, the whole command with all defaults: it reads the
tables, encodes them, chooses its search and writes the scores. Beside it, each on arrays
that are encoded and in memory: blocked matrix products of numpy (single precision, least
of each row), and scipy's cKDTree. Both are timed on some of the records and scaled up.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import measure
import numpy as np

BUDGET: Final = 1.0
RECORDS: Final = 100_000
SYNTHETIC: Final = 1_000_000
ROUNDS: Final = 3
NUMBERS: Final = 10
LEVELS: Final = (2, 3, 4, 5, 6, 8, 10, 12, 16, 40)

# Each prints the CPU seconds and the clock seconds of the search alone, scaled to all records.
_LOAD: Final = """
import sys, time
import numpy as np
from pathlib import Path
folder = Path(sys.argv[1])
rows, records = np.load(folder / "rows.npy"), np.load(folder / "records.npy")
def clock(some, search):
    cpu, wall = time.process_time(), time.perf_counter()
    search(records[:some])
    scale = len(records) / some
    print((time.process_time() - cpu) * scale, (time.perf_counter() - wall) * scale)
"""
PRODUCTS: Final = (
    _LOAD
    + """
def search(left):
    best = np.full(len(left), np.inf, dtype=np.float32)
    own = np.einsum("ij,ij->i", left, left)
    for start in range(0, len(rows), 4096):
        right = rows[start : start + 4096]
        squares = np.einsum("ij,ij->i", right, right)
        for at in range(0, len(left), 512):
            figures = left[at : at + 512] @ right.T
            figures *= -2
            figures += squares
            np.minimum(best[at : at + 512], figures.min(axis=1), out=best[at : at + 512])
    return np.sqrt(np.maximum(best + own, 0))
clock(2048, search)
"""
)
# The tree is grown once, whatever the records: its growth is not scaled.
TREE: Final = (
    _LOAD
    + """
from scipy.spatial import cKDTree
cpu, wall = time.process_time(), time.perf_counter()
tree = cKDTree(rows)
grown = time.process_time() - cpu, time.perf_counter() - wall
some = 64
cpu, wall = time.process_time(), time.perf_counter()
tree.query(records[:some], workers=-1)
scale = len(records) / some
spent = time.process_time() - cpu, time.perf_counter() - wall
print(grown[0] + spent[0] * scale, grown[1] + spent[1] * scale)
"""
)


def write_tables(folder: Path, records: int) -> None:
    """Write members, holdout and synthetic records, and the same encoded for the libraries."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    sizes = {"members": records // 2, "holdout": records - records // 2, "synthetic": SYNTHETIC}
    encoded = []
    mixing = rng.normal(size=(4, NUMBERS))
    for name, size in sizes.items():
        numbers = rng.normal(size=(size, 4)) @ mixing + rng.normal(size=(size, NUMBERS))
        codes = [np.minimum(rng.geometric(0.4, size) - 1, top - 1) for top in LEVELS]
        columns = {f"x{at}": numbers[:, at] for at in range(NUMBERS)}
        words = {f"c{at}": pa.array([f"w{w}" for w in range(LEVELS[at])]) for at in range(10)}
        labels = {
            key: pa.DictionaryArray.from_arrays(pa.array(codes[at].astype(np.int32)), words[key])
            for at, key in enumerate(words)
        }
        pq.write_table(pa.table({**columns, **labels}), folder / f"{name}.parquet")
        low, high = np.quantile(numbers, [0.05, 0.95], axis=0)
        one_hot = [
            np.eye(top, dtype=np.float32)[code] for top, code in zip(LEVELS, codes, strict=True)
        ]
        encoded.append(
            np.concatenate([(numbers / (high - low)).astype(np.float32), *one_hot], axis=1)
        )
    np.save(folder / "records.npy", np.concatenate(encoded[:2]))
    np.save(folder / "rows.npy", encoded[2])


def main() -> int:
    """Print the table; return 1 when the budget is missed."""
    chosen = measure.settings(__doc__)
    records = chosen.rows(RECORDS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, records)
        tables = [
            word
            for role in ("members", "holdout", "synthetic")
            for word in (f"--{role}", str(folder / f"{role}.parquet"))
        ]
        out = ("-o", str(folder / "scores.parquet"))
        runs = {
            "mipaudit": partial(measure.run, (*chosen.command, "query", "nn", *tables, *out)),
            "products": partial(measure.call_cost, PRODUCTS, folder),
            "tree": partial(measure.call_cost, TREE, folder),
        }
        costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
    print(measure.HEADER)
    what = f"query nn, {records:.0e} records, {SYNTHETIC:.0e} synthetic"
    kept = [
        measure.within(what, costs["mipaudit"], rival, costs[rival], budget=BUDGET)
        for rival in ("products", "tree")
    ]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
