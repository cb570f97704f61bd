"""Small changes of bytes and of text, and the program on what comes of them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from pathlib import Path

# Cases of each test; `make fuzz` sets as many as the long form has.
LONG: Final = 4000
CASES: Final = int(os.environ.get("FUZZ_CASES", "60"))
SEED: Final = int(os.environ.get("FUZZ_SEED", "0"))

_BYTES: Final = (0, 1, 0x7F, 0x80, 0xFF)
_TOKENS: Final = re.compile(r"\s+|[A-Za-z_][\w-]*|-?\d[\d.eE+-]*|\"[^\"\n]*\"|.", re.DOTALL)
_ODD: Final = (
    *("0", "-1", "1e400", "nan", "inf", "-0.0", "9" * 400, "0x10", "1_0", "true", "[]", "{}"),
    *(
        '""',
        '"\\u0000"',
        '"nan"',
        '"＝"',
        '"x"',
        "2024-01-01",
        "[[limit]]",
        "[waiver]",
        "[estimate]",
    ),
    *("[[1]]", "\n", "=", '"""', "'", "#", "\x00", "\ud800", ".", "max", "quantity", "prior"),
)


def changed_bytes(data: bytes, draw: random.Random) -> bytes:
    """Flip, set, drop, repeat or move a few bytes."""
    found = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        at = draw.randrange(max(1, len(found)))
        match draw.randrange(6):
            case 0 | 1 | 2:
                found[at : at + 1] = bytes([(found[at] if found else 0) ^ 1 << draw.randrange(8)])
            case 3:
                found[at : at + 1] = bytes([draw.choice(_BYTES)])
            case 4:
                del found[at : at + draw.choice((1, 2, 8, 64))]
            case _:
                found[at:at] = found[at : at + draw.choice((1, 4, 32))]
    return bytes(found)


def changed_text(text: str, draw: random.Random) -> bytes:
    """Replace, drop, swap or repeat a few words of a text; sometimes bytes of it."""
    if draw.random() < 0.2:
        return changed_bytes(text.encode(), draw)
    words = _TOKENS.findall(text)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(len(words))
        match draw.randrange(5):
            case 0 | 1:
                words[at] = draw.choice(_ODD)
            case 2:
                words[at] = draw.choice(words)
            case 3:
                words[at : at + draw.choice((1, 3))] = []
            case _:
                words[at:at] = words[at : at + draw.choice((1, 5, 12))]
        words = words or [""]
    return "".join(words).encode("utf-8", "surrogatepass")


def status_of(*arguments: str) -> int:
    """Return the exit code of the program, run in this process.

    The last line of defence turns a bug into 70: it is what the fuzzers look for.
    """
    from mipaudit.cli.app import run

    return run(arguments)


def keep(folder: Path, name: str, data: bytes) -> str:
    """Write a case where it can be looked at, and return its place."""
    place = folder / name
    place.write_bytes(data)
    return str(place)
