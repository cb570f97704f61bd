"""Held-out guesses of attackers who learn to do well in a metric.

As for the advantage (`evidence.scores.averaged_lower`), attackers are fitted on the past and
judged on the next block, and the mean over many assignments of the rows counts. What differs is
what they aim at, and who is chosen: whoever has shown most of the metric. Whatever they aim at,
the limit holds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice, product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.scores.assignments import HOLDOUT, MEMBER, Assigned, in_one_order
from mipaudit.evidence.scores.attacker_choice import CONSTANTS, followed
from mipaudit.evidence.scores.attacker_families import Family, Floats, Lessons, Places, families
from mipaudit.evidence.scores.averaged_lower import Averaged, shares_of
from mipaudit.maths.binomial import MeanRate
from mipaudit.maths.metrics.metric import Metric, ordinary_form

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


def fixed_metric(blocks: NDArray[np.int64], burn_in: int, metric: Metric) -> Averaged:
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
