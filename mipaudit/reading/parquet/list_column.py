"""Parquet columns whose cells are vectors: one list of numbers in each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import blob_ranges
from mipaudit.reading.columns.column import Numbers
from mipaudit.reading.parquet.arrow import ArrowReader, arrow_kind, is_list
from mipaudit.reading.parquet.parquet import ParquetPart, arrow_errors
from mipaudit.reading.sheets.tile import Tile
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListColumn:
    """A column whose every cell is a list of ``width`` numbers, in tiles at column 0."""

    width: int
    tiles: tuple[Tile, ...]

    def tiles_at(self, column: int) -> Iterator[Tile]:
        """Yield the tiles moved to begin at ``column``."""
        for tile in self.tiles:
            yield Tile(row=tile.row, column=column, values=tile.values, missing=tile.missing)


def is_number_list(kind: pa.DataType) -> bool:
    """Tell whether ``kind`` is a list of plain numbers."""
    return is_list(kind) and arrow_kind(kind.value_type) in {"float", "integer", "bool"}


def read_lists(part: ParquetPart, names: Sequence[str]) -> dict[str, ListColumn]:
    """Read the named columns, which hold lists of numbers.

    Raises:
        InputError: ``bad_parquet``, ``missing_cells`` for a row without a list, or
            ``ragged_rows`` where lists differ in length.
    """
    if not names:
        return {}
    table = _table(part, names)
    return {name: _list_column(table.column(name).chunks, name, part.name) for name in names}


def _table(part: ParquetPart, names: Sequence[str]) -> pa.Table:
    import pyarrow.parquet as pq

    with arrow_errors(part.name), blob_ranges(part.blob) as stream:
        file = pq.ParquetFile(
            stream,
            metadata=part.metadata,
            pre_buffer=False,
            page_checksum_verification=True,
        )
        return file.read(columns=list(names), use_threads=False)


def _list_column(chunks: Sequence[pa.Array], name: str, source: str) -> ListColumn:
    tiles: list[Tile] = []
    width, row = -1, 0
    for chunk in chunks:
        if not len(chunk):
            continue
        _refuse_null(chunk, row, name, source)
        lengths = _lengths(chunk)
        width = int(lengths[0]) if width < 0 else width
        if (lengths != width).any():
            at = row + int(np.argmax(lengths != width))
            raise InputError(
                "ragged_rows",
                f"{source}: column {quoted_name(name)}: the list in data row {at + 1} is not as "
                "long as the first.",
            )
        tiles.append(_tile(chunk, row, width))
        row += len(chunk)
    return ListColumn(width=max(width, 0), tiles=tuple(tiles))


def _refuse_null(chunk: pa.Array, row: int, name: str, source: str) -> None:
    if not chunk.null_count:
        return
    at = next(at for at, valid in enumerate(chunk.is_valid().to_pylist()) if not valid)
    raise InputError(
        "missing_cells",
        f"{source}: column {quoted_name(name)} has no list in data row {row + at + 1}.",
    )


def _lengths(chunk: pa.Array) -> np.ndarray[Any, Any]:
    from pyarrow import types

    if types.is_fixed_size_list(chunk.type):
        return np.full(len(chunk), chunk.type.list_size)
    offsets = ArrowReader().read(chunk.offsets)
    assert isinstance(offsets, Numbers)  # noqa: S101 - Arrow's offsets are integers
    return np.diff(offsets.values)


def _tile(chunk: pa.Array, row: int, width: int) -> Tile:
    flat = ArrowReader().read(chunk.flatten())
    assert isinstance(flat, Numbers)  # noqa: S101 - chosen by is_number_list
    shape = (len(chunk), width)
    missing = None if flat.missing is None else flat.missing.reshape(shape)
    return Tile(row=row, column=0, values=flat.values.reshape(shape), missing=missing)
