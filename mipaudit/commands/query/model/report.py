"""What ``query losses`` and ``query lira`` return and write: ``mipaudit.model-query/3``."""

from __future__ import annotations

from dataclasses import dataclass

from mipaudit.evidence.scores.curves import ScoreCurves
from mipaudit.model.message import Message
from mipaudit.statements.any_report import AnyReport


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenScore:
    """A score column of the file that was written.

    Attributes:
        name: of the column.
        meaning: what it is, and where members score.
        infinite: rows in which it is infinite.
    """

    name: str
    meaning: str
    infinite: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelQueryReport(AnyReport):
    """Scores made from a model's outputs.

    Attributes:
        n_members: rows of members.
        n_holdout: rows of holdout records.
        classes: classes of the model; None for `query lira`.
        models: shadow models; None for `query losses`.
        variance: ``fixed`` or ``per-record``, of `query lira`.
        columns: of the file, in order.
        scores: the score columns among them.
        curves: how members and holdout records spread over each of these.
    """

    n_members: int
    n_holdout: int
    classes: int | None
    models: int | None
    variance: str | None
    columns: tuple[str, ...]
    scores: tuple[WrittenScore, ...]
    curves: tuple[ScoreCurves, ...] = ()


def answer(report: ModelQueryReport) -> Message:
    """Return how many scores were made, of how many records."""
    return Message.of(
        "scores_made", scores=len(report.scores), members=report.n_members, holdout=report.n_holdout
    )
