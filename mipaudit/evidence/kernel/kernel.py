"""Kernel densities of one score: what noise would leave of the advantage, and U_N.

A density smoothed with one bandwidth for both classes is the density of the score
with Gaussian noise. So its advantage, always too high on average on the data, gives
an upper limit for every attacker who sees the noised score; never for the score itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.evidence.kernel.published import published_estimates
from mipaudit.maths.class_limits.upper import oracle_upper
from mipaudit.maths.kernel_density import grid_slack, kernel_advantage
from mipaudit.maths.kernel_limit import bounded_upper
from mipaudit.statements.estimate import Estimate
from mipaudit.summaries.grids.counts import HOLDOUT, MEMBER, PLACES, beyond, gains_of

if TYPE_CHECKING:
    from mipaudit.evidence.scores.rows import ErrorShare
    from mipaudit.summaries.grids.counts import GridColumn
    from mipaudit.summaries.grids.plan import Bandwidth

_SAYS: Final = {
    "silverman": "Silverman's rule",
    "isj": "Botev et al. (2010)",
    "held-out": "the payoff of one half of the burn-in on the other",
}
_ONLY_UPPER: Final = "noise can only lower the advantage: see the attackers 'any'"
_NO_VALUE: Final = "only the same-data optimum is known; it is biased upward (plugin)"
_NO_SPREAD: Final = "the burn-in scores have no spread, or the score has no order"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisedLimit:
    """What is seen, and at most true, of a score with Gaussian noise of one bandwidth.

    Attributes:
        observed: best advantage on the data, biased upward.
        upper: limit of the best advantage of all attackers who see the noised score.
        n_members: rows behind it.
        n_holdout: likewise.
    """

    observed: float
    upper: float
    n_members: int
    n_holdout: int


_METHOD: Final = "oracle limit of the kernel density's advantage"
_STRICT_METHOD: Final = "Chernoff's bound of the kernel density's advantage"


def noised_limit(
    column: GridColumn, bandwidth: float, *, prior: float, alpha: float, strict: bool
) -> NoisedLimit:
    """Return the upper limit of the advantage after noise, one-sided alpha.

    Rows outside the grid are held to be told apart, infinite ones stay as they are, and
    the limit is widened by all that the grid may hide.

    Args:
        column: counts; the rows outside the burn-in are used.
        bandwidth: standard deviation of the noise, chosen on the burn-in.
        prior: p in (0, 1).
        alpha: one-sided error in (0, 1).
        strict: by Chernoff's bound, proved for guesses that are shares; otherwise the
            binomial limit, whose coverage is measured.
    """
    members, holdout = (column.side(one, everyone=False) for one in (MEMBER, HOLDOUT))
    grid = column.plan.grid
    in_sum, in_truth = grid_slack(grid.step, bandwidth, PLACES)
    gains = gains_of(members.nodes, holdout.nodes, members, holdout, prior)
    observed = kernel_advantage(gains, grid, bandwidth)
    observed += beyond(members, holdout, prior)
    observed = min(1.0, max(observed, abs(2 * prior - 1)) + in_sum)
    limit = bounded_upper if strict else oracle_upper
    upper = limit(observed, members.records, holdout.records, prior=prior, alpha=alpha)
    return NoisedLimit(
        observed=observed,
        upper=min(1.0, upper + in_truth),
        n_members=members.records,
        n_holdout=holdout.records,
    )


def kernel_estimates(
    score: str, column: GridColumn | None, share: ErrorShare, *, prior: float, strict: bool
) -> list[Estimate]:
    """Return the rows of one score: a limit for each bandwidth, then U_N as published.

    Args:
        score: name of the column.
        column: its counts; None where it has no kernel density.
        share: of the error.
        prior: p in (0, 1).
        strict: finite-sample limits.
    """
    if column is None:
        return [_no_limit(score, share)]
    limits = [
        _noised(score, column, bandwidth, share, prior=prior, strict=strict)
        for bandwidth in column.plan.bandwidths
    ]
    return [*limits, *published_estimates(score, column, share, prior)]


def _noised(
    score: str,
    column: GridColumn,
    bandwidth: Bandwidth,
    share: ErrorShare,
    *,
    prior: float,
    strict: bool,
) -> Estimate:
    found = noised_limit(column, bandwidth.width, prior=prior, alpha=share.one_sided, strict=strict)
    chosen = ", ".join(_SAYS[name] for name in bandwidth.selectors)
    return Estimate(
        quantity="advantage",
        score=score,
        method=_STRICT_METHOD if strict else _METHOD,
        attackers="noised-query",
        value=None,
        value_reason=_NO_VALUE,
        plugin=found.observed,
        lower=None,
        lower_reason=_ONLY_UPPER,
        upper=found.upper,
        confidence=share.confidence,
        selection=f"bandwidth chosen on the burn-in by {chosen}; the other rows counted",
        validity="finite-sample" if strict else "approximate",
        n_members=found.n_members,
        n_holdout=found.n_holdout,
        bandwidth=bandwidth.width,
    )


def _no_limit(score: str, share: ErrorShare) -> Estimate:
    return Estimate(
        quantity="advantage",
        score=score,
        method="oracle limit of the kernel density's advantage",
        attackers="noised-query",
        value=None,
        value_reason=_NO_SPREAD,
        lower=None,
        lower_reason=_ONLY_UPPER,
        upper=None,
        upper_reason=_NO_SPREAD,
        confidence=share.confidence,
        selection="no bandwidth could be chosen on the burn-in",
        validity="approximate",
        n_members=0,
        n_holdout=0,
    )
