"""What MACE published (Liu et al.), for reproduction only.

MACE's Lemma 7 against brute force, and Algorithm 2 where the answer is known.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from mipaudit.maths.metrics.mace import algorithm2, lemma7_limits, mace_histogram, record_metric
from mipaudit.maths.metrics.names import parse_metric

NAMES = ["accuracy", "am", "f1", "fbeta:2", "wa:1,2,3,4", "cost:fp=1,fn=5", "ppv", "npv"]
share = st.floats(0.01, 1)
MEMBERS, HOLDOUT = np.array([12, 0, 988]), np.array([3, 7, 1990])


def by_brute_force(metric, threshold, x, y, points=60):
    """Search a grid of the box, as the optimisation problem is printed."""
    p, found = metric.prior, []
    for one in np.linspace(*x, points):
        for other in np.linspace(*y, points):
            member = one * p * (1 - threshold) >= other * (1 - p) * threshold
            found.append(record_metric(metric, one, other, member=member))
    known = [value for value in found if not math.isnan(value)]
    return (min(known), max(known)) if known else (math.nan, math.nan)


@settings(deadline=None, max_examples=200)
@given(
    st.sampled_from(NAMES), share, share, share, share, st.floats(0.05, 0.95), st.floats(0.1, 0.9)
)
def test_the_closed_form_encloses_and_reaches_brute_force(name, a, b, c, d, threshold, prior):
    metric = parse_metric(name, prior=prior)
    x, y = (min(a, b), max(a, b)), (min(c, d), max(c, d))
    turn = (1 - prior) * threshold / (prior * (1 - threshold))
    # At a tie of the turn with a corner, rounding decides what is guessed there.
    assume(all(abs(turn - r) > 1e-6 for r in (x[0] / y[1], x[1] / y[0])))
    low, high = lemma7_limits(metric, threshold, x, y)
    least, largest = by_brute_force(metric, threshold, x, y, points=25)
    if math.isnan(least):
        return
    assert low <= least + 1e-9
    assert high >= largest - 1e-9
    # Both are attained: at an end of x/y, or on either side of the turn.
    ratios = [x[0] / y[1], x[1] / y[0], turn * (1 - 1e-9), turn * (1 + 1e-9)]
    inside = [r for r in ratios if x[0] / y[1] <= r <= x[1] / y[0]]
    near = [record_metric(metric, r, 1.0, member=r >= turn) for r in inside]
    known = [value for value in near if not math.isnan(value)]
    assert low == pytest.approx(min(known), abs=1e-6)
    assert high == pytest.approx(max(known), abs=1e-6)


def test_the_accuracy_of_one_record_is_its_posterior():
    metric = parse_metric("accuracy", prior=0.5)
    low, high = lemma7_limits(metric, 0.5, (0.2, 0.2), (0.1, 0.1))
    assert low == high == pytest.approx(2 / 3)
    # Where the guess may go either way, the best guess is right half the time at least.
    low, high = lemma7_limits(metric, 0.5, (0.1, 0.3), (0.1, 0.3))
    assert low == pytest.approx(0.5)
    assert high == pytest.approx(0.75)


def test_nothing_is_said_where_the_ratio_is_never_defined():
    metric = parse_metric("ppv", prior=0.5)
    assert all(map(math.isnan, lemma7_limits(metric, 0.9, (0.1, 0.1), (0.2, 0.2))))


def test_algorithm_2_finds_the_optimum_in_the_limit():
    members, holdout = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6])
    table = np.stack([holdout, members], axis=1) * 10**8
    tables = np.stack([table] * 3).astype(np.int64)
    for name, best in (("accuracy", 0.7), ("am", 0.7), ("ppv", 5 / 6), ("tpr", 1.0)):
        found = algorithm2(tables, parse_metric(name, prior=0.5), 0.05)
        assert found.value == pytest.approx(best)
    # With all cells known the record limits meet, and average to the accuracy.
    found = algorithm2(tables, parse_metric("accuracy", prior=0.5), 0.05)
    assert found.lower == pytest.approx(0.7, abs=1e-3)
    assert found.upper == pytest.approx(0.7, abs=1e-3)
    assert found.threshold == pytest.approx(2 / 3)


def interval(count, total, delta):
    return stats.binomtest(int(count), total).proportion_ci(1 - delta, "exact")


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_is_the_published_formula_bin_by_bin(prior):
    found = mace_histogram(MEMBERS, HOLDOUT, prior=prior, delta=0.05)
    gaps = [
        abs(prior * x / 1000 - (1 - prior) * y / 2000)
        for x, y in zip(MEMBERS, HOLDOUT, strict=True)
    ]
    assert found.value == pytest.approx(sum(gaps))
    assert found.half_width == pytest.approx(math.sqrt(2 * math.log(40) / 3000))
    for bin_, (x, y) in enumerate(zip(MEMBERS, HOLDOUT, strict=True)):
        p, q = interval(x, 1000, 0.05), interval(y, 2000, 0.05)

        def risk(p, q):
            return (prior * p - (1 - prior) * q) / (prior * p + (1 - prior) * q)

        assert found.risk[bin_] == pytest.approx(risk(x / 1000, y / 2000))
        assert found.risk_lower[bin_] == pytest.approx(risk(p.low, q.high))
        assert found.risk_upper[bin_] == pytest.approx(risk(p.high, q.low))


def test_its_band_misses_the_truth_on_a_private_model():
    """Why it never decides anything: 100 bins, no leak, and the band excludes 0."""
    rng = np.random.default_rng(0)
    bins = np.full(100, 0.01)
    missed = 0
    for _ in range(50):
        found = mace_histogram(
            rng.multinomial(500, bins), rng.multinomial(500, bins), prior=0.5, delta=0.05
        )
        missed += found.value - found.half_width > 0
    assert missed == 50


def test_algorithm_2_averages_limits_at_half_of_the_error_for_each_class():
    rng = np.random.default_rng(3)
    tables = rng.integers(5, 60, (3, 4, 2))
    metric = parse_metric("accuracy", prior=0.3)
    found = algorithm2(tables, metric, 0.1)
    each = []
    for holdout, members in tables[0]:
        x = interval(members, tables[0, :, 1].sum(), 0.05)
        y = interval(holdout, tables[0, :, 0].sum(), 0.05)
        box = (x.low, x.high), (y.low, y.high)
        each.append(lemma7_limits(metric, found.threshold, *box))
    weights = (tables[2] / tables[2].sum(axis=0)) @ [0.7, 0.3]
    assert (found.lower, found.upper) == pytest.approx(weights @ np.array(each))
