"""Whether several runs included their canaries by coins drawn anew, and all of one share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Runs whose inclusion agrees more than in every one of so many random assignments are refused:
# fresh coins are in 1 of 1,000 audits. Shares that differ more than in all of them likewise.
_DRAWS: Final = 999
_SEED: Final = 20_261_122
# Sums of the same terms in another order are equal.
_ROUNDING: Final = 1e-12


def require_fresh_coins(
    runs: NDArray[np.uint64], canaries: NDArray[np.uint64], included: NDArray[np.bool_]
) -> None:
    """Refuse runs whose inclusion agrees more than that of independent coins would.

    Runs that share their coins are no single audit: what one run gives away counts once in each.
    The statistic is the sum over canaries of the squared number of runs that include it.
    Given how many canaries each run includes, fresh coins make every assignment within a run
    equally likely, so that the rank of the statistic among random ones is exact.

    Args:
        runs: the run of each row, shape (n,), in any order.
        canaries: the canary, shape (n,), once in a run.
        included: what the coin said, shape (n,).

    Raises:
        InputError: ``shared_coins``.
    """
    order = np.lexsort((canaries, runs))
    run, coins = runs[order], included[order].astype(np.float64)
    _, canary = np.unique(canaries[order], return_inverse=True)
    agreement = _agreement(canary, coins)
    rng = np.random.default_rng(_SEED)
    for _ in range(_DRAWS):
        if _agreement(canary, coins[np.lexsort((rng.random(run.size), run))]) >= agreement:
            return
    raise InputError(
        "shared_coins",
        "The runs of `run_column` include the same canaries more often than coins drawn anew for "
        "each run do (less than once in 1,000 audits).",
        hint="Runs that share coins are not one audit: audit one of them, with `where`.",
    )


def require_one_share(runs: NDArray[np.uint64], included: NDArray[np.bool_]) -> None:
    """Refuse runs whose shares of included canaries differ more than coins of one share would.

    Scores of all runs are ordered together: if those of one run are the highest, guesses speak
    of its coins, and a share of all runs says nothing of them. Given how many canaries are
    included in all, coins of one share make every choice of them equally likely, so that the
    rank of the chi-squared statistic among random choices is exact.

    Args:
        runs: the run of each row, shape (n,), in any order.
        included: what the coin said, shape (n,).

    Raises:
        InputError: ``unlike_shares``.
    """
    _, run, sizes = np.unique(runs, return_inverse=True, return_counts=True)
    inside = np.bincount(run, weights=included, minlength=sizes.size)
    rng = np.random.default_rng(_SEED)
    total = int(np.count_nonzero(included))
    drawn = rng.multivariate_hypergeometric(sizes, total, size=_DRAWS, method="marginals")
    if (_spread(drawn, sizes) >= _spread(inside, sizes) * (1 - _ROUNDING)).any():
        return
    raise InputError(
        "unlike_shares",
        "The runs of `run_column` include unlike shares of their canaries: coins of one share "
        "differ as much less than once in 1,000 audits.",
        hint="Audit runs of unlike shares apart, with `where` and `inclusion_rate` for each.",
    )


def _spread(inside: NDArray[np.number], sizes: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the sum of squares that, with sizes and total given, orders as chi-squared does."""
    found: NDArray[np.float64] = (np.square(inside) / sizes).sum(axis=-1)
    return found


def _agreement(canary: NDArray[np.intp], coins: NDArray[np.float64]) -> float:
    return float(np.square(np.bincount(canary, weights=coins)).sum())
