"""The risk of the records in a cell: limits from one conditional binomial, or melded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.cell_risk import (
    above_p_values,
    conditional_limits,
    discoveries,
    error_for_selected,
    melded_limits,
    risk_of_share,
    share_of_risk,
)

PRIORS = st.sampled_from([0.01, 0.1, 0.5, 0.8])
COUNTS = st.integers(0, 60)
# Benjamini and Hochberg 1995, section 3: fifteen p-values, four rejected at 0.05.
PUBLISHED = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
    *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
]


def product_limits(x, y, *, n_members, n_holdout, prior, alpha):
    """MACE's limits (Liu et al., Lemma 5): both shares by Clopper-Pearson, as a box."""
    error = np.full(x.shape, alpha / 4)
    member_low = prior * clopper_pearson_lower(x, n_members, error)
    member_high = prior * clopper_pearson_upper(x, n_members, error)
    holdout_low = (1 - prior) * clopper_pearson_lower(y, n_holdout, error)
    holdout_high = (1 - prior) * clopper_pearson_upper(y, n_holdout, error)
    return (
        (member_low - holdout_high) / (member_low + holdout_high),
        (member_high - holdout_low) / (member_high + holdout_low),
    )


def one(x, y, n_members=1000, n_holdout=3000, prior=0.5, alpha=0.05, by=conditional_limits):
    return by(
        np.array([x]),
        np.array([y]),
        n_members=n_members,
        n_holdout=n_holdout,
        prior=prior,
        alpha=alpha,
    )


def test_published_vector():
    found = one(12, 9)
    assert found.signed[0] == pytest.approx(0.6)
    assert found.lower[0] == pytest.approx(0.214724, abs=1e-6)
    assert found.upper[0] == pytest.approx(0.829774, abs=1e-6)
    assert found.direction[0] == 1


@given(x=COUNTS, y=COUNTS, prior=PRIORS)
@settings(max_examples=60, deadline=None)
def test_it_is_one_clopper_pearson_interval_for_the_share(x, y, prior):
    found = one(x, y, prior=prior)
    total = x + y
    if total == 0:
        assert (found.lower[0], found.upper[0]) == (-1, 1)
        assert found.signed[0] == pytest.approx(2 * prior - 1)
        return
    low = clopper_pearson_lower(float(x), total, 0.025)
    high = clopper_pearson_upper(float(x), total, 0.025)
    ends = risk_of_share(np.array([low, high]), 1000, 3000, prior)
    assert found.lower[0] == pytest.approx(ends[0], abs=1e-9)
    assert found.upper[0] == pytest.approx(ends[1], abs=1e-9)
    assert found.lower[0] <= found.signed[0] <= found.upper[0]


@given(x=COUNTS, y=COUNTS, prior=PRIORS)
@settings(max_examples=60, deadline=None)
def test_classes_trade_places_with_the_sign(x, y, prior):
    found = one(x, y, 700, 900, prior)
    mirrored = one(y, x, 900, 700, 1 - prior)
    assert mirrored.lower[0] == pytest.approx(-found.upper[0], abs=1e-12)
    assert mirrored.upper[0] == pytest.approx(-found.lower[0], abs=1e-12)
    assert mirrored.risk_lower[0] == pytest.approx(found.risk_lower[0], abs=1e-12)
    assert mirrored.risk_upper[0] == pytest.approx(found.risk_upper[0], abs=1e-12)


@given(lower=st.floats(-1, 1), upper=st.floats(-1, 1), inside=st.floats(0, 1))
def test_the_fold_holds_whatever_the_sign(lower, upper, inside):
    from mipaudit.maths.cell_risk import RiskLimits

    lower, upper = sorted((lower, upper))
    truth = lower + inside * (upper - lower)
    limits = RiskLimits(signed=np.array([truth]), lower=np.array([lower]), upper=np.array([upper]))
    assert limits.risk_lower[0] - 1e-15 <= abs(truth) <= limits.risk_upper[0] + 1e-15


@given(risk=st.floats(-0.99, 0.99), prior=PRIORS)
def test_share_and_risk_are_inverse(risk, prior):
    share = share_of_risk(risk, 100, 900, prior)
    assert risk_of_share(np.array([share]), 100, 900, prior)[0] == pytest.approx(risk, abs=1e-9)


@pytest.mark.parametrize(
    ("n_members", "n_holdout", "prior", "alpha"),
    [(10, 10, 0.5, 0.05), (8, 40, 0.1, 0.05), (20, 20, 0.5, 0.005)],
)
def test_exact_coverage_over_all_shares(n_members, n_holdout, prior, alpha):
    x, y = (g.ravel() for g in np.meshgrid(range(n_members + 1), range(n_holdout + 1)))
    limits = conditional_limits(
        x, y, n_members=n_members, n_holdout=n_holdout, prior=prior, alpha=alpha
    )
    grid = np.concatenate([[0.0, 0.005, 0.02], np.linspace(0.05, 1, 25)])
    for P in grid:
        for Q in grid:
            if P == Q == 0:
                continue
            truth = (prior * P - (1 - prior) * Q) / (prior * P + (1 - prior) * Q)
            weight = binom.pmf(x, n_members, P) * binom.pmf(y, n_holdout, Q)
            below = weight[limits.lower > truth + 1e-9].sum()
            above = weight[limits.upper < truth - 1e-9].sum()
            assert below <= alpha / 2
            assert above <= alpha / 2


def test_p_values_are_the_errors_at_which_the_limits_reach_tau():
    sizes = {"n_members": 400, "n_holdout": 700, "prior": 0.3}
    x, y = np.array([0, 30, 5, 12, 40]), np.array([40, 4, 5, 0, 40])
    values = above_p_values(x, y, **sizes, tau=0.4)
    for at, p_value in enumerate(values):
        if p_value < 1:
            just = conditional_limits(x[at : at + 1], y[at : at + 1], **sizes, alpha=p_value)
            assert just.risk_lower[0] == pytest.approx(0.4, abs=1e-7)
        else:
            wide = conditional_limits(x[at : at + 1], y[at : at + 1], **sizes, alpha=0.999)
            assert wide.risk_lower[0] < 0.4


def test_p_value_twin_sums_the_binomial():
    sizes = {"n_members": 50, "n_holdout": 80, "prior": 0.5}
    x, y = np.array([9]), np.array([3])
    found = above_p_values(x, y, **sizes, tau=0.2)[0]
    high = share_of_risk(0.2, 50, 80, 0.5)
    low = share_of_risk(-0.2, 50, 80, 0.5)
    twin = 2 * min(binom.pmf(range(9, 13), 12, high).sum(), binom.pmf(range(10), 12, low).sum())
    assert found == pytest.approx(min(1, twin))


def test_the_product_of_two_intervals_is_wider():
    x, y = np.arange(1, 40), np.arange(40, 1, -1)
    sizes = {"n_members": 500, "n_holdout": 500, "prior": 0.5, "alpha": 0.05}
    ours, (lower, upper) = conditional_limits(x, y, **sizes), product_limits(x, y, **sizes)
    ratio = (upper - lower) / (ours.upper - ours.lower)
    assert ratio.min() > 1.1
    assert 1.2 < np.median(ratio) < 1.7


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_simultaneous_coverage(prior):
    rng = np.random.default_rng(3)
    runs, cells = 400, 40
    P, Q = rng.dirichlet(np.ones(cells)), rng.dirichlet(np.ones(cells))
    truth = (prior * P - (1 - prior) * Q) / (prior * P + (1 - prior) * Q)
    held = 0
    for _ in range(runs):
        x, y = rng.multinomial(300, P), rng.multinomial(900, Q)
        on = x + y > 0
        limits = conditional_limits(
            x[on], y[on], n_members=300, n_holdout=900, prior=prior, alpha=0.05 / on.sum()
        )
        held += bool(((limits.lower <= truth[on]) & (truth[on] <= limits.upper)).all())
    assert held >= binom.ppf(1e-4, runs, 0.95)


def both(x, y, n, m, prior=0.5, alpha=0.05):
    sizes = {"n_members": n, "n_holdout": m, "prior": prior, "alpha": alpha}
    x, y = np.atleast_1d(x), np.atleast_1d(y)
    return melded_limits(x, y, **sizes), conditional_limits(x, y, **sizes)


def test_rare_cells_have_the_conditional_limits():
    melded, plain = both([12, 0, 7, 40], [9, 8, 0, 60], 10**6, 10**6)
    assert melded.lower == pytest.approx(plain.lower, abs=1e-4)
    assert melded.upper == pytest.approx(plain.upper, abs=1e-4)


def test_large_cells_have_tighter_ones():
    melded, plain = both([350], [150], 500, 500)
    assert (melded.upper - melded.lower)[0] < 0.8 * (plain.upper - plain.lower)[0]


def test_quantile_by_simulation():
    rng = np.random.default_rng(0)
    draws = 400_000
    for x, y, n, m in ((30, 12, 80, 60), (3, 400, 50, 900), (59, 2, 60, 10)):
        p = rng.beta(x, n - x + 1, draws)
        q = rng.beta(y + 1, m - y, draws)
        twin = np.quantile((p - q) / (p + q), 0.025)
        assert both(x, y, n, m)[0].lower[0] == pytest.approx(twin, abs=0.01)


@given(x=st.integers(0, 20), y=st.integers(0, 30), prior=st.sampled_from([0.1, 0.5]))
@settings(max_examples=40, deadline=None)
def test_classes_trade_places_with_the_sign_of_melded(x, y, prior):
    found, _ = both(x, y, 20, 30, prior)
    mirrored, _ = both(y, x, 30, 20, 1 - prior)
    assert mirrored.lower[0] == pytest.approx(-found.upper[0], abs=1e-9)
    assert found.lower[0] <= found.signed[0] + 1e-9
    assert found.signed[0] <= found.upper[0] + 1e-9


@pytest.mark.parametrize(
    ("n", "m", "prior", "alpha"),
    [(6, 6, 0.5, 0.05), (12, 12, 0.5, 0.05), (8, 30, 0.1, 0.05), (15, 15, 0.5, 0.002)],
)
def test_exact_coverage_of_each_side(n, m, prior, alpha):
    x, y = (g.ravel() for g in np.meshgrid(range(n + 1), range(m + 1)))
    limits, _ = both(x, y, n, m, prior, alpha)
    for P in np.linspace(0, 1, 31):
        for Q in np.linspace(0, 1, 31):
            if P == Q == 0:
                continue
            truth = (prior * P - (1 - prior) * Q) / (prior * P + (1 - prior) * Q)
            weight = binom.pmf(x, n, P) * binom.pmf(y, m, Q)
            assert weight[limits.lower > truth + 1e-9].sum() <= alpha / 2
            assert weight[limits.upper < truth - 1e-9].sum() <= alpha / 2


def twin(values, rate):
    """Reject one by one from the largest down."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    kept = 0
    for rank, i in enumerate(order, 1):
        if values[i] <= rank * rate / len(values):
            kept = rank
    cut = values[order[kept - 1]] if kept else -1
    return [value <= cut for value in values]


def test_published_example():
    assert discoveries(np.array(PUBLISHED), 0.05).tolist() == [True] * 4 + [False] * 11


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.01, 0.5))
def test_slow_twin(values, rate):
    assert discoveries(np.array(values), rate).tolist() == twin(values, rate)


def test_nothing_to_test():
    assert discoveries(np.zeros(0), 0.05).size == 0


def test_selected_intervals_share_the_error():
    assert error_for_selected(0.05, 4, 20) == pytest.approx(0.01)
    assert error_for_selected(0.05, 20, 20) == pytest.approx(0.05)
    assert error_for_selected(0.05, 0, 20) == pytest.approx(0.0025)
