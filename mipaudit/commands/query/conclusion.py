"""What a report on queries concludes: its answer and its remarks, as codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mipaudit.model.message import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.query.report import QueryReport


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
    return report.run.search != "none"


def uncompared(report: QueryReport) -> tuple[Uncompared, ...]:
    """Return the columns that were not compared."""
    return tuple(Uncompared(*one) for one in report.skipped)
