"""Numbers released over random training sets, for ``noise``: every moment is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.scenarios.scenario import RecordScenario, Titled
from mipaudit.validation.truth import Kind, Truth

SPLIT: Final = "split"
RELEASE: Final = "release"
_SPLITS: Final = 256  # drawn unless somebody says otherwise
# Random numbers held at once while halves are drawn.
_KEYS: Final = 1 << 22
# Standard deviations beyond which the characteristic function of a mean is nothing.
_CUTOFF: Final = 10.0
_NODES: Final = 160
# Where the product of cosines has fallen below e^-40.
_FALLEN: Final = 320.0


# What `noise` has to know of one released number, over all random halves: its mean distance from
# the median, its standard deviation, and of exchanges of one record for another the largest move,
# the mean move of the record for which that is largest, and the mean move of all.
_TRUE: Final = ("sigma_1", "sigma_2", "sensitivity", "swap_distance", "swap_distance_average")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitScenario(Titled):
    """A deterministic algorithm, run on random halves of fixed records: rows are splits.

    Attributes:
        draw: takes random numbers and how many splits, and returns what is released over
            independent random halves, shape (splits,).
        moments: returns what is true over all halves, exact to nine digits or more, and the
            ``median`` and the ``mean`` of what is released.
        splits_per_chunk: how many may be drawn at once without taking much memory.
    """

    draw: Callable[[np.random.Generator, int], NDArray[np.float64]]
    moments: Callable[[], dict[str, float]]
    splits_per_chunk: int = 1 << 20

    @property
    def kind(self) -> Kind:
        """Rows are splits."""
        return "splits"

    @property
    def columns(self) -> tuple[str, ...]:
        """The number of the split, and what was released."""
        return (SPLIT, RELEASE)

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many splits are drawn."""
        return {"splits": _SPLITS}

    def truths(self, prior: float) -> tuple[Truth, ...]:
        """Return the moments; the prior has no meaning here."""
        del prior
        known = self.moments()
        return tuple(
            Truth(quantity=name, value=float(f"{known[name]:.9g}"), sees=RELEASE) for name in _TRUE
        )


# Something that can be simulated.
Scenario = RecordScenario | SplitScenario


def nearly_cancelling(records: int) -> SplitScenario:
    """Return 1 / sum, on records of which one half nearly cancels (Izzo et al., Proposition 9).

    That half's release is sqrt(C(n, n/2)), every other is small: the second moment is 1 and
    the first next to nothing. The construction is ours (mipaudit help methods, section 28.7).
    The moments are had by going through every half.

    Args:
        records: n, even.
    """

    def draw(rng: np.random.Generator, splits: int) -> NDArray[np.float64]:
        _, outputs = _every_half(records)
        return outputs[rng.integers(len(outputs), size=splits)]

    def moments() -> dict[str, float]:
        halves, outputs = _every_half(records)
        moves = _swap_moves(records, halves, outputs)
        return {
            "sigma_1": float(np.abs(outputs - np.median(outputs)).mean()),
            "sigma_2": float(outputs.std()),
            "sensitivity": float(moves[1].max()),
            "swap_distance": float(moves[0].max()),
            "swap_distance_average": float(moves[0].mean()),
            "median": float(np.median(outputs)),
            "mean": float(outputs.mean()),
        }

    return SplitScenario(draw=draw, moments=moments)


@lru_cache(maxsize=4)
def _every_half(records: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return every half, as a number with a bit for each record in it, and what it releases."""
    half = records // 2
    chosen = np.array(list(combinations(range(records), half)))
    bits = (np.int64(1) << chosen).sum(axis=1)
    # The last record cancels the first ones, but for a little.
    little = 1 / math.sqrt(math.comb(records, half))
    values = np.exp2(np.arange(1, records + 1))
    values[-1] = 0.0
    last = -values[: half - 1].sum() + little
    order = np.argsort(bits)
    sums = values[chosen].sum(axis=1) + last * (chosen[:, -1] == records - 1)
    return bits[order], (1 / sums)[order]


def _swap_moves(
    records: int, halves: NDArray[np.int64], outputs: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each record's mean and largest move when it is exchanged."""
    mean, largest = np.zeros(records), np.zeros(records)
    for left in range(records):
        for came in range(records):
            rows = ((halves >> left) & 1 == 1) & ((halves >> came) & 1 == 0)
            swapped = halves[rows] ^ (1 << left) ^ (1 << came)
            moves = np.abs(outputs[np.searchsorted(halves, swapped)] - outputs[rows])
            if moves.size:
                mean[left] += moves.mean() / (records - 1)
                largest[left] = max(largest[left], moves.max())
    return mean, largest


def half_mean(records: int) -> SplitScenario:
    """Return the mean of a random half of records at the quantiles of N(0, 1).

    Args:
        records: n, even.
    """
    half = records // 2

    def draw(rng: np.random.Generator, splits: int) -> NDArray[np.float64]:
        keys = rng.random((splits, records))
        chosen = np.argpartition(keys, half, axis=1)[:, :half]
        return np.asarray(quantiles(records)[chosen].mean(axis=1))

    def moments() -> dict[str, float]:
        values = quantiles(records)
        # Sampling without replacement, half of a finite population; only the first moment needs
        # an integral.
        sigma_2 = math.sqrt(float(values.var(ddof=1)) / half / 2)
        gaps = np.abs(values[:, None] - values).sum(axis=1) / (records - 1) / half
        return {
            "sigma_1": _mean_absolute(values / half, sigma_2),
            "sigma_2": sigma_2,
            "sensitivity": float(np.ptp(values)) / half,
            "swap_distance": float(gaps.max()),
            "swap_distance_average": float(gaps.mean()),
            "median": 0.0,
            "mean": 0.0,
        }

    return SplitScenario(draw=draw, moments=moments, splits_per_chunk=max(1, _KEYS // records))


def quantiles(records: int) -> NDArray[np.float64]:
    """Return the records: the quantiles (i - 1/2)/n of N(0, 1)."""
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(records) + 0.5) / records))


def _mean_absolute(values: NDArray[np.float64], sd: float) -> float:
    """Return E|sum of a random half| of values that are symmetric about 0.

    E|X| = (2/pi) times the integral of (1 - phi(t)) / t^2, with phi the characteristic
    function of X; beyond the cutoff phi is nothing, which leaves 1/cutoff.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    end = _CUTOFF / sd
    t = (nodes + 1) / 2 * end
    inside = float(weights @ ((1 - _characteristic(values, t)) / t**2)) / 2 * end
    return 2 / math.pi * (inside + 1 / end)


def _characteristic(values: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return E cos(t X): the coefficient of z^(n/2) in the product of 1 + z e^(i t v).

    On the unit circle z = e^(i a) that product is, up to factors that cancel, the product
    of 2 cos((a + t v) / 2); the trapezoidal rule with more than n points is exact.
    """
    count = len(values)
    points = 2 * count + 2
    angles = 2 * math.pi / points * np.arange(-count, count + 2)
    angles = angles[np.abs(angles) <= math.sqrt(_FALLEN / count)]
    total = np.zeros(len(t))
    for angle in angles:
        total += np.cos((angle + t[:, None] * values) / 2).prod(axis=1)
    at_zero = (np.cos(angles / 2) ** count).sum()
    return np.asarray(total / at_zero)
