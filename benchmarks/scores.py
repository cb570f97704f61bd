"""Makes score files of any size, chunk by chunk, for the benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

# A row group: what one step of a reader holds in memory.
CHUNK_ROWS: Final = 1 << 20
SEED: Final = 20240229
MEMBER_SHIFT: Final = 0.5


def chunks(rows: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of (score float64, member bool): Gaussian, members shifted."""
    import pyarrow as pa

    rng = np.random.default_rng(SEED)
    for start in range(0, rows, CHUNK_ROWS):
        size = min(CHUNK_ROWS, rows - start)
        member = rng.random(size) < 0.5  # noqa: PLR2004
        score = rng.standard_normal(size) + MEMBER_SHIFT * member
        yield pa.record_batch([pa.array(score), pa.array(member)], names=["score", "member"])


def write_parquet(path: Path, rows: int) -> None:
    """Write a Parquet file with row groups of ``CHUNK_ROWS`` rows.

    Plain encoding: a dictionary of scores that are all different makes reading
    dearer, and so every ratio to reading kinder.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = pa.schema([("score", pa.float64()), ("member", pa.bool_())])
    with pq.ParquetWriter(path, fields, use_dictionary=False) as writer:
        for batch in chunks(rows):
            writer.write_batch(batch, row_group_size=CHUNK_ROWS)


def write_csv(path: Path, rows: int) -> None:
    """Write a CSV file of the same scores, with membership as 0 and 1."""
    import pyarrow as pa
    import pyarrow.csv

    fields = pa.schema([("score", pa.float64()), ("member", pa.int8())])
    with pyarrow.csv.CSVWriter(path, fields) as writer:
        for batch in chunks(rows):
            writer.write_table(pa.Table.from_batches([batch]).cast(fields))
