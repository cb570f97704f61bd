""""""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given
from hypothesis import strategies as st
from riskcal import analysis

from mipaudit.maths.privacy import epsilon_delta as dp
from mipaudit.maths.privacy.concentrated import ZeroConcentrated
from mipaudit.maths.privacy.epsilon_delta import (
    ApproximateDP,
    TwoStepDP,
    published_bounds,
    to_substitution,
    two_steps,
)
from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)

EPSILONS = (0.0, 1e-8, 0.1, 1.0, 5.0, 50.0, 700.0)
DELTAS = (0.0, 1e-300, 1e-12, 1e-5, 0.2, 0.9, 1.0)
RATES = (0.0, 1e-300, 1e-30, 1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-12, 1.0)
EPSILONS_OF_ATTACKER_ALLOWANCE = st.floats(0, 30)
DELTAS_OF_ATTACKER_ALLOWANCE = st.floats(0, 1)
PRIORS = st.floats(0.001, 0.999)
STEP = ApproximateDP(epsilon=1.0, delta=0.01)


def published_fnr(epsilon, delta, fpr):
    """Kairouz, Oh and Viswanath: max(0, 1 - delta - e^eps F, e^-eps (1 - delta - F))."""
    ratio, delta, fpr = mpmath.exp(epsilon), mpmath.mpf(delta), mpmath.mpf(fpr)
    return max(mpmath.mpf(0), 1 - delta - ratio * fpr, (1 - delta - fpr) / ratio)


def published_profile(own, delta, epsilon):
    """The best of the corners of that region, above a line of slope e^epsilon."""
    ratio, delta = mpmath.exp(own), mpmath.mpf(delta)
    corner = (1 - delta) / (1 + ratio)
    return max(delta, 1 - corner - mpmath.exp(epsilon) * corner)


def close(found, exact, *, absolute=0.0):
    return found == pytest.approx(float(exact), rel=1e-9, abs=absolute)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_against_the_published_region_in_high_precision(epsilon, delta):
    curve = ApproximateDP(epsilon=epsilon, delta=delta)
    with mpmath.workdps(700):
        for fpr in RATES:
            fnr = published_fnr(epsilon, delta, fpr)
            assert close(curve.tpr(fpr), 1 - fnr)
            # At the corner the FNR hangs on the last bit of the FPR.
            steep = 1e-15 if abs(fpr - curve.corner) < 1e-9 * curve.corner else 0
            assert close(curve.fnr(fpr), fnr, absolute=steep)
        for other in (0.0, 1e-9, epsilon / 3, epsilon * (1 - 1e-9), epsilon, epsilon + 1):
            assert close(curve.profile(other), published_profile(epsilon, delta, other))


@given(
    epsilon=st.floats(0, 30), delta=st.floats(0, 0.999), fpr=st.floats(0, 1), other=st.floats(0, 40)
)
def test_against_the_published_region_everywhere(epsilon, delta, fpr, other):
    curve = ApproximateDP(epsilon=epsilon, delta=delta)
    with mpmath.workdps(60):
        assert close(curve.fnr(fpr), published_fnr(epsilon, delta, fpr), absolute=1e-15)
        exact = published_profile(epsilon, delta, other)
        assert close(curve.profile(other), exact, absolute=1e-16)


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 3.0])
def test_agrees_with_the_accountant(epsilon, delta):
    witness = pld.from_privacy_parameters(
        common.DifferentialPrivacyParameters(epsilon, delta), value_discretization_interval=epsilon
    )
    curve = ApproximateDP(epsilon=epsilon, delta=delta)
    assert curve.profile(epsilon) == pytest.approx(witness.get_delta_for_epsilon(epsilon))
    assert curve.profile(0.0) == pytest.approx(witness.get_delta_for_epsilon(0.0), rel=1e-9)
    exact = witness.get_delta_for_epsilon(epsilon / 2)
    assert curve.profile(epsilon / 2) == pytest.approx(exact, rel=1e-9)


@given(epsilon=st.floats(0, 20), delta=st.floats(0, 1), fpr=st.floats(0, 1))
def test_agrees_with_riskcal(epsilon, delta, fpr):
    curve = ApproximateDP(epsilon=epsilon, delta=delta)
    witness = float(analysis.get_beta_from_adp(epsilon, delta, fpr))
    assert curve.fnr(fpr) == pytest.approx(witness, rel=1e-9, abs=1e-12)
    advantage = analysis.get_advantage_from_adp(epsilon, delta)
    assert curve.profile(0.0) == pytest.approx(advantage, rel=1e-9, abs=1e-12)


def test_the_region_is_reached_by_a_mechanism_of_four_outcomes():
    # Gives the record away with probability delta, else randomized response.
    epsilon, delta = 1.3, 0.07
    likely = (1 - delta) / (1 + math.exp(-epsilon))
    member = (delta, likely, 1 - delta - likely, 0.0)
    holdout = (0.0, 1 - delta - likely, likely, delta)
    curve = ApproximateDP(epsilon=epsilon, delta=delta)
    tpr = fpr = 0.0
    for hit, mistake in zip(member, holdout, strict=True):
        tpr, fpr = tpr + hit, fpr + mistake
        assert curve.tpr(fpr) == pytest.approx(tpr, abs=1e-15)


def composed(epsilon, delta, fpr):
    """T(T(F)), each T the published region."""
    once = 1 - published_fnr(epsilon, delta, fpr)
    return 1 - published_fnr(epsilon, delta, once)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_two_steps_are_one_after_the_other(epsilon, delta):
    curve = TwoStepDP(step=ApproximateDP(epsilon=epsilon, delta=delta))
    with mpmath.workdps(1400):
        for fpr in (*RATES, 0.1 * math.exp(-epsilon), 0.1 * math.exp(-2 * epsilon)):
            tpr = composed(epsilon, delta, fpr)
            assert close(curve.tpr(fpr), tpr)
            # Between the corners the FNR hangs on the last bits of a TPR next to 1.
            assert close(curve.fnr(fpr), 1 - tpr, absolute=1e-15)


def farthest(epsilon, delta, other):
    """sup T(T(F)) - e^other F over every corner of the composed region."""
    ratio, delta = mpmath.exp(epsilon), mpmath.mpf(delta)
    corner = (1 - delta) / (1 + ratio)
    inner = (corner - delta) / ratio  # T(F) is then at the corner of the outer T
    corners = [mpmath.mpf(0), corner, inner, mpmath.mpf(1) - delta]
    line = mpmath.exp(other)
    return max(composed(epsilon, delta, f) - line * f for f in corners if 0 <= f <= 1)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", [*EPSILONS, 746.0, 1000.0])
def test_the_profile_of_two_steps_is_that_of_a_corner(epsilon, delta):
    curve = TwoStepDP(step=ApproximateDP(epsilon=epsilon, delta=delta))
    with mpmath.workdps(1400):
        for other in (0.0, 1e-9, 0.5 * epsilon, epsilon, 1.9 * epsilon, 2 * epsilon, 3 * epsilon):
            assert close(curve.profile(other), farthest(epsilon, delta, other), absolute=1e-300)


@pytest.mark.parametrize("epsilon", [1e-8, 0.3, 1.0, 5.0, 50.0, 700.0, 746.0, 1e6])
def test_two_pure_steps_are_reached_by_laplace_noise(epsilon):
    curve = TwoStepDP(step=ApproximateDP(epsilon=epsilon, delta=0.0))
    assert curve.profile(0.0) == pytest.approx(-math.expm1(-epsilon), rel=1e-12)
    assert curve.profile(0.0) == pytest.approx(
        LaplaceMechanism(shift=2 * epsilon).profile(0), rel=1e-12
    )


@given(epsilon=st.floats(0.01, 5), fpr=st.floats(0, 1))
def test_laplace_noise_is_within_two_pure_steps(epsilon, fpr):
    curve = TwoStepDP(step=ApproximateDP(epsilon=epsilon, delta=0.0))
    assert curve.tpr(fpr) >= LaplaceMechanism(shift=2 * epsilon).tpr(fpr) - 1e-15


@given(mu=st.floats(0.05, 3), epsilon=st.floats(0, 5), fpr=st.floats(0, 1))
def test_gaussian_noise_is_within_the_two_steps_that_it_satisfies(mu, epsilon, fpr):
    step = ApproximateDP(epsilon=epsilon, delta=GaussianDP(mu=mu).profile(epsilon))
    assert TwoStepDP(step=step).tpr(fpr) >= GaussianDP(mu=2 * mu).tpr(fpr) - 1e-12


@given(epsilon=st.floats(0, 5), delta=st.floats(0, 1), fpr=st.floats(0, 1), other=st.floats(0, 12))
def test_two_steps_are_inside_the_usual_conversion(epsilon, delta, fpr, other):
    curve = TwoStepDP(step=ApproximateDP(epsilon=epsilon, delta=delta))
    doubled, more = to_substitution(epsilon, delta)
    usual = ApproximateDP(epsilon=doubled, delta=more)
    assert curve.tpr(fpr) <= usual.tpr(fpr) + 1e-12
    assert curve.profile(other) <= usual.profile(other) + 1e-12


def advantage_bound(epsilon, delta, prior):
    return dp.advantage_bound(ApproximateDP(epsilon=epsilon, delta=delta), prior)


@pytest.mark.parametrize(
    ("prior", "epsilon", "delta", "expected"),
    [
        (0.3, 1, 0.01, 0.4674960),
        (0.1, 3, 0.01, 0.9060968),
        (0.1, 1, 0, 0.8),
        (0.9, 1, 0.05, 0.81),
        # Humphries et al.: 0.4621 at epsilon 1, delta 1e-5, and 0.2449 at 0.5.
        (0.5, 1, 1e-5, 0.4621225),
        (0.5, 0.5, 1e-5, 0.2449262),
    ],
)
def test_vectors(prior, epsilon, delta, expected):
    assert advantage_bound(epsilon, delta, prior) == pytest.approx(expected, abs=1e-6)


def over_the_curve(epsilon, delta, prior):
    """Maximise over a dense grid of FPRs on the trade-off curve of Kairouz et al."""
    fpr = np.linspace(0, 1, 200_001)
    fnr = np.maximum.reduce(
        [
            np.zeros_like(fpr),
            1 - delta - math.exp(epsilon) * fpr,
            math.exp(-epsilon) * (1 - delta - fpr),
        ]
    )
    return (1 - 2 * prior + 2 * (prior * (1 - fnr) - (1 - prior) * fpr)).max()


@pytest.mark.parametrize("prior", [0.01, 0.1, 0.3, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.05, 0.6])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 4.0])
def test_is_the_maximum_over_the_trade_off_curve(epsilon, delta, prior):
    exact = over_the_curve(epsilon, delta, prior)
    assert advantage_bound(epsilon, delta, prior) == pytest.approx(exact, abs=1e-4)
    assert advantage_bound(epsilon, delta, prior) >= exact - 1e-12


@given(epsilon=EPSILONS_OF_ATTACKER_ALLOWANCE, delta=DELTAS_OF_ATTACKER_ALLOWANCE)
def test_closed_form_at_the_even_prior(epsilon, delta):
    expected = (math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1)
    assert advantage_bound(epsilon, delta, 0.5) == pytest.approx(expected, abs=1e-12)


@given(epsilon=EPSILONS_OF_ATTACKER_ALLOWANCE, delta=DELTAS_OF_ATTACKER_ALLOWANCE, prior=PRIORS)
def test_range_symmetry_and_growth(epsilon, delta, prior):
    bound = advantage_bound(epsilon, delta, prior)
    assert abs(2 * prior - 1) - 1e-12 <= bound <= 1
    assert bound == pytest.approx(advantage_bound(epsilon, delta, 1 - prior), abs=1e-12)
    assert bound <= advantage_bound(epsilon + 0.5, delta, prior) + 1e-12
    assert bound <= advantage_bound(epsilon, min(1, delta + 0.1), prior) + 1e-12
    assert bound <= advantage_bound(*to_substitution(epsilon, delta), prior) + 1e-12


@given(epsilon=st.floats(0, 5), prior=st.floats(0.01, 0.99))
def test_no_guess_beats_the_trivial_one_at_priors_far_from_even(epsilon, prior):
    odds = max(prior, 1 - prior) / min(prior, 1 - prior)
    bound = advantage_bound(epsilon, 0, prior)
    if odds > math.exp(epsilon) + 1e-9:
        assert bound == pytest.approx(abs(2 * prior - 1), abs=1e-12)


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_extreme_claims(prior):
    assert advantage_bound(math.inf, 0, prior) == 1
    assert advantage_bound(1e6, 0, prior) == 1
    assert advantage_bound(0, 1, prior) == 1
    assert advantage_bound(0, 0, prior) == pytest.approx(abs(2 * prior - 1))


def test_conversion_from_add_or_remove():
    assert to_substitution(1, 1e-5) == pytest.approx((2, (1 + math.e) * 1e-5))
    assert to_substitution(1, 0.5) == (2, 1.0)


@given(epsilon=EPSILONS_OF_ATTACKER_ALLOWANCE, delta=DELTAS_OF_ATTACKER_ALLOWANCE)
def test_published_bounds_side_by_side(epsilon, delta):
    bounds = {bound.name: bound.advantage for bound in published_bounds(epsilon, delta, 0.5)}
    assert set(bounds) == {"yeom", "erlingsson", "mace", "izzo", "humphries"}
    same = math.tanh(epsilon / 2) if delta == 0 else 1
    assert bounds["izzo"] == pytest.approx(same)
    assert bounds["mace"] == pytest.approx(same)
    assert bounds["erlingsson"] == pytest.approx(1 - math.exp(-epsilon) * (1 - delta))
    assert bounds["yeom"] == pytest.approx(min(1, math.expm1(epsilon)) if delta == 0 else 1)
    assert all(0 <= bound <= 1 for bound in bounds.values())
    # The exact bound is the least of them.
    assert bounds["humphries"] == pytest.approx(min(bounds.values()))


def test_bounds_for_the_even_prior_are_not_shown_at_others():
    assert [bound.name for bound in published_bounds(1, 0, 0.3)] == ["mace", "humphries"]


def test_the_bound_of_one_record_is_loose_for_their_mean():
    # At epsilon 1 and p = 0.1 it allows .92 where .80 is exact.
    mace, humphries = published_bounds(1, 0, 0.1)
    assert mace.advantage == pytest.approx(0.92, abs=0.005)
    assert humphries.advantage == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (STEP, TwoStepDP(step=STEP)),
        (GaussianDP(mu=0.7), GaussianDP(mu=1.4)),
        (LaplaceMechanism(shift=0.7), LaplaceMechanism(shift=1.4)),
        (
            GeometricMechanism(scale=2.0, sensitivity=3),
            GeometricMechanism(scale=2.0, sensitivity=6),
        ),
        (ZeroConcentrated(rho=0.7), ZeroConcentrated(rho=2.8)),
    ],
)
def test_two_steps(one, two):
    assert two_steps(one) == two


@pytest.mark.parametrize(
    "curve",
    [
        STEP,
        GaussianDP(mu=0.7),
        LaplaceMechanism(shift=0.7),
        GeometricMechanism(scale=2.0, sensitivity=3),
        ZeroConcentrated(rho=0.2),
    ],
)
@pytest.mark.parametrize("fpr", [1e-6, 0.01, 0.3, 0.8])
def test_two_steps_are_within_the_curve_composed_with_itself(curve, fpr):
    assert curve.tpr(fpr) <= two_steps(curve).tpr(fpr)
    if not isinstance(curve, ZeroConcentrated):  # 4 rho knows less than the curve
        assert two_steps(curve).tpr(fpr) <= curve.tpr(curve.tpr(fpr)) + 1e-15


def test_a_curve_that_is_stated_by_substitution_only_is_refused():
    with pytest.raises(TypeError, match="RandomizedResponse"):
        two_steps(RandomizedResponse(truth=0.7, categories=2))
