"""What some reports were made from: files, seeds in use, and what was declared of a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.statements.choices import SeenBy  # noqa: TC001 - the codec reads it

Decided = Literal["rows", "ties"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """One input as it was read. ``sha256`` covers all of it, or is None with a ``fingerprint``."""

    name: str
    rows: int
    bytes: int | None
    sha256: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedInUse:
    """The seed that the rows of one statement were assigned with.

    ``score`` is the column or the vector, None where all enter one statement. ``seed`` is a
    number of 64 bits as 16 hexadecimal digits: not every reader of JSON takes it as a number.

    What it ``decides`` are ``rows``: which of them train. Of summaries it decides ``ties`` and
    tests alone: which rows train followed from a seed of each summary.
    """

    score: str | None
    seed: str
    decides: Decided = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What whoever made the report says of it, and of what is released; nobody checks it.

    ``subjects`` is how many people the data are about, ``seen_by`` who may see the release.
    """

    title: str | None = None
    release: str | None = None
    author: str | None = None
    data: str | None = None
    subjects: int | None = None
    controller: str | None = None
    sensitivity: str | None = None
    seen_by: SeenBy | None = None
