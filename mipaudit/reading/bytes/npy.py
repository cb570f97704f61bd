"""Arrays in numpy's own format, which is never allowed to run code."""

from __future__ import annotations

import math
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.reading.bytes.unpacked import require_room
from mipaudit.reading.csv.dialect import plain_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.reading.bytes.blob import Blob, Format

NPY_MAGIC: Final = b"\x93NUMPY"
# Version 3 differs only in names of fields, which no plain array has.
_PLAIN_VERSIONS: Final = ((1, 0), (2, 0))
_NUMBERS: Final = "biuf"
_END: Final = 1 << 10


def read_npy(blob: Blob, kind: Format, *, words: bool = False) -> NDArray[Any]:
    """Return the array of booleans, integers or floats in ``blob``; it may be read-only.

    Args:
        blob: the bytes.
        kind: how they are compressed; ``csv`` for not at all.
        words: whether it may hold text.

    Raises:
        InputError: ``bad_npy``, ``pickled``, ``not_numbers`` or ``too_large``.
    """
    with plain_stream(blob, kind) as stream:
        return read_array(stream, blob, packed=kind != "csv", words=words)


def read_array(stream: IO[bytes], blob: Blob, *, packed: bool, words: bool = False) -> NDArray[Any]:
    """Return the array of booleans, integers or floats in a stream.

    Args:
        stream: of the array's file.
        blob: that it is in.
        packed: whether it may be larger than the blob.
        words: whether it may hold text.

    Raises:
        InputError: ``bad_npy``, ``pickled``, ``not_numbers`` or ``too_large``.
    """
    name = blob.name
    shape, fortran, dtype = _header(stream, name)
    if dtype.hasobject:
        raise InputError(
            "pickled",
            f"{name}: the array holds Python objects, which are never unpickled.",
            hint="Save it as numbers: numpy.save(path, array.astype(float)).",
        )
    if dtype.kind not in _NUMBERS and not (words and dtype.kind == "U"):
        raise InputError(
            "not_numbers",
            f"{name}: the array holds neither booleans, integers nor floats.",
            hint="Save real numbers, one array in a file.",
        )
    count = math.prod(shape)
    if not packed and count * dtype.itemsize > blob.size:
        raise _damaged(name)
    require_room(blob, count * dtype.itemsize)
    data = stream.read(count * dtype.itemsize)
    stream.read(_END)  # checksums are looked at where the data end
    if len(data) < count * dtype.itemsize:
        raise _damaged(name)
    array = np.frombuffer(data, dtype=dtype, count=count)
    return array.reshape(shape, order="F" if fortran else "C")


def _header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    from tokenize import TokenError

    # numpy's messages quote the header: they end here.
    try:
        version = np.lib.format.read_magic(stream)
        if version in _PLAIN_VERSIONS:
            read = (np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0)
            shape, fortran, dtype = read[version[0] - 1](stream)
            if min(shape, default=0) >= 0:
                return shape, fortran, dtype
    except (ValueError, TypeError, SyntaxError, EOFError, MemoryError, RecursionError, TokenError):
        pass
    raise _damaged(name)


def _damaged(name: str) -> InputError:
    return InputError(
        "bad_npy",
        f"{name}: not a complete .npy file with a plain array.",
        hint="Write it with numpy.save.",
    )
