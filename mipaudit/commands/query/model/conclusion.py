"""What a report on scores of a model concludes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.model.message import Message

if TYPE_CHECKING:
    from mipaudit.commands.query.report import ModelQueryReport


def answer(report: ModelQueryReport) -> Message:
    """Return how many scores were made, of how many records."""
    return Message.of(
        "scores_made", scores=len(report.scores), members=report.n_members, holdout=report.n_holdout
    )
