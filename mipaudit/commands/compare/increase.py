"""A limit on how much more a query, or a score of a new report, may leak than another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mipaudit.model.message import Finding, Message, fields_of
from mipaudit.statements.policy import named_check
from mipaudit.statements.verdict import Verdict, used, verdict_answer

if TYPE_CHECKING:
    from mipaudit.model.row import Attackers, Check


def increase_check(
    score: str,
    versus: str,
    limit: float,
    against: Attackers,
    limits: tuple[float | None, float | None],
    *,
    report: str | None = None,
) -> Check:
    """Judge how much more a score may leak.

    Args:
        score: the query, or the score of a new report.
        versus: the query, or the report, that it is compared with.
        limit: the most that the advantage may be larger.
        against: the class of attackers that it is about.
        limits: the lower and the upper one of the difference.
        report: name of the new report, where reports are compared.
    """
    of, terms = Message("increase"), (limit, limits)
    found = named_check("difference", of, *terms, against=against, score=score, among=against)
    return replace(found, versus=versus, report=report)


def increase_answer(
    verdict: Verdict, checks: Sequence[Check], findings: Sequence[Finding]
) -> Message:
    """Return the verdict; its value ``plainly`` is what decided, in right guesses."""
    found = verdict_answer(verdict, checks, findings)
    return found.with_values(found.code, plainly=_plainly(verdict, checks))


def _plainly(verdict: Verdict, checks: Sequence[Check]) -> Message:
    alike = [one for one in checks if one.status == verdict.status]
    if not alike or verdict.status == "inconclusive":
        return Message("right_undecided")
    met = verdict.status == "met"
    check = max(alike, key=used) if met else alike[0]
    return Message.of(
        "right_increase_within" if met else "right_increase_above",
        **fields_of(check, "score", "report", "versus", "against", "limit"),
        **({"most": check.upper} if met else {"least": check.lower}),
    )


def limit_remark(checks: Sequence[Check]) -> Message:
    """Return the limit, which all checks share."""
    return Message.of("increase_limit", limit=checks[0].limit, versus=checks[0].versus)
