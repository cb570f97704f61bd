"""A limit on what one attacker that is named achieves, and whether it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.audit.figures import above_text, lower_text, number_text, upper_text, within_text
from mipaudit.audit.policy import CheckStatus, check_status
from mipaudit.audit.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

ALONE: Final = "that is said of these attackers alone, and nothing of the best one"


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
    reason: str


def stated_check(
    subject: str,
    name: str,
    limit: float,
    limits: tuple[float | None, float | None],
    *,
    score: str | None = None,
    unjudged: str | None = None,
) -> StatedCheck:
    """Judge one limit.

    Args:
        subject: as in `StatedCheck`.
        name: the same in words, to begin a sentence with.
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
        reason=_reason(status, name, limit, limits, unjudged),
    )


def _reason(
    status: CheckStatus,
    name: str,
    limit: float,
    limits: tuple[float | None, float | None],
    unjudged: str | None,
) -> str:
    lower, upper = limits
    most = number_text(limit)
    if status == "not_met" and lower is not None:
        return f"{name} is at least {above_text(lower, limit)}, above the limit of {most}"
    if status == "met" and upper is not None:
        return f"{name} is at most {within_text(upper, limit)}, within the limit of {most}"
    at_least = "" if lower is None else f" is at least {lower_text(lower)}"
    at_most = "" if upper is None else f" is at most {upper_text(upper)}"
    known = " and".join(part for part in (at_least, at_most) if part)
    why = f" is not known ({unjudged})" if unjudged is not None else known
    return f"{name}{why}; the limit is {most}"


def stated_verdict(checks: Sequence[StatedCheck]) -> Verdict:
    """Return the verdict over all checks: one that is not met decides, then one that is open."""
    if not checks:
        return Verdict(status="no_policy", reasons=("no limit was given to compare with",))
    for status in ("not_met", "inconclusive"):
        found = tuple(_about(one) for one in checks if one.status == status)
        if found:
            return Verdict(status=status, reasons=found)
    return Verdict(status="met", reasons=(*map(_about, checks), ALONE))


def _about(check: StatedCheck) -> str:
    return check.reason if check.score is None else f"score '{check.score}': {check.reason}"
