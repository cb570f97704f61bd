"""Where a report came from. Apart, because ``bounds`` and ``noise`` load no other report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """One input as it was read. ``sha256`` covers all of it, or is None with a ``fingerprint``."""

    name: str
    rows: int
    bytes: int | None
    sha256: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting and where it came from.

    ``where`` is the environment variable or the policy file that set it; of the setting
    ``config``, the policy file itself, it is the sha256.
    """

    name: str
    value: str
    source: Literal["command line", "environment", "file", "api", "default"]
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedInUse:
    """The seed that the rows of one statement were assigned with.

    ``score`` is the column or the vector, None where all enter one statement. ``seed`` is a
    number of 64 bits as 16 hexadecimal digits: not every reader of JSON takes it as a number.
    """

    score: str | None
    seed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """When, with what, from what: everything that may differ between two equal runs.

    ``seed`` is the one that was stated, or drawn fresh, as ``seed_origin`` says; None for the
    default. The ``seeds`` in use follow from it and from the rows. Reports of versions that
    used the seed as it was stated have no ``seed_origin``. ``unused_columns`` were there and
    had no part in the report: names of rows, labels, and what was not asked for.

    ``platform`` is the kind of system and processor, None in reports older than the field.
    Who ran it, and on which machine, is not recorded.
    """

    mipaudit: str
    python: str
    libraries: dict[str, str]
    created: str
    seed: int | None
    inputs: tuple[InputFile, ...]
    settings: tuple[Setting, ...]
    platform: str | None = None
    seed_origin: Literal["default", "stated", "fresh"] | None = None
    seeds: tuple[SeedInUse, ...] = ()
    unused_columns: tuple[str, ...] = ()
