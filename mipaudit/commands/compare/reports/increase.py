"""Whether a new report shows that no score leaks much more than in the old one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipaudit.commands.compare.queries.judgement import increase_reason
from mipaudit.statements.estimate import Attackers  # noqa: TC001 - the codec reads it
from mipaudit.statements.policy import (
    CheckStatus,
    check_status,
)
from mipaudit.statements.verdict import INCOMPLETE, Verdict, plain_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.compare.reports.change import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreIncrease:
    """A limit on how much more a score may leak in a new report, and what decides.

    Attributes:
        score: its name.
        report: name of the new report.
        versus: name of the old one.
        limit: the most that the advantage may have grown.
        against: the class of attackers that it is about.
        lower: lower limit of the growth.
        upper: upper limit of it.
        status: whether the limit is kept.
        reason: what decided.
    """

    score: str
    report: str
    versus: str
    limit: float
    against: Attackers
    lower: float | None
    upper: float | None
    status: CheckStatus
    reason: str


def judge_change(change: Change, limit: float) -> ScoreIncrease:
    """Return the check of a score that both reports have, by the change of its advantage."""
    status = check_status(limit, change.lower, change.upper)
    return ScoreIncrease(
        score=change.score,
        report=change.report,
        versus=change.versus,
        limit=limit,
        against=change.attackers,
        lower=change.lower,
        upper=change.upper,
        status=status,
        reason=increase_reason(status, limit, change.attackers, change.lower, change.upper),
    )


def unjudged(
    score: str, *, report: str, versus: str, limit: float, against: Attackers, missing: str
) -> ScoreIncrease:
    """Return the check of a score that only one report has: nobody can tell.

    Args:
        score: its name.
        report: name of the new report.
        versus: name of the old one.
        limit: the most that the advantage may have grown.
        against: the class of attackers.
        missing: which report does not have it, ``old`` or ``new``.
    """
    return ScoreIncrease(
        score=score,
        report=report,
        versus=versus,
        limit=limit,
        against=against,
        lower=None,
        upper=None,
        status="inconclusive",
        reason=f"the {missing} report does not have this score",
    )


def changes_verdict(
    checks: Sequence[ScoreIncrease], *, several: bool, incomplete: bool = False
) -> Verdict:
    """Return the verdict over all checks: one that is not met decides, then one that is open.

    No error is shared: the limits already hold jointly over scores and reports.

    Args:
        checks: of every score in every new report.
        several: whether there is more than one new report, so that they are named.
        incomplete: some report is of an input whose bad parts were skipped: none is 'met'.
    """
    verdict = plain_verdict([(one.status, _named(one, several=several)) for one in checks])
    if incomplete and verdict.status == "met":
        return Verdict(status="inconclusive", reasons=(INCOMPLETE, *verdict.reasons))
    return verdict


def _named(check: ScoreIncrease, *, several: bool) -> str:
    where = f" in '{check.report}'" if several else ""
    return f"score '{check.score}'{where}: {check.reason}"
