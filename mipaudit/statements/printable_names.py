"""Names, paths and prose made safe to print, and names short enough for a column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

_LONGEST: Final = 80
_LONGEST_TEXT: Final = 100_000
_LONGEST_SHORT: Final = 18
_BEFORE: Final = 4  # characters shown before the first in which names differ
_REST: Final = "\ue000"  # of a wide sign; in no text that is shown, where it would be an escape
# Cc control, Cf format (bidi, zero width), Cs surrogates, Co private, Cn
# unassigned, Zl and Zp separators: all can change what a terminal shows.
_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

# Expressions are compiled where they are used: most runs see no address, and start sooner.
# Two letters at least: one is a drive of Windows.
_ADDRESS: Final = r"(?s)([A-Za-z][A-Za-z0-9+.-]+)://([^/?#]*)(.*)"
_CONTAINER_AT_HOST: Final = frozenset({"az", "abfs", "abfss"})
# Any character may be part of a key there.
_RAW_PATHS: Final = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "az", "abfs", "abfss", "file"})

_WEB: Final = frozenset({"http", "https"})
# Part of a path that a person would have typed: words, few digits, dates, versions, key=value.
_WORD: Final = r"(?:[a-z]{1,14}|[A-Z]{1,14}|(?:[A-Z][a-z]{1,15}){1,3})\d{0,6}|\d{1,8}|v\d{1,4}"
_SPOKEN: Final = rf"(?:{_WORD})?(?:[-_. =+,%~()](?:{_WORD})?)*"
_TELLING: Final = (
    r"(?i)token|secret|passw|credential|signature|session"
    r"|(?<![a-z])(key|sig|auth|sas|jwt)(?![a-z])"
)
_LONGEST_SPOKEN: Final = 64
_ENDING: Final = r"(?i)(?:\.(?:csv|tsv|txt|parquet|json|npz|npy|summary|gz|zst))+$"

# What a spreadsheet takes for the start of a formula, in half and in full width.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_name(name: str, *, longest: int = _LONGEST) -> str:
    r"""Return ``name`` with invisible and control characters as visible escapes.

    Backticks too: what stands in these is spelled as an option is typed, which a name never is.

    Args:
        name: a column name or a path, from the data or from the user.
        longest: most characters kept before an ellipsis; at least 1.

    Returns:
        Printable text; ``"\x1b[2J"`` becomes the six characters ``\x1b[2J``.
    """
    return safe_text(name, longest=longest).replace("`", "\\x60")


def safe_text(text: str, *, longest: int) -> str:
    """Return prose with invisible and control characters as visible escapes.

    Args:
        text: in which names from the data are already safe.
        longest: most characters kept before an ellipsis; at least 1.
    """
    if text.isascii() and text.isprintable() and len(text) <= longest:
        return text
    shown = text if len(text) <= longest else text[:longest] + "..."
    return "".join(_visible(char) for char in shown)


def plain(text: str) -> str:
    """Return prose with anything that could steer a terminal made visible, line ends too.

    A column's name in it could otherwise begin a line of its own.
    """
    return safe_text(text, longest=_LONGEST_TEXT)


def quoted_name(name: str) -> str:
    """Return ``name`` made safe and in quotes; its backslashes stay single."""
    return f"'{safe_name(name)}'"


def first_names(names: Sequence[str], shown: int = 3) -> str:
    """Return the first of several names, safe already, and how many more there are."""
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more:,} more" if more > 0 else "")


def spaced(text: str) -> str:
    """Return text as long as it is wide: a sign of two columns is followed by one of none."""
    if text.isascii():
        return text
    # Here: most text is plain.
    from unicodedata import east_asian_width

    return "".join(f"{one}{_REST}" if east_asian_width(one) in "WF" else one for one in text)


def closed(text: str) -> str:
    """Return a text that was `spaced` as it is written."""
    return text.replace(_REST, "")


def short_name(name: str) -> str:
    """Return a name for a narrow column, its middle left out where it is long."""
    shown = spaced(safe_name(name, longest=_LONGEST_TEXT))
    if len(shown) <= _LONGEST_SHORT:
        return closed(shown)
    half = _LONGEST_SHORT // 2 - (shown[_LONGEST_SHORT // 2] == _REST)  # no half of a wide sign
    return closed(f"{shown[:half]}…{shown[1 - _LONGEST_SHORT // 2 :]}")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return names for a narrow column, no two the same: alike ones by where they differ."""
    shown = {name: short_name(name) for name in names}
    groups: dict[str, list[str]] = {}
    for name, short in shown.items():
        groups.setdefault(short, []).append(name)
    for alike in groups.values():
        if len(alike) > 1:
            taken: set[str] = set()
            safe = [spaced(safe_name(name)) for name in alike]
            signs = enumerate(zip(*safe, strict=False))
            same = next((at for at, these in signs if len(set(these)) > 1), 0)
            start = max(0, same - _BEFORE)
            for at, (name, whole) in enumerate(zip(alike, safe, strict=True)):
                part = whole[start : start + _LONGEST_SHORT - 2]
                rest = "…" * (len(whole) > start + len(part))
                shown[name] = closed(f"{'…' * bool(start)}{part}{rest}")
                if shown[name] in taken:
                    shown[name] = closed(f"{part[: _LONGEST_SHORT - 6]}…~{at + 1}")
                taken.add(shown[name])
    return shown


def inert_text(text: str) -> str:
    """Return ``text`` so that a spreadsheet shows it and never runs it as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def public_address(text: str) -> str:
    """Return ``text`` without the password and the query of an address, which can be secret.

    What is no address stays as it is.
    """
    found = re.fullmatch(_ADDRESS, text) if "://" in text else None
    if found is None:
        return text
    scheme, authority, path = found.groups()
    if scheme.lower() not in _CONTAINER_AT_HOST:
        authority = authority.rpartition("@")[2]
    if scheme.lower() not in _RAW_PATHS:
        path = re.split(r"[?#]", path, maxsplit=1)[0]
    if scheme.lower() in _WEB:
        path = public_path(path)
    return f"{scheme}://{authority}{path}"


def public_path(path: str) -> str:
    """Return the path of a web address with a short digest for each part that may be a token.

    Links that let in whoever holds them carry what lets in as a folder or a name. A part
    stays if it reads as words and short numbers; different parts never look the same.
    """
    parts, hidden = [], False
    for part in path.split("/"):
        # What follows a folder called "token" or "key" is one.
        follows, hidden = hidden, re.search(_TELLING, part) is not None
        parts.append(_digest(part) if part and (follows or _may_admit(part)) else part)
    return "/".join(parts)


def _may_admit(part: str) -> bool:
    # Tokens are plain ASCII: letters with accents are somebody's words.
    plain = part.encode("ascii", "ignore").decode()
    spoken = len(part) <= _LONGEST_SPOKEN and re.fullmatch(_SPOKEN, plain) is not None
    return not spoken or re.search(_TELLING, part) is not None


def _digest(part: str) -> str:
    # Here, since few runs read from the web.
    from hashlib import blake2b

    ending = re.search(_ENDING, part)
    digest = blake2b(part.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    return f"~{digest}{ending[0] if ending else ''}"


def _visible(char: str) -> str:
    # Here: most names are plain, and are shown as they are.
    from unicodedata import category

    if category(char) not in _UNSAFE:
        return char
    code = ord(char)
    if code <= 0xFF:  # noqa: PLR2004
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004
