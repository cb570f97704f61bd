"""What the limits of named attackers and of the best one say together, and a policy on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from mipaudit.commands.attack.adversaries.guesses import plots_of
from mipaudit.commands.attack.adversaries.rows import advantage_limits
from mipaudit.commands.attack.report import TogetherLimit
from mipaudit.commands.attack.words import ADVERSARIES
from mipaudit.statements.named_limit import StatedCheck, stated_check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.commands.attack.adversaries.guesses import Plot
    from mipaudit.commands.attack.options import AttackOptions
    from mipaudit.commands.attack.report import Adversary
    from mipaudit.commands.attack.target import Attacked


def shared_error(plots: Sequence[Sequence[Plot]], asked: AttackOptions) -> float:
    """Return the two-sided error of each limit where one of them may be picked afterwards.

    Args:
        plots: the attackers of each score; the best one of each is another.
        asked: the settings.
    """
    return (1 - asked.confidence) / (sum(map(len, plots)) + len(plots))


def together_limits(scores: Sequence[Attacked], asked: AttackOptions) -> Iterator[TogetherLimit]:
    """Yield, of each score, the largest lower limit of any who sees it and no more.

    All limits share the error as in `attack_checks`: a policy is not met where one is above.
    """
    plots = [tuple(plots_of(one, asked)) for one in scores]
    shared = shared_error(plots, asked)
    for one, some in zip(scores, plots, strict=True):
        found: list[tuple[float, Adversary | Literal["any"]]] = []
        for plot in some:
            limits = advantage_limits(plot, one, asked, shared)
            # Thresholds for each class need the class of a record beside its score.
            if plot.name != "per-class" and not isinstance(limits, str):
                found.append((limits.lower, plot.name))
        found.insert(0, (one.evidence.lower(shared / 2), "any"))
        lower, name = max(found, key=lambda pair: pair[0])
        yield TogetherLimit(score=one.name, lower=lower, rests_on=name)


def attack_checks(scores: Sequence[Attacked], asked: AttackOptions) -> tuple[StatedCheck, ...]:
    """Judge every named attacker, and whether any attacker is surely above the limit.

    'Not met' needs one lower limit above, so the error is shared over all attackers and the
    best one of each score; 'met' needs every upper limit below, so each has the whole of it.
    The best attacker cannot be shown to be within the limit here, but where it is surely
    above, no words about named ones make that good.
    """
    limit = asked.max_advantage
    if limit is None:
        return ()
    plots = [tuple(plots_of(one, asked)) for one in scores]
    alpha = 1 - asked.confidence
    shared = shared_error(plots, asked)
    found: list[StatedCheck] = []
    for one, some in zip(scores, plots, strict=True):
        for plot in some:
            lower = advantage_limits(plot, one, asked, shared)
            upper = advantage_limits(plot, one, asked, alpha)
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
        found += _best(one, limit, shared / 2)
    return tuple(found)


def _best(one: Attacked, limit: float, error: float) -> Iterator[StatedCheck]:
    """Yield a check of the best attacker where it is surely above the limit."""
    lower = one.evidence.lower(error)
    if lower > limit:
        name = "the advantage of the best attacker who sees the score"
        yield stated_check("any", name, limit, (lower, None), score=one.name)
