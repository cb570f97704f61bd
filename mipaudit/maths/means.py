"""Limits of means and of weighted sums, valid at every sample size.

Limits of the mean of independent numbers in [0, 1], valid at every sample size.

Bets against a mean m with constant stakes (Waudby-Smith and Ramdas 2024): with
K(m) = average over stakes s of product over i of (1 + s (m - X_i)), E K(m) <= 1 where the
mean is at least m, so that K(m) >= 1/alpha states at confidence 1 - alpha that the mean is
below m (Markov). The stakes do not depend on m, so K grows with m and one bisection finds
the limit; they are fixed by the number of terms, before any is seen.

A confidence limit of a weighted sum of independent proportions, for any sizes and rates.

Each proportion has a confidence distribution, a beta one whose quantiles are the
Clopper-Pearson limits; the limit is a quantile of the weighted sum of draws from them
(melded confidence limits: Fay, Proschan and Brittain 2015, Biometrics 71:146). By
enumeration its error is below the nominal one also where rates are near 0 or 1 and the
error is small, where square roots of squared distances are far above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

# Terms are rounded up to this many steps: every factor of K falls as a term grows, so
# that rounding can only widen the limit, by a step at most.
_STEPS: Final = 1 << 13
# How close the bisection comes, from above: far below a step.
_CLOSE: Final = 1e-10
_LEAST_VARIANCE: Final = 0.25
# Of Gauss and Legendre, on [-1, 1], and the steps in the range of a term from which on they
# are exact to 12 digits.
_NODES: Final = np.array([-math.sqrt(0.6), 0.0, math.sqrt(0.6)])
_WEIGHTS: Final = np.array([5.0, 8.0, 5.0]) / 9
_SHORT: Final = 1 << 11
# What lies beyond the range of each term, as a share of the error; it is taken off.
_TAIL: Final = 1e-4


def mean_upper(terms: NDArray[np.float64], alpha: float) -> float:
    """Return an upper limit of the mean of independent terms in [0, 1], one-sided alpha.

    Args:
        terms: shape (n,); with none nothing is known.
        alpha: in (0, 1).
    """
    if not terms.size:
        return 1.0
    steps = np.ceil(terms * _STEPS - 1e-9).astype(np.int64)
    counts = np.bincount(steps, minlength=_STEPS + 1)
    (found,) = np.nonzero(counts)
    return _upper(found / _STEPS, counts[found], alpha)


def mean_lower(terms: NDArray[np.float64], alpha: float) -> float:
    """Return a lower limit of the mean of independent terms in [0, 1], one-sided alpha."""
    return 1.0 - mean_upper(1.0 - terms, alpha)


def stakes(count: int, alpha: float) -> NDArray[np.float64]:
    """Return the stakes, from 1 down by halves to what suits the largest variance.

    The best stake is about sqrt(2 ln(1/alpha) / (n variance)).
    """
    least = min(1.0, math.sqrt(2 * math.log(1 / alpha) / (count * _LEAST_VARIANCE)))
    halvings = math.ceil(math.log2(1 / least))
    return np.asarray(0.5 ** np.arange(halvings + 1.0))


def _upper(values: NDArray[np.float64], counts: NDArray[np.int64], alpha: float) -> float:
    chosen = stakes(int(counts.sum()), alpha)
    wanted = -math.log(alpha) + math.log(chosen.size)

    def surely_below(mean: float) -> bool:
        with np.errstate(divide="ignore"):
            logs = np.log1p(chosen[:, None] * (mean - values)) @ counts
        largest = float(logs.max())
        return largest + math.log(float(np.exp(logs - largest).sum())) >= wanted

    low, high = float(values @ counts / counts.sum()), 1.0
    if not surely_below(high):
        return 1.0
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if surely_below(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One proportion and its weight in the sum.

    Attributes:
        weight: any number but 0.
        successes: in [0, trials].
        trials: above 0.
    """

    weight: float
    successes: int
    trials: int


def melded_lower(terms: Sequence[Term], alpha: float) -> float:
    """Return the lower limit of the sum of weight times proportion.

    Args:
        terms: independent, at least one.
        alpha: one-sided error in (0, 1).
    """
    tail = alpha * _TAIL
    ranges = [_range(term, tail) for term in terms]
    low = sum(start for start, _ in ranges)
    width = sum(stop - start for start, stop in ranges)
    if width == 0:
        return low
    step = width / _STEPS
    size = 2 * _STEPS
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    for term, (start, stop) in zip(terms, ranges, strict=True):
        spectrum = spectrum * np.fft.rfft(_masses(term, start, stop, step), size)
    cumulated = np.cumsum(np.maximum(np.fft.irfft(spectrum, size), 0.0))
    at = int(np.searchsorted(cumulated, alpha - 2 * tail * len(terms)))
    return float(low + step * min(at, size - 1))


def _shape(term: Term) -> tuple[int, int]:
    """Return the beta distribution of the term's lower limits, or upper ones if it counts down."""
    x, n = term.successes, term.trials
    return (x, n - x + 1) if term.weight > 0 else (x + 1, n - x)


def _range(term: Term, tail: float) -> tuple[float, float]:
    """Return between which values the term lies but for a tail on either side."""
    from scipy.special import betaincinv

    first, second = _shape(term)
    if first == 0 or second == 0:
        certain = 0.0 if first == 0 else term.weight
        return certain, certain
    ends = (term.weight * float(betaincinv(first, second, share)) for share in (tail, 1 - tail))
    start, stop = sorted(ends)
    return start, stop


def _masses(term: Term, start: float, stop: float, step: float) -> NDArray[np.float64]:
    """Return the probability of each step from ``start`` on; values are rounded down.

    Where steps are many they are short beside the spread, and Gauss quadrature of the
    density, both shapes of which are at least 1, gives each difference of the
    distribution function for less than it costs.
    """
    from scipy.special import betainc, xlog1py, xlogy

    count = int(np.ceil((stop - start) / step - 1e-9))
    if count <= 0:
        return np.ones(1)
    edges = np.minimum(start + step * np.arange(count + 1), stop) / term.weight
    edges = np.clip(edges, 0.0, 1.0)
    first, second = _shape(term)
    if count < _SHORT:
        return np.asarray(np.abs(np.diff(betainc(first, second, edges))))
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    nodes = middle + half * _NODES[:, None]
    logs = xlogy(first - 1, nodes) + xlog1py(second - 1, -nodes)
    masses = _WEIGHTS @ np.exp(logs - logs.max()) * np.abs(half)
    inside = betainc(first, second, edges[-1]) - betainc(first, second, edges[0])
    return np.asarray(masses * (abs(inside) / masses.sum()))
