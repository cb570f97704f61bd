"""How surprising right guesses about canaries are under a whole trade-off curve.

The design is that of `mipaudit.maths.one_run.p_value`: m canaries, each included by an
independent fair coin, r guesses, v right. The argument is that of Mahloujifar, Melis and
Chaudhuri (2024), "Auditing f-differential privacy in one run". With C the number of right
guesses and p_j = P(C = j), let

    R_i = sum over j >= i of j p_j / m,          H_i = sum over j >= i of (r - j) p_j / m.

Turning one canary's coin over turns "guessed right and C > i" into "guessed wrong and
C >= i". The mean over canaries and coins of a concave ROC, TPR <= g(FPR), then gives
R_(i+1) <= g(H_i). If P(C >= v) is tau, R_v + H_v is at least tau r / m, and the
inequalities force R_0 + H_0 to be at least what the recursion from v down to 0 adds up
to when they hold with equality; but R_0 + H_0 = r / m. So tau is at most the value at
which the recursion just reaches r / m: a p-value.

With coins of share s, guesses that say *included* satisfy R_(i+1) <= s g(H_i / (1 - s)), others
the same with 1 - s for s, and both together, as g is concave, R_(i+1) <= 2 z g(H_i / (2 (1 - z)))
with z the larger of s and 1 - s. All rise in z, so an interval of shares is as good as its end.

That equality, and no mass above v, is the least case: call a change (dR, dS) of R_i and
S_i = R_i + H_i upward if dS >= 0 and dR >= (i / r) dS. More mass at any j >= i is upward,
and so is, after a step of the recursion, what follows from an upward change.

The recursion uses one inequality for each tail of counts. Every tangent of the ROC is an
(epsilon, delta) guarantee, and `mipaudit.maths.one_run.coins` bounds the same probability with
an inequality for each set of counts. Bounds of one probability need no correction: the p-value
is the least of them. For a curve that is a single (epsilon, delta) pair that is the exact value.
For a Gaussian one neither way is: all tangents at once, a linear programme, allow less.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from mipaudit.maths.bisection import crossing
from mipaudit.maths.one_run.coins import coin_p_value, most_epsilon
from mipaudit.maths.one_run.p_value import FAIR, SMALLEST_P_VALUE, CanaryCount, CoinShares
from mipaudit.maths.privacy.mechanism import GaussianDP

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff

_LARGEST_MU: Final = 1e3
# Errors at which the pure limits are the epsilons of the tangents that are tried.
_ERRORS: Final = tuple(0.7**step for step in range(1, 58))


def one_run_curve_p_value(curve: TradeOff, count: CanaryCount, shares: CoinShares = FAIR) -> float:
    """Return a bound of P(at least ``correct`` right guesses) if ``curve`` bounds every ROC.

    Args:
        curve: what is claimed for adding or removing one canary.
        count: the guesses.
        shares: that the coins may have.

    Returns:
        A p-value in [`SMALLEST_P_VALUE`, 1].
    """
    found = crossing(
        lambda tau: tau >= 1 or (tau > 0 and not _possible(curve, tau, count, shares)),
        start=1 / 64,
        limit=1.0,
    )
    least = min(
        coin_p_value(count, epsilon=epsilon, delta=curve.profile(epsilon), shares=shares)
        for epsilon in _tangents(curve, count, shares)
    )
    return max(SMALLEST_P_VALUE, min(1.0, found, least))


def refutes_curve(
    curve: TradeOff, count: CanaryCount, *, alpha: float, shares: CoinShares = FAIR
) -> bool:
    """Return whether the right guesses refute the curve at one-sided error ``alpha``."""
    return not _possible(curve, alpha, count, shares)


def mu_one_run(count: CanaryCount, *, alpha: float, shares: CoinShares = FAIR) -> float:
    """Return the least mu that is not refuted, if the mechanism is mu-GDP for some mu.

    It bounds the true mu from below, with probability at least 1 - ``alpha``, only if the
    mechanism's own curve is that of mu-GDP. Assuming so is a choice that the data cannot confirm.

    Args:
        count: the guesses.
        alpha: one-sided error in (0, 1).
        shares: that the coins may have.

    Returns:
        A mu in [0, 1000]; infinity if even 1000 is refuted.
    """
    return crossing(
        lambda mu: not refutes_curve(GaussianDP(mu=mu), count, alpha=alpha, shares=shares),
        start=1.0,
        limit=_LARGEST_MU,
    )


def _tangents(curve: TradeOff, count: CanaryCount, shares: CoinShares) -> set[float]:
    """Return epsilons near those that so many right guesses could refute at delta 0."""
    most = {most_epsilon(count, alpha=error, shares=shares) for error in _ERRORS}
    return {min(max(0.0, epsilon), curve.loss) for epsilon in most}


def _possible(curve: TradeOff, tau: float, count: CanaryCount, shares: CoinShares) -> bool:
    """Return whether the curve lets P(C >= v) be ``tau``."""
    if count.correct == 0:
        return True
    least_fpr = _inverse(curve)
    most_right, most_wrong = _halves(count, shares)
    whole = count.guesses / count.canaries
    right = tau * count.correct / count.canaries
    wrong = tau * (count.guesses - count.correct) / count.canaries
    for right_guesses in range(count.correct - 1, -1, -1):
        if right > most_right:
            return False
        needed = most_wrong * least_fpr(right / most_right)
        if needed <= wrong:
            return True  # nothing has changed, so nothing ever will
        right += right_guesses / (count.guesses - right_guesses) * (needed - wrong)
        wrong = needed
        if right + wrong > whole:
            return False
    return True


def _halves(count: CanaryCount, shares: CoinShares) -> tuple[float, float]:
    """Return the largest share of canaries that can be guessed rightly, and wrongly then."""
    if count.guessed_in == count.guesses:
        return shares.high, 1 - shares.high
    if count.guessed_in == 0:
        return 1 - shares.low, shares.low
    larger = max(shares.high, 1 - shares.low)
    return 2 * larger, 2 * (1 - larger)


def _inverse(curve: TradeOff) -> Callable[[float], float]:
    """Return TPR to the least FPR that allows it."""
    if isinstance(curve, GaussianDP):
        # At a quarter of the price, and exact at every TPR.
        normal, mu = NormalDist(), curve.mu
        return lambda tpr: normal.cdf(normal.inv_cdf(tpr) - mu) if 0 < tpr < 1 else max(0.0, tpr)
    # A symmetric trade-off curve is its own inverse.
    return lambda tpr: curve.fnr(1 - tpr) if tpr < 1 else 1.0
