"""What a report of ``check`` concludes, as codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mipaudit.model.message import Message

if TYPE_CHECKING:
    from mipaudit.commands.check.report import CheckReport


def answer(report: CheckReport) -> Message:
    """Return that the input can be audited, and what it holds."""
    design = report.design
    return Message.of(
        "fit",
        members=design.n_members,
        holdout=design.n_holdout,
        column=design.member_column,
        scores=len(report.columns),
    )


def remarks(report: CheckReport) -> Iterator[Message]:
    """Yield what was not used, and what comes next."""
    unused = (*report.design.skipped_columns, *report.provenance.unused_columns)
    if unused:
        yield Message.of("columns_unused", names=unused)
    yield Message("not_audited_yet")
