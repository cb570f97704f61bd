"""What each named adversary achieves with one score, and how it is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.attack.adversaries.guesses import plots_of
from mipaudit.commands.attack.report import NamedAttack
from mipaudit.commands.attack.target import Target, no_mean
from mipaudit.evidence.named_attackers.named_attack import (
    Achieved,
    JudgedRows,
    Limits,
    achieved,
    shortfall,
    weighed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from mipaudit.commands.attack.adversaries.guesses import Guesses, Plot
    from mipaudit.commands.attack.options import AttackOptions
    from mipaudit.commands.attack.report import Adversary
    from mipaudit.commands.attack.target import Attacked
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.statements.estimate import Attackers

SOURCES: Final[dict[Adversary, str]] = {
    "bounded-loss": "Yeom et al. 2018, Adversary 1",
    "mean": "Yeom et al. 2018, section 6",
    "gaussian": "Yeom et al. 2018, Adversary 2, Theorem 3",
    "one-standard-error": "Yeom et al. 2018, section 3.3",
    "top-n": "LOGAN, Hayes et al. 2019",
    "top-half": "Hilprecht et al. 2019",
    "best-threshold": "Song and Mittal 2021, one threshold for all",
    "per-class": "Song and Mittal 2021, a threshold for each class",
}
_NO_ROWS: Final = "no member or no holdout record is left to judge it on"


def named_attacks(one: Attacked, asked: AttackOptions, alpha: float) -> Iterator[NamedAttack]:
    """Yield what each adversary that applies achieves, in a fixed order."""
    for plot in plots_of(one, asked):
        yield _judged(plot, one.as_seen_by(plot.name), asked, alpha)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fixed:
    """An adversary that has learned what it can, and the rows that it is judged on."""

    guess: Callable[[Target], Guesses]
    everywhere: bool
    rows: NDArray[np.bool_]

    def achieved(self, one: Attacked, prior: float, alpha: float) -> Achieved | None:
        """Return what it achieves, two-sided alpha."""
        return achieved(
            self.guess(_target(one, self.rows)), one.member[self.rows], prior=prior, alpha=alpha
        )


def advantage_limits(plot: Plot, one: Attacked, asked: AttackOptions, alpha: float) -> Limits | str:
    """Return the advantage of one adversary with its limits, or why there are none.

    Args:
        plot: the adversary.
        one: the score.
        asked: the settings.
        alpha: two-sided error in (0, 1).
    """
    one = one.as_seen_by(plot.name)
    fixed = _fixed(plot, one, asked)
    if isinstance(fixed, str):
        return fixed
    found = fixed.achieved(one, asked.prior, alpha)
    return _NO_ROWS if found is None else found.advantage


def _fixed(plot: Plot, one: Attacked, asked: AttackOptions) -> _Fixed | str:
    """Return the adversary ready to be judged, or why it is not."""
    everywhere = plot.told and asked.side_known
    rows = np.ones(one.judged.size, dtype=bool) if everywhere else one.judged
    reason = no_mean(one, asked, rows) if plot.name == "bounded-loss" else plot.refused
    if reason is not None:
        return reason
    try:
        guess = plot.learn(*one.part(~one.judged))
    except ValueError as error:
        return str(error)
    return _Fixed(guess=guess, everywhere=everywhere, rows=rows)


def _judged(plot: Plot, one: Attacked, asked: AttackOptions, alpha: float) -> NamedAttack:
    fixed = _fixed(plot, one, asked)
    if isinstance(fixed, str):
        return _nothing(plot, one, fixed)
    found = fixed.achieved(one, asked.prior, alpha)
    if found is None:
        return _nothing(plot, one, _NO_ROWS)
    guess, everywhere = fixed.guess, fixed.everywhere
    evidence = one.evidence
    against = _against(evidence, asked)
    cells, scores = one.cells, one.scores[one.judged]
    judged = JudgedRows(
        takes=guess(_target(one, one.judged)).astype(np.float64),
        member=one.member[one.judged],
        scores=scores,
        cell=cells.coarse[np.searchsorted(cells.edges, scores, side="left")],
        blocks=one.blocks[one.judged],
    )
    short = shortfall(
        judged,
        evidence.counts,
        attackers=against,
        prior=asked.prior,
        alpha=alpha,
    )
    # All but the per-class attack see the score alone, and are thresholds (or, of residuals,
    # intervals about 0) or toss coins between some: the best attacker has at least as much.
    least = -2.0 if plot.name == "per-class" else 0.0
    return NamedAttack(
        score=one.name,
        adversary=plot.name,
        source=SOURCES[plot.name],
        value=found.advantage.value,
        lower=found.advantage.lower,
        upper=found.advantage.upper,
        validity="approximate" if found.counted else "finite-sample",
        tpr=found.tpr,
        fpr=found.fpr,
        judged_on="all rows" if everywhere else "rows outside the burn-in",
        n_members=found.n_members,
        n_holdout=found.n_holdout,
        learned=plot.learned,
        same_rows=_same_rows(plot, one, asked.prior),
        predicted=plot.predicted,
        short_lower=max(least, short.lower),
        short_upper=None if short.upper is None else max(least, short.upper),
        short_against=against,
    )


def _same_rows(plot: Plot, one: Attacked, prior: float) -> float | None:
    """Return the advantage on the rows learned from; None where nothing is learned from all.

    An infinite score outside the burn-in leaves the rule that was learned as it is, and is
    guessed by it as any extreme; a mean of all rows there is none.
    """
    rows = np.ones(one.judged.size, dtype=bool)
    try:
        guess = plot.learn(*one.part(rows))
    except ValueError:
        return None
    taken = guess(_target(one, rows)).astype(np.float64)
    inside, outside = taken[one.member], taken[~one.member]
    return weighed(float(inside.mean()), float(outside.mean()), prior)


def _target(one: Attacked, rows: NDArray[np.bool_]) -> Target:
    return Target(loss=one.loss[rows], classes=one.classes[rows])


def _nothing(plot: Plot, one: Attacked, reason: str) -> NamedAttack:
    return NamedAttack(
        score=one.name,
        adversary=plot.name,
        source=SOURCES[plot.name],
        value=None,
        lower=None,
        upper=None,
        value_reason=reason,
        validity="not-an-interval",
        tpr=None,
        fpr=None,
        judged_on="rows outside the burn-in",
        n_members=0,
        n_holdout=0,
        learned=plot.learned,
    )


def _against(evidence: Evidence, asked: AttackOptions) -> Attackers:
    """Return the class whose best attacker a named one is held against."""
    if evidence.discrete:
        return "any"
    return "intervals-1" if asked.residuals else "thresholds"
