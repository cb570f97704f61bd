"""Parquet columns whose cells are vectors: one list of numbers in each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mipaudit.errors import InputError
from mipaudit.reading.columns.column import Numbers
from mipaudit.reading.parquet.arrow import ArrowReader, arrow_kind, is_list
from mipaudit.reading.parquet.parquet import ParquetPart, arrow_errors
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.data.parts import Part


def number_lists(part: ParquetPart) -> frozenset[str]:
    """Return the columns whose cells are lists of plain numbers."""
    schema = part.metadata.schema.to_arrow_schema()
    return frozenset(
        field.name
        for field in schema
        if is_list(field.type) and arrow_kind(field.type.value_type) in {"float", "integer", "bool"}
    )


def read_lists(part: Part, names: Sequence[str]) -> dict[str, list[Numbers]]:
    """Read the named columns, which hold lists of numbers, as numbers of shape (rows, width).

    Args:
        part: a Parquet file.
        names: of the columns.

    Raises:
        InputError: ``bad_parquet``, ``missing_cells`` for a row without a list, or
            ``ragged_rows`` where lists differ in length.
    """
    assert isinstance(part, ParquetPart)  # noqa: S101 - no other has lists
    table = _table(part, names)
    return {name: _vectors(table.column(name).chunks, name, part.name) for name in names}


def _table(part: ParquetPart, names: Sequence[str]) -> pa.Table:
    import pyarrow.parquet as pq

    with arrow_errors(part.name), part.blob.open_ranges() as stream:
        file = pq.ParquetFile(
            stream,
            metadata=part.metadata,
            pre_buffer=False,
            page_checksum_verification=True,
        )
        return file.read(columns=list(names), use_threads=False)


def _vectors(chunks: Sequence[pa.Array], name: str, source: str) -> list[Numbers]:
    found: list[Numbers] = []
    width, row = 0, 0
    for chunk in chunks:
        if not len(chunk):
            continue
        _refuse_null(chunk, row, name, source)
        lengths = _lengths(chunk)
        width = width if found else int(lengths[0])
        if (lengths != width).any():
            at = row + int(np.argmax(lengths != width))
            raise InputError(
                "ragged_rows",
                f"{source}: column {quoted_name(name)}: the list in data row {at + 1} is not as "
                "long as the first.",
            )
        flat, shape = ArrowReader().read(chunk.flatten()), (len(chunk), width)
        assert isinstance(flat, Numbers)  # noqa: S101 - chosen by number_lists
        missing = None if flat.missing is None else flat.missing.reshape(shape)
        found.append(Numbers(values=flat.values.reshape(shape), missing=missing))
        row += len(chunk)
    return found


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
