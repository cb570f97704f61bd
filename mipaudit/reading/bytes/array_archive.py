"""A zip archive of one JSON text and some arrays of whole numbers or floats, checksummed.

Any zip tool shows what is in it: who lets a file out of a secure room wants to look.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

TEXT_NAME: Final = "summary.json"
_SUFFIX: Final = ".npy"
_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)
_LARGEST_MEMBER: Final = 64 << 20
_LARGEST: Final = 128 << 20
# What the zip module raises over bytes that are not as they were written.
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    NotImplementedError,
)
# An array's file as this module writes it: nothing else is parsed, nor memory taken for it.
_HEADER: Final = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<descr>[<>|][bfu][1248])', 'fortran_order': False, "
    rb"'shape': \((?P<shape>[0-9, ]{0,100})\), \} *\n",
    re.DOTALL,
)


class DamagedArchiveError(Exception):
    """Not an archive of this kind, or one that was changed."""


def pack(text: bytes, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the archive; the same bytes for the same content.

    The comment of the archive is the sha256 of its text, which holds those of the arrays.
    """
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        _store(archive, TEXT_NAME, text)
        for name, array in arrays.items():
            _store(archive, name + _SUFFIX, array_bytes(array))
        archive.comment = sha256(text).hexdigest().encode()
    return file.getvalue()


def array_bytes(array: NDArray[Any]) -> bytes:
    """Return an array in numpy's own file format."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
    return file.getvalue()


def narrow(counts: NDArray[np.int64]) -> NDArray[Any]:
    """Return counts in the smallest type that holds them."""
    most = int(counts.max()) if counts.size else 0
    return counts.astype(np.min_scalar_type(most), copy=False)


def unpack(data: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Return the text, and each array's file by its name.

    Raises:
        DamagedArchiveError: no such archive, too large, or changed.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_members(archive.infolist())
            files = {one.filename: archive.read(one) for one in archive.infolist()}
            comment = archive.comment
    except _UNREADABLE:
        raise DamagedArchiveError from None
    text = files.pop(TEXT_NAME, None)
    if text is None or sha256(text).hexdigest().encode() != comment:
        raise DamagedArchiveError
    return text, {name.removesuffix(_SUFFIX): file for name, file in files.items()}


def array_of(file: bytes) -> NDArray[Any]:
    """Return the array of a numpy file.

    Raises:
        DamagedArchiveError: no such file.
    """
    header = _HEADER.match(file)
    if header is None:
        raise DamagedArchiveError
    try:
        shape = tuple(int(one) for one in header["shape"].split(b",") if one.strip())
        dtype = np.dtype(header["descr"].decode())
        data = memoryview(file)[header.end() :]
        if math.prod(shape) * dtype.itemsize != len(data):
            raise DamagedArchiveError
        if dtype == np.bool_ and not set(bytes(data)) <= {0, 1}:
            raise DamagedArchiveError
        found: NDArray[Any] = np.ndarray(shape, dtype, buffer=data)
    except (ValueError, TypeError, OverflowError):
        raise DamagedArchiveError from None
    return found


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    """Refuse what `pack` does not write: other compressions, names twice, great sizes."""
    if any(one.compress_type != zipfile.ZIP_DEFLATED for one in members):
        raise DamagedArchiveError
    sizes = [one.file_size for one in members]
    names = {one.filename for one in members}
    if len(names) != len(members) or max(sizes, default=0) > _LARGEST_MEMBER:
        raise DamagedArchiveError
    if sum(sizes) > _LARGEST:
        raise DamagedArchiveError


def _store(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _NO_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)
