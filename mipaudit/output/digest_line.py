"""What a ``.sha256`` file holds, as ``sha256sum`` writes and checks it."""

from __future__ import annotations

import os
from typing import Final

DIGEST_SUFFIX: Final = ".sha256"


def digest_line(name: str, data: bytes) -> bytes:
    """Return the line for a file in the same folder.

    Args:
        name: of the file, without its folder.
        data: what the file holds.
    """
    from hashlib import sha256

    plain = os.fsencode(name)
    # A name that would break the line is escaped, and the line says so.
    escaped = plain.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    mark = b"" if escaped == plain else b"\\"
    return mark + sha256(data).hexdigest().encode() + b"  " + escaped + b"\n"
