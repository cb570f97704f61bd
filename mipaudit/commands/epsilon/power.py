"""What a design can refute of a claim: Gaussian and Laplace mechanisms, best attack.

A detector says with what probability a design refutes one claimed epsilon when the
mechanism's trade-off curve is a given one and the attack is the best threshold. Nothing is drawn:
every answer is the same each time.

*Independent runs.* Their limit is a function of two counts: how many runs with the canary and how
many without score beyond the threshold. What it takes to refute a claim is a table, the fewest of
the first for each number of the second, made once; the probability of it is then a sum over two
binomial laws, for whatever curve and threshold.

*One run.* Each canary's score comes from one of two laws, by its coin, whose trade-off curve is
the given one. A share s of all scores is beyond the threshold at one end, and T / (2 s) of
those are guessed rightly, where (T + F) / 2 = s and T is the curve at F. The share beyond
the k-th score varies a little, which moves that precision; given it, right guesses are
binomial.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

import numpy as np

from mipaudit.commands.epsilon.guesses import GuessPlan, plan_guesses, settled_shares
from mipaudit.commands.epsilon.independent_runs import pooled_limit
from mipaudit.commands.epsilon.options import EpsilonOptions
from mipaudit.commands.epsilon.report import DetectionPower, EpsilonRow
from mipaudit.maths.arrays import Floats
from mipaudit.maths.bisection import crossing
from mipaudit.maths.epsilon.rates import clopper_pearson_epsilon
from mipaudit.maths.one_run.p_value import critical_correct
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism
from mipaudit.maths.privacy.tradeoff import TradeOff
from mipaudit.model.message import Message
from mipaudit.statements.rounding import two_digits_up

# The probability that a design refutes the claim, as a function of the true curve.
Detector = Callable[[TradeOff], float]
# A lower limit on epsilon, rising in the first count and falling in the second: of how many runs
# with the canary of all, how many without of all, delta, and the one-sided error.
CountLimit = Callable[[int, int, int, int, float, float], float]
Mechanism = Literal["gaussian", "laplace"]
USUAL_POWER: Final = 0.8
LARGEST_EPSILON: Final = 100.0
_LARGEST_MU: Final = 1e4
# A plan to four digits; the last bit of a power means nothing.
_TOLERANCE: Final = 1e-4
_TWO_DIGITS: Final = 0.01
_EVERY: Final = 8  # false positives up to here are tabulated one by one,
_GROWTH: Final = 1.3  # and further ones by this factor, with straight lines between
_DRAWS: Final = 64
_THRESHOLDS: Final = 24
_LARGEST_SIZE: Final = 10**7
_SMALLEST_SIZE: Final = 5
_NODES: Final = 9
_STEP: Final = 1e-3
_HALVINGS: Final = 12
_FEWEST_GUESSES: Final = 4
# Runs that trying many attacks takes, beside knowing the best (mipaudit help methods).
_SEARCH_COST: Final = 1.8


class Claim(NamedTuple):
    """A claimed epsilon, at least 0, at a delta in [0, 1], refuted with a confidence in (0, 1)."""

    epsilon: float
    delta: float
    confidence: float


# How often a design refutes the claim, and the size, and guesses, that it takes.
_Plan = tuple[Detector, Callable[[TradeOff], tuple[int | None, int | None]]]


def detection_power(
    asked: EpsilonOptions, statement: EpsilonRow, *, columns: int
) -> tuple[DetectionPower, ...]:
    """Return the power of a design to refute the claimed epsilon.

    Args:
        asked: with a claimed epsilon and a delta below 1.
        statement: the deciding one: how many runs or canaries were judged.
        columns: score columns that share the error.
    """
    plan = None
    if "canaries" in statement.counts:
        plan = _one_run(asked, statement.counts, columns)
    elif statement.counts:
        judged = min(statement.n_members or 0, statement.n_holdout or 0)
        plan = _runs(asked, judged, columns, conditional=statement.method == "conditional")
    return _power(asked, "gaussian", plan), _power(asked, "laplace", plan)


def _runs(asked: EpsilonOptions, judged: int, columns: int, *, conditional: bool) -> _Plan:
    """Return the plan of independent runs; Clopper-Pearson's limit stands for the Gaussian one.

    The Gaussian one is stronger where it holds.
    """
    counted, tried = asked.table is not None, asked.counted_class
    limit = pooled_limit() if conditional else _clopper_pearson
    # Mirrored sets pool both kinds of runs; two classes' right guesses share the error, as counts
    # do by default.
    kinds = 2 if conditional and (tried == "both" or not counted) else 1
    claim = _claim(asked, columns * (2 if conditional and counted and tried == "either" else 1))
    cost = 1.0 if counted else _SEARCH_COST
    worth = max(1, round(kinds * judged / cost))

    def needed(curve: TradeOff) -> tuple[int | None, None]:
        runs = runs_needed(limit, curve, claim)
        return (None if runs is None else two_digits_up(runs * cost / kinds)), None

    return independent_runs_detector(limit, claim, n_num=worth, n_den=worth), needed


def _one_run(asked: EpsilonOptions, made: Mapping[str, int], columns: int) -> _Plan:
    """Return the plan of one run; of totals, with the number of guesses that were made."""
    directions = 1 if asked.direction or asked.totals else 2

    def needed(curve: TradeOff) -> tuple[int | None, int | None]:
        return canaries_needed(curve, _claim(asked, columns * directions)) or (None, None)

    detector = one_run_detector(
        _claim(asked, columns),
        canaries=made["canaries"],
        guesses=made["guesses"] if asked.totals else asked.guesses,
        directions=directions,
    )
    return detector, needed


def _claim(asked: EpsilonOptions, limits: int) -> Claim:
    """Return the claim, at the confidence of one of so many limits."""
    return Claim(asked.claimed_epsilon or 0.0, asked.delta, asked.confidence_of_one(limits))


def _clopper_pearson(
    tp: int, n_num: int, fp: int, n_den: int, delta: float, alpha: float, /
) -> float:
    return clopper_pearson_epsilon(tp, n_num - tp, fp, n_den - fp, delta=delta, alpha=alpha)


def _power(asked: EpsilonOptions, mechanism: Mechanism, plan: _Plan | None) -> DetectionPower:
    """Return what is found and what it takes; where either is missing, with its reason."""
    claim = _claim(asked, 1)
    # The true epsilon to plan for, unless it was named.
    true = asked.true_epsilon or 2 * claim.epsilon or 1.0
    found = needed = guesses = None
    reason = unreachable = Message("no_attack")
    if plan is not None:
        reason, unreachable = (
            Message.of("none_up_to", most=LARGEST_EPSILON),
            Message("no_size_does"),
        )
        detector, size_needed = plan
        found = smallest_refutable_epsilon(detector, mechanism, claim)
        curve = curve_with_epsilon(mechanism, epsilon=true, delta=claim.delta)
        if curve is None:
            reason = unreachable = Message("gaussian_without_epsilon")
        else:
            needed, guesses = size_needed(curve)
    return DetectionPower(
        mechanism=mechanism,
        power=USUAL_POWER,
        refutable_epsilon=found,
        refutable_reason=None if found is not None else reason,
        true_epsilon=true,
        needed=needed,
        needed_guesses=guesses,
        needed_reason=None if needed is not None else unreachable,
    )


def curve_with_epsilon(mechanism: Mechanism, *, epsilon: float, delta: float) -> TradeOff | None:
    """Return the mechanism's curve that costs exactly ``epsilon`` at ``delta``.

    Args:
        mechanism: its kind.
        epsilon: at least 0.
        delta: in [0, 1).

    Returns:
        The curve, or None for a Gaussian one at delta = 0: it has no finite epsilon there.
    """
    if mechanism == "laplace":
        return LaplaceMechanism(shift=epsilon - 2 * math.log1p(-delta))
    if delta == 0:
        return None
    mu = crossing(
        lambda mu: GaussianDP(mu=mu).profile(epsilon) >= delta, start=1.0, limit=_LARGEST_MU
    )
    return GaussianDP(mu=mu)


def smallest_refutable_epsilon(
    detector: Detector, mechanism: Mechanism, claim: Claim
) -> float | None:
    """Return the least true epsilon with which a claim is refuted with probability 0.8.

    Args:
        detector: of the claim, by one design.
        mechanism: whose true epsilon is sought.
        claim: of a delta below 1, that of both.

    Returns:
        An epsilon at ``delta`` above the claim, to four digits; None where not even 100
        is found, or the mechanism has no epsilon at ``delta``.
    """

    def refuted(epsilon: float) -> bool:
        curve = curve_with_epsilon(mechanism, epsilon=epsilon, delta=claim.delta)
        return curve is not None and detector(curve) >= USUAL_POWER

    low, high = claim.epsilon, max(LARGEST_EPSILON, 2 * claim.epsilon)
    if not refuted(high):
        return None
    while high - low > _TOLERANCE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if refuted(middle) else (middle, high)
    return high


def size_needed(power_of: Callable[[int], float], *, start: int, most: int) -> int | None:
    """Return the least size of a design, to two digits, with the usual power of 0.8.

    Args:
        power_of: size to probability of refuting the claim; rises, up to small jags.
        start: the smallest size to try, at least 1.
        most: the largest.

    Returns:
        A size in [start, most] with that power, or None where there is none.
    """
    if power_of(start) >= USUAL_POWER:
        return start
    low, high = start, start
    while power_of(high) < USUAL_POWER:
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > max(1, math.floor(_TWO_DIGITS * high)):
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= USUAL_POWER else (middle, high)
    return high


def independent_runs_detector(
    limit: CountLimit, claim: Claim, *, n_num: int, n_den: int
) -> Detector:
    """Return the probability of refuting the claim, as a function of the true curve.

    It is that of the best threshold among 24, settled beforehand.

    Args:
        limit: of the design.
        claim: to be refuted.
        n_num: runs with the canary that are counted, at least 1, split-off ones aside.
        n_den: runs without it.
    """
    false, needed = _table(limit, claim, n_num, n_den)

    def detector(curve: TradeOff) -> float:
        fprs = np.geomspace(min(0.1 / n_den, 0.1), 0.5, _THRESHOLDS)
        tprs = np.array([curve.tpr(float(fpr)) for fpr in fprs])
        return float(_probabilities(fprs, tprs, n_num, n_den, false, needed).max())

    return detector


def runs_needed(limit: CountLimit, curve: TradeOff, claim: Claim) -> int | None:
    """Return how many runs of each kind must be counted to refute the claim, to two digits.

    Args:
        limit: of the design.
        curve: the true one.
        claim: of a delta below 1.

    Returns:
        A number, or None where 10^7 of each kind do not do.
    """

    def power_of(size: int) -> float:
        return independent_runs_detector(limit, claim, n_num=size, n_den=size)(curve)

    return size_needed(power_of, start=_SMALLEST_SIZE, most=_LARGEST_SIZE)


def _table(limit: CountLimit, claim: Claim, n_num: int, n_den: int) -> tuple[Floats, Floats]:
    """Return numbers of false positives and the fewest true ones that refute the claim.

    Where not even all of ``n_num`` do, it is one more than all.
    """
    false, needed = _false_counts(n_den), []
    least = 0
    for fp in false:
        low, high = least - 1, n_num + 1
        while high - low > 1:
            middle = (low + high) // 2
            found = limit(middle, n_num, fp, n_den, claim.delta, 1 - claim.confidence)
            refuted = found > claim.epsilon
            low, high = (low, middle) if refuted else (middle, high)
        needed.append(high)
        least = high  # more false positives need no fewer true ones
    return np.array(false, dtype=np.float64), np.array(needed, dtype=np.float64)


def _false_counts(n_den: int) -> list[int]:
    counts = list(range(min(_EVERY, n_den) + 1))
    while counts[-1] < n_den:
        counts.append(min(n_den, math.ceil(counts[-1] * _GROWTH)))
    return counts


def _probabilities(
    fprs: Floats, tprs: Floats, n_num: int, n_den: int, false: Floats, needed: Floats
) -> Floats:
    """Return the probability of refuting the claim at each threshold."""
    from scipy.special import bdtrik, betainc

    levels = (np.arange(_DRAWS) + 0.5) / _DRAWS
    drawn = np.ceil(np.nan_to_num(bdtrik(levels, n_den, fprs[:, None])))
    critical = np.ceil(np.interp(drawn, false, needed))
    possible = critical <= n_num
    first = np.where(possible, critical, 1.0)
    reached = betainc(np.maximum(first, 1e-300), n_num - first + 1, tprs[:, None])
    return np.asarray(np.where(possible, np.where(critical <= 0, 1.0, reached), 0.0).mean(axis=1))


def one_run_detector(
    claim: Claim, *, canaries: int, guesses: int | tuple[int, int] | None, directions: int = 1
) -> Detector:
    """Return the probability of refuting the claim, as a function of the true curve.

    With the default grid of guesses it is that of the best of them alone, so it is a
    little low.

    Args:
        claim: to be refuted.
        canaries: m, at least 1.
        guesses: as for `plan_guesses`.
        directions: 2 if the direction of the scores is not known beforehand, else 1.
    """
    plans = plan_guesses(canaries, guesses)
    alpha = (1 - claim.confidence) / directions
    shares = settled_shares(plans, canaries=canaries, delta=claim.delta, alpha=alpha)
    settled = [
        (
            plan,
            critical_correct(
                canaries=canaries / 2 if plan.kind else canaries,
                guesses=plan.guesses,
                epsilon=claim.epsilon,
                delta=claim.delta,
                alpha=alpha * share,
            ),
        )
        for plan, share in zip(plans, shares, strict=True)
        if share > 0
    ]

    def detector(curve: TradeOff) -> float:
        useful = ((plan, critical) for plan, critical in settled if critical is not None)
        return max((_reached(curve, canaries, *one) for one in useful), default=0.0)

    return detector


def canaries_needed(curve: TradeOff, claim: Claim) -> tuple[int, int] | None:
    """Return the smallest run that refutes the claim, with the best number of guesses.

    Args:
        curve: the true one.
        claim: of a delta below 1.

    Returns:
        Canaries, to two digits, and guesses, half of them at each end; None where 10^7 canaries
        do not do, as it must be where the true epsilon is not above the claim, and may be where
        one run cannot reach it.
    """

    def power_of(canaries: int, guesses: int) -> float:
        return one_run_detector(claim, canaries=canaries, guesses=guesses)(curve)

    def best(canaries: int) -> tuple[float, int]:
        sizes = (canaries >> halving for halving in range(_HALVINGS))
        enough = (size for size in sizes if size >= _FEWEST_GUESSES)
        return max((power_of(canaries, size), size) for size in enough)

    canaries = size_needed(lambda size: best(size)[0], start=_FEWEST_GUESSES, most=_LARGEST_SIZE)
    return None if canaries is None else (canaries, best(canaries)[1])


def _reached(curve: TradeOff, canaries: int, plan: GuessPlan, critical: int) -> float:
    """Return the probability that at least ``critical`` guesses are right."""
    from scipy.special import betainc

    guesses = plan.guesses
    right, spread = _precision(curve, canaries, plan)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    rates = np.clip(right + spread * nodes, 0.5, 1.0)
    tails = betainc(critical, guesses - critical + 1, rates)
    return float(weights @ tails / weights.sum())


def _precision(curve: TradeOff, canaries: int, plan: GuessPlan) -> tuple[float, float]:
    """Return the mean share of right guesses and the spread that the thresholds give it."""
    top, bottom = plan.guessed_in / canaries, plan.guessed_out / canaries
    in_share = plan.guessed_in / plan.guesses
    top_rate, top_slope = _rate(curve, top)
    bottom_rate, bottom_slope = (top_rate, top_slope) if bottom == top else _rate(curve, bottom)
    first, second = in_share * top_slope, (1 - in_share) * bottom_slope
    # Shares beyond order statistics; the more is beyond one end, the less at the other.
    variance = (
        first**2 * top * (1 - top)
        + second**2 * bottom * (1 - bottom)
        - 2 * first * second * top * bottom
    ) / canaries
    return in_share * top_rate + (1 - in_share) * bottom_rate, math.sqrt(max(0.0, variance))


def _rate(curve: TradeOff, share: float) -> tuple[float, float]:
    """Return how often guesses about a share of the scores at one end are right, and its slope."""
    if share == 0:
        return 1.0, 0.0  # of no weight
    here, before = _right(curve, share), _right(curve, share * (1 - _STEP))
    return here, (here - before) / (_STEP * share)


def _right(curve: TradeOff, share: float) -> float:
    """Return T / (T + F) where (T + F) / 2 = ``share``."""
    fpr = crossing(
        lambda rate: curve.tpr(rate) + rate >= 2 * share, start=min(share, 0.5), limit=1.0
    )
    return min(1.0, 1 - fpr / (2 * share))
