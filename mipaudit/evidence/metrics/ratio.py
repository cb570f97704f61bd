"""A metric whose denominator depends on the guesses: PPV, F-beta, weighted accuracy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.evidence.metrics.attack import held_out_metric
from mipaudit.evidence.metrics.evidence import MetricEvidence
from mipaudit.evidence.scores.evidence import BINS
from mipaudit.maths.class_limits.best_attackers import best_ordered, best_sets
from mipaudit.maths.metrics.best_of_class import (
    MetricClass,
    coarsened,
    interval_rates,
    set_rates,
    threshold_rates,
)
from mipaudit.maths.metrics.limits import (
    metric_lower,
    metric_lower_strict,
    metric_upper,
    observed_metric,
)
from mipaudit.maths.metrics.metric import at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mipaudit.evidence.metrics.attack import MetricRates
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.maths.metrics.metric import Metric
    from mipaudit.statements.estimate import Attackers

_INTERVALS: Final = (1, 4)
_PLACE: Final[Mapping[Attackers, int]] = MappingProxyType(
    {"thresholds": 0, "intervals-1": 1, "intervals-4": 2}
)


@dataclass(frozen=True, kw_only=True, eq=False)
class RatioEvidence(MetricEvidence):
    """A metric whose denominator depends on the guesses."""

    evidence: Evidence
    metric: Metric

    @property
    def method(self) -> str:
        """Name the method of the lower limit."""
        if self.evidence.strict:
            return "one set fixed on the burn-in, box of Clopper-Pearson limits"
        return "prequential, linearised, with MOVER"

    @property
    def class_method(self) -> str:
        """Name the method of the upper limits."""
        limit = "Hoeffding" if self.evidence.strict else "oracle"
        return f"{limit} limit of the class supremum, linearised"

    @property
    def selection(self) -> str:
        """Say which rows chose the attackers of the lower limit, and which scored them."""
        if self.evidence.strict:
            return "one set fitted and chosen on the burn-in, scored on the other rows"
        return "attackers fitted on the burn-in and on earlier blocks, scored on later ones"

    @property
    def value(self) -> float:
        """Return the held-out estimate; what the rates lack of the floor is guessed."""
        rates = self._rates
        if min(rates.n_members, rates.n_holdout) <= 0:
            return self.metric.baseline
        tpr, fpr, _ = self.metric.lifted(rates.tpr, rates.fpr)
        return max(self.metric.baseline, self.metric.value(tpr, fpr))

    @property
    def standard_error(self) -> float:
        """Return the standard error of the value by the delta method."""
        rates, metric = self._rates, self.metric
        if min(rates.n_members, rates.n_holdout) <= 0:
            return metric.most - metric.baseline
        c0, c1, c2 = (float(part) for part in metric.linear(self.value))
        tpr, fpr, share = metric.lifted(rates.tpr, rates.fpr)
        if share > 0:  # the less he reaches himself, the more often the constant guess, at a price
            recall = metric.floor == "recall"
            price = max(-(c0 + c1 - c2) if recall else -c0, 0.0) / (1 - metric.least)
            c1, c2 = (c1 + price, c2) if recall else (c1, c2 + price)
            c1, c2 = (1 - share) * c1, (1 - share) * c2
        bottom = at(metric.bottom, tpr, fpr)
        spread = sum(
            slope**2 * (n * rate + 0.5) * (n * (1 - rate) + 0.5) / (n + 1) ** 3
            for slope, rate, n in (
                (c1, rates.tpr, rates.n_members),
                (c2, rates.fpr, rates.n_holdout),
            )
        )
        return float(np.sqrt(spread) / bottom) if bottom > 0 else metric.most - metric.baseline

    def lower(self, alpha: float) -> float:
        """Return the lower limit for any attacker, one-sided alpha."""
        rates = self._rates
        if self.evidence.strict:
            sizes = round(rates.n_members), round(rates.n_holdout)
            return metric_lower_strict(self.metric, rates.tpr, rates.fpr, *sizes, alpha)
        return metric_lower(
            self.metric, rates.tpr, rates.fpr, rates.n_members, rates.n_holdout, alpha
        )

    def upper(self, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit for a class, one-sided alpha."""
        part, own = self.evidence.asked(attackers)
        if part is not self.evidence:
            return None if part is None else replace(self, evidence=part).upper(own, alpha)
        if attackers == "any" and not self.evidence.discrete:
            return None
        if attackers == "bins-16" and not self.evidence.divisible:
            return None
        of_class = self._class(attackers)
        return metric_upper(self.metric, of_class, alpha, strict=self.evidence.strict)

    def observed(self, attackers: Attackers) -> tuple[float, int, int]:
        """Return the best observed value of a class, and the rows behind it."""
        part, own = self.evidence.asked(attackers)
        if attackers != "any" and part is not None and part is not self.evidence:
            return replace(self, evidence=part).observed(own)
        of_class = self._cells if attackers == "any" else self._class(attackers)
        value = observed_metric(self.metric, of_class)
        return value, of_class.n_members, of_class.n_holdout

    @cached_property
    def _rates(self) -> MetricRates:
        counts = self.evidence.counts
        return held_out_metric(
            counts.blocks, counts.burn_in, self.metric, fixed=self.evidence.strict
        )

    def _class(self, attackers: Attackers) -> MetricClass:
        if attackers == "any":
            return self._values
        return self._bins if attackers == "bins-16" else self._ordered[_PLACE[attackers]]

    @cached_property
    def _ordered(self) -> tuple[MetricClass, ...]:
        """Thresholds, one interval, and up to four, on all rows."""
        ladder = coarsened(self.evidence.counts.everyone)
        known: dict[float, tuple[float, ...]] = {}

        def suprema(prior: float) -> tuple[float, ...]:
            if prior not in known:
                known[prior] = best_ordered(ladder, prior, _INTERVALS)
            return known[prior]

        listed: tuple[NDArray[np.float64] | None, ...] = (None, None, None)
        if self.metric.floor is not None:
            listed = (threshold_rates(ladder), interval_rates(ladder), None)
        return tuple(
            MetricClass(
                advantage=partial(_at_place, suprema, place),
                n_members=ladder.n_members,
                n_holdout=ladder.n_holdout,
                rates=rates,
            )
            for place, rates in enumerate(listed)
        )

    @cached_property
    def _values(self) -> MetricClass:
        """Any set of values of a discrete score, on the rows outside the burn-in."""
        ladder = self.evidence.counts.evaluated
        return MetricClass(
            advantage=lambda prior: best_sets(ladder, prior),
            rates=set_rates(np.stack([ladder.holdout, ladder.members], axis=1))
            if ladder.exact
            else None,
            n_members=ladder.n_members,
            n_holdout=ladder.n_holdout,
        )

    @cached_property
    def _bins(self) -> MetricClass:
        starts = np.append(0, self.evidence.bin_ends(BINS) + 1)
        return _sets(np.add.reduceat(self.evidence.counts.scored, starts, axis=0))

    @cached_property
    def _cells(self) -> MetricClass:
        """Any set of the burn-in's cells: for the same-data optimum only."""
        return _sets(self.evidence.counts.scored)


def _at_place(suprema: Callable[[float], tuple[float, ...]], place: int, prior: float) -> float:
    return suprema(prior)[place]


def _sets(table: NDArray[np.int64]) -> MetricClass:
    """Return the class of all sets of rows of a (K, 2) table."""
    sizes = table.sum(axis=0)
    share = table / np.maximum(sizes, 1)
    return MetricClass(
        advantage=lambda prior: float(
            np.abs(prior * share[:, 1] - (1 - prior) * share[:, 0]).sum()
        ),
        n_members=int(sizes[1]),
        n_holdout=int(sizes[0]),
        rates=set_rates(table),
    )
