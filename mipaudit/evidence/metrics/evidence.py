"""What one score shows about the optimum of one metric: every limit, at any error.

One that is linear in the rates is the advantage at another prior, on another scale. PPV, F-beta
and weighted accuracy, whose denominators depend on the guesses, have limits of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.metrics.attack import fixed_metric, held_out_metric
from mipaudit.evidence.scores.assignments import assigned, assigned_among, assigned_blocks
from mipaudit.evidence.scores.evidence import BINS, Evidence
from mipaudit.evidence.scores.rows import PREQUENTIAL
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
from mipaudit.maths.metrics.metric import Metric, OrdinaryForm, at, ordinary_form

if TYPE_CHECKING:
    from mipaudit.evidence.scores.averaged_lower import Averaged
    from mipaudit.model.row import Attackers

_INTERVALS: Final = (1, 4)
_ORDERED: Final[tuple[Attackers, ...]] = ("thresholds", "intervals-1", "intervals-4")


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearEvidence:
    """A metric that is linear in the rates: an advantage at the prior c1 / (c1 + c2).

    Attributes:
        evidence: of the score.
        metric: at the same prior.
        form: what makes it an advantage.
    """

    evidence: Evidence
    metric: Metric
    form: OrdinaryForm

    @property
    def method(self) -> str:
        """Name the method of the lower limit."""
        return self._advantage.held_out.method

    @property
    def class_method(self) -> str:
        """Name the method of the upper limits."""
        if self.evidence.strict:
            return "strict limit of the class supremum, as of an advantage"
        return "largest of each set's own limit, as of an advantage"

    @property
    def selection(self) -> str:
        """Say which rows chose the attackers of the lower limit, and which scored them."""
        return PREQUENTIAL

    @property
    def judged(self) -> tuple[int, int]:
        """Return the rows that they were scored on: holdout, members."""
        return self._advantage.judged

    @property
    def value(self) -> float:
        """Return the held-out estimate."""
        return self._moved(self._advantage.held_out.value)

    @property
    def standard_error(self) -> float:
        """Return the standard error of the value."""
        return self._scale * self._advantage.held_out.standard_error

    def lower(self, alpha: float) -> float:
        """Return the lower limit for any attacker, one-sided alpha."""
        return self._moved(self._advantage.lower(alpha))

    def upper(self, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit for a class, one-sided alpha."""
        upper = self._advantage.upper(attackers, alpha)
        return None if upper is None else self._moved(upper)

    def observed(self, attackers: Attackers) -> tuple[float, int, int]:
        """Return the best observed value of a class, and the rows behind it."""
        if attackers == "any":
            n_holdout, n_members = (int(n) for n in self.evidence.counts.scored.sum(axis=0))
            return self._moved(self._advantage.plugin), n_members, n_holdout
        advantage, n_members, n_holdout = self._advantage.observed(attackers)
        return self._moved(advantage), n_members, n_holdout

    @cached_property
    def _advantage(self) -> Evidence:
        return self.evidence.at_prior(self.form.c1 / (self.form.c1 + self.form.c2))

    @property
    def _scale(self) -> float:
        return (self.form.c1 + self.form.c2) / 2 / self.metric.bottom[0]

    def _moved(self, advantage: float) -> float:
        """Return the metric at which the advantage has a value."""
        shift = 2 * self._advantage.prior - 1
        moved = self.form.c0 / self.metric.bottom[0] + self._scale * (advantage + shift)
        return min(max(moved, self.metric.baseline), self.metric.most)


@dataclass(frozen=True, kw_only=True, eq=False)
class RatioEvidence:
    """A metric whose denominator depends on the guesses.

    Attributes:
        evidence: of the score.
        metric: at the same prior.
    """

    evidence: Evidence
    metric: Metric

    @property
    def method(self) -> str:
        """Name the method of the lower limit."""
        if self.evidence.strict:
            return "one set fixed on the burn-in, box of Clopper-Pearson limits"
        assignments = self._rates.assignments
        return f"prequential, {assignments} assignments averaged, linearised, score limits"

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
        return PREQUENTIAL

    @property
    def judged(self) -> tuple[int, int]:
        """Return the rows that they were scored on: holdout, members."""
        return self._rates.n_holdout, self._rates.n_members

    @property
    def value(self) -> float:
        """Return the held-out estimate; what the rates lack of the floor is guessed."""
        rates = self._rates
        if min(rates.n_members, rates.n_holdout) <= 0:
            return self.metric.baseline
        tpr, fpr, _ = self.metric.lifted(rates.tpr.value, rates.fpr.value)
        return max(self.metric.baseline, self.metric.value(tpr, fpr))

    @property
    def standard_error(self) -> float:
        """Return the standard error of the value by the delta method."""
        rates, metric = self._rates, self.metric
        if min(rates.n_members, rates.n_holdout) <= 0:
            return metric.most - metric.baseline
        c0, c1, c2 = (float(part) for part in metric.linear(self.value))
        tpr, fpr, share = metric.lifted(rates.tpr.value, rates.fpr.value)
        if share > 0:  # the less he reaches himself, the more often the constant guess, at a price
            recall = metric.floor == "recall"
            price = max(-(c0 + c1 - c2) if recall else -c0, 0.0) / (1 - metric.least)
            c1, c2 = (c1 + price, c2) if recall else (c1, c2 + price)
            c1, c2 = (1 - share) * c1, (1 - share) * c2
        bottom = at(metric.bottom, tpr, fpr)
        spread = c1**2 * rates.tpr.cautious + c2**2 * rates.fpr.cautious
        return float(np.sqrt(spread) / bottom) if bottom > 0 else metric.most - metric.baseline

    def lower(self, alpha: float) -> float:
        """Return the lower limit for any attacker, one-sided alpha."""
        rates = self._rates
        if self.evidence.strict:
            sizes = rates.n_members, rates.n_holdout
            return metric_lower_strict(self.metric, rates.tpr.value, rates.fpr.value, *sizes, alpha)
        return metric_lower(self.metric, rates.tpr, rates.fpr, alpha)

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
    def _rates(self) -> Averaged:
        counts = self.evidence.counts
        if self.evidence.strict:
            return fixed_metric(counts.blocks, counts.burn_in, self.metric)
        if self.evidence.vectorial:  # what was fitted on the burn-in is not judged on it
            (run,) = assigned_among([counts.blocks], counts.burn_in)
        elif counts.ranked is None:
            run = assigned_blocks(counts.blocks, counts.burn_in)
        else:
            run = assigned(counts.ranked, self.metric.prior)
        return held_out_metric(run, self.metric)

    def _class(self, attackers: Attackers) -> MetricClass:
        if attackers == "any" or (attackers == "bins-16" and self.evidence.few_values):
            return self._values
        return self._bins if attackers == "bins-16" else self._ordered[attackers]

    @cached_property
    def _ordered(self) -> dict[Attackers, MetricClass]:
        """Thresholds, one interval, and up to four, on all rows."""
        ladder = coarsened(self.evidence.counts.everyone)

        @cache
        def suprema(prior: float) -> tuple[float, ...]:
            return best_ordered(ladder, prior, _INTERVALS)

        listed: dict[Attackers, NDArray[np.float64] | None] = dict.fromkeys(_ORDERED)
        if self.metric.floor is not None:
            listed |= {"thresholds": threshold_rates(ladder), "intervals-1": interval_rates(ladder)}
        return {
            attackers: MetricClass(
                advantage=partial(_at_place, suprema, place),
                n_members=ladder.n_members,
                n_holdout=ladder.n_holdout,
                rates=rates,
            )
            for place, (attackers, rates) in enumerate(listed.items())
        }

    @cached_property
    def _values(self) -> MetricClass:
        """Any set of values of a discrete score, on all rows."""
        ladder = self.evidence.counts.everyone
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


MetricEvidence: TypeAlias = LinearEvidence | RatioEvidence


def metric_evidence(evidence: Evidence, metric: Metric) -> MetricEvidence:
    """Return the evidence about a metric.

    A metric whose denominator does not depend on the guesses is the advantage at another
    prior, on another scale; it has that advantage's limits.
    """
    form = ordinary_form(metric, 0.0)
    constant = metric.bottom[1] == metric.bottom[2] == 0
    if constant and form is not None and min(form.c1, form.c2) > 0:
        return LinearEvidence(evidence=evidence, metric=metric, form=form)
    return RatioEvidence(evidence=evidence, metric=metric)
