from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from dp_accounting import gaussian_mechanism
from dp_accounting.pld import privacy_loss_mechanism as witness
from hypothesis import given
from hypothesis import strategies as st
from riskcal import analysis

from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)

MUS = (1e-8, 1e-3, 0.1, 0.5, 1.0, 3.0, 12.0, 40.0)
RATES = (1e-300, 1e-30, 1e-9, 1e-3, 0.2, 0.5, 0.9, 1 - 1e-9)


def close(found, exact, *, absolute=0.0):
    return found == pytest.approx(float(exact), rel=1e-9, abs=absolute)


@pytest.mark.parametrize("epsilon", [0.0, 1e-8, 0.1, 1.0, 10.0, 50.0, 700.0])
@pytest.mark.parametrize("mu", MUS)
def test_the_gaussian_profile_in_high_precision(mu, epsilon):
    with mpmath.workdps(900):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        near, far = e / m - m / 2, e / m + m / 2
        if near > 40:  # below the smallest float
            assert GaussianDP(mu=mu).profile(epsilon) == 0
            return
        exact = mpmath.erfc(near / mpmath.sqrt(2)) / 2
        exact -= mpmath.exp(e) * mpmath.erfc(far / mpmath.sqrt(2)) / 2
    assert close(GaussianDP(mu=mu).profile(epsilon), exact, absolute=5e-324)


@pytest.mark.parametrize("mu", MUS)
def test_the_gaussian_curve_in_high_precision(mu):
    curve = GaussianDP(mu=mu)
    with mpmath.workdps(60):
        for fpr in RATES:
            start = mpmath.mpf(curve_start(fpr))
            quantile = mpmath.findroot(
                lambda x, p=fpr: mpmath.log(tail(-x) / mpmath.mpf(p)), start, tol=1e-70
            )
            assert close(curve.tpr(fpr), tail(-quantile - mu))
            assert close(curve.fnr(fpr), tail(quantile + mu), absolute=1e-320)


def tail(x):
    return mpmath.erfc(mpmath.mpf(x) / mpmath.sqrt(2)) / 2


def curve_start(probability):
    from scipy.special import ndtri

    return float(ndtri(probability))


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 4.0])
def test_gaussian_noise_agrees_with_the_accountant(mu, epsilon):
    exact = witness.GaussianPrivacyLoss(1 / mu).get_delta_for_epsilon(epsilon)
    assert close(GaussianDP(mu=mu).profile(epsilon), exact, absolute=1e-15)


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.01])
def test_its_epsilon_agrees_with_the_accountant(mu, delta):
    exact = gaussian_mechanism.get_epsilon_gaussian(1 / mu, delta, tol=1e-12)
    assert GaussianDP(mu=mu).epsilon_at(delta) == pytest.approx(exact, rel=1e-9, abs=1e-10)


@given(mu=st.floats(0.001, 6), fpr=st.floats(1e-6, 1 - 1e-6), prior=st.floats(0.05, 0.95))
def test_gaussian_noise_agrees_with_riskcal(mu, fpr, prior):
    curve = GaussianDP(mu=mu)
    assert close(curve.fnr(fpr), analysis.get_beta_from_gdp(mu, fpr), absolute=1e-14)
    assert close(curve.profile(0.0), analysis.get_advantage_from_gdp(mu))
    risk = analysis.get_bayes_risk_from_gdp(mu, prior)  # the error of the best attacker
    accuracy = (1 + abs(2 * prior - 1) + curve.excess(prior)) / 2
    assert accuracy == pytest.approx(1 - risk, rel=1e-9)


@pytest.mark.parametrize("shift", [1e-8, 0.1, 1.0, 50.0, 700.0])
def test_laplace_noise_in_high_precision(shift):
    curve = LaplaceMechanism(shift=shift)
    with mpmath.workdps(700):
        ratio = mpmath.exp(shift)
        for fpr in RATES:
            f = mpmath.mpf(fpr)
            if f <= 1 / (2 * ratio):
                fnr = 1 - ratio * f
            elif f <= 0.5:
                fnr = 1 / (4 * ratio * f)
            else:
                fnr = (1 - f) / ratio
            assert close(curve.tpr(fpr), 1 - fnr)
            assert close(curve.fnr(fpr), fnr)
        for epsilon in (0.0, shift / 7, shift * (1 - 1e-7), shift, shift + 1):
            exact = max(mpmath.mpf(0), 1 - mpmath.exp((mpmath.mpf(epsilon) - shift) / 2))
            assert close(curve.profile(epsilon), exact, absolute=1e-16)


@pytest.mark.parametrize("shift", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.9, 3.9, 5.0])
def test_laplace_noise_agrees_with_the_accountant(shift, epsilon):
    exact = witness.LaplacePrivacyLoss(1 / shift).get_delta_for_epsilon(epsilon)
    assert close(LaplaceMechanism(shift=shift).profile(epsilon), exact, absolute=1e-15)


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("scale", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.07, 1.0, 2.5])
def test_geometric_noise_agrees_with_the_accountant(scale, sensitivity, epsilon):
    loss = witness.DiscreteLaplacePrivacyLoss(1 / scale, sensitivity=sensitivity)
    curve = GeometricMechanism(scale=scale, sensitivity=sensitivity)
    exact = loss.get_delta_for_epsilon(epsilon)
    assert close(curve.profile(epsilon), exact, absolute=1e-15)


def neyman_pearson(member, holdout):
    """Return the corners of the best ROC of two laws on one finite alphabet."""
    member, holdout = np.asarray(member), np.asarray(holdout)
    possible = member + holdout > 0
    member, holdout = member[possible], holdout[possible]
    with np.errstate(divide="ignore"):
        order = np.argsort(-np.log(member) + np.log(holdout), kind="stable")
    return np.cumsum([0, *holdout[order]]), np.cumsum([0, *member[order]])


def holds_for(curve, member, holdout):
    """Check every reading of a curve against the enumeration of the attackers."""
    fpr, tpr = neyman_pearson(member, holdout)
    for rate in (*fpr, *(fpr[:-1] + fpr[1:]) / 2, 1e-6, 0.01, 0.37):
        exact = np.interp(min(rate, 1.0), fpr, tpr)
        assert curve.tpr(min(rate, 1.0)) == pytest.approx(exact, abs=2e-13)
        assert curve.fnr(min(rate, 1.0)) == pytest.approx(1 - exact, abs=2e-13)
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0, 3.5):
        slow = np.maximum(0, np.asarray(member) - math.exp(epsilon) * np.asarray(holdout)).sum()
        assert curve.profile(epsilon) == pytest.approx(slow, rel=1e-9, abs=1e-14)
    for prior in (0.1, 0.5, 0.83):
        slow = np.abs(prior * np.asarray(member) - (1 - prior) * np.asarray(holdout)).sum()
        assert abs(2 * prior - 1) + curve.excess(prior) == pytest.approx(slow, rel=1e-9)


@pytest.mark.parametrize("sensitivity", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("scale", [0.2, 0.7, 1.0, 3.3])
def test_geometric_noise_against_all_attackers(scale, sensitivity):
    noise = np.arange(-140, 141)
    mass = np.exp(-np.abs(noise) / scale)
    mass /= mass.sum()
    padding = np.zeros(sensitivity)
    holds_for(
        GeometricMechanism(scale=scale, sensitivity=sensitivity),
        np.concatenate([padding, mass]),
        np.concatenate([mass, padding]),
    )


@pytest.mark.parametrize("categories", [2, 3, 4, 10])
@pytest.mark.parametrize("truth", [0.0, 0.02, 0.1, 0.3, 0.5, 0.8, 0.97, 1.0])
def test_randomized_response_against_all_attackers(truth, categories):
    other = (1 - truth) / (categories - 1)
    member, holdout = ([other] * categories for _ in range(2))
    member[0] = holdout[1] = truth
    holds_for(RandomizedResponse(truth=truth, categories=categories), member, holdout)


def test_randomized_response_at_its_corners():
    # A converter in public use is wrong here: it puts the corner at FPR 0.
    curve = RandomizedResponse(truth=0.75, categories=2)
    assert [curve.tpr(f) for f in (0, 0.25, 1)] == pytest.approx([0, 0.75, 1])
    assert curve.tpr(0.1) == pytest.approx(0.3)
    assert curve.loss == pytest.approx(math.log(3))
    assert curve.profile(0.0) == pytest.approx(0.5)
    assert RandomizedResponse(truth=1.0, categories=4).tpr(0.0) == 1
    assert RandomizedResponse(truth=0.25, categories=4).tpr(0.3) == pytest.approx(0.3)


@pytest.mark.parametrize("categories", [2, 3, 10**6])
@pytest.mark.parametrize(
    "truth", [5e-324, 1e-300, 1e-12, 1 / 3 - 1e-9, 0.5 + 1e-12, 0.5 + 1e-5, 0.9, 1 - 1e-14]
)
def test_randomized_response_in_high_precision(truth, categories):
    curve = RandomizedResponse(truth=truth, categories=categories)
    with mpmath.workdps(700):
        t = mpmath.mpf(truth)
        other = (1 - t) / (categories - 1)
        likely, rare = max(t, other), min(t, other)
        loss = mpmath.log(likely / rare)
        # 1 / k is no float: next to it the figures hang on the last bit of the truth.
        slack = 1e-16 if abs(t * categories - 1) < 1e-6 else 0
        assert close(curve.loss, loss, absolute=10 * slack)
        for epsilon in (0.0, 1e-9, float(loss) / 2):
            exact = max(mpmath.mpf(0), likely - mpmath.exp(epsilon) * rare)
            assert close(curve.profile(epsilon), exact, absolute=slack)
        assert close(curve.fnr(float(rare)), 1 - likely, absolute=1e-16)
        assert close(curve.fnr(1 - 1e-9), rare / likely * (1 - mpmath.mpf(1 - 1e-9)))


@pytest.mark.parametrize("scale", [1e8, 1e16, 1e25, 1e300])
@pytest.mark.parametrize("fpr", [1e-300, 1e-3, 0.25, 0.5, 0.9])
def test_much_geometric_noise_is_laplace_noise(scale, fpr):
    # Counting steps of 1 through it would take for ever.
    sensitivity = min(10**15, int(0.7 * scale))
    curve = GeometricMechanism(scale=scale, sensitivity=sensitivity)
    smooth = LaplaceMechanism(shift=sensitivity / scale)
    assert curve.tpr(fpr) == pytest.approx(smooth.tpr(fpr), rel=1e-7)
    assert curve.fnr(fpr) == pytest.approx(smooth.fnr(fpr), rel=1e-7)
    assert curve.profile(0.0) == pytest.approx(smooth.profile(0.0), rel=1e-7)


@pytest.mark.parametrize("scale", [0.02, 0.001])
def test_little_geometric_noise_keeps_its_tiny_errors(scale):
    curve = GeometricMechanism(scale=scale, sensitivity=1)
    with mpmath.workdps(60):
        ratio = mpmath.exp(-1 / mpmath.mpf(scale))
        corner = ratio / (1 + ratio)
    assert close(curve.fnr(float(corner)), corner, absolute=1e-16)
    assert close(curve.fnr(0.5), ratio / 2, absolute=5e-324)
    assert curve.profile(0.0) == 1 - 2 * float(corner)
