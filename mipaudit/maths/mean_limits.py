"""Limits of means and of weighted sums of proportions, valid at every sample size.

Of the mean of independent numbers in [0, 1], by bets against a mean m with constant stakes
(Waudby-Smith and Ramdas 2024): with
K(m) = average over stakes s of product over i of (1 + s (m - X_i)), E K(m) <= 1 where the
mean is at least m, so that K(m) >= 1/alpha states at confidence 1 - alpha that the mean is
below m (Markov). The stakes do not depend on m, so K grows with m and one bisection finds
the limit; they are fixed by the number of terms, before any is seen.

Of a weighted sum of independent proportions, of any sizes and rates: each has a confidence
distribution, a beta one whose quantiles are the Clopper-Pearson limits; the limit is a quantile
of the weighted sum of draws from them (melded confidence limits: Fay, Proschan and Brittain 2015,
Biometrics 71:146). By enumeration its error is below the nominal one also where rates are near 0
or 1 and the error is small, where square roots of squared distances are far above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from mipaudit.maths.arrays import Floats, Ints, Places

# Terms are rounded up to this many steps: every factor of K falls as a term grows, so
# that rounding can only widen the limit, by a step at most.
_STEPS: Final = 1 << 13
# How close the bisection comes, from above: far below a step.
_CLOSE: Final = 1e-10
_LEAST_VARIANCE: Final = 0.25
# Steps of a sum of terms, and the size of its transforms: a step more for each term.
_SUM_STEPS: Final = 1000
_SIZE: Final = 1024
# Of Gauss and Legendre, on [-1, 1], and the steps in the range of a term from which on they
# are exact to 9 digits.
_NODES: Final = np.array([-math.sqrt(0.6), 0.0, math.sqrt(0.6)])
_WEIGHTS: Final = np.array([5.0, 8.0, 5.0]) / 9
_SHORT: Final = 1 << 6
_SUMS_AT_ONCE: Final = 32
# Steps that a limit is moved outward: more than the most that was found to be missing in 1,500
# sums, with what the finer grid that they were compared with may lack itself.
_OUTWARD: Final = 0.35
# What lies beyond the range of each term, as a share of the error; it is taken off.
_TAIL: Final = 1e-4
_TINY: Final = 1e-300


def mean_upper(terms: Floats, alpha: float) -> float:
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


def mean_lower(terms: Floats, alpha: float) -> float:
    """Return a lower limit of the mean of independent terms in [0, 1], one-sided alpha."""
    return 1.0 - mean_upper(1.0 - terms, alpha)


def stakes(count: int, alpha: float) -> Floats:
    """Return the stakes, from 1 down by halves to what suits the largest variance.

    The best stake is about sqrt(2 ln(1/alpha) / (n variance)).
    """
    least = min(1.0, math.sqrt(2 * math.log(1 / alpha) / (count * _LEAST_VARIANCE)))
    halvings = math.ceil(math.log2(1 / least))
    return np.asarray(0.5 ** np.arange(halvings + 1.0))


def _upper(values: Floats, counts: Ints, alpha: float) -> float:
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
    return melded_lowers([terms], alpha)[0]


def melded_lowers(sums: Sequence[Sequence[Term]], alpha: float) -> list[float]:
    """Return the lower limits of many sums of as many terms, each as if it were alone."""
    table = np.array([[(t.weight, t.successes, t.trials) for t in terms] for terms in sums])
    parts = (table[at : at + _SUMS_AT_ONCE] for at in range(0, len(table), _SUMS_AT_ONCE))
    return [limit for part in parts for limit in _lowers(part, alpha)]


def _lowers(table: Floats, alpha: float) -> list[float]:
    """Return the limits of sums whose weights, successes and trials are (..., terms, 3).

    What falls into a step counts at one place, so that the mean of each term is its own, and
    is even in the step where the error is reached.
    """
    tail = alpha * _TAIL
    spans = _Spans.of(table, tail)
    step = np.maximum(spans.width.sum(axis=1, keepdims=True), _TINY) / _SUM_STEPS
    counts = np.ceil(spans.width / step - 1e-9).astype(np.intp)
    first = (spans.start + spans.stop - counts * step) / 2
    spectrum = np.ones((len(table), _SIZE // 2 + 1), dtype=np.complex128)
    low = np.zeros(len(table))
    for term in range(table.shape[1]):
        masses = spans.masses(term, first[:, term], step[:, 0], counts[:, term])
        spectrum *= np.fft.rfft(masses)
        low += spans.mean(term) - step[:, 0] * (masses * np.arange(_SIZE)).sum(axis=1)
    found = np.maximum(np.fft.irfft(spectrum, _SIZE), 0.0)
    cumulated = np.cumsum(found, axis=1)
    wanted = alpha - 2 * tail * table.shape[1]
    at = (cumulated >= wanted).argmax(axis=1)
    every = np.arange(len(table))
    last = found[every, at]
    within = at - 0.5 - _OUTWARD + (wanted - cumulated[every, at] + last) / last
    # Where nothing is spread the sum is certain.
    limits: list[float] = (low + step[:, 0] * np.where(counts.any(axis=1), within, 0.0)).tolist()
    return limits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Spans:
    """Beta distributions of terms, and between which values each lies but for a tail.

    They are of the terms' lower limits, or of upper ones where a term counts down.

    Attributes:
        weight: shape (m, terms), as all of these.
        shapes: of the beta distributions, at least 1 where the term is not certain.
        start: the range of weight times proportion.
        stop: its end; the start where the term is certain.
    """

    weight: Floats
    shapes: tuple[Floats, Floats]
    start: Floats
    stop: Floats

    @classmethod
    def of(cls, table: Floats, tail: float) -> Self:
        """Return those of terms whose weights, successes and trials are (m, terms, 3)."""
        from scipy.special import betaincinv

        weight, successes, trials = np.moveaxis(table, -1, 0)
        up = weight > 0
        first = np.where(up, successes, successes + 1)
        second = np.where(up, trials - successes + 1, trials - successes)
        certain = (first == 0) | (second == 0)
        ends = [
            weight * np.where(certain, first > 0, betaincinv(first, second, share))
            for share in (tail, 1 - tail)
        ]
        return cls(
            weight=weight, shapes=(first, second), start=np.minimum(*ends), stop=np.maximum(*ends)
        )

    @property
    def width(self) -> Floats:
        """Return the widths of the ranges."""
        return self.stop - self.start

    def mean(self, term: int) -> Floats:
        """Return the means of a term of every sum, shape (m,)."""
        first, second = (one[:, term] for one in self.shapes)
        return np.asarray(self.weight[:, term] * first / (first + second))

    def masses(self, term: int, first: Floats, step: Floats, counts: Places) -> Floats:
        """Return the probability of each step of a term of every sum, shape (m, `_SIZE`).

        Where steps are many they are short beside the spread, and Gauss quadrature of the
        density, both shapes of which are at least 1, gives each difference of the
        distribution function for less than it costs.

        Args:
            term: which of them.
            first: where the first step begins, shape (m,).
            step: shape (m,).
            counts: of the steps, shape (m,); 0 for a certain term.
        """
        # As long whatever the other sums are: its sum is then the same to the last bit.
        found = np.zeros((len(counts), _SIZE))
        found[counts == 0, 0] = 1.0
        most = int(counts.max())
        start, stop, weight = (one[:, term, None] for one in (self.start, self.stop, self.weight))
        edges = first[:, None] + step[:, None] * np.arange(most + 1)
        edges = np.clip(np.clip(edges, start, stop) / weight, 0.0, 1.0)
        shapes = [one[:, term, None] for one in self.shapes]
        few = (counts > 0) & (counts < _SHORT)
        for chosen, by in ((few, _differences), (counts >= _SHORT, _quadrature)):
            if chosen.any():
                found[chosen, :most] = by(edges[chosen], *(one[chosen] for one in shapes))
        found /= found.sum(axis=1, keepdims=True)
        return found


def _differences(edges: Floats, first: Floats, second: Floats) -> Floats:
    """Return what beta distributions have between neighbouring edges, shape (m, steps)."""
    from scipy.special import betainc

    return np.asarray(np.abs(np.diff(betainc(first, second, edges))))


def _quadrature(edges: Floats, first: Floats, second: Floats) -> Floats:
    """Return the same but for a factor of each row."""
    from scipy.special import xlog1py, xlogy

    middle, half = (edges[:, 1:] + edges[:, :-1]) / 2, np.diff(edges) / 2
    nodes = middle + half * _NODES[:, None, None]
    logs = xlogy(first - 1, nodes) + xlog1py(second - 1, -nodes)
    logs -= logs.max(axis=(0, 2), keepdims=True)
    nodes = np.exp(logs, out=logs) * _WEIGHTS[:, None, None]
    return np.asarray((nodes[0] + nodes[1] + nodes[2]) * np.abs(half))
