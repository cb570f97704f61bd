"""What holds for every trade-off curve, and at the ends of every parameter."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from riskcal import analysis

from mipaudit.maths.privacy.concentrated import ZeroConcentrated
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, TwoStepDP
from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)
from mipaudit.maths.privacy.tradeoff import (
    exp,
    largest_within,
    prior_loss,
    refuted_epsilon,
    refuted_mu,
    scaled,
)

# The limit of a probability, its complement, and everything else in between.
RATES = (0.0, 5e-324, 1e-300, 1e-30, 1e-8, 0.001, 0.2, 0.5, 0.9, 1 - 1e-8, 1 - 2**-53, 1.0)
PRIORS = (5e-324, 1e-300, 1e-8, 0.1, 0.5, 0.9, 1 - 1e-8, 1 - 2**-53)
LOSSES = (0.0, 5e-324, 1e-8, 1.0, 50.0, 700.0, 1e6, 1e12)
RATE = st.floats(0, 1)


def two_step(epsilon, delta):
    return TwoStepDP(step=ApproximateDP(epsilon=epsilon, delta=delta))


ORDINARY = {
    "pure": ApproximateDP(epsilon=1.0, delta=0.0),
    "approximate": ApproximateDP(epsilon=0.7, delta=0.05),
    "delta alone": ApproximateDP(epsilon=0.0, delta=0.3),
    "two pure steps": two_step(0.8, 0.0),
    "two steps": two_step(0.8, 0.01),
    "two steps beyond the corner": two_step(0.5, 0.45),
    "gaussian": GaussianDP(mu=1.0),
    "strong gaussian": GaussianDP(mu=0.1),
    "weak gaussian": GaussianDP(mu=4.0),
    "laplace": LaplaceMechanism(shift=1.5),
    "geometric": GeometricMechanism(scale=1.3, sensitivity=3),
    "geometric, one": GeometricMechanism(scale=0.8, sensitivity=1),
    "response": RandomizedResponse(truth=0.75, categories=2),
    "response of five": RandomizedResponse(truth=0.6, categories=5),
    "response that avoids the truth": RandomizedResponse(truth=0.05, categories=4),
    "zero-concentrated": ZeroConcentrated(rho=0.3),
}


every = pytest.mark.parametrize("curve", ORDINARY.values(), ids=ORDINARY.keys())


def grid(curve, low=1e-9, points=1001):
    """Rates from ``low`` to 1 - ``low``, and both ends; fewer where they are dear."""
    points = 101 if isinstance(curve, ZeroConcentrated) else points
    odds = np.linspace(math.log(low), -math.log(low), points)
    return [0.0, *(1 / (1 + np.exp(-odds))), 1.0]


def highest(height):
    """Return the greatest of a concave function of the FPR: grids within grids."""
    low, high = 0.0, 1.0
    for _ in range(9):
        rates = np.linspace(low, high, 25)
        heights = [height(rate) for rate in rates]
        best = int(np.argmax(heights))
        low, high = rates[max(best - 1, 0)], rates[min(best + 1, 24)]
    return max(heights)


@every
def test_ends(curve):
    assert curve.fnr(1.0) == 0
    assert curve.tpr(1.0) == 1
    assert 0 <= curve.tpr(0.0) <= 1
    # Only an outcome that cannot come up by itself is found at a rate of 0.
    assert (curve.tpr(0.0) > 0) == (curve.loss == math.inf and curve.profile(200.0) > 1e-9)


@every
def test_fnr_is_the_complement_of_tpr(curve):
    for fpr in grid(curve):
        assert curve.fnr(fpr) == pytest.approx(1 - curve.tpr(fpr), abs=1e-14)


@every
def test_a_symmetric_curve_is_its_own_inverse(curve):
    most = 1 - curve.tpr(0.0)  # from there on it is 0
    for fpr in grid(curve):
        back = curve.fnr(curve.fnr(fpr))
        assert back == pytest.approx(min(fpr, most), rel=1e-6, abs=1e-11)


@every
def test_the_roc_is_above_the_diagonal_increasing_and_concave(curve):
    fpr = np.array(grid(curve, low=1e-4, points=301))
    tpr = np.array([curve.tpr(rate) for rate in fpr])
    slopes = np.diff(tpr) / np.diff(fpr)
    assert np.all(tpr >= fpr - 1e-15)
    assert np.all(slopes >= -1e-12)
    assert np.all(slopes[1:] <= slopes[:-1] * (1 + 1e-9) + 1e-9)


@every
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.75, 1.4, 2.5])
def test_the_profile_is_the_farthest_point_above_a_line(curve, epsilon):
    slow = highest(lambda fpr: curve.tpr(fpr) - math.exp(epsilon) * fpr)
    assert curve.profile(epsilon) == pytest.approx(max(0.0, slow), abs=1e-8)
    assert curve.profile(epsilon) >= slow - 1e-12


@every
def test_the_profile_falls_and_is_convex_in_the_ratio(curve):
    ratios = np.linspace(1, 12, 25)
    profile = np.array([curve.profile(math.log(ratio)) for ratio in ratios])
    assert np.all(np.diff(profile) <= 1e-8)
    assert np.all(np.diff(profile, n=2) >= -2e-8)


@every
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.2, 0.999])
def test_epsilon_is_the_least_that_reaches_delta(curve, delta):
    epsilon = curve.epsilon_at(delta)
    if math.isinf(epsilon):
        assert curve.profile(1e6) > delta
        return
    # Next to its loss a profile falls to 0 and may be known to 1e-16 only.
    assert curve.profile(epsilon) <= delta * (1 + 1e-7) + 1e-15
    if epsilon > 0:
        assert curve.profile(epsilon * (1 - 1e-6)) > delta


@every
def test_the_loss_is_the_epsilon_at_delta_zero(curve):
    assert curve.epsilon_at(0.0) == curve.loss
    assert curve.epsilon_at(1.0) == 0
    if math.isfinite(curve.loss):
        assert curve.profile(curve.loss) == pytest.approx(0, abs=1e-15)
        assert curve.profile(curve.loss * (1 - 1e-6)) > 0


@every
@pytest.mark.parametrize("prior", [0.02, 0.3, 0.5, 0.8, 0.999])
def test_the_excess_is_that_of_the_best_point_of_the_roc(curve, prior):
    best = highest(lambda fpr: 1 - 2 * prior + 2 * (prior * curve.tpr(fpr) - (1 - prior) * fpr))
    assert curve.excess(prior) == pytest.approx(best - abs(2 * prior - 1), abs=2e-8)
    assert curve.excess(prior) == pytest.approx(curve.excess(1 - prior), rel=1e-9)


@every
@pytest.mark.parametrize("recall", [1e-12, 1e-5, 0.00099, 0.001, 0.01, 0.5, 1.0])
def test_precision_is_that_of_the_least_recall(curve, recall):
    precision = curve.precision(0.1, recall)
    odds = 0.1 / 0.9
    if recall == 1:
        assert precision == pytest.approx(0.1 / (0.1 + 0.9 * curve.fnr(0.0)))
        return
    if precision == 1:
        assert curve.tpr(0.0) >= recall
        return
    # Solved for the false positives that it stands for, these reach the recall.
    fpr = recall * odds * (1 - precision) / precision
    assert curve.tpr(fpr) == pytest.approx(recall, rel=1e-6)


def test_precision_keeps_its_digits_at_a_tiny_recall():
    curve = GaussianDP(mu=1.0)
    with mpmath.workdps(60):
        recall = mpmath.mpf(1e-17)
        quantile = mpmath.findroot(lambda x: mpmath.ncdf(x) - recall, (-9, -8), solver="anderson")
        fpr = mpmath.ncdf(quantile - 1)
        expected = float(recall / (recall + fpr))
    assert curve.precision(0.5, 1e-17) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("loss", "expected"), [(0.0, 0.25), (math.log(3), 0.5), (50, 1 - 3 * math.exp(-50))]
)
def test_the_posterior_is_limited_by_the_loss(loss, expected):
    curve = ApproximateDP(epsilon=loss, delta=0.0)
    assert curve.posterior_limit(0.25) == pytest.approx(expected, rel=1e-12)


def test_the_posterior_has_no_limit_without_one_of_the_loss():
    assert GaussianDP(mu=0.01).posterior_limit(0.25) == 1
    assert ApproximateDP(epsilon=0.0, delta=1e-12).posterior_limit(0.25) == 1


@given(st.floats(5e-324, 1 - 2**-53))
def test_the_loss_of_a_prior(prior):
    with mpmath.workdps(40):
        exact = abs(mpmath.log((1 - mpmath.mpf(prior)) / mpmath.mpf(prior)))
    assert prior_loss(prior) == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("distance", [1e-15, 1e-9, 1e-3])
def test_the_loss_of_a_prior_next_to_an_end_or_to_one_half(distance):
    with mpmath.workdps(40):
        for prior in (0.5 + distance, 1 - distance, distance):
            exact = abs(mpmath.log((1 - mpmath.mpf(prior)) / mpmath.mpf(prior)))
            assert prior_loss(prior) == pytest.approx(float(exact), rel=1e-13)


EXTREME = [
    *(
        ApproximateDP(epsilon=epsilon, delta=delta)
        for epsilon in (0.0, 1e-8, 50.0, 700.0, 1e6, math.inf)
        for delta in (0.0, 5e-324, 1e-12, 0.5, 1 - 2**-53, 1.0)
    ),
    *(
        two_step(epsilon, delta)
        for epsilon in (0.0, 1e-8, 50.0, 700.0, 746.0, 1e6)
        for delta in (0.0, 5e-324, 1e-12, 0.5, 1.0)
    ),
    *(GaussianDP(mu=mu) for mu in (0.0, 5e-324, 1e-300, 1e-8, 1.0, 40.0, 1e6)),
    *(LaplaceMechanism(shift=shift) for shift in (0.0, 5e-324, 1e-8, 50.0, 700.0, 1e6)),
    *(
        GeometricMechanism(scale=scale, sensitivity=sensitivity)
        for scale, sensitivity in (
            (1e-6, 1),
            (0.02, 1),
            (1.0, 10**6),
            (1e9, 1),
            (1e25, 10**15),
            (1e308, 1),
        )
    ),
    *(
        RandomizedResponse(truth=truth, categories=categories)
        for truth in (0.0, 5e-324, 1e-12, 0.5, 1 / 3, 1 - 2**-53, 1.0)
        for categories in (2, 3, 10**15)
    ),
]


@pytest.mark.parametrize("curve", EXTREME, ids=lambda curve: type(curve).__name__)
def test_no_end_overflows_or_loses_itself(curve):
    figures = [
        *(curve.tpr(rate) for rate in RATES),
        *(curve.fnr(rate) for rate in RATES),
        *(curve.profile(loss) for loss in LOSSES),
        *(curve.excess(prior) for prior in PRIORS),
        *(curve.posterior_limit(prior) for prior in PRIORS),
        *(curve.precision(prior, recall) for prior in PRIORS for recall in RATES[1:]),
    ]
    assert all(0 <= figure <= 1 for figure in figures)
    assert all(math.copysign(1, figure) == 1 for figure in figures)  # -0.0 would show
    assert all(curve.tpr(rate) >= rate * (1 - 1e-12) for rate in RATES)
    assert np.all(np.diff([curve.tpr(rate) for rate in RATES]) >= -1e-15)
    assert np.all(np.diff([curve.profile(loss) for loss in LOSSES]) <= 0)
    for delta in (0.0, 5e-324, 1e-300, 1e-5, 1.0):
        epsilon = curve.epsilon_at(delta)
        assert epsilon >= 0
        assert epsilon == math.inf or curve.profile(epsilon) <= delta


def test_guarantees_that_hide_nothing_have_an_epsilon_all_the_same():
    assert ApproximateDP(epsilon=5e5, delta=1e-5).epsilon_at(1e-5) == 5e5
    assert LaplaceMechanism(shift=1e6).epsilon_at(1e-5) == pytest.approx(1e6, rel=1e-9)
    # mu^2 / 2 + 4.26 mu and a little.
    assert GaussianDP(mu=1e6).epsilon_at(1e-5) == pytest.approx(5e11 + 4.26e6, rel=1e-8)


@given(st.floats(0, 1), st.floats(0, 1e4))
def test_a_share_is_scaled_without_overflow(part, loss):
    share = part * math.exp(-loss)
    expected = float(mpmath.mpf(share) * mpmath.exp(loss))
    assert scaled(share, loss) == pytest.approx(expected, rel=1e-12)


def test_exponentials_may_be_infinite():
    assert exp(1.0) == math.e
    assert exp(710.0) == math.inf


def pure(epsilon):
    return ApproximateDP(epsilon=epsilon, delta=0.0)


def gaussian(mu):
    return GaussianDP(mu=mu)


def laplace(shift):
    return LaplaceMechanism(shift=shift)


@given(st.floats(1e-12, 1 - 1e-6), st.sampled_from([pure, gaussian, laplace]))
def test_the_largest_keeps_the_limit_and_the_next_float_does_not(limit, family):
    largest = largest_within(family, lambda curve: curve.profile(0.0) <= limit)
    assert family(largest).profile(0.0) <= limit
    assert family(math.nextafter(largest, math.inf)).profile(0.0) > limit


@pytest.mark.parametrize("limit", [1e-300, 1e-9, 0.1, 0.9])
def test_closed_forms(limit):
    def within(curve):
        return curve.profile(0.0) <= limit

    assert largest_within(pure, within) == pytest.approx(2 * math.atanh(limit), rel=1e-12)
    assert largest_within(laplace, within) == pytest.approx(-2 * math.log1p(-limit), rel=1e-12)


def test_none_if_not_even_zero_will_do():
    assert largest_within(lambda e: ApproximateDP(epsilon=e, delta=0.1), within=narrow) is None


def test_zero_if_only_zero_will_do():
    assert largest_within(gaussian, lambda curve: curve.profile(0.0) == 0) == 0


def test_infinity_if_anything_will_do():
    assert largest_within(gaussian, lambda _: True) == math.inf


def narrow(curve):
    return curve.profile(0.0) <= 0.05


def test_vectors_of_the_lecture():
    assert refuted_epsilon(0.9, 0.01, 0) == pytest.approx(4.4998, abs=5e-5)
    assert refuted_epsilon(0.05, 0.01, 0) == pytest.approx(1.6094, abs=5e-5)
    # The other side decides where the attack is sure of the holdout records.
    assert refuted_epsilon(0.99, 0.1, 0) == pytest.approx(math.log(90), rel=1e-12)


@given(tpr=RATE, fpr=RATE, delta=st.floats(0, 1))
def test_it_is_the_least_epsilon_whose_region_holds_the_attack(tpr, fpr, delta):
    epsilon = refuted_epsilon(tpr, fpr, delta)
    assert epsilon >= 0
    if math.isinf(epsilon):
        assert ApproximateDP(epsilon=700.0, delta=delta).tpr(fpr) < tpr or 0 in {fpr, 1 - tpr}
        return
    assert ApproximateDP(epsilon=epsilon, delta=delta).tpr(fpr) >= tpr - 1e-12
    if epsilon > 1e-3 and tpr - delta > 1e-9:
        inside = ApproximateDP(epsilon=epsilon * (1 - 1e-6), delta=delta)
        assert inside.tpr(fpr) < tpr + 1e-15


@given(tpr=st.floats(0.002, 0.998), fpr=st.floats(0.002, 0.998), delta=st.sampled_from([0.0, 1e-3]))
def test_agrees_with_riskcal(tpr, fpr, delta):
    witness = analysis.get_epsilon_from_err_rates(delta, fpr, 1 - tpr)
    assert refuted_epsilon(tpr, fpr, delta) == pytest.approx(max(0, witness), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("tpr", "fpr", "delta", "expected"),
    [
        (1, 0, 0, math.inf),
        (0.1, 0, 0, math.inf),
        (1, 0.9, 0, math.inf),
        (1, 0, 1, 0),
        (0.1, 0, 0.1, 0),
        (0, 0, 0, 0),
        (1, 1, 0, 0),
        (0, 1, 0, 0),
        (0.5, 0.5, 0, 0),
    ],
)
def test_ends_of_attack(tpr, fpr, delta, expected):
    assert refuted_epsilon(tpr, fpr, delta) == expected


@pytest.mark.parametrize(
    ("tpr", "fpr", "expected"),
    [(1, 0, math.inf), (1, 0.5, math.inf), (0.5, 0, math.inf), (0, 0, 0), (1, 1, 0), (0, 1, 0)],
)
def test_ends_of_mu(tpr, fpr, expected):
    assert refuted_mu(tpr, fpr) == expected


@given(tpr=st.floats(1e-300, 1 - 1e-9), fpr=st.floats(1e-300, 1 - 1e-9))
def test_the_least_mu_reaches_the_attack(tpr, fpr):
    mu = refuted_mu(tpr, fpr)
    if tpr <= fpr:
        assert mu == 0
    else:
        assert GaussianDP(mu=mu).tpr(fpr) == pytest.approx(tpr, rel=1e-9)


def test_mu_against_high_precision():
    with mpmath.workdps(40):

        def quantile(p):
            return mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(p) - 1)

        exact = float(quantile(0.9) - quantile(1e-12))
    assert refuted_mu(0.9, 1e-12) == pytest.approx(exact, rel=1e-12)
