"""What one score shows about the optimum of one metric: every limit, at any error.

One that is linear in the rates is the advantage at another prior, on another scale. PPV, F-beta
and weighted accuracy, whose denominators depend on the guesses, have limits of their own.

Their attackers learn to do well in the metric. As for the advantage
(`evidence.scores.averaged_lower`), they are fitted on the past and judged on the next block, and
the mean over many assignments of the rows counts. What differs is what they aim at, and who is
chosen: the one that has shown most of the metric. Whatever they aim at, the limit holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import islice, product
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from mipaudit.evidence.scores.assignments import (
    HOLDOUT,
    MEMBER,
    Assigned,
    assigned,
    assigned_among,
    assigned_blocks,
    in_one_order,
)
from mipaudit.evidence.scores.attacker_choice import CONSTANTS, followed
from mipaudit.evidence.scores.attacker_families import Family, Lessons, families
from mipaudit.evidence.scores.averaged_lower import Averaged, shares_of
from mipaudit.evidence.scores.evidence import Evidence, bins_of
from mipaudit.evidence.scores.rows import PREQUENTIAL
from mipaudit.maths.arrays import Floats, Ints, Places
from mipaudit.maths.binomial import MeanRate
from mipaudit.maths.class_limits.class_sets import best_ordered, best_sets
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
    from mipaudit.model.row import Attackers

# Standard errors by which each rate is worse when an attacker is chosen: without, and with a floor,
# near which a rate is of few rows.
_CAUTION: Final = (1.0, 1.5)
# Where the levels that are aimed at lie, from the baseline to the largest value: most are low.
_LEVELS: Final = np.linspace(0, 1, 6) ** 2
# A metric with a floor is best near the floor, wherever that is: log-odds beside those of the
# prior that is aimed at without it.
_SHIFTS: Final = np.array([0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0])
_SMALLEST: Final = 1e-6


def held_out_metric(run: Assigned, metric: Metric) -> Averaged:
    """Return the mean held-out rates of the attackers that had done best in the metric so far.

    Args:
        run: the rows in all their assignments.
        metric: what the attackers maximise.
    """
    (shares,) = shares_of([run], metric.prior, learn=partial(_chosen, metric))
    judged = shares.counted > 0
    guessed = np.divide(shares.added[0], shares.counted, out=np.zeros(judged.size), where=judged)
    times = run.times * judged
    members, holdout = (
        (float(times @ (guessed * side)), float(times @ side)) for side in (run.member, ~run.member)
    )
    return _averaged(metric, len(run.counts), members, holdout)


def fixed_metric(blocks: Ints, burn_in: int, metric: Metric) -> Averaged:
    """Return the rates, on all other rows, of one set that was chosen on the burn-in.

    Args:
        blocks: int64, shape (64, K, 2), by micro-block, cell and (holdout, member).
        burn_in: micro-blocks that only train.
        metric: what the attackers maximise.
    """
    counts = in_one_order(blocks, burn_in)
    lessons = Lessons(counts=counts, prior=metric.prior, even=False, among="any")
    first = _chosen(metric, lessons, np.zeros(1))[1][0, 0, : blocks.shape[1]]
    later = blocks[burn_in:].sum(axis=0)
    sizes, hits = later.sum(axis=0).tolist(), later[first > 0].sum(axis=0).tolist()
    return _averaged(metric, 1, (hits[MEMBER], sizes[MEMBER]), (hits[HOLDOUT], sizes[HOLDOUT]))


def _averaged(
    metric: Metric, assignments: int, members: tuple[float, float], holdout: tuple[float, float]
) -> Averaged:
    """Return the rates of those guessed to be members among the rows of each class."""
    rates = (min(hits / n, 1.0) if n else 0.0 for hits, n in (members, holdout))
    each = (1 / n if n else 0.0 for _, n in (members, holdout))
    tpr, fpr = (
        MeanRate(value=rate, variance=rate * (1 - rate) * one, squares=one)
        for rate, one in zip(rates, each, strict=True)
    )
    return Averaged(
        tpr=tpr,
        fpr=fpr,
        prior=metric.prior,
        assignments=assignments,
        n_members=int(members[1]),
        n_holdout=int(holdout[1]),
    )


def _chosen(
    metric: Metric, lessons: Lessons, _caution: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    found: list[Family] = []
    for prior, swapped in sorted(_aims(metric)):
        own = families(replace(lessons, prior=prior, among="any"))
        own = islice(own, 1 if found else 0, None)  # the constant ones but once
        found += [_opposite(family, lessons) if swapped else family for family in own]
    found.sort(key=lambda one: one.unsure is not None)  # sets first
    return followed(found, lessons, partial(_most_shown, metric))


def _aims(metric: Metric) -> set[tuple[float, bool]]:
    """Return the priors at which the best guesses are aimed at, and if they are swapped."""
    if metric.floor is None:
        levels = metric.baseline + (metric.most - metric.baseline) * _LEVELS
        return {aimed_prior(metric, level) for level in levels.tolist()}
    prior, swapped = aimed_prior(metric, metric.baseline)
    shifts = _SHIFTS if metric.floor == "recall" else -_SHIFTS
    odds = prior / (1 - prior) * np.exp(shifts)
    return {(one, swapped) for one in np.clip(odds / (1 + odds), _SMALLEST, 1 - _SMALLEST).tolist()}


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


def _opposite(family: Family, lessons: Lessons) -> Family:
    """Return the attackers who guess the other way round."""
    hits = lessons.rows[..., None] - family.hits
    return Family(
        hits=hits,
        unsure=None if family.unsure is None else hits - family.hits + family.unsure,
        values=lambda e, z, g: 1 - family.values(e, z, g),
    )


def _most_shown(metric: Metric, rates: Floats, spread: Floats) -> Places:
    """Return the attackers whose metric is largest when both rates are taken at their worst."""
    error = _CAUTION[metric.floor is not None] * np.sqrt(spread)
    ends = np.maximum(rates - error, 0), np.minimum(rates + error, 1)
    corners = product((one[:, :, MEMBER] for one in ends), (one[:, :, HOLDOUT] for one in ends))
    worst = np.min([_value(metric, tpr, fpr) for tpr, fpr in corners], axis=0)
    return np.asarray(worst[..., CONSTANTS:].argmax(axis=-1) + CONSTANTS)


def _value(metric: Metric, tpr: Floats, fpr: Floats) -> Floats:
    """Return the metric at these rates, with what they lack of the floor made up for."""
    if metric.floor is not None:
        rate, end = (tpr, 1.0) if metric.floor == "recall" else (1 - fpr, 0.0)
        share = np.maximum(metric.least - rate, 0) / np.maximum(1 - rate, 1 - metric.least)
        tpr, fpr = tpr + share * (end - tpr), fpr + share * (end - fpr)
    top, bottom = (c[0] + c[1] * tpr + c[2] * fpr for c in (metric.top, metric.bottom))
    return np.asarray(top / bottom)


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

        listed: dict[Attackers, Floats | None] = dict.fromkeys(_ORDERED)
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
        counts = self.evidence.counts
        return _sets(np.add.reduceat(counts.scored, bins_of(counts), axis=0))

    @cached_property
    def _cells(self) -> MetricClass:
        """Any set of the burn-in's cells: for the same-data optimum only."""
        return _sets(self.evidence.counts.scored)


def _at_place(suprema: Callable[[float], tuple[float, ...]], place: int, prior: float) -> float:
    return suprema(prior)[place]


def _sets(table: Ints) -> MetricClass:
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
