"""Limits of a metric's optimum: exact coverage by enumeration, slow twins, known cases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from mipaudit.maths.binomial import MeanRate, folded_lower
from mipaudit.maths.class_limits.class_sets import best_ordered
from mipaudit.maths.class_limits.class_upper import oracle_upper
from mipaudit.maths.class_limits.roc_counts import Ladder, exact_ladder
from mipaudit.maths.metrics.best_of_class import (
    MetricClass,
    coarsened,
    interval_rates,
    lower_edge,
    set_rates,
    threshold_rates,
)
from mipaudit.maths.metrics.limits import (
    floored_test,
    metric_lower,
    metric_lower_strict,
    metric_upper,
    observed_metric,
    tail,
)
from mipaudit.maths.metrics.names import parse_metric

RATIOS = ["f1", "fbeta:2", "wa:2,2,1,1"]


def one_set(tpr, fpr, n_members, n_holdout):
    """The class of one attacker and the two constant guesses."""

    def advantage(prior):
        gains = [0.0, 2 * prior - 1, prior * tpr - (1 - prior) * fpr]
        return 1 - 2 * prior + 2 * max(gains)

    rates = np.array([[tpr, fpr], [1.0, 1.0]])
    return MetricClass(advantage=advantage, n_members=n_members, n_holdout=n_holdout, rates=rates)


def lower(metric, tpr, fpr, n_members, n_holdout, alpha):
    """The lower limit of one set that was fixed beforehand, from its rates."""
    sides = ((tpr, n_members), (fpr, n_holdout))
    return metric_lower(metric, *(MeanRate(r, r * (1 - r) / n, 1 / n) for r, n in sides), alpha)


def exact_misses(limit, truth, tpr, fpr, n_members, n_holdout):
    """Return the probability that a limit of the observed rates is on the wrong side."""
    members = binom.pmf(np.arange(n_members + 1), n_members, tpr)
    holdout = binom.pmf(np.arange(n_holdout + 1), n_holdout, fpr)
    wrong = 0.0
    for x, y in itertools.product(np.flatnonzero(members > 1e-7), np.flatnonzero(holdout > 1e-7)):
        if limit(x / n_members, y / n_holdout, truth):
            wrong += members[x] * holdout[y]
    return wrong


@pytest.mark.parametrize("name", [*RATIOS, "ppv", "npv", "am"])
@pytest.mark.parametrize("sizes", [(10, 10), (8, 24)])
def test_the_lower_limit_of_a_fixed_set_is_exact_enough(name, sizes):
    for prior, (tpr, fpr) in itertools.product((0.1, 0.5), [(0.9, 0.05), (0.5, 0.3), (0.2, 0.01)]):
        metric = parse_metric(name, prior=prior)
        truth = max(metric.value(tpr, fpr), metric.baseline)

        def above(t, f, truth, metric=metric):
            return lower(metric, t, f, *sizes, 0.025) > truth

        assert exact_misses(above, truth, tpr, fpr, *sizes) <= 0.025


@pytest.mark.parametrize(("name", "prior"), [("ppv", 0.5), ("npv", 0.1), ("wa:2,2,1,1", 0.5)])
def test_the_better_of_a_set_and_its_opposite_is_folded(name, prior):
    """Where nothing leaks whoever looks at all rows finds one of them too good twice as often."""
    metric, n = parse_metric(name, prior=prior), 90

    def above(alpha):
        def one(t, f, truth):
            return max(lower(metric, *r, n, n, alpha) for r in ((t, f), (1 - t, 1 - f))) > truth

        return exact_misses(one, metric.baseline + 1e-9, 0.5, 0.5, n, n)

    assert above(0.025) <= 0.025
    assert above(0.05) > 1.2 * 0.025  # as it would be at 0.025 without the fold


@pytest.mark.parametrize("name", [*RATIOS, "ppv"])
def test_the_upper_limit_of_a_fixed_set_is_exact_enough(name):
    sizes = (6, 8) if name == "ppv" else (10, 14)
    for prior, (tpr, fpr) in [(0.1, (0.9, 0.05)), (0.5, (0.5, 0.1))]:
        metric = parse_metric(name, prior=prior)
        truth = metric.value(tpr, fpr)

        def below(t, f, truth, metric=metric):
            return metric_upper(metric, one_set(t, f, *sizes), 0.025) < truth

        assert exact_misses(below, truth, tpr, fpr, *sizes) <= 0.0255


@given(
    st.floats(0.3, 1),
    st.floats(0, 0.7),
    st.integers(5, 300),
    st.integers(5, 300),
    st.sampled_from([0.2, 0.5]),
)
def test_accuracy_has_the_limits_of_the_advantage(tpr, fpr, n_members, n_holdout, prior):
    metric = parse_metric("accuracy", prior=prior)
    found = lower(metric, tpr, fpr, n_members, n_holdout, 0.025)
    members, holdout = (
        MeanRate(r, r * (1 - r) / n, 1 / n) for r, n in ((tpr, n_members), (fpr, n_holdout))
    )
    # Folded between the two constant guesses: at p = 1/2 about the baseline, else less.
    least, most = (
        (1 + folded_lower(members, holdout, prior=prior, alpha=alpha, anywhere=alpha > 0.025)) / 2
        for alpha in (0.025, 0.05)
    )
    assert least - 1e-5 <= found <= most + 1e-5
    if prior == 0.5:
        assert found == pytest.approx(least, abs=1e-4)
    of_class = one_set(tpr, fpr, n_members, n_holdout)
    upper = metric_upper(metric, of_class, 0.025)
    seen = of_class.advantage(prior)
    advantage = oracle_upper(seen, n_members, n_holdout, prior=prior, alpha=0.025)
    assert upper == pytest.approx((1 + advantage) / 2, abs=1e-4)


@given(st.sampled_from([*RATIOS, "ppv", "npv"]), st.floats(0, 1), st.floats(0, 1))
def test_limits_enclose_what_was_observed(name, tpr, fpr):
    metric = parse_metric(name, prior=0.3)
    of_class = one_set(tpr, fpr, 50, 80)
    seen = observed_metric(metric, of_class)
    for strict in (False, True):
        upper = metric_upper(metric, of_class, 0.025, strict=strict)
        assert metric.baseline <= seen <= upper + 1e-6 <= metric.most + 2e-6
    for limit in (lower, metric_lower_strict):
        assert metric.baseline <= limit(metric, tpr, fpr, 50, 80, 0.025) <= seen + 1e-6


@given(st.data())
@settings(max_examples=60)
def test_the_observed_optimum_is_that_of_every_set(data):
    counts = st.lists(st.integers(1, 20), min_size=4, max_size=4)
    table = np.array([data.draw(counts), data.draw(counts)]).T
    metric = parse_metric(data.draw(st.sampled_from([*RATIOS, "ppv", "npv"])), prior=0.4)
    share = table / table.sum(axis=0)
    sets = [share[list(kept)].sum(axis=0)[::-1] for kept in powerset(4)]
    kept = [metric.value(t, f) for t, f in mixtures_at_floor(sets, metric)]

    def advantage(prior):
        return float(np.abs(prior * share[:, 1] - (1 - prior) * share[:, 0]).sum())

    sizes = {"n_members": int(table[:, 1].sum()), "n_holdout": int(table[:, 0].sum())}
    listed = MetricClass(advantage=advantage, rates=set_rates(table), **sizes)
    assert observed_metric(metric, listed) == pytest.approx(max(kept), abs=1e-6)
    unlisted = observed_metric(metric, MetricClass(advantage=advantage, **sizes))
    assert max(kept) - 1e-6 <= unlisted <= max(kept) + 2e-2
    if metric.floor is None:
        assert unlisted == pytest.approx(max(kept), abs=1e-6)


def powerset(size):
    return [[at for at in range(size) if code >> at & 1] for code in range(1 << size)]


def mixtures_at_floor(sets, metric):
    """Every set that keeps the floor, and every pair of sets mixed down to it."""
    if metric.floor is None:
        return sets
    at, end = (0, metric.least) if metric.floor == "recall" else (1, 1 - metric.least)
    kept = [one for one in sets if (one[at] >= end if at == 0 else one[at] <= end)]
    left = [one for one in sets if not (one[at] >= end if at == 0 else one[at] <= end)]
    for one, other in itertools.product(left, kept):
        share = (end - one[at]) / (other[at] - one[at])
        kept = [*kept, one + share * (other - one)]
    return kept


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=12))
def test_the_lower_edge_is_what_mixtures_reach(points):
    x, y = np.array([*points, (0, 20), (20, 20)], dtype=float).T
    corners, heights = lower_edge(x, y)
    assert (np.diff(corners) > 0).all()
    for at in (0.0, 3.5, 10.0, 20.0):
        best = min(
            y[i] if x[i] == x[j] else y[i] + (at - x[i]) / (x[j] - x[i]) * (y[j] - y[i])
            for i, j in itertools.product(range(len(x)), repeat=2)
            if x[i] <= at <= x[j]
        )
        assert np.interp(at, corners, heights) == pytest.approx(best)


@pytest.mark.parametrize("strict", [False, True])
def test_who_tosses_a_coin_to_keep_the_floor_is_not_left_out(strict):
    # A value that 0.8% of the members have and no holdout record: all of it is short of a
    # TPR of 1%, and with 0.2% of the others the PPV is 0.83.
    n = 200_000
    table = np.array([[0, n // 125], [n, n - n // 125]])
    share = table / n
    metric = parse_metric("ppv", prior=0.5)

    def advantage(prior):
        return float(np.abs(prior * share[:, 1] - (1 - prior) * share[:, 0]).sum())

    of_class = MetricClass(advantage=advantage, n_members=n, n_holdout=n, rates=set_rates(table))
    extra = (0.01 - 0.008) / (1 - 0.008)
    truth = metric.value(0.01, extra)
    assert truth == pytest.approx(0.832, abs=1e-3)
    assert observed_metric(metric, of_class) == pytest.approx(truth, abs=1e-6)
    assert truth < metric_upper(metric, of_class, 0.025, strict=strict)


def test_a_weight_that_cancels_at_the_best_level_does_not_cost_the_upper_limit():
    # At the largest value there is, the weight of the TPR is 0, and was -1e-17.
    rates = np.array([[0.5, 0.3]])
    limits = []
    for scale in (1, 10):
        weights = {"a11": 17 / scale, "a10": 5 / scale, "b11": 3 / scale, "b10": 17 / scale}
        name = "custom:" + ",".join(f"{key}={weight!r}" for key, weight in weights.items())
        metric = parse_metric(name, prior=0.1, least=0.2)
        advantage = one_set(*rates[0], 1, 1).advantage
        of_class = MetricClass(advantage=advantage, n_members=3000, n_holdout=3000, rates=rates)
        limits.append(metric_upper(metric, of_class, 0.025))
        assert limits[-1] < metric.most - 0.1
    assert limits[0] == pytest.approx(limits[1], abs=1e-6)


@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.floats(0.01, 0.99),
    st.floats(0, 0.9),
    st.floats(-0.5, 0.5),
    st.floats(0.05, 2),
)
def test_the_tail_is_bounded_from_above_and_closely(n, m, rate, other, gain, u):
    x, y = np.arange(n + 1)[:, None], np.arange(m + 1)
    mass = binom.pmf(x, n, rate) * binom.pmf(y, m, other)
    exact = mass[u * x / n - y / m <= gain - 1e-9].sum()
    found = tail(gain, u, 1.0, (rate, other), (n, m))
    assert found >= exact - 1e-9
    # Strata of a small X are single values: then nothing is lost.
    closed = mass[u * x / n - y / m <= gain + 1e-9].sum()
    assert found <= closed + 1e-6


def test_thresholds_and_intervals_are_listed_in_full():
    rng = np.random.default_rng(0)
    ladder = exact_ladder(
        rng.integers(0, 6, 40).astype(float), rng.integers(0, 7, 50).astype(float)
    )
    for prior in (0.2, 0.5, 0.8):
        thresholds, interval = best_ordered(ladder, prior, (1,))
        for rates, best in (
            (threshold_rates(ladder), thresholds),
            (interval_rates(ladder), interval),
        ):
            gains = prior * rates[:, 0] - (1 - prior) * rates[:, 1]
            assert 1 - 2 * prior + 2 * gains.max() == pytest.approx(best)
    many = exact_ladder(rng.normal(size=200), rng.normal(size=200))
    assert interval_rates(many) is None


def test_a_coarsened_ladder_bounds_the_whole_one_closely():
    rng = np.random.default_rng(1)
    ladder = exact_ladder(rng.normal(0.5, 1, 20_000), rng.normal(size=20_000))
    coarse = coarsened(ladder, 2_000)
    assert isinstance(coarse, Ladder)
    assert coarse.members.size <= 2_001
    assert (coarse.n_members, coarse.n_holdout) == (20_000, 20_000)
    for prior in (0.1, 0.5):
        whole, part = (best_ordered(one, prior, (1, 4)) for one in (ladder, coarse))
        for exact, bound in zip(whole, part, strict=True):
            assert exact - 1e-12 <= bound <= exact + 5e-3


def test_nothing_is_claimed_where_one_rate_does_not_count():
    # At level 0 the weight of the FPR is 0, and nobody reaches it.
    metric = parse_metric("custom:a0=-1,a11=1,b11=1,b10=1", prior=0.5)
    assert floored_test(metric, one_set(0.5, 0.3, 50, 50), 0.025, strict=False)(0.0)


def test_no_rows_no_limits():
    metric = parse_metric("ppv", prior=0.5)
    nobody = MeanRate(0.0, 0.0, 0.0)
    assert metric_lower(metric, nobody, nobody, 0.025) == 0.5
    assert metric_upper(metric, one_set(0.5, 0.1, 0, 5), 0.025) == 1


@pytest.mark.parametrize(("name", "rates"), [("ppv", (0.6, 0.2)), ("npv", (0.8, 0.4))])
def test_many_rows_leave_the_observed_precision_in_the_strict_form_too(name, rates):
    metric = parse_metric(name, prior=0.5, least=0.3)
    upper = [
        metric_upper(metric, one_set(*rates, size, size), 0.025, strict=True)
        for size in (10**4, 10**6, 10**8)
    ]
    assert upper == sorted(upper, reverse=True)
    assert upper[-1] == pytest.approx(metric.value(*rates), abs=1e-3)
