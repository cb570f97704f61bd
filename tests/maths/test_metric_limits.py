"""Limits of a metric's optimum: exact coverage by enumeration, slow twins, known cases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from mipaudit.maths.binomial import mover_lower
from mipaudit.maths.intervals import best_ordered
from mipaudit.maths.ladder import Ladder, exact_ladder
from mipaudit.maths.metric_class import (
    MetricClass,
    coarsened,
    interval_rates,
    subset_rates,
    threshold_rates,
)
from mipaudit.maths.metric_floor import tail
from mipaudit.maths.metric_limits import (
    metric_lower,
    metric_lower_strict,
    metric_upper,
    observed_metric,
)
from mipaudit.maths.metric_names import parse_metric
from mipaudit.maths.oracle import oracle_upper

RATIOS = ["f1", "fbeta:2", "wa:2,2,1,1"]


def one_set(tpr, fpr, n_members, n_holdout):
    """The class of one attacker and the two constant guesses."""

    def advantage(prior):
        gains = [0.0, 2 * prior - 1, prior * tpr - (1 - prior) * fpr]
        return 1 - 2 * prior + 2 * max(gains)

    rates = np.array([[tpr, fpr], [1.0, 1.0]])
    return MetricClass(advantage=advantage, n_members=n_members, n_holdout=n_holdout, rates=rates)


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
            return metric_lower(metric, t, f, *sizes, 0.025) > truth

        assert exact_misses(above, truth, tpr, fpr, *sizes) <= 0.025


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
    lower = metric_lower(metric, tpr, fpr, n_members, n_holdout, 0.025)
    advantage = mover_lower(tpr, fpr, n_members, n_holdout, prior=prior, alpha=0.025)
    assert lower == pytest.approx((1 + advantage) / 2, abs=1e-6)
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
    for lower in (metric_lower, metric_lower_strict):
        assert metric.baseline <= lower(metric, tpr, fpr, 50, 80, 0.025) <= seen + 1e-6


@given(st.data())
@settings(max_examples=60)
def test_the_observed_optimum_is_that_of_every_set(data):
    counts = st.lists(st.integers(1, 20), min_size=4, max_size=4)
    table = np.array([data.draw(counts), data.draw(counts)]).T
    metric = parse_metric(data.draw(st.sampled_from([*RATIOS, "ppv", "npv"])), prior=0.4)
    rates = subset_rates(table)
    assert len(rates) == 16
    kept = [
        metric.value(t, f)
        for t, f in rates
        if (metric.floor != "recall" or t >= 0.01) and (metric.floor != "specificity" or f <= 0.99)
    ]
    share = table / table.sum(axis=0)

    def advantage(prior):
        return float(np.abs(prior * share[:, 1] - (1 - prior) * share[:, 0]).sum())

    sizes = {"n_members": int(table[:, 1].sum()), "n_holdout": int(table[:, 0].sum())}
    listed = MetricClass(advantage=advantage, rates=rates, **sizes)
    assert observed_metric(metric, listed) == pytest.approx(max(kept), abs=1e-6)
    # Coins can only help, and without a floor they do not.
    unlisted = observed_metric(metric, MetricClass(advantage=advantage, **sizes))
    assert unlisted >= max(kept) - 1e-6
    if metric.floor is None:
        assert unlisted == pytest.approx(max(kept), abs=1e-6)


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
    assert subset_rates(np.ones((17, 2), dtype=np.int64)) is None


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


def test_no_rows_no_limits():
    metric = parse_metric("ppv", prior=0.5)
    assert metric_lower(metric, 0, 0, 0, 0, 0.025) == 0.5
    assert metric_upper(metric, one_set(0.5, 0.1, 0, 5), 0.025) == 1
