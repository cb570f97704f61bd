"""Parquet columns whose cells are vectors: one list of numbers in each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mipaudit.data.columns.column import Numbers
from mipaudit.data.formats.arrow import ArrowReader, arrow_kind, is_list
from mipaudit.data.formats.parquet import ParquetPart, arrow_errors
from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from mipaudit.data.parts import Part


def number_lists(part: ParquetPart) -> frozenset[str]:
    """Return the columns whose cells are lists of plain numbers."""
    return frozenset(
        one.name
        for one in part.metadata.schema.to_arrow_schema()
        if is_list(one.type) and arrow_kind(one.type.value_type) in {"float", "integer", "bool"}
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
    import pyarrow.parquet as pq

    assert isinstance(part, ParquetPart)  # noqa: S101 - no other has lists
    with arrow_errors(part.name), part.blob.open_ranges() as stream:
        file = pq.ParquetFile(
            stream, metadata=part.metadata, pre_buffer=False, page_checksum_verification=True
        )
        table = file.read(columns=list(names), use_threads=False)
    return {name: list(_vectors(table.column(name).chunks, name, part.name)) for name in names}


def _vectors(chunks: Sequence[pa.Array], name: str, source: str) -> Iterator[Numbers]:
    import pyarrow.compute as pc

    width, row = None, 0
    for chunk in filter(len, chunks):
        if chunk.null_count:
            at = row + int(_numbers(chunk.is_null()).values.argmax())
            raise InputError(
                "missing_cells",
                f"{source}: column {quoted_name(name)} has no list in data row {at + 1}.",
            )
        lengths = _numbers(pc.list_value_length(chunk)).values
        width = int(lengths[0]) if width is None else width
        if (lengths != width).any():
            at = row + int(np.argmax(lengths != width))
            raise InputError(
                "ragged_rows",
                f"{source}: column {quoted_name(name)}: the list in data row {at + 1} is not as "
                "long as the first.",
            )
        flat, shape = _numbers(chunk.flatten()), (len(chunk), width)
        missing = None if flat.missing is None else flat.missing.reshape(shape)
        yield Numbers(values=flat.values.reshape(shape), missing=missing)
        row += len(chunk)


def _numbers(array: pa.Array) -> Numbers:
    found = ArrowReader().read(array)
    assert isinstance(found, Numbers)  # noqa: S101 - chosen by number_lists
    return found
