"""What is certain about the order of the queries, and whether a policy on increases is met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.compare.queries.report import IncreaseCheck
from mipaudit.statements.policy import against_phrase, check_status, limit_reason
from mipaudit.statements.verdict import Verdict, plain_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.compare.queries.compared import Compared
    from mipaudit.statements.estimate import Attackers, Estimate
    from mipaudit.statements.policy import CheckStatus


def surely_more(rows: Sequence[Estimate], against: Attackers) -> set[tuple[str, str]]:
    """Return the (more, less) pairs of queries that the differences of a class settle.

    The limits hold jointly, so what follows from two of them is settled as well.
    """
    settled = set()
    for row in rows:
        if row.attackers == against and row.versus is not None:
            if row.lower is not None and row.lower > 0:
                settled.add((row.score, row.versus))
            if row.upper is not None and row.upper < 0:
                settled.add((row.versus, row.score))
    while True:
        implied = {(a, d) for a, b in settled for c, d in settled if b == c} - settled
        if not implied:
            return settled
        settled |= implied


def judge_increases(
    compared: Compared,
    *,
    baseline: int,
    limit: float,
    against: Attackers,
    confidence: float,
) -> list[IncreaseCheck]:
    """Return one check for every query but the baseline.

    A lower limit has a share of the error over all queries; an upper one needs none, because
    'met' requires every one to pass.

    Args:
        compared: the queries.
        baseline: number of the one that the others are compared with.
        limit: the most that the difference may be.
        against: the class that it is about.
        confidence: of the verdict.
    """
    others = [one for one in range(len(compared.evidence)) if one != baseline]
    whole = (1 - confidence) / 2
    found = []
    for one in others:
        lower = compared.lower(one, baseline, against, whole / len(others))
        upper = compared.upper(one, baseline, against, whole)
        status = check_status(limit, lower, upper)
        found.append(
            IncreaseCheck(
                query=compared.evidence[one].score,
                versus=compared.evidence[baseline].score,
                limit=limit,
                against=against,
                lower=lower,
                upper=upper,
                status=status,
                reason=increase_reason(status, limit, against, lower, upper),
            )
        )
    return found


def increase_reason(
    status: CheckStatus,
    limit: float,
    against: Attackers,
    lower: float | None,
    upper: float | None,
) -> str:
    """Return what decided about an increase: the limit of it that the status rests on."""
    among = against_phrase(against)
    return limit_reason(status, "the increase", limit, (lower, upper), among=among)


def increase_verdict(checks: Sequence[IncreaseCheck]) -> Verdict:
    """Return the verdict over all checks."""
    return plain_verdict([(one.status, f"query '{one.query}': {one.reason}") for one in checks])
