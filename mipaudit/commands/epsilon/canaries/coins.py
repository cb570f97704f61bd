"""Whether canaries were included by fair coins: in one run, or anew in each of several."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.epsilon.report import CoinCheck
from mipaudit.errors import InputError
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.rounding import number_text, upper_figure

FAIR_RATE: Final = 0.5
_SUSPICIOUS: Final = 1e-3
# Coins give exactly half less often than this from 255 canaries on.
_RARE_HALF: Final = 0.05
# Runs whose inclusion agrees more than in every one of so many random assignments are refused:
# fresh coins are in 1 of 1,000 audits. Shares that differ more than in all of them likewise.
_DRAWS: Final = 999
_SEED: Final = 20_261_122
# Sums of the same terms in another order are equal.
_ROUNDING: Final = 1e-12


def check_fair_coin(*, canaries: int, included: int, rate: float | None = None) -> CoinCheck:
    """Compare the number of canaries included with the binomial law of the coins.

    Args:
        canaries: m, at least 1.
        included: in [0, m].
        rate: the share of the coins if it was stated, in (0, 1); None takes them to be fair.
    """
    from scipy.special import betainc

    share = FAIR_RATE if rate is None else rate
    more = float(betainc(included, canaries - included + 1, share)) if included else 1.0
    fewer = (
        float(betainc(canaries - included, included + 1, 1 - share)) if included < canaries else 1.0
    )
    p_value = min(1.0, 2 * min(more, fewer))
    return CoinCheck(
        canaries=canaries,
        included=included,
        p_value=p_value,
        ruled_out=p_value < _SUSPICIOUS,
        rate=rate,
    )


def coin_findings(coin: CoinCheck) -> tuple[Finding, ...]:
    """Return what speaks against independent coins of the stated share.

    They are warnings, not errors: a number cannot show how the choice was made.
    """
    return (*_unlikely(coin), *_fixed_half(coin.canaries, coin.included))


def _unlikely(coin: CoinCheck) -> tuple[Finding, ...]:
    if not coin.ruled_out:
        return ()
    chance = upper_figure(coin.p_value, digits=2)
    if coin.rate is None:
        text = (
            "Fair coins include so many or so few canaries with probability "
            f"{chance}, so nothing is certified. "
            "If independent coins of another share did include them, state it with "
            "`inclusion_rate`."
        )
    else:
        text = (
            f"Coins of the stated rate {number_text(coin.rate)} include so many or so few "
            f"canaries with probability {chance}, so nothing is certified."
        )
    return (Finding(code="inclusion_not_fair", text=text),)


def _fixed_half(canaries: int, included: int) -> tuple[Finding, ...]:
    chance = math.sqrt(2 / (math.pi * canaries))
    if 2 * included != canaries or chance >= _RARE_HALF:
        return ()
    text = (
        "Exactly half of the canaries were included, which fair coins do with probability "
        f"{chance:.2g}. A half of fixed size is not independent coins: guessing some "
        "canaries then tells about the others, and the limit is not valid."
    )
    return (Finding(code="inclusion_exactly_half", text=text),)


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
