"""Gaussian kernel densities on an equal-width grid, one transform each, and their bandwidths.

Scores are spread over their two nearest nodes in proportion (linear binning, Jones
and Lotwick 1984), which keeps their mean: what that and the sum over the nodes can
cost an integral is bounded by `grid_slack`, whatever the scores. A bandwidth is found on a sample
that is not evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Bools, Floats

# The normal density beyond so many standard deviations is below 1e-14 of its peak.
REACH: Final = 8.0
# The integral of the absolute second derivative of the normal density: 4 phi(1).
_CURVATURE: Final = 4 * math.exp(-0.5) / math.sqrt(2 * math.pi)
MULTIPLES: Final = (1.0, 0.5, 2.0, 0.25, 4.0)
_NORMAL_IQR: Final = 1.34
_SILVERMAN: Final = 0.9
_DIGITS: Final = 3
_STAGES: Final = 7
_NODES: Final = 1 << 12
_LEAST_SQUARE: Final = 1e-9
_LARGEST_SQUARE: Final = 0.1
_SCANNED: Final = 40
_HALVINGS: Final = 30
_LARGEST_EXPONENT: Final = 745.0
_STEPS_PER_BANDWIDTH: Final = 8
_MOST_NODES: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Equal-width nodes low, low + step, ..., of which some may end the score's range.

    Attributes:
        low: the first node.
        step: distance of neighbours, above 0.
        nodes: how many, at least 2.
        floor: node where the range ends below, or None.
        ceiling: node where it ends above, or None.
    """

    low: float
    step: float
    nodes: int
    floor: int | None = None
    ceiling: int | None = None

    def points(self) -> Floats:
        """Return the nodes, shape (nodes,)."""
        return np.asarray(self.low + self.step * np.arange(self.nodes, dtype=np.float64))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Smoothed:
    """Masses that a smoothed measure puts about the nodes of a grid, wider than its own.

    Attributes:
        low: the first node.
        step: distance of neighbours.
        masses: signed, shape (m,).
        ends: bool, shape (m,): nodes at an end of the range, which have half a cell.
    """

    low: float
    step: float
    masses: Floats
    ends: Bools

    def density(self) -> Floats:
        """Return the density at the nodes, per unit of the score."""
        return np.asarray(self.masses / self.step * np.where(self.ends, 2.0, 1.0))

    def at(self, scores: Floats) -> Floats:
        """Return the density at these scores, linear between nodes and 0 outside."""
        points = self.low + self.step * np.arange(self.masses.size, dtype=np.float64)
        return np.interp(scores, points, self.density(), left=0.0, right=0.0)


def linear_weights(scores: Floats, grid: Grid, masses: Floats | None = None) -> Floats:
    """Return the mass at each node of some scores, each shared by its two nearest nodes.

    Args:
        scores: shape (n,); those outside the grid are left out.
        grid: the nodes.
        masses: of the scores, shape (n,); 1 each by default.

    Returns:
        Shape (nodes,).
    """
    with np.errstate(over="ignore"):
        place = (scores - grid.low) / grid.step
    inside = (place >= 0) & (place <= grid.nodes - 1)
    place = place[inside]
    mass = np.ones(place.size) if masses is None else masses[inside]
    cell = np.minimum(place.astype(np.int64), grid.nodes - 2)
    part = (place - cell) * mass
    weights = np.zeros(grid.nodes)
    weights += np.bincount(cell, weights=mass - part, minlength=grid.nodes)
    weights[1:] += np.bincount(cell, weights=part, minlength=grid.nodes - 1)
    return weights


def smooth(weights: Floats, grid: Grid, bandwidth: float, *, fold: bool = False) -> Smoothed:
    """Return a measure on the nodes after Gaussian noise.

    Args:
        weights: of the nodes, of any sign, shape (nodes,).
        grid: the nodes.
        bandwidth: standard deviation of the noise, above 0; at most a few thousand steps.
        fold: whether what the noise carries over an end of the range is reflected there.
    """
    reach = math.ceil(REACH * bandwidth / grid.step)
    steps = np.arange(-reach, reach + 1) * (grid.step / bandwidth)
    kernel = np.exp(-0.5 * steps**2) * (grid.step / (bandwidth * math.sqrt(2 * math.pi)))
    masses = _convolved(weights, kernel)
    low = grid.low - reach * grid.step
    if fold and (grid.floor is not None or grid.ceiling is not None):
        return _folded(masses, grid, reach)
    return Smoothed(low=low, step=grid.step, masses=masses, ends=np.zeros(masses.size, dtype=bool))


def _convolved(first: Floats, second: Floats) -> Floats:
    """Return the full convolution, by transforms of a power of two that nothing wraps round."""
    size = first.size + second.size - 1
    length = 1 << (size - 1).bit_length()
    product = np.fft.rfft(first, length) * np.fft.rfft(second, length)
    return np.fft.irfft(product, length)[:size]


def _folded(masses: Floats, grid: Grid, reach: int) -> Smoothed:
    """Reflect the masses beyond the ends of the range into it."""
    node = np.arange(masses.size) - reach
    floor = int(node[0]) if grid.floor is None else grid.floor
    ceiling = int(node[-1]) if grid.ceiling is None else grid.ceiling
    if grid.floor is not None and grid.ceiling is not None:
        width = ceiling - floor
        place = np.abs((node - floor + width) % (2 * width) - width)
    elif grid.floor is not None:
        place = np.abs(node - floor)
    else:
        place = ceiling - np.abs(node - ceiling) - floor
    start = int(place.min())
    masses = np.asarray(np.bincount(place - start, weights=masses), dtype=np.float64)
    ends = np.zeros(masses.size, dtype=bool)
    if grid.floor is not None:
        ends[0] = True
    if grid.ceiling is not None:
        ends[-1] = True
    return Smoothed(
        low=grid.low + (floor + start) * grid.step, step=grid.step, masses=masses, ends=ends
    )


def kernel_advantage(gains: Floats, grid: Grid, bandwidth: float, *, fold: bool = False) -> float:
    """Return U_N: the sum of |p f - (1-p) g| over the nodes (Liu et al., MACE, Theorem 3).

    Args:
        gains: p times the members' share of each node, less 1-p times the holdout's,
            shape (nodes,).
        grid: the nodes.
        bandwidth: of both densities, above 0.
        fold: whether to reflect at the ends of the range.
    """
    return float(np.abs(smooth(gains, grid, bandwidth, fold=fold).masses).sum())


def grid_slack(step: float, bandwidth: float, places: int) -> tuple[float, float]:
    """Return what the grid can cost an advantage after noise: (in the sum, in the truth).

    A function is at most step^2/8 of its greatest second derivative away from the chord
    between two nodes; integrated, 4 phi(1) step^2/(8 bandwidth^2) for each unit of mass.
    The first of the two is by how much the sum over the nodes may fall below the
    integral; the second by how much noise on the score spread over two nodes may differ
    from noise on the score itself, and what rounding the share to ``places`` adds.

    Args:
        step: distance of neighbouring nodes.
        bandwidth: standard deviation of the noise.
        places: the share of a node is a multiple of 1/places.
    """
    chord = _CURVATURE * (step / bandwidth) ** 2 / 8
    moved = math.erf(step / (2 * math.sqrt(2) * bandwidth)) / places
    return chord, chord + moved


def spread(scores: Floats) -> float:
    """Return min(s.d., IQR/1.34), or the s.d. where the quartiles are alike; 0 if all are.

    Args:
        scores: finite, shape (n,).
    """
    if scores.size < 2:  # noqa: PLR2004 - one score has no spread
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = float(np.std(scores, ddof=1))
        low, high = np.quantile(scores, [0.25, 0.75])
        found = [s for s in (deviation, float(high - low) / _NORMAL_IQR) if 0 < s < math.inf]
    return min(found, default=0.0)


def silverman(width: float, records: float) -> float:
    """Return 0.9 spread n^(-1/5) (Silverman 1986, equation 3.31)."""
    return float(_SILVERMAN * width * records**-0.2)


def rounded(bandwidth: float) -> float:
    """Return the bandwidth to three significant digits, as it is used and printed."""
    return float(f"{bandwidth:.{_DIGITS}g}")


def improved_sheather_jones(scores: Floats, records: float) -> float | None:
    """Return the bandwidth of Botev, Grotowski and Kroese (2010), from counts on a grid.

    It is theirs for the sample, times (n/records)^(1/5): for a density from as many
    records. It makes no assumption that the density is near a normal one.

    Args:
        scores: finite, shape (n,).
        records: number of records of the density that it is for.

    Returns:
        The bandwidth, or None where their equation has no root.
    """
    distinct = np.unique(scores).size
    extent = float(scores.max()) - float(scores.min()) if scores.size else 0.0
    if distinct < 2 or not 0 < extent < math.inf:  # noqa: PLR2004
        return None
    low, width = float(scores.min()) - extent / 10, extent * 1.2
    grid = Grid(low=low, step=width / (_NODES - 1), nodes=_NODES)
    squares = _cosines(linear_weights(scores, grid) / scores.size)[1:] ** 2
    time = _fixed_point(squares, distinct)
    if time is None:
        return None
    return float(math.sqrt(time) * width * (distinct / records) ** 0.2)


def _cosines(shares: Floats) -> Floats:
    """Return half the coefficients of the cosine series: sums of shares times cos(pi k x)."""
    size = shares.size
    mirrored = np.concatenate([shares, shares[::-1]])
    turned = np.exp(-1j * np.pi * np.arange(size) / (2 * size))
    return np.asarray((np.fft.fft(mirrored)[:size] * turned).real / 2)


def _fixed_point(squares: Floats, records: int) -> float | None:
    """Return the smallest root of t = xi gamma^[5](t), on the unit interval."""
    powers = np.arange(1, squares.size + 1, dtype=np.float64) ** 2
    terms = [squares * powers**stage for stage in range(_STAGES + 1)]
    tried = [float(t) for t in np.geomspace(_LEAST_SQUARE, _LARGEST_SQUARE, _SCANNED)]
    low = tried[0]
    for high in tried[1:]:
        if _surplus(high, terms, powers, records) < 0:
            low = high
            continue
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            if _surplus(middle, terms, powers, records) < 0:
                low = middle
            else:
                high = middle  # noqa: PLW2901 - the bracket narrows
        return high
    return None


def _surplus(time: float, terms: list[Floats], orders: Floats, records: int) -> float:
    """Return t minus what their seven stages make of it (their Algorithm 1)."""
    roughness = _roughness(_STAGES, time, terms, orders)
    for stage in range(_STAGES - 1, 1, -1):
        odd = math.prod(range(1, 2 * stage, 2)) / math.sqrt(2 * math.pi)
        constant = (1 + 0.5 ** (stage + 0.5)) / 3
        if roughness <= 0:
            return time
        pilot = (2 * constant * odd / (records * roughness)) ** (2 / (3 + 2 * stage))
        roughness = _roughness(stage, pilot, terms, orders)
    if roughness <= 0:
        return time
    return time - float((2 * records * math.sqrt(math.pi) * roughness) ** -0.4)


def _roughness(stage: int, time: float, terms: list[Floats], orders: Floats) -> float:
    """Return their estimate of the squared norm of a derivative of the density."""
    # Beyond these the exponential is 0.
    last = int(math.sqrt(_LARGEST_EXPONENT / time) / math.pi) + 1
    damped = terms[stage][:last] * np.exp(orders[:last] * (-(math.pi**2) * time))
    return float(2 * math.pi ** (2 * stage) * damped.sum())


def held_out_multiple(halves: Sequence[tuple[Floats, Floats]], prior: float) -> float:
    """Return the multiple of Silverman's bandwidth whose sign guesses best on the other half.

    Args:
        halves: two pairs (members, holdout) of finite scores.
        prior: p in (0, 1).
    """
    width = spread(np.concatenate([part for half in halves for part in half]))
    if width <= 0 or any(part.size == 0 for half in halves for part in half):
        return MULTIPLES[0]
    payoff = dict.fromkeys(MULTIPLES, 0.0)
    for learnt, other in (halves, halves[::-1]):
        base = silverman(width, learnt[0].size + learnt[1].size)
        for multiple in MULTIPLES:
            payoff[multiple] += _payoff(learnt, other, multiple * base, prior)
    return max(payoff, key=lambda multiple: payoff[multiple])


def _payoff(
    learnt: tuple[Floats, Floats], other: tuple[Floats, Floats], bandwidth: float, prior: float
) -> float:
    """Return p TPR - (1-p) FPR on one half of the sign of the densities of the other."""
    step = bandwidth / _STEPS_PER_BANDWIDTH
    centre = float(np.median(np.concatenate(learnt)))
    low, high = (
        float(f([np.min(one) for one in learnt] + [np.max(one) for one in learnt]))
        for f in (min, max)
    )
    reach = step * _MOST_NODES / 2
    low, high = max(low, centre - reach), min(high, centre + reach)
    grid = Grid(low=low - step, step=step, nodes=math.ceil((high - low) / step) + 3)
    members, holdout = (linear_weights(one, grid) / one.size for one in learnt)
    gains = smooth(prior * members - (1 - prior) * holdout, grid, bandwidth)
    guessed = [float(np.mean(gains.at(one) > 0)) for one in other]
    return prior * guessed[0] - (1 - prior) * guessed[1]


_STEPS: Final = 200
_TOLERANCE: Final = 1e-11
# The dual is flat at its maximum: this changes the exponent by far less.
_TILT_TOLERANCE: Final = 1e-5
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


def bounded_upper(
    observed: float, n_members: int, n_holdout: int, *, prior: float, alpha: float
) -> float:
    """Return the finite-sample upper limit of a class's best advantage, where guesses are shares.

    An attacker who sees a score through noise guesses 'member' with some probability, so what the
    best of a fixed class gets right on the data is a mean of independent values in [0, 1], and the
    best observed over the class is at least that. Any upper limit for one fixed attacker that
    increases with what is observed of him then stays valid.

    By Chernoff's bound for two means of independent values in [0, 1] (Hoeffding 1963,
    Theorem 1, in each class), a correct share of p t + (1-p) r or less, of a true share
    a, has probability at most exp(-D(a)), D(a) the least n1 kl(t, T) + n2 kl(r, R) over
    p t + (1-p) r as observed and p T + (1-p) R = a. The limit is where D is ln(1/alpha).
    In proportion to the prior D is N kl(observed, a); by Pinsker's inequality it is
    never above the bounded-differences limit (McDiarmid 1989), for any class sizes.

    Args:
        observed: best advantage over the class on the data, in [-1, 1].
        n_members: members behind it; with none nothing is known.
        n_holdout: holdout records behind it.
        prior: p in (0, 1).
        alpha: one-sided error in (0, 1).

    Returns:
        A limit in [|2p-1|, 1].
    """
    share = (1 + observed) / 2
    if share >= 1 or min(n_members, n_holdout) <= 0:
        return 1.0
    allowed = math.log(1 / alpha)
    low, high = max(share, 0.0), 1.0
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        if _least_exponent(share, middle, n_members, n_holdout, prior) < allowed:
            low = middle
        else:
            high = middle
    return min(1.0, max(baseline(prior), 2 * high - 1))


def _least_exponent(
    observed: float, true: float, n_members: int, n_holdout: int, prior: float
) -> float:
    """Return D(true), from below: the dual in one variable, by golden-section search.

    Any point of a concave dual is a valid exponent, so a search that stops early only
    makes the limit wider.
    """

    def dual(tilt: float) -> float:
        return _dual(tilt, observed, true, n_members, n_holdout, prior)

    low, high = 0.0, float(n_members + n_holdout)
    while dual(2 * high) > dual(high) and high < 1e4 * (n_members + n_holdout):
        high *= 2
    high *= 2
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = dual(left), dual(right)
    for _ in range(_STEPS):
        if high - low <= _TILT_TOLERANCE * high:
            break
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = dual(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = dual(left)
    return max(at_left, at_right, 0.0)


def _dual(
    tilt: float, observed: float, true: float, n_members: int, n_holdout: int, prior: float
) -> float:
    """Return the exponent of Chernoff's bound at a tilt, of the most variable attacker.

    Of all (T, R) with p T + (1-p) R = true, the one with the least exponent; the sum of
    two logarithms is convex along that line and its stationary point solves a linear
    equation.
    """
    p, q = prior, 1 - prior
    members = -math.expm1(-tilt * p / n_members)
    holdout = -math.expm1(-tilt * q / n_holdout)
    low, high = max(0.0, (true - q) / p), min(1.0, true / p)
    if members <= 0 or holdout <= 0:
        return 0.0
    # n1 u (1 - v R) = n2 v (p/q) (1 - u T), with R = (true - p T)/q.
    ratio = n_holdout * p / q
    slope = n_members * members * holdout * p / q + ratio * members * holdout
    constant = ratio * holdout - n_members * members * (1 - holdout * true / q)
    tpr = min(max(constant / slope, low), high)
    tnr = min(max((true - p * tpr) / q, 0.0), 1.0)
    return -tilt * observed - n_members * _log1m(members * tpr) - n_holdout * _log1m(holdout * tnr)


def _log1m(share: float) -> float:
    """Return ln(1 - share), finite where rounding makes it 1."""
    return math.log1p(-min(share, 1 - 1e-300))
