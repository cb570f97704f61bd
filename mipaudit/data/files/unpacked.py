"""How much one input may take in memory at once, and what is read without its compression.

A few kilobytes can unpack to gigabytes: of that the size of a file says nothing. What is
read in blocks of rows is never held whole; the limit is on one block, array or text.

Arrays of numpy are read by hand: nothing in them is unpickled.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.errors import InputError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.data.files.blob import Blob, Format

VARIABLE: Final = "MIPAUDIT_MAX_UNPACKED"
_DEFAULT: Final = 1 << 30
_BLOCK: Final = 1 << 20
# Text takes several times its size while it is parsed.
_TEXT_SHARE: Final = 4
_SIZE: Final = re.compile(r"([0-9]{1,15}) ?(|[kmgt]i?)b?", re.IGNORECASE | re.ASCII)
_UNITS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# So large that the product is no longer computed without a buffer: with AVX-512, smaller ones
# than 101 are.
_SIDE: Final = 128


def claim_buffers() -> None:
    """Let OpenBLAS take its buffer now, of which it touches little.

    Where it finds no memory later on it ends the process with 1, which says not met.
    """
    ones = np.ones((_SIDE, _SIDE))
    np.matmul(ones, ones)


def largest_unpacked() -> int:
    """Return the most bytes that may be unpacked at once: 1 GiB unless the environment says.

    Raises:
        UsageError: ``environment``: the variable holds no size.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return _DEFAULT
    found = _SIZE.fullmatch(text)
    size = int(found[1]) << 10 * _UNITS[found[2][:1].lower()] if found else 0
    if not size:
        raise UsageError(
            "environment",
            f"{VARIABLE}: not a size.",
            hint="Write bytes, or a number with a unit such as 4GiB.",
        )
    return size


def largest_text() -> int:
    """Return the most bytes of text that may be parsed at once."""
    return max(1, largest_unpacked() // _TEXT_SHARE)


def require_room(blob: Blob, size: int) -> None:
    """Refuse to unpack more than is allowed; what is as large as its file is no surprise.

    Raises:
        InputError: ``too_large``.
    """
    if size > max(blob.size, largest_unpacked()):
        raise too_large(blob.name)


def read_whole(stream: IO[bytes], blob: Blob, kind: Format) -> bytes:
    """Return all of a text, without its compression.

    Raises:
        InputError: ``too_large``.
    """
    left = largest_text() if kind in {"gzip", "zstd"} else largest_unpacked()
    blocks: list[bytes] = []
    while block := stream.read(_BLOCK):
        blocks.append(block)
        left -= len(block)
        if left < 0:
            raise too_large(blob.name)
    return b"".join(blocks)


def too_large(name: str, what: str = "it") -> InputError:
    """Return the error for an input that would take more memory than is allowed."""
    return InputError(
        "too_large",
        f"{name}: {what} would take more than {largest_unpacked():,} bytes in memory at once.",
        hint=f"If it is meant, set {VARIABLE} in the environment, for example to 8GiB.",
    )


@contextmanager
def plain_stream(blob: Blob, kind: Format) -> Iterator[IO[bytes]]:
    """Open ``blob`` without its compression.

    Raises:
        InputError: ``truncated`` when the compressed bytes end early or are damaged.
    """
    import gzip
    import zlib

    with blob.open() as raw:
        if kind not in {"gzip", "zstd"}:
            yield raw
            return
        try:
            with gzip.open(raw) if kind == "gzip" else _zstd_stream(raw) as stream:
                # gzip's reader is a buffered binary stream in all but its type.
                yield stream  # type: ignore[misc]
        except (EOFError, zlib.error, OSError) as error:
            # A full disk or a failing one has a number, a decoder's complaint has none.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InputError(
                "truncated", f"{blob.name}: the compressed file is cut off or damaged."
            ) from None


def _zstd_stream(raw: IO[bytes]) -> IO[bytes]:
    import pyarrow as pa

    stream: IO[bytes] = pa.input_stream(raw, compression="zstd")
    return stream


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
