"""What is in memory as a part of an input: a frame, an Arrow table, arrays, the rows of JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mipaudit.data.columns.column import Column, Field, Numbers, column_hashes, met_numbers
from mipaudit.data.columns.column_cache import CHUNK_ROWS, ChunkStore, StoredPart
from mipaudit.data.columns.names import unique_names
from mipaudit.data.csv.cells import column_kind
from mipaudit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

# Rows, and their columns by name.
Read = Callable[[Collection[str]], Iterator[tuple[int, Mapping[str, Column]]]]
# What is in memory already costs nothing more to keep there.
_UNLIMITED = 1 << 62


class MemoryPart(StoredPart):
    """Columns in memory, which are converted when asked for."""

    blob = None

    def __init__(self, name: str, fields: tuple[Field, ...], rows: int, read: Read) -> None:
        """Keep what reads the columns."""
        self.name, self.fields, self.rows_about = name, fields, rows
        self._read = read
        self._store = ChunkStore(in_memory=_UNLIMITED)

    def load(
        self, names: Collection[str], hashed: Collection[str], keys: Collection[str] = ()
    ) -> None:
        """Convert the named columns."""
        del keys  # what is in memory has types
        self._store.clear()
        for rows, columns in self._read(names):
            own = {
                name: column_hashes(column) if name in hashed else column
                for name, column in columns.items()
            }
            self._store.append(own, rows)


def is_frame(data: object) -> bool:
    """Tell a table from a series, which offers the same stream without columns."""
    has_columns = hasattr(data, "__arrow_c_stream__") or type(data).__name__ == "DataFrame"
    return has_columns and (hasattr(data, "columns") or hasattr(data, "schema"))


def open_arrow(frame: object, name: str = "the frame") -> MemoryPart:
    """Return a pandas or polars frame, or an Arrow table, as a part.

    Args:
        frame: anything with ``__arrow_c_stream__``.
        name: what messages call it.

    Raises:
        InputError: ``not_a_frame``, ``no_rows`` or ``duplicate_columns``.
    """
    from mipaudit.data.parquet.arrow import arrow_fields, read_batches

    table = arrow_table(frame)
    if not table.num_rows:
        raise InputError("no_rows", f"{name.capitalize()} has no rows.")
    unique_names(table.schema.names, name)

    def read(names: Collection[str]) -> Iterator[tuple[int, Mapping[str, Column]]]:
        batches = table.select(list(names)).to_batches(max_chunksize=CHUNK_ROWS)
        return read_batches(batches, names, name)

    return MemoryPart(name, arrow_fields(table.schema), table.num_rows, read)


def arrow_table(frame: object) -> pa.Table:
    """Return a frame as an Arrow table.

    Args:
        frame: anything with ``__arrow_c_stream__``.

    Raises:
        InputError: ``not_a_frame``.
    """
    import pyarrow as pa

    if not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            "not_a_frame",
            f"An object of type {type(frame).__name__} is no table.",
            hint="Pass a path, a pandas or polars DataFrame, or an Arrow table.",
        )
    try:
        return frame if isinstance(frame, pa.Table) else pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError):
        # Arrow's message may quote the data.
        raise InputError(
            "not_a_frame", "A column of the frame mixes types and cannot be read."
        ) from None


def array_part(side: str, values: ArrayLike) -> MemoryPart:
    """Return the scores of one class as a part, called ``score``, or ``score_0`` and so on.

    Args:
        side: ``"members"`` or ``"holdout"``.
        values: shape (n,) or (n, d), numbers or booleans; masked values are missing.

    Raises:
        InputError: ``bad_array`` or ``empty_class``.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(
            "bad_array", f"The {side} scores are not an array: their rows differ in length."
        ) from None
    if array.dtype.kind not in "biuf" or array.ndim not in {1, 2}:
        raise InputError(
            "bad_array", f"The {side} scores must be numbers in one or two dimensions."
        )
    table = array.reshape(len(array), -1) if array.size else array.reshape(0, 1)
    if not table.size:
        raise InputError("empty_class", f"There are no {side} scores.")
    width = table.shape[1]
    masks = None
    if isinstance(values, np.ma.MaskedArray):
        masks = np.ma.getmaskarray(values).reshape(table.shape)
    columns = {
        "score" if width == 1 else f"score_{at}": _numbers(
            table[:, at], None if masks is None else masks[:, at]
        )
        for at in range(width)
    }
    fields = tuple(
        Field(
            name=name,
            kind=column_kind(column),
            storage=column.values.dtype.name if column.values.dtype.kind == "f" else None,
        )
        for name, column in columns.items()
    )
    return MemoryPart(side, fields, len(table), lambda _: iter([(len(table), columns)]))


def _numbers(values: NDArray[Any], missing: NDArray[np.bool_] | None) -> Numbers:
    """Return an array's column; floats of more than 64 bits as those that are nearest."""
    if values.dtype.kind != "f" or values.dtype.itemsize <= np.dtype(np.float64).itemsize:
        return Numbers(values=values, missing=missing)
    with np.errstate(over="ignore", under="ignore"):
        nearest = values.astype(np.float64)
    lost = (nearest != values) & ~np.isnan(values)
    if not lost.any():
        return Numbers(values=nearest, missing=missing)
    lost = (lost & (np.floor(values) == values)) | met_numbers(nearest, lost)
    return Numbers(values=nearest, missing=missing, lost=lost)
