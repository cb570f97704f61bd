"""What ``query`` returns, prints and writes: the JSON format ``mipaudit.query/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from mipaudit.evidence.scores.curves import ScoreCurves
from mipaudit.model.message import Message
from mipaudit.statements.any_report import AnyReport

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        sha256: of the column's numbers in the order of the rows, as little-endian float64.
    """

    score: str
    query: Literal["nn", "kth", "lnr", "mc", "share", "density", "classifier"]
    says: str
    side: Literal["low", "high"]
    radius: float | None = None
    radius_from: Literal["given", "median"] | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactCopies:
    """How many records of a class are in the synthetic table, equal in all columns."""

    role: Literal["members", "holdout"]
    copied: int
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QueryReport(AnyReport):
    """What was read, how it was compared, and which scores resulted.

    Attributes:
        copies: exact copies, members first.
        metric: the distance.
        encoded_on: the table that the scales of the columns come from.
        skipped: columns that were not compared, as (column, why).
        following: what to run next.
        curves: how members and holdout records spread over each score.
        search: how neighbours were found, ``none`` where no query asked for any. This and the
            next two can differ between equal runs, the answer does not.
        classifier: what was fitted; None for nothing.
        seconds: of the whole run; None where SOURCE_DATE_EPOCH asks for equal bytes.
    """

    copies: tuple[ExactCopies, ...]
    tables: tuple[QueriedTable, ...]
    columns: tuple[QueriedColumn, ...]
    skipped: tuple[tuple[str, str], ...]
    metric: Literal["euclidean", "gower"]
    encoded_on: Literal["synthetic", "reference"]
    scores: tuple[QueriedScore, ...]
    following: str
    search: str
    classifier: str | None
    seconds: float | None
    curves: tuple[ScoreCurves, ...] = ()


class Uncompared(NamedTuple):
    """A column that was not compared, and why."""

    column: str
    why: str


def answer(report: QueryReport) -> Message:
    """Return how many records of each class stand in the synthetic table as they are."""
    members, holdout = report.copies
    counted = {"members": members.rows, "holdout": holdout.rows}
    if not members.copied and not holdout.copied:
        return Message.of("no_copies", **counted)
    return Message.of(
        "copies_released",
        copied=members.copied,
        share=round(members.copied / members.rows, 4),
        copied_holdout=holdout.copied,
        share_holdout=round(holdout.copied / holdout.rows, 4),
        **counted,
    )


def remarks(_: QueryReport) -> Iterator[Message]:
    """Yield that no score is an audit."""
    yield Message("scores_alone")


def sizes(report: QueryReport) -> Message:
    """Return how many records and columns were read."""
    return Message.of(
        "tables_read",
        **{one.role: one.rows for one in report.tables},
        columns=len(report.columns),
        skipped=len(report.skipped),
    )


def compared_by(report: QueryReport) -> Message:
    """Return what the distances are."""
    return Message(f"metric_{report.metric}")


def searched(report: QueryReport) -> bool:
    """Tell whether any query asked for neighbours."""
    return report.search != "none"


def uncompared(report: QueryReport) -> tuple[Uncompared, ...]:
    """Return the columns that were not compared."""
    return tuple(Uncompared(*one) for one in report.skipped)
