"""Held-out guesses of attackers who learn to do well in a metric.

As for the advantage (`evidence.scores.prequential_sets`), sets are fitted on the past and scored on
the next block, and both classes are averaged over the same sets with the same weights. What
differs is what they aim at: where P(member | score) is above the threshold that is best
for the metric at the level reached so far. Whatever they aim at, the limit holds.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.scores.prequential_sets import (
    HeldOut,
    burn_in_halves,
    evaluation_blocks,
    fit,
    pool,
)
from mipaudit.maths.metrics.metric import Metric, ordinary_form

_MEMBER, _HOLDOUT = 1, 0
_BURNED: Final = 2  # after the two halves of the burn-in: all of it
_LEVELS: Final = 129
_SURE_ENOUGH: Final = 1.0
_FLOOR_DEVIATE: Final = 2.5
_SMALLEST: Final = 1e-6
# A metric with a floor is best near the floor, wherever that is: all thresholds are tried,
# and stay as they are, so that what an attacker has shown is true of his next set too.
_GRID: Final = np.arange(-8.0, 0.25, 0.25)


class _Record:
    """What each kind of attacker has shown so far: weighted sums over scored tables."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self._rates: NDArray[np.float64] = np.zeros((0, 2))
        self._weight = 0.0
        self._squares = np.zeros(2)

    def score(self, sets: NDArray[np.bool_], table: NDArray[np.int64], level: float) -> None:
        """Score the sets of all attackers, shape (E, K), on a table of shape (K, 2)."""
        totals = table.sum(axis=0)
        if not totals.all():
            return  # a block without one class says nothing of both
        # Not a matrix product: BLAS would start threads, which cost more than the sums.
        hits = np.einsum("ek,ks->es", sets.astype(np.float32), table.astype(np.float32))
        weight = _weight(totals, self.metric, level)
        rates = weight * np.minimum(hits / totals, 1.0)
        self._rates = rates if not self._rates.size else self._rates + rates
        self._weight += weight
        self._squares += weight * weight / totals

    def best(self) -> tuple[int, float]:
        """Return the attacker to trust next, and the metric that he has shown.

        The one whose metric is largest when taken a standard error low; with a floor,
        among those who surely keep it.
        """
        if not self._weight:
            return 0, self.metric.baseline
        rates = self._rates / self._weight
        sizes = self._weight**2 / self._squares
        spread = (rates * sizes + 0.5) * ((1 - rates) * sizes + 0.5) / (sizes + 1) ** 3
        error = np.sqrt(spread)
        tpr, fpr = rates[:, _MEMBER], rates[:, _HOLDOUT]
        levels = np.linspace(self.metric.baseline, self.metric.most, _LEVELS)
        c0, c1, c2 = self.metric.linear(levels[:, None])
        gains = c0 + c1 * tpr - c2 * fpr
        slack = np.hypot(c1 * error[:, _MEMBER], c2 * error[:, _HOLDOUT])
        shown = np.where(gains - _SURE_ENOUGH * slack > 0, levels[:, None], levels[0])
        sure = shown.max(axis=0) + 1e-6 * gains[0]  # the baseline's gain breaks ties
        sure[~self._keeps_floor(rates, error)] = -np.inf
        index = int(sure.argmax())
        value = self.metric.value(float(tpr[index]), float(fpr[index]))
        return index, min(max(value, self.metric.baseline), self.metric.most)

    def _keeps_floor(
        self, rates: NDArray[np.float64], error: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        least = self.metric.least
        match self.metric.floor:
            case "recall":
                reached = rates[:, _MEMBER] - _FLOOR_DEVIATE * error[:, _MEMBER] >= least
                return np.asarray(reached | (rates[:, _MEMBER] >= 1))
            case "specificity":
                reached = 1 - rates[:, _HOLDOUT] - _FLOOR_DEVIATE * error[:, _HOLDOUT] >= least
                return np.asarray(reached | (rates[:, _HOLDOUT] <= 0))
            case None:
                return np.ones(len(rates), dtype=bool)


def held_out_metric(
    blocks: NDArray[np.int64], burn_in: int, metric: Metric, *, fixed: bool = False
) -> HeldOut:
    """Return the held-out rates of the attacker that had done best in the metric so far.

    Args:
        blocks: int64, shape (64, K, 2), by micro-block, cell and (holdout, member).
        burn_in: micro-blocks that only train.
        metric: what the attackers maximise.
        fixed: choose one set on the burn-in and score it on all other rows.
    """
    halves = burn_in_halves(blocks, burn_in)
    burned = halves[0] + halves[1]
    later = evaluation_blocks(blocks, burn_in)
    trained = np.concatenate([halves, burned + np.cumsum(later, axis=0) - later])
    school = _School(metric, trained, burned.sum(axis=1) / max(1, int(burned.sum())))
    level = metric.baseline
    record = _Record(metric)
    for _ in range(2):  # the second time at the level that the first one found
        record = _Record(metric)
        for half in (0, 1):
            record.score(school.sets(half, level), halves[1 - half], level)
        _, level = record.best()
    if not fixed:
        return _follow(later, school, record)
    best, level = record.best()
    chosen = school.sets(_BURNED, level)[best]
    return _pooled([(chosen, blocks[burn_in:].sum(axis=0))], metric, level)


def _follow(later: NDArray[np.int64], school: _School, record: _Record) -> HeldOut:
    """Score each block by the attacker that leads before it, then learn from it."""
    _, first_level = record.best()
    scored: list[tuple[NDArray[np.bool_], NDArray[np.int64]]] = []
    for index, block in enumerate(later, start=_BURNED):
        best, level = record.best()
        sets = school.sets(index, level)
        scored.append((sets[best], block))
        record.score(sets, block, first_level)
    return _pooled(scored, record.metric, first_level)


class _School:
    """Fits every kind of attacker to the training tables."""

    def __init__(
        self, metric: Metric, trained: NDArray[np.int64], mass: NDArray[np.float64]
    ) -> None:
        self._metric = metric
        self._trained = trained
        self._mass = mass

    def sets(self, table: int, level: float) -> NDArray[np.bool_]:
        """Return the sets of all attackers fitted on one table, shape (E, K)."""
        if self._metric.floor is not None:
            return np.asarray(self._on_grid[table])
        prior, swapped = aimed_prior(self._metric, level)
        fitted = fit(self._trained[table : table + 1], self._mass, prior)
        sets = _with_constants(fitted)[0]
        return np.asarray(~sets if swapped else sets)

    @cached_property
    def _on_grid(self) -> NDArray[np.bool_]:
        """Every threshold of the grid on every table, shape (B, E, K)."""
        prior, swapped = aimed_prior(self._metric, self._metric.baseline)
        grid = _GRID if self._metric.floor == "recall" else -_GRID
        fitted = [fit(self._trained, self._mass, _shifted(prior, shift)) for shift in grid]
        sets = _with_constants(np.concatenate(fitted, axis=1))
        return np.asarray(~sets if swapped else sets)


def _with_constants(sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    constant = np.zeros((len(sets), 2, sets.shape[2]), dtype=bool)
    constant[:, 1] = True
    return np.concatenate([constant, sets], axis=1)


def aimed_prior(metric: Metric, level: float) -> tuple[float, bool]:
    """Return the prior at which the best guesses are those for the metric at this level.

    Returns:
        The prior, kept off 0 and 1, and whether the guesses are to be swapped.
    """
    form = ordinary_form(metric, level)
    if form is None:
        _, c1, _ = metric.linear(level)
        return (1 - _SMALLEST if c1 > 0 else _SMALLEST), False
    return min(max(form.prior, _SMALLEST), 1 - _SMALLEST), form.swapped


def _shifted(prior: float, shift: float) -> float:
    odds = prior / (1 - prior) * np.exp(shift)
    return float(min(max(odds / (1 + odds), _SMALLEST), 1 - _SMALLEST))


def _weight(totals: NDArray[np.int64], metric: Metric, level: float) -> float:
    """Return the precision of a table at a level fixed on the burn-in; common to both classes."""
    prior, _ = aimed_prior(metric, level)
    return float(1 / (prior**2 / totals[_MEMBER] + (1 - prior) ** 2 / totals[_HOLDOUT]))


def _pooled(
    scored: list[tuple[NDArray[np.bool_], NDArray[np.int64]]], metric: Metric, level: float
) -> HeldOut:
    kept = [(chosen, table, table.sum(axis=0)) for chosen, table in scored]
    kept = [one for one in kept if one[2].all()]
    totals = np.array([totals for *_, totals in kept])
    hits = np.array([table[chosen].sum(axis=0, dtype=float) for chosen, table, _ in kept])
    weights = np.array([_weight(one, metric, level) for *_, one in kept])
    return pool(hits, totals, aimed_prior(metric, level)[0], weights)
