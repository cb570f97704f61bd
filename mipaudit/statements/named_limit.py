"""A limit on what one attacker that is named achieves, and whether it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mipaudit.model.message import Message
from mipaudit.statements.policy import CheckStatus, check_status, limit_reason
from mipaudit.statements.verdict import Verdict, plain_verdict

_ALONE: Final = Message("of_these_attackers")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCheck:
    """One limit beside what was found.

    Attributes:
        subject: what is limited, as the report's rows name it; ``any`` for any attacker.
        score: the score that it is about; None where there is none.
        limit: the largest value that is accepted.
        lower: lower limit that 'not met' rests on, at this check's share of the error.
        upper: upper limit that 'met' rests on; None where there is none.
        status: whether the limit is kept.
        reason: what decided.
    """

    subject: str
    score: str | None
    limit: float
    lower: float | None
    upper: float | None
    status: CheckStatus
    reason: Message


def stated_check(
    subject: str,
    name: Message,
    limit: float,
    limits: tuple[float | None, float | None],
    *,
    score: str | None = None,
    unjudged: Message | None = None,
) -> StatedCheck:
    """Judge one limit.

    Args:
        subject: as in `StatedCheck`.
        name: the same as a message, to begin a sentence with.
        limit: the largest value that is accepted.
        limits: the lower one at its share of the error, and the upper one at the whole.
        score: that it is about.
        unjudged: why there are no limits; the check is then open.
    """
    status = check_status(limit, *limits)
    return StatedCheck(
        subject=subject,
        score=score,
        limit=limit,
        lower=limits[0],
        upper=limits[1],
        status=status,
        reason=limit_reason(status, name, limit, limits, why=unjudged),
    )


def stated_verdict(checks: Sequence[StatedCheck]) -> Verdict:
    """Return the verdict over all checks; what is met says of whom it speaks."""
    verdict = plain_verdict([(one.status, _about(one)) for one in checks])
    if verdict.status != "met":
        return verdict
    return replace(verdict, reasons=(*verdict.reasons, _ALONE))


def _about(check: StatedCheck) -> Message:
    if check.score is None:
        return check.reason
    return Message.of("of_score", score=check.score, reason=check.reason)
