"""What ``query`` returns, prints and writes: the JSON format ``mipaudit.query/1``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from mipaudit.audit.finding import Finding  # noqa: TC001 - the codec reads it
from mipaudit.report.origin import Provenance  # noqa: TC001 - the codec reads it

QUERY_SCHEMA: Final = "mipaudit.query/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueriedTable:
    """One table that was read: its role, and how many rows and columns it has."""

    role: Literal["members", "holdout", "synthetic", "reference"]
    rows: int
    columns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueriedColumn:
    """How one column was compared. Counts only, never a value.

    Attributes:
        column: its name.
        treated: as what.
        scale: which difference counts 1, in words.
        levels: known words of a category; None for numbers and days.
        missing: empty cells, over all tables.
        unseen: members and holdout records with a word that the released tables lack.
        unseen_members: members among them.
        rounded: whether numbers were rounded to the single precision of one of the tables.
    """

    column: str
    treated: Literal["number", "date", "category"]
    scale: str
    levels: int | None
    missing: int
    unseen: int
    unseen_members: int = 0
    rounded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueriedScore:
    """Which query gave which column.

    Attributes:
        score: the column of the score file.
        query: its kind.
        says: what its number is, in words.
        side: on which side of its scores members are expected.
        radius: of the ball, None for no ball.
        radius_from: where the radius comes from.
    """

    score: str
    query: Literal["nn", "kth", "lnr", "mc", "share", "density", "classifier"]
    says: str
    side: Literal["low", "high"]
    radius: float | None = None
    radius_from: Literal["given", "median"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactCopies:
    """How many records of a class are in the synthetic table, equal in all columns."""

    role: Literal["members", "holdout"]
    copied: int
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRun:
    """How the answer was found: it can differ between equal runs, the answer does not.

    Attributes:
        search: how neighbours were found; ``none`` where no query asked for any.
        classifier: what was fitted; None for nothing.
        seconds: of the whole run; None where SOURCE_DATE_EPOCH asks for equal bytes.
    """

    search: str
    classifier: str | None
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryReport:
    """What was read, how it was compared, and which scores came of it.

    Attributes:
        copies: exact copies, members first.
        metric: the distance.
        encoded_on: the table that the scales of the columns come from.
        skipped: columns that were not compared, as (column, why).
        following: what to run next.
    """

    command: str
    summary: str
    copies: tuple[ExactCopies, ...]
    tables: tuple[QueriedTable, ...]
    columns: tuple[QueriedColumn, ...]
    skipped: tuple[tuple[str, str], ...]
    metric: Literal["euclidean", "gower"]
    encoded_on: Literal["synthetic", "reference"]
    scores: tuple[QueriedScore, ...]
    findings: tuple[Finding, ...]
    limitations: tuple[str, ...]
    following: str
    run: QueryRun
    provenance: Provenance
    schema: str = field(default=QUERY_SCHEMA)
