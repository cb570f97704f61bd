from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.normal import cdf, central_quantile, density, mills_drop, mills_ratio, quantile

DIGITS = 1e-12
# A ratio of the tails needs far more digits than it keeps.
PRECISION = 90
TAIL_TERMS = 1_500


def close(found, exact):
    return abs(mpmath.mpf(found) / exact - 1) < DIGITS


def exact_mills(x):
    """erfc over density in many digits; from 60 on Laplace's continued fraction."""
    x = mpmath.mpf(x)
    if x < 60:
        return mpmath.erfc(x / mpmath.sqrt(2)) / 2 / mpmath.npdf(x)
    rest = mpmath.mpf(0)
    for term in range(TAIL_TERMS, 0, -1):
        rest = term / (x + rest)
    return 1 / (x + rest)


def exact_quantile(probability):
    """Newton's method in many digits, from the float."""
    x = mpmath.mpf(quantile(probability))
    for _ in range(4):
        x -= (mpmath.ncdf(x) - mpmath.mpf(probability)) / mpmath.npdf(x)
    return x


def test_the_two_branches_of_the_reference_agree():
    with mpmath.workdps(PRECISION):
        by_erfc = mpmath.erfc(mpmath.mpf(59.9) / mpmath.sqrt(2)) / 2 / mpmath.npdf(59.9)
        rest = mpmath.mpf(0)
        for term in range(TAIL_TERMS, 0, -1):
            rest = term / (mpmath.mpf(59.9) + rest)
        assert abs(by_erfc * (mpmath.mpf(59.9) + rest) - 1) < 1e-25


@pytest.mark.parametrize("x", [*np.linspace(-37, 9, 93), -0.0, 1e-300, -1e-12, 38.0])
def test_cdf(x):
    with mpmath.workdps(PRECISION):
        assert close(cdf(x), mpmath.ncdf(mpmath.mpf(x)))


def test_cdf_at_the_ends():
    assert cdf(-math.inf) == 0.0
    assert cdf(math.inf) == 1.0
    assert cdf(0.0) == 0.5
    # Where the standard library's own answer is already nothing.
    assert cdf(-9.0) == pytest.approx(1.1285884059538e-19, rel=1e-12)


@pytest.mark.parametrize("x", [*np.linspace(-37, 37, 75), 1e-9])
def test_density(x):
    with mpmath.workdps(PRECISION):
        assert close(density(x), mpmath.npdf(mpmath.mpf(x)))


def test_density_far_out_is_nothing():
    assert density(40.0) == density(1e200) == 0.0


@pytest.mark.parametrize(
    "probability",
    [1e-300, 1e-100, 1e-30, 1e-12, 1e-6, 0.001, 0.02425, 0.3, 0.45, 0.6, 0.97, 1 - 1e-6, 1 - 1e-15],
)
def test_quantile(probability):
    with mpmath.workdps(PRECISION):
        assert close(quantile(probability), exact_quantile(probability))


def test_quantile_at_the_ends_and_in_the_middle():
    assert quantile(0.0) == -math.inf
    assert quantile(1.0) == math.inf
    assert quantile(0.5) == 0.0


@pytest.mark.parametrize(
    "mass",
    [
        *(10.0**-power for power in (300, 100, 30, 16, 15, 12, 8, 4, 2)),
        *np.linspace(0.02, 0.98, 25),
        0.5 - 2**-53,
        0.5,
        0.5 + 2**-52,
        *(1 - 10.0**-power for power in (3, 6, 9, 12, 15)),
        1 - 2**-53,
    ],
)
def test_central_quantile(mass):
    with mpmath.workdps(360):
        assert close(central_quantile(mass), mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(mass)))


def test_central_quantile_at_the_ends():
    assert central_quantile(0.0) == 0.0
    assert central_quantile(1.0) == math.inf


@given(st.floats(1e-300, 1 - 1e-9))
def test_central_quantile_inverts_the_mass(mass):
    assert math.erf(central_quantile(mass) / math.sqrt(2)) == pytest.approx(mass, rel=1e-12)


@given(st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_central_quantile_grows_with_the_mass(pair):
    small, large = sorted(pair)
    assert central_quantile(small) <= central_quantile(large)


@pytest.mark.parametrize(
    "x",
    # The continued fraction takes over at 6.
    [*np.linspace(-36.9, 6, 66), 6 + 1e-12, 6.5, 8, 12, 25, 37, 59, 61, 100, 1e3, 12_345.678, 1e5],
)
def test_mills_ratio(x):
    with mpmath.workdps(PRECISION):
        assert close(mills_ratio(x), exact_mills(x))


@pytest.mark.parametrize("length", [1e-300, 1e-12, 1e-6, 0.01, 0.3, 0.999, 1.0])
@pytest.mark.parametrize("start", ["middle", 0.0, 0.7, 4.9, 5.5, 5.99, 6.01, 7.0, 40.0, 1e3, 1e5])
def test_a_short_drop_keeps_its_digits(start, length):
    start = -length / 2 if start == "middle" else start
    # At 1e-300 the two ratios differ in the 300th digit.
    with mpmath.workdps(380 if length < 1e-100 else PRECISION):
        exact = exact_mills(start) - exact_mills(mpmath.mpf(start) + mpmath.mpf(length))
        assert close(mills_drop(start, length), exact)


@pytest.mark.parametrize("length", [1 + 1e-9, 1.5, 3.0, 12.0, 40.0, 70.0])
@pytest.mark.parametrize("start", ["middle", 0.0, 2.0, 5.99, 6.01, 7.0, 40.0, 1e3, 1e5])
def test_a_long_drop_keeps_its_digits(start, length):
    start = -length / 2 if start == "middle" else start
    with mpmath.workdps(PRECISION):
        exact = exact_mills(start) - exact_mills(mpmath.mpf(start) + mpmath.mpf(length))
        assert close(mills_drop(start, length), exact)


def test_no_length_no_drop():
    assert mills_drop(3.0, 0.0) == 0.0
    assert mills_drop(1e5, 0.0) == 0.0


@pytest.mark.parametrize("start", [-0.4, 0.0, 5.9, 6.0, 6.1, 50.0])
def test_drops_grow_with_their_length_across_every_seam(start):
    lengths = [0.8, 1 - 1e-9, 1.0, 1 + 1e-9, 1.2, 5.0, 20.0]
    drops = [mills_drop(start, length) for length in lengths]
    assert all(less < more for less, more in itertools.pairwise(drops))
    assert drops[-1] < mills_ratio(start)
