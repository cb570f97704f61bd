"""Column names and paths made safe to print."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category

_LONGEST: Final = 80
# Cc control, Cf format (bidi, zero width), Cs surrogates, Co private, Cn
# unassigned, Zl and Zp separators: all can change what a terminal shows.
_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

# Two letters at least: one is a drive of Windows.
_ADDRESS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/?#]*)(.*)", re.DOTALL)
_CONTAINER_AT_HOST: Final = frozenset({"az", "abfs", "abfss"})
# Any character may be part of a key there.
_RAW_PATHS: Final = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "az", "abfs", "abfss", "file"})


def safe_name(name: str, *, longest: int = _LONGEST) -> str:
    r"""Return ``name`` with invisible and control characters as visible escapes.

    Args:
        name: a column name or a path, from the data or from the user.
        longest: most characters kept before an ellipsis; at least 1.

    Returns:
        Printable text; ``"\x1b[2J"`` becomes the six characters ``\x1b[2J``.
    """
    if name.isascii() and name.isprintable() and len(name) <= longest:
        return name
    shown = name if len(name) <= longest else name[:longest] + "..."
    return "".join(_visible(char) for char in shown)


def quoted_name(name: str) -> str:
    """Return ``name`` made safe and in quotes; its backslashes stay single."""
    return f"'{safe_name(name)}'"


def public_address(text: str) -> str:
    """Return ``text`` without the password and the query of an address, which can be secret.

    What is no address stays as it is.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return text
    scheme, authority, path = found.groups()
    if scheme.lower() not in _CONTAINER_AT_HOST:
        authority = authority.rpartition("@")[2]
    if scheme.lower() not in _RAW_PATHS:
        path = re.split(r"[?#]", path, maxsplit=1)[0]
    return f"{scheme}://{authority}{path}"


def _visible(char: str) -> str:
    if category(char) not in _UNSAFE:
        return char
    code = ord(char)
    if code <= 0xFF:  # noqa: PLR2004
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004
