"""How much one input may take in memory at once, and what is claimed before it takes the rest.

A few kilobytes can unpack to gigabytes: of that the size of a file says nothing. What is
read in blocks of rows is never held whole; the limit is on one block, array or text.
"""

from __future__ import annotations

import os
import re
from typing import IO, TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError, UsageError

if TYPE_CHECKING:
    from mipaudit.reading.bytes.blob import Blob, Format

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
