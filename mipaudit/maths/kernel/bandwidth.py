"""Bandwidths for Gaussian kernel densities, each from a sample that is not evaluated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.kernel.density import Grid, linear_weights, smooth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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


def spread(scores: NDArray[np.float64]) -> float:
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


def improved_sheather_jones(scores: NDArray[np.float64], records: float) -> float | None:
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


def _cosines(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return half the coefficients of the cosine series: sums of shares times cos(pi k x)."""
    size = shares.size
    mirrored = np.concatenate([shares, shares[::-1]])
    turned = np.exp(-1j * np.pi * np.arange(size) / (2 * size))
    return np.asarray((np.fft.fft(mirrored)[:size] * turned).real / 2)


def _fixed_point(squares: NDArray[np.float64], records: int) -> float | None:
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


def _surplus(
    time: float, terms: list[NDArray[np.float64]], orders: NDArray[np.float64], records: int
) -> float:
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


def _roughness(
    stage: int, time: float, terms: list[NDArray[np.float64]], orders: NDArray[np.float64]
) -> float:
    """Return their estimate of the squared norm of a derivative of the density."""
    # Beyond these the exponential is 0.
    last = int(math.sqrt(_LARGEST_EXPONENT / time) / math.pi) + 1
    damped = terms[stage][:last] * np.exp(orders[:last] * (-(math.pi**2) * time))
    return float(2 * math.pi ** (2 * stage) * damped.sum())


def held_out_multiple(
    halves: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]], prior: float
) -> float:
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
    learnt: tuple[NDArray[np.float64], NDArray[np.float64]],
    other: tuple[NDArray[np.float64], NDArray[np.float64]],
    bandwidth: float,
    prior: float,
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
