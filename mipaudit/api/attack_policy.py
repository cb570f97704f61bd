"""The limit on what named attackers achieve, judged on their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.api.attack_rows import advantage_limits, plots_of
from mipaudit.audit.stated_check import StatedCheck, stated_check
from mipaudit.report.attack_words import ADVERSARIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.api.attack_question import AttackQuestion
    from mipaudit.api.attack_rows import Attacked
    from mipaudit.api.attacking import Held


def attack_checks(
    scores: Sequence[Attacked], held: Held, question: AttackQuestion
) -> tuple[StatedCheck, ...]:
    """Judge every named attacker, and whether any attacker is surely above the limit.

    'Not met' needs one lower limit above, so the error is shared over all attackers and the
    best one of each score; 'met' needs every upper limit below, so each has the whole of it.
    The best attacker cannot be shown to be within the limit here, but where it is surely
    above, no words about named ones make that good.
    """
    limit = question.max_advantage
    if limit is None:
        return ()
    plots = [tuple(plots_of(one, question)) for one in scores]
    alpha = 1 - question.confidence
    shared = alpha / (sum(map(len, plots)) + len(scores))
    found: list[StatedCheck] = []
    for one, some in zip(scores, plots, strict=True):
        for plot in some:
            lower = advantage_limits(plot, one, question, shared)
            upper = advantage_limits(plot, one, question, alpha)
            reason = lower if isinstance(lower, str) else None
            found.append(
                stated_check(
                    plot.name,
                    f"the advantage of the attack '{ADVERSARIES[plot.name]}'",
                    limit,
                    (
                        None if isinstance(lower, str) else lower.lower,
                        None if isinstance(upper, str) else upper.upper,
                    ),
                    score=one.name,
                    unjudged=reason,
                )
            )
        found += _best(one, held, limit, shared / 2)
    return tuple(found)


def _best(one: Attacked, held: Held, limit: float, error: float) -> Iterator[StatedCheck]:
    """Yield a check of the best attacker where it is surely above the limit."""
    lower = held.evidence[one.at].lower(error)
    if lower > limit:
        name = "the advantage of the best attacker who sees the score"
        yield stated_check("any", name, limit, (lower, None), score=one.name)
