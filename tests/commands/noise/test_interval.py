""""""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mipaudit.commands.noise.mechanism import bets, fewest_terms, is_below, log_capital, mean_limits

# Law, mean, size, share of upper limits allowed below the mean (0.025 is nominal).
LAWS = [
    pytest.param(lambda g, n: np.abs(g.standard_normal(n)), 0.79788456, 20, 0.035, id="normal-20"),
    pytest.param(lambda g, n: np.abs(g.standard_normal(n)), 0.79788456, 100, 0.03, id="normal-100"),
    pytest.param(lambda g, n: np.sqrt(g.chisquare(10, n)), 3.08432776, 8, 0.03, id="chi10-8"),
    pytest.param(lambda g, n: g.exponential(size=n), 1.0, 20, 0.04, id="exponential-20"),
    pytest.param(lambda g, n: g.exponential(size=n), 1.0, 100, 0.04, id="exponential-100"),
]


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


@pytest.mark.parametrize(("draw", "mean", "size", "share"), LAWS)
def test_approximate_limits_miss_as_often_as_documented(rng, draw, mean, size, share):
    runs = 1500
    limits = np.array([mean_limits(draw(rng, size), 0.025) for _ in range(runs)])
    assert (limits[:, 1] < mean).sum() <= binomial_ceiling(runs, share)
    assert (limits[:, 0] > mean).sum() <= binomial_ceiling(runs, 0.03)
    # A limit that is never wrong would be too wide.
    assert (limits[:, 1] < mean).sum() > runs * 0.005


def test_approximate_limits_do_not_cover_rare_large_terms(rng):
    # Why strict mode exists.
    draws = (rng.random((500, 20)) < 0.01) * 1000.0 + 1.0
    assert sum(mean_limits(row, 0.025)[1] < 11 for row in draws) > 300


def test_capital_is_the_mean_of_products():
    terms = np.array([0.0, 0.2, 0.05, 0.1])
    stakes = bets(4, 0.3, 0.05)
    by_hand = np.mean([np.prod(1 + k * (0.3 - terms) / 0.7) for k in stakes])
    assert stakes.size == 1
    assert log_capital(terms, 0.3, 0.05) == pytest.approx(math.log(by_hand))
    many = np.tile(terms, 300)
    stakes = bets(1200, 0.3, 0.05)
    assert list(stakes) == [1, 0.5, 0.25, 0.125, 0.0625]
    logs = np.log1p(stakes[:, None] * (0.3 - many) / 0.7).sum(axis=1)
    expected = math.log(np.exp(logs - logs.max()).mean()) + logs.max()
    assert log_capital(many, 0.3, 0.05) == pytest.approx(expected)


@pytest.mark.parametrize("mean", [0.02, 0.1, 0.3, 0.9])
@pytest.mark.parametrize("count", [3, 40, 5000])
def test_no_bet_can_lose_more_than_there_is(mean, count):
    stakes = bets(count, mean, 0.01)
    assert stakes[0] == 1
    assert (stakes > 0).all()
    terms = np.ones(count)
    # The largest bet loses all on a term of 1, the rest may go on.
    assert log_capital(terms, mean, 0.01) < 0
    assert not is_below(terms, mean, 0.01)


@pytest.mark.parametrize("mean", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("size", [20, 128, 1000])
def test_a_mean_that_is_reached_is_rarely_denied(rng, mean, size):
    runs, alpha = 1500, 0.05
    laws = {
        "all or nothing": lambda: (rng.random((runs, size)) < mean) * 1.0,
        "half": lambda: (rng.random((runs, size)) < 2 * mean) * 0.5,
        "beta": lambda: rng.beta(mean, 1 - mean, (runs, size)),
        "rest": lambda: np.where(rng.random((runs, size)) < mean / 2, 1.0, mean / (2 - mean)),
    }
    for law in laws.values():
        denied = sum(is_below(row, mean, alpha) for row in law())
        assert denied <= binomial_ceiling(runs, alpha)


def test_terms_need_not_have_the_same_law(rng):
    runs, size, alpha = 2000, 60, 0.05
    means = np.r_[np.full(50, 0.02), np.full(10, 0.5)]
    draws = (rng.random((runs, size)) < means) * 1.0
    denied = sum(is_below(row, means.mean(), alpha) for row in draws)
    assert denied <= binomial_ceiling(runs, alpha)


def test_smaller_terms_and_a_larger_mean_raise_the_capital(rng):
    terms = rng.beta(1, 8, 200)
    for mean in (0.1, 0.15, 0.3):
        less = terms * rng.random(200)
        assert log_capital(less, mean, 0.05) >= log_capital(terms, mean, 0.05)
        assert log_capital(rng.permutation(terms), mean, 0.05) == pytest.approx(
            log_capital(terms, mean, 0.05)
        )


@pytest.mark.parametrize("mean", [1e-6, 0.02, 0.1, 0.3, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("alpha", [0.3, 0.05, 0.001])
def test_fewest_terms_are_the_fewest(mean, alpha):
    count = fewest_terms(mean, alpha)
    exact = math.log(alpha) / math.log1p(-mean)
    assert exact <= count <= 2 * exact + 3
    if mean <= 0.5:
        assert count == math.ceil(exact)
    if count < 10_000:
        assert is_below(np.zeros(count), mean, alpha)
        assert not is_below(np.zeros(count - 1), mean, alpha) if count > 1 else True


@pytest.mark.parametrize(("rate", "width"), [(0.0256, 0.0068), (0.136, 0.0096)])
def test_limit_is_as_narrow_as_documented(rng, rate, width):
    # h of |N(0, 1)| with means of 0.02 and 0.1, 512 terms: Maurer and Pontil need 0.0186
    # and 0.0254.
    terms = -np.expm1(-np.abs(rng.standard_normal((40, 512))) * rate)
    assert terms.mean() == pytest.approx(0.02 if rate < 0.1 else 0.1, rel=0.03)
    for row in terms:
        mean = float(row.mean())
        assert is_below(row, mean + 1.3 * width, 0.05)
        assert not is_below(row, mean + 0.7 * width, 0.05)
