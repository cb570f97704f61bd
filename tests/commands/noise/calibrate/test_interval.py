from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mipaudit.commands.noise.calibrate.interval import empirical_bernstein_upper, mean_limits


def test_limits_are_students_on_the_logarithm():
    terms = np.array([1.0, 2.0, 3.0, 6.0])
    half = stats.t.ppf(0.975, 3) * np.std(terms, ddof=1) / 2 / 3.0
    assert mean_limits(terms, 0.025) == pytest.approx((3 * math.exp(-half), 3 * math.exp(half)))


def test_limits_of_equal_terms_are_their_value():
    assert mean_limits(np.full(5, 2.5), 0.025) == pytest.approx((2.5, 2.5))
    assert mean_limits(np.zeros(5), 0.025) == (0.0, 0.0)


def test_limits_have_no_unit():
    terms = np.array([1.0, 2.0, 4.0, 9.0])
    small = np.array(mean_limits(terms * 1e-300, 0.01)) * 1e300
    np.testing.assert_allclose(small, mean_limits(terms, 0.01))


def test_upper_limit_may_be_infinite_and_says_so():
    assert mean_limits(np.array([0.0, 1.0]), 1e-4)[1] == math.inf


def binomial_ceiling(runs, share):
    """Return a number of misses that a method with this share exceeds once in 10,000."""
    return stats.binom.isf(1e-4, runs, share)


# Law, mean, size, share of upper limits allowed below the mean (0.025 is nominal).
LAWS = [
    pytest.param(lambda g, n: np.abs(g.standard_normal(n)), 0.79788456, 20, 0.035, id="normal-20"),
    pytest.param(lambda g, n: np.abs(g.standard_normal(n)), 0.79788456, 100, 0.03, id="normal-100"),
    pytest.param(lambda g, n: np.sqrt(g.chisquare(10, n)), 3.08432776, 8, 0.03, id="chi10-8"),
    pytest.param(lambda g, n: g.exponential(size=n), 1.0, 20, 0.04, id="exponential-20"),
    pytest.param(lambda g, n: g.exponential(size=n), 1.0, 100, 0.04, id="exponential-100"),
]


@pytest.mark.parametrize(("draw", "mean", "size", "share"), LAWS)
def test_approximate_limits_miss_as_often_as_documented(rng, draw, mean, size, share):
    runs = 1500
    limits = np.array([mean_limits(draw(rng, size), 0.025) for _ in range(runs)])
    assert (limits[:, 1] < mean).sum() <= binomial_ceiling(runs, share)
    assert (limits[:, 0] > mean).sum() <= binomial_ceiling(runs, 0.03)
    # A limit that is never wrong would be too wide.
    assert (limits[:, 1] < mean).sum() > runs * 0.005


def test_empirical_bernstein_is_the_published_formula():
    terms = np.array([0.0, 0.5, 1.0, 0.5])
    doubt = math.log(2 / 0.05)
    by_hand = 0.5 + math.sqrt(2 * (0.5 / 159) * doubt / 160) + 7 * doubt / (3 * 159)
    assert empirical_bernstein_upper(terms, 1.0, 0.05) == 1.0
    terms = np.concatenate([terms[[0, 2]], np.full(158, 0.5)])
    assert empirical_bernstein_upper(terms, 1.0, 0.05) == pytest.approx(by_hand)


@pytest.mark.parametrize("rare", [0.5, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("size", [4, 30, 300])
def test_empirical_bernstein_covers_rare_large_terms(rng, rare, size):
    runs, alpha = 1000, 0.05
    draws = (rng.random((runs, size)) < rare).astype(float)
    misses = sum(empirical_bernstein_upper(row, 1.0, alpha) < rare for row in draws)
    assert misses <= binomial_ceiling(runs, alpha)


def test_approximate_limits_do_not_cover_rare_large_terms(rng):
    # Why strict mode exists.
    draws = (rng.random((500, 20)) < 0.01) * 1000.0 + 1.0
    assert sum(mean_limits(row, 0.025)[1] < 11 for row in draws) > 300
