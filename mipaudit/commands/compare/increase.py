"""A limit on how much more a query, or a score of a new report, may leak than another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipaudit.model.message import Message
from mipaudit.statements.answer import used, verdict_answer
from mipaudit.statements.estimate import Attackers  # noqa: TC001 - the codec reads it
from mipaudit.statements.policy import CheckStatus, check_status, limit_reason

if TYPE_CHECKING:
    from mipaudit.statements.estimate import Finding
    from mipaudit.statements.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class IncreaseCheck:
    """The limit on one query or score, and what decides.

    Attributes:
        score: the query, or the score of a new report.
        versus: the query, or the report, that it is compared with.
        limit: the most that the advantage may be larger.
        against: the class of attackers that it is about.
        lower: lower limit of the difference.
        upper: upper limit of it.
        status: whether the limit is kept.
        reason: what decided.
        report: name of the new report, where reports are compared.
    """

    score: str
    versus: str
    limit: float
    against: Attackers
    lower: float | None
    upper: float | None
    status: CheckStatus
    reason: Message
    report: str | None = None


def increase_check(
    score: str,
    versus: str,
    limit: float,
    against: Attackers,
    limits: tuple[float | None, float | None],
    *,
    report: str | None = None,
    unknown: Message | None = None,
) -> IncreaseCheck:
    """Judge one limit.

    Args:
        score: what it is about, as in `IncreaseCheck`.
        versus: likewise.
        limit: likewise.
        against: likewise.
        limits: the lower and the upper one of the difference.
        report: likewise.
        unknown: why there are none, where that is not said by their absence.
    """
    status = check_status(limit, *limits)
    reason = unknown or limit_reason(status, Message("increase"), limit, limits, among=against)
    return IncreaseCheck(
        score=score,
        versus=versus,
        limit=limit,
        against=against,
        lower=limits[0],
        upper=limits[1],
        status=status,
        reason=reason,
        report=report,
    )


def increase_answer(
    verdict: Verdict, checks: Sequence[IncreaseCheck], findings: Sequence[Finding]
) -> Message:
    """Return the verdict; its value ``plainly`` is what decided, in right guesses."""
    found = verdict_answer(verdict, checks, findings)
    return found.with_values(found.code, plainly=_plainly(verdict, checks))


def _plainly(verdict: Verdict, checks: Sequence[IncreaseCheck]) -> Message:
    alike = [one for one in checks if one.status == verdict.status]
    if not alike or verdict.status == "inconclusive":
        return Message("right_increase_open")
    met = verdict.status == "met"
    check = max(alike, key=used) if met else alike[0]
    return Message.of(
        "right_increase_within" if met else "right_increase_above",
        score=check.score,
        report=check.report,
        versus=check.versus,
        against=check.against,
        limit=check.limit,
        **({"most": check.upper} if met else {"least": check.lower}),
    )


def limit_remark(checks: Sequence[IncreaseCheck]) -> Message:
    """Return the limit, which all checks share."""
    return Message.of("increase_limit", limit=checks[0].limit, versus=checks[0].versus)
