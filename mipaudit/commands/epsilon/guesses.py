"""Guesses about canaries by the order of their scores, and how many of them are right.

The k_plus canaries with the most telling scores are guessed to be included, the k_minus
with the least telling ones to be left out, and nothing is said of the others. How many
to guess must not depend on the coins: it is fixed beforehand, or several numbers are
tried and share the error between them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.epsilon.report import CoinCheck
from mipaudit.errors import InputError, UsageError
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.maths.one_run.coins import coin_p_value
from mipaudit.maths.one_run.p_value import CanaryCount
from mipaudit.model.message import Finding
from mipaudit.summaries.rows import splitmix64

Direction = Literal["high", "low"]

# Half of the canaries and quarters of that: next to the best number of guesses lies one
# that costs little, and a finer grid costs more error than it finds. What is found at both ends
# is mostly found by many guesses.
_LARGEST_SHARE: Final = 2
_STEP: Final = 4
_SMALLER: Final = 0.4
_FEWEST_GUESSES: Final = 10
# A leak that only marks some of the included canaries (subsampling) shows at one end alone, among
# the few highest of m: the number that finds most of it grows about as the root of m.
_OF_ROOT: Final = 1.55
_ONE_STEP: Final = 10
_FARTHER: Final = 0.1
# Of the error, from so many canaries on; fewer show little at one end.
_GUESSED_IN: Final = 0.55
_GUESSED_OUT: Final = 0.03
_MANY: Final = 1000
_FURTHEST: Final = 3
_KINDS: Final = 3
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


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessPlan:
    """How many canaries to guess, settled before the coins are looked at.

    Attributes:
        guessed_in: k_plus, canaries guessed to be included.
        guessed_out: k_minus, canaries guessed to be left out.
        share: of the error, in (0, 1].
    """

    guessed_in: int
    guessed_out: int
    share: float

    @property
    def guesses(self) -> int:
        """Return the number of guesses of both kinds."""
        return self.guessed_in + self.guessed_out

    @property
    def kind(self) -> int:
        """Return 1 for guesses *included* alone, 2 for *left out* alone, 0 for both."""
        return 1 if self.guessed_out == 0 else 2 * (self.guessed_in == 0)


# A plan with its share of the error, the guesses that it made, and the end of the score that was
# taken to point to inclusion.
Tried = tuple[GuessPlan, CanaryCount, Direction | None]


def plan_guesses(canaries: int, guesses: int | tuple[int, int] | None) -> tuple[GuessPlan, ...]:
    """Return what will be tried, with the error shared out.

    Args:
        canaries: m, at least 1.
        guesses: one number, split evenly between the two ends; a pair (k_plus, k_minus);
            or None for the default grid: m/2, m/8, m/32, ... down to 10 guesses at both
            ends, and numbers around 1.55 sqrt(m) at either end alone.

    Raises:
        UsageError: fewer than one guess in all, a negative number, or more than m.
    """
    if guesses is None:
        return _grid(canaries)
    if isinstance(guesses, tuple):
        guessed_in, guessed_out = guesses
    else:
        guessed_in, guessed_out = guesses - guesses // 2, guesses // 2
    if min(guessed_in, guessed_out) < 0 or not 1 <= guessed_in + guessed_out <= canaries:
        raise UsageError(
            "bad_guesses",
            f"The number of guesses must be from 1 to the number of canaries, {canaries}.",
            "Give one number, or two: how many to guess included, and how many left out.",
        )
    return (GuessPlan(guessed_in=guessed_in, guessed_out=guessed_out, share=1.0),)


def settled_shares(
    plans: Sequence[GuessPlan], *, canaries: int, delta: float, alpha: float
) -> tuple[float, ...]:
    """Return the share of the error of each plan, 0 for those that cannot win anything.

    A plan is hopeless if, with its share, not even right guesses alone refute epsilon 0: delta
    allows them all, or they are too few. Its share goes to the others at the same ends.
    Nothing here depends on the coins.

    Args:
        plans: from `plan_guesses`.
        canaries: m.
        delta: in [0, 1].
        alpha: the error to be shared, in (0, 1).

    Returns:
        Shares that add up to 1; where all plans are hopeless the least hopeless has all of it.
    """
    least = [_least_p_value(plan, canaries, delta) for plan in plans]
    kept = list(range(len(plans)))
    while True:
        shares = _regrouped(plans, kept)
        worst = max(kept, key=lambda at: least[at] / shares[at])
        if len(kept) == 1 or least[worst] <= alpha * shares[worst]:
            return tuple(shares)
        kept.remove(worst)


def can_refute(plan: GuessPlan, *, canaries: int, delta: float, alpha: float) -> bool:
    """Tell whether any number of right guesses refutes epsilon 0 at error ``alpha``."""
    return _least_p_value(plan, canaries, delta) <= alpha


def _least_p_value(plan: GuessPlan, canaries: int, delta: float) -> float:
    return coin_p_value(_counted(plan, canaries, plan.guesses), epsilon=0.0, delta=delta)


def _counted(plan: GuessPlan, canaries: int, correct: int) -> CanaryCount:
    made, inside = plan.guesses, plan.guessed_in
    return CanaryCount(canaries=canaries, guesses=made, correct=correct, guessed_in=inside)


def _regrouped(plans: Sequence[GuessPlan], kept: Sequence[int]) -> list[float]:
    """Share out each kind's error among the plans of it that are kept."""
    whole, left = [0.0] * _KINDS, [0.0] * _KINDS
    for at, plan in enumerate(plans):
        whole[plan.kind] += plan.share
        left[plan.kind] += plan.share if at in kept else 0.0
    total = sum(one for one, some in zip(whole, left, strict=True) if some > 0)
    return [
        plan.share / left[plan.kind] * whole[plan.kind] / total if at in kept else 0.0
        for at, plan in enumerate(plans)
    ]


def _grid(canaries: int) -> tuple[GuessPlan, ...]:
    both = [max(1, canaries // _LARGEST_SHARE)]
    while both[-1] // _STEP >= _FEWEST_GUESSES:
        both.append(both[-1] // _STEP)
    one, far = _one_ended(canaries)
    fewer = min(1.0, math.sqrt(canaries / _MANY))
    inside, outside = fewer * _GUESSED_IN, fewer * _GUESSED_OUT
    near = [_SMALLER**k for k in range(len(both))]
    shapes = [(size - size // 2, size // 2) for size in both]
    shapes += [(size, 0) for size in one] + [(0, size) for size in one]
    shares = _shared(near, 1 - inside - outside) + _shared(far, inside) + _shared(far, outside)
    return tuple(
        GuessPlan(guessed_in=top, guessed_out=bottom, share=share)
        for (top, bottom), share in zip(shapes, shares, strict=True)
    )


def _one_ended(canaries: int) -> tuple[list[int], list[float]]:
    """Return numbers of guesses at one end, and how much each is worth beside the first."""
    usual = max(1.0, min(canaries / 4, _OF_ROOT * math.sqrt(canaries)))
    steps = range(-_FURTHEST, _FURTHEST + 1)
    sizes = [(round(usual * _ONE_STEP**step), _FARTHER ** abs(step)) for step in steps]
    fitting = [
        (size, weight)
        for size, weight in sizes
        if weight == 1 or _FEWEST_GUESSES <= size <= canaries // _LARGEST_SHARE
    ]
    return [size for size, _ in fitting], [weight for _, weight in fitting]


def _shared(weights: Sequence[float], whole: float) -> list[float]:
    return [whole * weight / sum(weights) for weight in weights]


def count_guesses(
    included: Bools,
    scores: NDArray[np.floating],
    plans: Sequence[GuessPlan],
    *,
    direction: Direction | None,
    seed: int = 0,
    ids: NDArray[np.uint64] | None = None,
) -> tuple[Tried, ...]:
    """Return how many guesses of each plan are right, with its share of the error.

    Args:
        included: what the coins said, shape (m,).
        scores: shape (m,), no NaN; infinite ones are the most or least telling.
        plans: from `plan_guesses`, made without a look at ``included``.
        direction: whether high or low scores point to inclusion, known beforehand; None
            tries both and halves every share.
        seed: of the pseudo-random order of equal scores.
        ids: distinct numbers of the canaries, shape (m,), so that the order of equal
            scores does not depend on that of the file; None takes positions.
    """
    size = included.size
    ties = splitmix64(np.arange(size, dtype=np.uint64) if ids is None else ids, seed)
    ways: tuple[Direction, ...] = ("high", "low") if direction is None else (direction,)
    found = []
    for way in ways:
        # The most telling canaries come last.
        ordered = included[np.lexsort((ties, scores if way == "high" else -scores))]
        before = np.concatenate(([0], np.cumsum(ordered)))  # included among the first k
        for plan in plans:
            right_in = int(before[size] - before[size - plan.guessed_in])
            right_out = plan.guessed_out - int(before[plan.guessed_out])
            made = _counted(plan, size, right_in + right_out)
            found.append((replace(plan, share=plan.share / len(ways)), made, way))
    return tuple(found)


def check_fair_coin(*, canaries: int, included: int, rate: float | None = None) -> CoinCheck:
    """Compare the number of canaries included with the binomial law of the coins.

    Args:
        canaries: m, at least 1.
        included: in [0, m].
        rate: the share of the coins if it was stated, in (0, 1); None takes them to be fair.
    """
    from scipy.special import betainc

    share, left_out = FAIR_RATE if rate is None else rate, canaries - included
    more = float(betainc(included, left_out + 1, share)) if included else 1.0
    fewer = float(betainc(left_out, included + 1, 1 - share)) if left_out else 1.0
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
    found, rate = [], coin.rate
    if coin.ruled_out:
        case = "half" if rate is None else "rate"
        found.append(Finding.of("inclusion_not_fair", case=case, rate=rate, p_value=coin.p_value))
    chance = math.sqrt(2 / (math.pi * coin.canaries))
    if 2 * coin.included == coin.canaries and chance < _RARE_HALF:
        found.append(Finding.of("inclusion_exactly_half", chance=chance))
    return tuple(found)


def require_fresh_coins(
    runs: NDArray[np.uint64], canaries: NDArray[np.uint64], included: Bools
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

    def agreement(coins: Floats) -> float:
        return float(np.square(np.bincount(canary, weights=coins)).sum())

    seen, rng = agreement(coins), np.random.default_rng(_SEED)
    for _ in range(_DRAWS):
        if agreement(coins[np.lexsort((rng.random(run.size), run))]) >= seen:
            return
    raise InputError(
        "shared_coins",
        "The runs of `run_col` include the same canaries too often: if each run drew its "
        "canaries independently, this would happen less than once in 1,000 audits.",
        "Runs that share one draw are not one audit. Audit one of them, with `where`.",
    )


def require_one_share(runs: NDArray[np.uint64], included: Bools) -> None:
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
        "The runs of `run_col` include different shares of their canaries: if all runs included "
        "a canary with the same probability, this would happen less than once in 1,000 audits.",
        "Audit runs with different shares separately, each with `where` and `inclusion_rate`.",
    )


def _spread(inside: NDArray[np.number], sizes: NDArray[np.integer]) -> Floats:
    """Return the sum of squares that, with sizes and total given, orders as chi-squared does."""
    found: Floats = (np.square(inside) / sizes).sum(axis=-1)
    return found
