from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.noise_scales import (
    allowed_eta,
    allowed_gap,
    coordinate_error,
    equivalent_epsilon,
    expected_norm,
    paper_scale,
    scale_for_distance,
    scale_for_moment,
)
from tests.noise_gaps import gap_left

MECHANISMS = ("laplace", "norm-exponential", "gaussian")
# From one end to the other, where 1 - gap and gap are both hard to represent.
GAPS = (1e-300, 1e-12, 1e-6, 0.02, 0.2, 0.5, 0.75, 1 - 1e-6, 1 - 1e-12, 1 - 2**-53)
gaps = st.floats(1e-12, 1 - 1e-12)
etas = st.floats(1e-12, 0.5 - 1e-12)
fractions = st.floats(0.01, 0.99)
mechanisms = st.sampled_from(MECHANISMS)


def exact_distance_scale(mechanism, gap):
    """The scales of docs/explanation/methods.md, written with many digits."""
    gap = mpmath.mpf(gap)
    if mechanism == "laplace":
        return 1 / (-2 * mpmath.log(1 - gap))
    if mechanism == "norm-exponential":
        return 1 / mpmath.log((1 + gap) / (1 - gap))
    return 1 / (2 * mpmath.sqrt(2) * mpmath.erfinv(gap))


def exact_gap(mechanism, ratio):
    ratio = mpmath.mpf(ratio)
    if mechanism == "laplace":
        return 1 - mpmath.exp(-ratio / 2)
    if mechanism == "norm-exponential":
        return mpmath.tanh(ratio / 2)
    return 1 - mpmath.erfc(ratio / mpmath.sqrt(8))


def exact_chi_mean(dimension):
    half = mpmath.mpf(dimension) / 2
    return mpmath.sqrt(2) * mpmath.exp(mpmath.loggamma(half + 0.5) - mpmath.loggamma(half))


@pytest.mark.parametrize(
    ("eta", "laplace", "norm_exponential", "gaussian"),
    [(0.1, 4.481, 4.933, 3.947), (0.02, 24.50, 24.99, 19.94)],
)
def test_multipliers_of_the_first_moment_are_the_published_ones(
    eta, laplace, norm_exponential, gaussian
):
    expected = (laplace, norm_exponential, gaussian)
    for mechanism, multiplier in zip(MECHANISMS, expected, strict=True):
        # Four significant digits were published.
        assert scale_for_moment(mechanism, eta, 0.5) == pytest.approx(multiplier, rel=3e-4)


def test_multipliers_at_another_training_fraction():
    assert scale_for_moment("norm-exponential", 0.05, 0.3) == pytest.approx(9.90671, abs=5e-6)
    assert scale_for_moment("laplace", 0.05, 0.3) == pytest.approx(9.14136, abs=5e-6)
    assert scale_for_moment("gaussian", 0.05, 0.3) == pytest.approx(7.92035, abs=5e-6)


@pytest.mark.parametrize(
    ("eta", "k", "scale", "tolerance"),
    [
        (0.1, 2, 3794.56, 1e-9),
        (0.1, 4, 483.5, 0.05),
        (0.1, math.inf, 61.6, 1e-9),
        (0.02, 2, 94864, 1e-6),
        # Below k = 2 the constant is the 7.5 of Theorem 7.
        (0.1, 1, 75**3, 1e-6),
        (0.1, 1.5, 75 ** (7 / 3), 1e-6),
    ],
)
def test_the_published_scale(eta, k, scale, tolerance):
    assert paper_scale(eta, k) == pytest.approx(scale, abs=tolerance)


def test_the_published_scale_over_ours_at_one_tenth():
    ours = scale_for_moment("laplace", 0.1, 0.5)
    ratios = [paper_scale(0.1, k) / ours for k in (2, 4, math.inf)]
    assert ratios == pytest.approx([846.7, 107.9, 13.75], rel=5e-4)


def test_epsilon_that_differential_privacy_would_need():
    assert equivalent_epsilon(0.1) == pytest.approx(0.405465, abs=5e-7)
    assert equivalent_epsilon(0.1) == pytest.approx(math.log(1.2 / 0.8), rel=1e-14)


def test_eta_of_differential_privacy_is_izzos_theorem_4():
    # The advantage 2 eta at epsilon 1 is tanh(1/2).
    assert 2 * allowed_eta(1.0) == pytest.approx(0.46211716, abs=5e-9)
    for epsilon in (0.0, 1e-3, 0.405465, 1.0, 5.0, 36.0):
        assert allowed_eta(epsilon) == pytest.approx(1 / (1 + math.exp(-epsilon)) - 0.5, abs=1e-15)


def test_eta_of_differential_privacy_at_the_ends():
    assert allowed_eta(0.0) == 0.0
    assert allowed_eta(1e-8) == pytest.approx(2.5e-9, rel=1e-12)
    assert allowed_eta(50.0) == 0.5
    assert allowed_eta(700.0) == 0.5
    assert allowed_eta(math.inf) == 0.5


def test_laplace_and_gaussian_scales_by_hand():
    # TV of a shift D is 1 - e^(-D / 2b): a half at b = D / (2 ln 2).
    assert scale_for_distance("laplace", 0.5) == pytest.approx(0.5 / math.log(2), rel=1e-15)
    assert scale_for_distance("norm-exponential", 0.5) == pytest.approx(1 / math.log(3), rel=1e-15)
    # 68.27% of a normal law lie within one standard deviation: half the distance.
    assert scale_for_distance("gaussian", math.erf(math.sqrt(0.5))) == pytest.approx(0.5, rel=1e-14)


def test_half_the_records_leave_a_gap_of_twice_eta():
    assert allowed_gap(0.1, 0.5) == 0.2
    assert [allowed_gap(0.1, 0.2), allowed_gap(0.1, 0.8)] == pytest.approx([0.5, 0.5], rel=1e-15)
    # With one record in twenty the constant guess is right often enough for any release.
    assert allowed_gap(0.1, 0.05) == pytest.approx(2.0)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("gap", GAPS)
def test_scales_to_nine_digits(mechanism, gap):
    with mpmath.workdps(360):
        exact = exact_distance_scale(mechanism, gap)
        assert abs(scale_for_distance(mechanism, gap) / exact - 1) < 1e-9


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("ratio", [1e-300, 1e-12, 1e-3, 0.4, 1, 3, 10, 36, 200, 1e4, 1e12])
def test_gaps_to_nine_digits(mechanism, ratio):
    with mpmath.workdps(360):
        assert abs(gap_left(mechanism, ratio) / exact_gap(mechanism, ratio) - 1) < 1e-9


@pytest.mark.parametrize("eta", [1e-12, 1e-6, 0.02, 0.1, 0.3, 0.49, 0.5 - 1e-12])
def test_epsilons_and_published_scales_to_nine_digits(eta):
    with mpmath.workdps(60):
        exact = mpmath.mpf(eta)
        assert abs(equivalent_epsilon(eta) / (2 * mpmath.atanh(2 * exact)) - 1) < 1e-9
        for k in (1, 2, 3.5, 8):
            constant = mpmath.mpf("6.16") if k >= 2 else mpmath.mpf("7.5")
            assert abs(paper_scale(eta, k) / (constant / exact) ** (1 + mpmath.mpf(2) / k) - 1) < (
                1e-9
            )


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("eta", [1e-12, 0.5 - 1e-12])
def test_scales_are_finite_and_positive_at_the_ends(mechanism, eta):
    scale = scale_for_moment(mechanism, eta, 0.5)
    assert 0 < scale < math.inf
    # The moment is half of the distance.
    assert gap_left(mechanism, 2 / scale) == pytest.approx(2 * eta, rel=1e-9)
    assert 0 < equivalent_epsilon(eta) < math.inf


def test_a_published_scale_beyond_the_floats_is_infinite():
    assert paper_scale(1e-200, 2) == math.inf
    assert paper_scale(1e-12, 1) == pytest.approx(7.5e12**3, rel=1e-12)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_distance_leaves_no_gap_and_an_endless_one_leaves_all(mechanism):
    assert gap_left(mechanism, 0.0) == 0.0
    assert gap_left(mechanism, math.inf) == 1.0


@given(mechanism=mechanisms, gap=gaps)
def test_scale_and_gap_are_inverse(mechanism, gap):
    ratio = 1 / scale_for_distance(mechanism, gap)
    found = gap_left(mechanism, ratio)
    assert found == pytest.approx(gap, rel=1e-9)
    # From above too: what is left to 1 decides how much the attacker may still learn.
    assert 1 - found == pytest.approx(1 - gap, rel=1e-3)


@given(eta=etas)
def test_epsilon_and_eta_are_inverse(eta):
    assert allowed_eta(equivalent_epsilon(eta)) == pytest.approx(eta, rel=1e-9)


@given(mechanism=mechanisms, pair=st.tuples(gaps, gaps))
def test_a_smaller_gap_takes_more_noise(mechanism, pair):
    small, large = sorted(pair)
    assert scale_for_distance(mechanism, small) >= scale_for_distance(mechanism, large)


@given(eta=etas, k=st.floats(2, 1e6))
def test_the_published_scale_always_exceeds_ours(eta, k):
    ours = max(scale_for_moment(mechanism, eta, 0.5) for mechanism in MECHANISMS)
    assert paper_scale(eta, k) > 2 * ours


@given(pair=st.tuples(etas, etas), k=st.floats(1, 1e3), more=st.floats(0, 1e3))
def test_the_published_scale_falls_with_eta_and_with_the_order(pair, k, more):
    small, large = sorted(pair)
    assert paper_scale(small, k) >= paper_scale(large, k)
    assert paper_scale(small, k) >= paper_scale(small, k + more)


@given(gap=gaps)
def test_one_number_needs_less_than_the_bound_for_any_norm(gap):
    # 1 - e^-x <= tanh x: the tanh bound is never the smaller one.
    any_norm = scale_for_distance("norm-exponential", gap)
    assert scale_for_distance("laplace", gap) <= any_norm * (1 + 1e-12)
    # By a quarter at a gap of one half, 2 ln 2 / ln 3, and by less at a smaller one.
    if gap <= 0.5:
        assert any_norm <= 1.262 * scale_for_distance("laplace", gap)


@given(gap=gaps)
def test_gaussian_noise_needs_the_smaller_scale_for_small_gaps_only(gap):
    gaussian, laplace = (scale_for_distance(name, gap) for name in ("gaussian", "laplace"))
    if gap <= 0.43:
        assert gaussian < laplace
    if gap >= 0.45:
        assert gaussian > laplace


@given(mechanism=mechanisms, fraction=fractions, share=st.floats(1e-9, 1 - 1e-9))
def test_moment_scale_is_the_distance_scale_at_its_bound(mechanism, fraction, share):
    rarer = min(fraction, 1 - fraction)
    eta = share * rarer
    scale = scale_for_moment(mechanism, eta, fraction)
    # D <= 1 / rarer for a moment of 1: the gap that is left times the rarer side is eta.
    assert rarer * gap_left(mechanism, 1 / rarer / scale) == pytest.approx(eta, rel=1e-8)


@given(mechanism=mechanisms, fraction=fractions, share=st.floats(1e-6, 1 - 1e-6))
def test_in_and_out_may_be_exchanged(mechanism, fraction, share):
    eta = share * min(fraction, 1 - fraction)
    assert scale_for_moment(mechanism, eta, fraction) == pytest.approx(
        scale_for_moment(mechanism, eta, 1 - fraction), rel=1e-9
    )


@pytest.mark.parametrize("dimension", [1, 2, 3, 10, 999, 1000, 1001, 10**6, 10**9, 10**12])
def test_gaussian_norm_to_nine_digits(dimension):
    with mpmath.workdps(50):
        exact = exact_chi_mean(dimension)
        assert abs(expected_norm("gaussian", dimension) / exact - 1) < 1e-11


def test_gaussian_norm_in_one_two_and_three_dimensions():
    norms = [expected_norm("gaussian", d) for d in (1, 2, 3)]
    expected = [math.sqrt(2 / math.pi), math.sqrt(math.pi / 2), math.sqrt(8 / math.pi)]
    assert norms == pytest.approx(expected, rel=1e-14)


def gaussian_draws(rng, dimension, size):
    return rng.standard_normal((size, dimension))


def norm_exponential_draws(rng, dimension, size):
    """Density ~ exp(-||x||), Euclidean: a uniform direction and a Gamma(d) radius."""
    direction = rng.standard_normal((size, dimension))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * rng.gamma(dimension, size=(size, 1))


@pytest.mark.parametrize(
    ("mechanism", "draw"),
    [("gaussian", gaussian_draws), ("norm-exponential", norm_exponential_draws)],
)
@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_expected_errors_are_those_of_drawn_noise(mechanism, draw, dimension):
    noise = draw(np.random.default_rng(5), dimension, 200_000)
    norms = np.linalg.norm(noise, axis=1)
    error = 5 * norms.std() / math.sqrt(norms.size)
    assert norms.mean() == pytest.approx(expected_norm(mechanism, dimension), abs=error)
    root_mean_square = math.sqrt((noise**2).mean())
    assert root_mean_square == pytest.approx(coordinate_error(mechanism, dimension), rel=0.015)


def test_expected_errors_of_laplace_noise():
    noise = np.random.default_rng(6).laplace(size=400_000)
    assert np.abs(noise).mean() == pytest.approx(expected_norm("laplace", 1), rel=0.01)
    assert noise.std() == pytest.approx(coordinate_error("laplace", 1), rel=0.01)
    assert coordinate_error("laplace", 1) == math.sqrt(2)


def test_norm_exponential_errors_are_those_of_its_radius_law():
    # The radius has density ~ r^(d-1) e^-r.
    for dimension in (1, 2, 5, 20):
        moments = [
            mpmath.quad(lambda r, p=p: r**p * mpmath.exp(-r), [0, 20, 60, mpmath.inf])
            for p in (dimension - 1, dimension, dimension + 1)
        ]
        assert expected_norm("norm-exponential", dimension) == pytest.approx(
            float(moments[1] / moments[0]), rel=1e-9
        )
        assert coordinate_error("norm-exponential", dimension) == pytest.approx(
            float(mpmath.sqrt(moments[2] / moments[0] / dimension)), rel=1e-9
        )
