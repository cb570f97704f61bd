"""What MACE published (Liu et al.), for reproduction only: Lemma 7, Algorithm 2, and W_N.

Lemma 7 bounds a ratio at one record, not the metric over all records: the mean of such bounds
(Appendix D) is no interval for the metric. Algorithm 2 splits records three ways.

The band of the discrete estimator W_N surrounds the mean of W_N, not the advantage: on a
perfectly private model with many bins it excludes the truth at every sample size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper

if TYPE_CHECKING:
    from mipaudit.maths.metrics.metric import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedMetric:
    """What Algorithm 2 returns.

    Attributes:
        value: the metric on the third part; NaN where it is 0/0 there.
        threshold: of the posterior, chosen on the second part.
        lower: mean of Lemma 7's lower limits over the third part; NaN where none exists.
        upper: mean of its upper limits.
    """

    value: float
    threshold: float
    lower: float
    upper: float


def record_metric(metric: Metric, x: float, y: float, *, member: bool) -> float:
    """Return Lemma 7's ratio for a record with densities x and y; NaN where it is 0/0.

    Args:
        metric: the metric, with its prior.
        x: P(score | member), at least 0.
        y: P(score | holdout), at least 0.
        member: whether the attacker guesses 'member' there: the lemma's indicator I.
    """
    p = metric.prior
    sides = []
    for constant, tp, fp, fn, tn in (metric.a, metric.b):
        of_members, of_holdout = (tp, fp) if member else (fn, tn)
        sides.append((constant + of_members) * p * x + (constant + of_holdout) * (1 - p) * y)
    top, bottom = sides
    return top / bottom if bottom != 0 else math.nan


def lemma7_limits(
    metric: Metric, threshold: float, x: tuple[float, float], y: tuple[float, float]
) -> tuple[float, float]:
    """Return the least and the largest of the ratio over the box of x and y, in closed form.

    The ratio depends on r = x/y only, is linear-fractional, hence monotone, on either
    side of r* = (1-p) t / (p (1-t)), where the guess changes. So its extremes are at the two
    ends of r, and just below and at r*.

    Args:
        metric: the metric, with its prior.
        threshold: t in [0, 1].
        x: limits of P(score | member), 0 <= low <= high.
        y: limits of P(score | holdout).

    Returns:
        (least, largest), NaN where the ratio is nowhere defined.
    """
    p, t = metric.prior, threshold
    left, right = (x[0], y[1]), (x[1], y[0])  # directions of the smallest and the largest x/y
    turn = ((1 - p) * t, p * (1 - t))

    def guess(at: tuple[float, float]) -> bool:
        return at[0] * turn[1] >= at[1] * turn[0]

    ends = [(at, guess(at)) for at in (left, right)]
    if guess(right) and not guess(left):
        ends += [(turn, False), (turn, True)]
    found = [record_metric(metric, *at, member=member) for at, member in ends]
    known = [value for value in found if not math.isnan(value)]
    return (min(known), max(known)) if known else (math.nan, math.nan)


def algorithm2(tables: Ints, metric: Metric, delta: float) -> PublishedMetric:
    """Return the published estimate from three parts of the data.

    The first part estimates the posterior per cell, the second chooses the threshold, the
    third is scored. The expectation of a ratio over single records, as printed, is 0/0 for
    most; it is read as the ratio over all of the part.

    Args:
        tables: counts by part, cell and (holdout, member), shape (3, K, 2), both classes
            present in every part.
        metric: the metric, with its prior.
        delta: two-sided error of Lemma 7's limits, in (0, 1).
    """
    p = metric.prior
    shares = tables / np.maximum(tables.sum(axis=1, keepdims=True), 1)
    weighed = shares[0] * np.array([1 - p, p])
    total = weighed.sum(axis=1)
    posterior = np.where(total > 0, weighed[:, 1] / np.where(total > 0, total, 1), p)
    threshold = _best_threshold(posterior, shares[1], metric)
    called = posterior >= threshold
    value = metric.value(*_rates(called, shares[2]))
    limits = _limits(tables[0], metric, threshold, delta)
    weight = shares[2] @ np.array([1 - p, p])
    known = ~np.isnan(limits).any(axis=1) & (weight > 0)
    if not known.any():
        return PublishedMetric(value=value, threshold=threshold, lower=math.nan, upper=math.nan)
    means = (weight[known, None] * limits[known]).sum(axis=0) / weight[known].sum()
    return PublishedMetric(
        value=value, threshold=threshold, lower=float(means[0]), upper=float(means[1])
    )


def _best_threshold(posterior: Floats, share: Floats, metric: Metric) -> float:
    """Return the threshold that does best on a part, midway between two posteriors.

    At a posterior itself, Lemma 7 would have the guess there go either way.
    """
    distinct = np.concatenate([[0.0], np.unique(posterior), [1.0]])
    candidates = ((distinct[1:] + distinct[:-1]) / 2)[::-1]
    values = [metric.value(*_rates(posterior >= t, share)) for t in candidates]
    known = np.where(np.isnan(values), -np.inf, values)
    return float(candidates[int(known.argmax())])


def _rates(called: Bools, share: Floats) -> tuple[float, float]:
    fpr, tpr = share[called].sum(axis=0)
    return min(float(tpr), 1.0), min(float(fpr), 1.0)


def _limits(table: Ints, metric: Metric, threshold: float, delta: float) -> Floats:
    """Return Lemma 7's limits per cell, shape (K, 2), each class at delta/2 two-sided."""
    counts = table.astype(np.float64)
    holdout, members = counts.sum(axis=0)
    lows = np.stack(
        [
            clopper_pearson_lower(counts[:, 1], members, delta / 4),
            clopper_pearson_lower(counts[:, 0], holdout, delta / 4),
        ],
        axis=1,
    )
    highs = np.stack(
        [
            clopper_pearson_upper(counts[:, 1], members, delta / 4),
            clopper_pearson_upper(counts[:, 0], holdout, delta / 4),
        ],
        axis=1,
    )
    return np.array(
        [
            lemma7_limits(metric, threshold, (low[0], high[0]), (low[1], high[1]))
            for low, high in zip(lows.tolist(), highs.tolist(), strict=True)
        ]
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaceHistogram:
    """W_N with its McDiarmid band, and per bin the risk f with Lemma 5's limits.

    Attributes:
        value: W_N, in [|2p-1|, 1].
        half_width: sqrt(2 ln(2/delta) / N).
        risk: (p P - (1-p) Q) / (p P + (1-p) Q) per bin, in [-1, 1], shape (K,).
        risk_lower: lower limits per bin, shape (K,).
        risk_upper: upper limits per bin, shape (K,).
    """

    value: float
    half_width: float
    risk: Floats
    risk_lower: Floats
    risk_upper: Floats


def mace_histogram(members: Ints, holdout: Ints, *, prior: float, delta: float) -> MaceHistogram:
    """Return the published estimator from counts per bin.

    Args:
        members: occupied bins only, shape (K,).
        holdout: shape (K,).
        prior: p in (0, 1).
        delta: two-sided error, in (0, 1).
    """
    value, half_width = mace_band(members, holdout, prior=prior, delta=delta)
    n1, n2 = int(members.sum()), int(holdout.sum())
    x, y = members.astype(np.float64), holdout.astype(np.float64)
    p_low = prior * np.asarray(clopper_pearson_lower(x, n1, delta / 2))
    p_high = prior * np.asarray(clopper_pearson_upper(x, n1, delta / 2))
    q_low = (1 - prior) * np.asarray(clopper_pearson_lower(y, n2, delta / 2))
    q_high = (1 - prior) * np.asarray(clopper_pearson_upper(y, n2, delta / 2))
    p_hat, q_hat = prior * x / n1, (1 - prior) * y / n2
    return MaceHistogram(
        value=value,
        half_width=half_width,
        risk=_risk(p_hat, q_hat),
        risk_lower=_risk(p_low, q_high),
        risk_upper=_risk(p_high, q_low),
    )


def mace_band(members: Ints, holdout: Ints, *, prior: float, delta: float) -> tuple[float, float]:
    """Return the published value W_N and half its band; arguments as for `mace_histogram`."""
    n1, n2 = int(members.sum()), int(holdout.sum())
    value = float(np.abs(prior * members / n1 - (1 - prior) * holdout / n2).sum())
    return value, math.sqrt(2 * math.log(2 / delta) / (n1 + n2))


def _risk(p: Floats, q: Floats) -> Floats:
    return np.asarray((p - q) / (p + q))
