"""A vector as the bytes of a file, in the layout in which the release came."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from mipaudit.commands.noise.release.vector import ArrayLayout, CsvLayout, JsonLayout, ParquetLayout

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from mipaudit.commands.noise.options import ReleaseFormat
    from mipaudit.commands.noise.release.vector import Release

# The column that holds a vector without names.
_ONLY_COLUMN = "value"


def encode_release(
    release: Release,
    values: NDArray[np.float64],
    *,
    format: ReleaseFormat | None = None,  # noqa: A002
) -> bytes:
    """Return ``values`` written like ``release``.

    In the release's own format everything but the numbers is kept: names, order, shape,
    delimiter, and types where they are floats that can hold the numbers; integers and
    booleans become float64. In another format names become a header or an object, and
    everything is float64. Floats are written so that they read back the same.

    Args:
        release: what was read.
        values: shape (d,), finite, in the order of ``release.values``.
        format: of the file to write; by default the release's own.

    Raises:
        ValueError: a wrong shape, or a number that is not finite.
    """
    if values.shape != release.values.shape or not np.isfinite(values).all():
        raise ValueError("a release needs finite numbers in its own shape")
    layout = release.layout
    if format is not None and format != layout.format:
        return _converted(release, values, format)
    match layout:
        case CsvLayout():
            return _csv(layout, values)
        case ParquetLayout():
            return _parquet(layout, values)
        case ArrayLayout():
            narrow = _narrowed(values, layout.dtype).reshape(layout.shape)
            return _npy(np.asfortranarray(narrow) if layout.fortran else narrow)
        case JsonLayout():
            return _json(release, layout, values)
        case _:
            assert_never(layout)


def _converted(release: Release, values: NDArray[np.float64], to: ReleaseFormat) -> bytes:
    match to:
        case "csv":
            return _plain_csv(release.names, values)
        case "parquet":
            return _plain_parquet(release.names, values)
        case "npy":
            return _npy(values.reshape(_shape(release)))
        case "json":
            return _json(release, JsonLayout(shape=_shape(release)), values)
        case _:
            assert_never(to)


def _shape(release: Release) -> tuple[int, ...]:
    layout = release.layout
    if isinstance(layout, ArrayLayout | JsonLayout):
        return layout.shape
    return (release.values.size,)


def _csv(layout: CsvLayout, values: NDArray[np.float64]) -> bytes:
    cells = map(repr, values.tolist())
    between = layout.delimiter if layout.across else layout.newline
    return (layout.header + between.join(cells) + layout.newline).encode("utf-8")


def _plain_csv(names: tuple[str, ...] | None, values: NDArray[np.float64]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    cells = list(map(repr, values.tolist()))
    if names is None:
        writer.writerow([_ONLY_COLUMN])
        writer.writerows([cell] for cell in cells)
    else:
        writer.writerow(names)
        writer.writerow(cells)
    return text.getvalue().encode("utf-8")


def _narrowed(values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return ``values`` as ``dtype``, or as they are where it cannot hold them."""
    if dtype.kind != "f":
        return values
    # Rounding after the noise is added gives nothing away; an infinite number would.
    with np.errstate(over="ignore"):
        narrow = values.astype(dtype)
    return narrow if np.isfinite(narrow).all() else values


def _npy(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _json(release: Release, layout: JsonLayout, values: NDArray[np.float64]) -> bytes:
    document: Any
    if release.names is None:
        document = values.reshape(layout.shape).tolist()
    else:
        document = dict(zip(release.names, values.tolist(), strict=True))
    if layout.wrapped:
        document = [document]
    return (json.dumps(document, allow_nan=False) + "\n").encode("ascii")


def _parquet(layout: ParquetLayout, values: NDArray[np.float64]) -> bytes:
    if not layout.across:
        return _table_bytes({layout.schema.names[0]: _array(values, layout.schema.types[0])})
    ends = np.cumsum(layout.widths)
    columns = {
        field.name: _cell(values[end - width : end], field.type)
        for field, width, end in zip(layout.schema, layout.widths, ends, strict=True)
    }
    return _table_bytes(columns)


def _plain_parquet(names: tuple[str, ...] | None, values: NDArray[np.float64]) -> bytes:
    import pyarrow as pa

    if names is None:
        return _table_bytes({_ONLY_COLUMN: pa.array(values)})
    return _table_bytes({name: pa.array(values[at : at + 1]) for at, name in enumerate(names)})


def _cell(values: NDArray[np.float64], kind: pa.DataType) -> pa.Array:
    """Return one row: a number, or a list of them."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(_array(values, kind.value_type), values.size)
    if types.is_list(kind):
        return pa.ListArray.from_arrays([0, values.size], _array(values, kind.value_type))
    if types.is_large_list(kind):
        return pa.LargeListArray.from_arrays([0, values.size], _array(values, kind.value_type))
    return _array(values, kind)


def _array(values: NDArray[np.float64], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa
    from pyarrow import types

    if types.is_float16(kind):
        return pa.array(_narrowed(values, np.dtype(np.float16)))
    if types.is_float32(kind):
        return pa.array(_narrowed(values, np.dtype(np.float32)))
    return pa.array(values)


def _table_bytes(columns: dict[str, pa.Array]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written
