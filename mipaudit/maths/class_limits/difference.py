"""Lower limits of how much more one query gives away than another, for a named class.

A *challenger* is an attacker on one query that was fixed before the rows it is judged
on. The *rival* is the best attacker of a class on another query: unknown, but fixed. A
limit of 'challenger minus rival' that holds for each fixed rival holds for the unknown
best one, and so does the least of these limits over the class: no union bound is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.maths.class_limits.class_sets import (
    ListedRivals,
    RivalClass,
    best_rival,
    listed_rivals,
)

_ROUNDS: Final = 10
# (X - c)^2 of a row changes by at most 1 + 2|c|, and |c| is at most 1.
_MOST_SPREAD: Final = 3.0
_FACTORS: Final = (0.85, 1.18)
_TINY: Final = 1e-300
# A row on which the two attackers change places moves X from 1 to -1.
_SWING: Final = 2.0
# By enumeration: with it no error from 0.25 down is exceeded by more than a fiftieth of it.
_ALLOWANCE: Final = 1.06
# As for the AUC (`area_limits`), whose rows win and lose between 0 and 1 as these do between
# -1 and 1: rows that lose everything are put beside the seen ones, half of a skewness in
# favour is believed. At larger errors a row's whole swing is allowed for, whatever is seen.
_PUT_BESIDE: Final = 8
_BELIEVED: Final = 0.5
_SKEW_ERROR: Final = 0.05
_HOLDOUT, _MEMBER = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Encounter:
    """A challenger's guesses beside the cells of the rival's score, on the same rows.

    Attributes:
        rates: float64, shape (2, 2, K): by class (holdout, member), by the challenger's
            guess (holdout, member) and by cell; each class adds up to 1.
        single: bool, shape (K,), cells that hold one value of the rival's score.
        n_members: number of members behind the rates, above 0.
        n_holdout: number of holdout records.
        prior: p in (0, 1).
        shared: what rows add where the challenger is a mean of several; None for rows that
            weigh alike under one challenger.
    """

    rates: Floats
    single: Bools
    n_members: float
    n_holdout: float
    prior: float
    shared: Shared | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shared:
    """Squares of what rows add, where c is a row's weight and g its challenger's share of it.

    Attributes:
        squares: c (c - g) and c g, added up by class, guess and cell as `Encounter.rates`.
        guessed: g^2 added up by class (holdout, member), shape (2,).
    """

    squares: Floats
    guessed: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Weighing:
    """The parts of a limit that do not depend on the rival, by class (holdout, member).

    The variance of a rival's limit is a sum of squares over cells, weighed by ``spreads``, but
    for ``spared``.
    """

    rates: Floats
    scale: Floats
    spreads: Floats
    spared: float
    fall: Floats
    tpr: Floats
    alpha: float
    z: float
    least: float


def paired_lower(encounter: Encounter, rivals: RivalClass, alpha: float) -> float:
    """Return a lower limit of challenger minus best rival, one-sided alpha.

    For one fixed rival B and challenger A, the difference is a weighted sum over the two
    classes of the means of X = 1{A} - 1{B}, and its limit is D - k z^2/2 - z sqrt(V +
    k^2 z^2/4): a score limit, with V the empirical variance and k the most by which one row
    can move the sum, so that no row of disagreement seen does not mean that there is none.
    Its error for rare rows was enumerated (mipaudit help validation). The least of it is
    found among all thresholds, and all sets of few cells, with k from the mean of X and its
    skewness. Over the other classes k is from X = 1 to X = -1, and the least is bounded from
    below: for any c and s > 0 the variance of X is at most E(X - c)^2 and sqrt(V) at most
    s V + 1/(4 s), which makes the limit a sum over cells, and the best rival one search.

    Args:
        encounter: the same rows under both queries.
        rivals: the class on the rival's query.
        alpha: one-sided error in (0, 1).

    Returns:
        A limit in [-(1 - |2p-1|), 1 - |2p-1|]: the challenger must be no worse than blind
        guessing, as those are that may guess blindly.
    """
    room = 1 - baseline(encounter.prior)
    return min(max(named_lower(encounter, rivals, alpha), -room), room)


def named_lower(encounter: Encounter, rivals: RivalClass, alpha: float) -> float:
    """Return a lower limit of a challenger that may be worse than blind minus the best rival.

    As `paired_lower`, which says how.

    Returns:
        A limit in [-2, 2].
    """
    limits = [_lower(one, encounter.single, rivals) for one in _weighings(encounter, alpha)]
    return min(max(min(limits), -2.0), 2.0)


def _lower(weighing: _Weighing, single: Bools, rivals: RivalClass) -> float:
    """Return the least limit over a class at one form of the variance."""
    listed = listed_rivals(weighing.rates, single, rivals)
    if listed is not None:
        squares = listed_rivals(weighing.spreads, single, rivals)
        assert squares is not None  # noqa: S101 - of the same cells
        return _least(weighing, listed, squares)
    # The rival that was best observed is where the search for the two numbers starts.
    gains = (weighing.rates * weighing.scale[:, None, None]).reshape(4, -1)
    rival = best_rival(gains, single, rivals)[1]
    centre = _centre(weighing, rival)
    best, slope = -math.inf, 0.0
    for step in range(_ROUNDS):
        wanted = 1 / (2 * math.sqrt(_spread(weighing, rival, centre) + weighing.least))
        slope = wanted if step == 0 else math.sqrt(slope * wanted)
        limit, rival = _bound(weighing, single, rivals, slope, centre)
        best = max(best, limit)
        # The bound is concave in the centre: these are steps uphill, ever smaller.
        centre = centre + (_centre(weighing, rival) - centre) / (step + 2)
    for factor in _FACTORS:
        best = max(best, _climb(weighing, single, rivals, slope, centre, factor))
    return best


def fixed_lower(encounter: Encounter, rival: Bools, alpha: float) -> float:
    """Return a lower limit of challenger minus one rival that was fixed beforehand.

    The limit that `paired_lower` takes the least of over a class.

    Args:
        encounter: the same rows under both attackers.
        rival: the cells in which the rival guesses 'member', shape (K,).
        alpha: one-sided error in (0, 1).

    Returns:
        A limit in [-2, 2]: neither need be better than blind guessing.
    """
    taken = rival.astype(np.float64)
    limits = [
        _least(one, *(ListedRivals(taken=(by @ taken)[:, :, None], part=None) for by in tables))
        for one in _weighings(encounter, alpha)
        for tables in ((one.rates, one.spreads),)
    ]
    return min(max(min(limits), -2.0), 2.0)


def _least(weighing: _Weighing, listed: ListedRivals, squares: ListedRivals) -> float:
    """Return the least of the limits of all rivals, each with its own variance.

    Args:
        weighing: the parts that do not depend on the rival.
        listed: what each rival takes of the rates.
        squares: likewise of the spreads.
    """
    difference = weighing.tpr[:, None] - listed.taken.sum(axis=1)
    disagree = weighing.tpr[:, None] - listed.taken[:, 1] + listed.taken[:, 0]
    total, guessed = weighing.spreads.sum(axis=(1, 2)), weighing.spreads[:, 1].sum(axis=1)
    spread = guessed[:, None] - squares.taken[:, 1] + squares.taken[:, 0]
    spread -= 2 * difference * (guessed[:, None] - squares.taken.sum(axis=1))
    spread += difference**2 * total[:, None]
    spread = np.maximum(spread.sum(axis=0) - weighing.spared, 0.0)
    value = weighing.scale @ difference
    if listed.part is None and weighing.alpha <= _SKEW_ERROR:
        return float((value - _drop(weighing, difference, disagree, spread)).min())
    if listed.part is not None and squares.part is not None:
        # A part of one more cell: the most that it gains, and the most that it can spread.
        gains = (weighing.scale[:, None, None] * listed.part).reshape(4, -1)
        value = value - np.maximum(gains, 0.0).sum(axis=0)
        spread = spread + _MOST_SPREAD * squares.part.sum(axis=(0, 1))
    slack = weighing.z * (np.sqrt(spread + weighing.least) + math.sqrt(weighing.least))
    return float((value - slack).min())


def _drop(weighing: _Weighing, difference: Floats, disagree: Floats, spread: Floats) -> Floats:
    """Return how far the truth of each rival may lie below what was observed, shape (n,).

    Rows that nobody has seen may all be lost, from the mean of their class down to -1 for a
    member and up to 1 for a holdout record: so fast grows the variance on the way down. Where
    the skewness of the rows says less, it grows so, and the limit is a row lower, for the steps
    in which few values move.

    Args:
        weighing: the parts that do not depend on the rival.
        difference: mean of challenger minus rival by class, shape (2, n).
        disagree: mean of its square.
        spread: variance of the weighted sum, shape (n,).
    """
    scale, z, fall = weighing.scale, weighing.z, weighing.fall
    room = (fall[:, None] * (1 + np.sign(scale)[:, None] * difference)).max(axis=0)
    patience = _patience(weighing.alpha, z)
    most = _score_drop(spread, patience * room, z)
    # X cubed is X.
    thirds = difference - 3 * difference * disagree + 2 * difference**3
    beside = _PUT_BESIDE * room**2
    slope = (beside * room - (scale * fall**2) @ thirds) / np.maximum(spread + beside, _TINY)
    slope = np.clip(slope, -room, room)
    slope = slope * np.where(slope > 0, patience, _BELIEVED)
    return np.asarray(np.minimum(most, _score_drop(spread, slope, z) + room))


def _score_drop(spread: Floats, slope: Floats, z: float) -> Floats:
    """Solve d^2 = z^2 (spread + slope d) for d >= 0."""
    half = slope * z / 2
    return np.asarray(z * (half + np.sqrt(spread + half**2)))


def _climb(
    weighing: _Weighing,
    single: Bools,
    rivals: RivalClass,
    slope: float,
    centre: Floats,
    factor: float,
) -> float:
    """Return the best bound from a slope on, going by a factor while it rises."""
    best = -math.inf
    while True:
        limit, _ = _bound(weighing, single, rivals, slope, centre)
        if limit <= best:
            return best
        best, slope = limit, slope * factor


def _centre(weighing: _Weighing, rival: Floats) -> Floats:
    """Return the mean of challenger minus rival by class, shape (2,)."""
    return np.asarray(weighing.tpr - weighing.rates.sum(axis=1) @ rival)


def _weighings(encounter: Encounter, alpha: float) -> list[_Weighing]:
    """Return the limit's parts at each form of the variance: the larger one counts.

    Of a challenger that is a mean of several: of what each row adds, and of one of them that
    was fixed beforehand and judged on all rows.
    """
    p = encounter.prior
    z = NormalDist().inv_cdf(1 - alpha)
    sizes = np.array([encounter.n_holdout, encounter.n_members])
    scale = np.array([-2 * (1 - p), 2 * p])
    forms = [(encounter.rates * (scale**2 / sizes)[:, None, None], 0.0)]
    squares = 1 / sizes
    if encounter.shared is not None:
        by_row, squares = encounter.shared.squares, encounter.shared.squares.sum(axis=(1, 2))
        each = scale**2 * sizes / np.maximum(sizes - 1, 1)
        spared = by_row[:, 1].sum(axis=1) - encounter.shared.guessed
        forms.append((by_row * each[:, None, None], float(each @ spared)))
    fall = np.abs(scale) * squares
    heaviest = _SWING * _patience(alpha, z) * float(fall.max())
    return [
        _Weighing(
            rates=encounter.rates,
            scale=scale,
            spreads=spreads,
            spared=spared,
            fall=fall,
            tpr=encounter.rates[:, 1].sum(axis=1),
            alpha=alpha,
            z=z,
            least=(heaviest * z / 2) ** 2,
        )
        for spreads, spared in forms
    ]


def _patience(alpha: float, z: float) -> float:
    """Return how much wider the limit must be where z^2 is less than what no event allows.

    Events that were not seen may still have a mean of -ln alpha; z^2 is less for errors above
    0.03, and hardly more below. So this is above 1 for errors above 0.022: 1.02 at 0.025, 1.49
    at 0.1.
    """
    return max(1.0, -_ALLOWANCE * math.log(alpha) / z**2) if z > 0 else math.inf


def _spread(weighing: _Weighing, rival: Floats, centre: Floats) -> float:
    """Return the variance about a centre of challenger minus rival, given as cell shares."""
    alone, both = weighing.spreads @ (1 - rival), weighing.spreads @ rival
    squares = alone[:, 1] * (1 - centre) ** 2 + alone[:, 0] * centre**2
    squares += both[:, 1] * centre**2 + both[:, 0] * (1 + centre) ** 2
    return max(float(squares.sum()) - weighing.spared, 0.0)


def _bound(
    weighing: _Weighing, single: Bools, rivals: RivalClass, slope: float, centre: Floats
) -> tuple[float, Floats]:
    """Return a value that no rival's limit falls below, and about the best rival."""
    price = weighing.z * slope
    nobody = np.zeros(weighing.rates.shape[2])
    fixed = float((weighing.scale * weighing.tpr).sum())
    fixed -= price * (_spread(weighing, nobody, centre) + weighing.least)
    fixed -= weighing.z / (4 * slope) + weighing.z * math.sqrt(weighing.least)
    # What a rival gains in a cell, by class and by the challenger's guess there.
    gain = np.stack([1 + 2 * centre, 2 * centre - 1], axis=1)[:, :, None] * price
    parts = [weighing.rates * weighing.scale[:, None, None], weighing.spreads * gain]
    most, rival = best_rival(np.concatenate(parts).reshape(8, -1), single, rivals)
    return fixed - most, rival


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One query by itself: what a challenger on it reached, or the best of its class.

    Attributes:
        value: observed advantage, not clipped.
        slack: from it to its limit, at least 0.
    """

    value: float
    slack: float


def independent_lower(challenger: Standing, rival: Standing, prior: float) -> float:
    """Return a lower limit of a difference between two independent inputs.

    The method of variance estimates recovery (Zou and Donner 2008): the root of the
    squared slacks. It falls as the rival's observed advantage grows, so the best rival
    observed may stand for the unknown best one.

    Args:
        challenger: with the slack to a lower limit, one-sided at the error wanted.
        rival: the best observed of its class, with the slack to its upper limit.
        prior: p in (0, 1).

    Returns:
        A limit in [-(1 - |2p-1|), 1 - |2p-1|].
    """
    room = 1 - baseline(prior)
    slack = math.hypot(challenger.slack, rival.slack)
    return min(max(challenger.value - rival.value - slack, -room), room)


def separate_lower(lower: float, upper: float, prior: float) -> float:
    """Return a lower limit of a difference from two limits, each at the whole error.

    However the two inputs depend on each other, the standard error of a difference is at most
    the sum of both. The worst case is that the two errors are one; then the limits are wrong
    together, or not at all. The shares need not be normal: by enumeration nothing is worse.
    """
    room = 1 - baseline(prior)
    return min(max(lower - upper, -room), room)
