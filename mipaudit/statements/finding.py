"""A named observation about the input or the results."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that the reader must know; ``code`` is stable, ``text`` a sentence."""

    code: str
    text: str
