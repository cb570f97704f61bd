from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from mipaudit.commands.noise.moments import (
    MOST_FOLDS,
    bets,
    distances_from_median,
    estimate_moment,
    fewest_terms,
    is_below,
    log_capital,
    mean_limits,
    spatial_median,
)
from mipaudit.maths.noise_scales import expected_norm


def test_left_out_first_moment_is_not_low_where_the_plug_in_is(rng):
    truth = expected_norm("gaussian", 10)
    left_out, plug_in = [], []
    for at in range(1000):
        points = rng.standard_normal((8, 10))
        if at < 250:  # four standard errors from both of its bounds
            left_out.append(estimate_moment(points, 1, rng).value)
        plug_in.append(np.linalg.norm(points - points.mean(axis=0), axis=1).mean())
    assert truth == pytest.approx(3.0843, abs=1e-4)
    # The plug-in is low: 2.89 for 3.08.
    assert np.mean(plug_in) == pytest.approx(2.89, abs=0.02)
    # Measured from a centre of seven others: sqrt(8 / 7), and a little for the median.
    assert truth < np.mean(left_out) < 1.1 * truth


def test_second_moment_is_that_of_all_pairs(rng):
    points = rng.standard_normal((9, 3)) * [1, 10, 100]
    pairs = [np.sum((a - b) ** 2) / 2 for i, a in enumerate(points) for b in points[:i]]
    found = estimate_moment(points, 2, rng)
    assert found.value == pytest.approx(math.sqrt(np.mean(pairs)))
    assert found.estimator == "unbiased-square"


def test_square_of_the_second_moment_is_unbiased(rng):
    squares = [estimate_moment(rng.standard_normal((3, 2)), 2, rng).value ** 2 for _ in range(4000)]
    assert np.mean(squares) == pytest.approx(2.0, abs=4 * np.std(squares) / math.sqrt(4000))


@pytest.mark.parametrize("order", [1.5, 3, 4, 50])
def test_other_moments_are_plug_in(rng, order):
    points = rng.standard_normal((11, 2))
    radii = np.linalg.norm(points - points.mean(axis=0), axis=1)
    found = estimate_moment(points, order, rng)
    assert found.value == pytest.approx(np.mean(radii**order) ** (1 / order))
    assert found.estimator == "plug-in"
    assert found.lower < found.value < found.upper


def test_infinite_moment_is_the_largest_distance_and_has_no_limits(rng):
    points = rng.standard_normal((11, 2))
    found = estimate_moment(points, math.inf, rng)
    assert found.value == np.linalg.norm(points - points.mean(axis=0), axis=1).max()
    assert (found.lower, found.upper, found.validity) == (None, None, "not-an-interval")


def test_moments_grow_with_their_order(rng):
    points = rng.standard_normal((200, 3))
    values = [estimate_moment(points, order, rng).value for order in (1, 2, 4, 8, 1000, math.inf)]
    assert all(low <= high * (1 + 1e-9) for low, high in pairwise(values))


@pytest.mark.parametrize("order", [1, 2, 3.5, math.inf])
def test_moment_moves_with_the_unit_and_not_with_the_origin(rng, order):
    points = rng.standard_normal((20, 4))
    plain = estimate_moment(points, order, rng)
    moved = estimate_moment(points * 1e6 + 1e9, order, rng)
    assert moved.value / 1e6 == pytest.approx(plain.value, rel=1e-6)
    tiny = estimate_moment(points * 1e-250, order, rng)
    assert tiny.value * 1e250 == pytest.approx(plain.value)
    # Equal splits have none.
    equal = np.full((7, 3), 0.1)
    assert estimate_moment(equal, order, rng).value == 0
    assert not distances_from_median(equal, rng)[0].any()


def test_first_moment_is_least_about_the_median(rng):
    # A hundredth at a distance: about the mean it would be nearly twice as much.
    points = np.zeros((400, 2))
    points[:4] = [100.0, 0.0]
    assert estimate_moment(points, 1, rng).value == pytest.approx(1.0, rel=1e-3)
    about_mean = np.linalg.norm(points - points.mean(axis=0), axis=1).mean()
    assert about_mean == pytest.approx(1.98, rel=1e-3)


@pytest.mark.parametrize(("size", "dimension"), [(20, 1), (20, 10), (100, 1), (100, 10)])
@pytest.mark.parametrize("order", [1, 2])
def test_limits_cover_moments_of_normal_outputs(rng, size, dimension, order):
    runs = 300
    truth = expected_norm("gaussian", dimension) if order == 1 else math.sqrt(dimension)
    found = [
        estimate_moment(rng.standard_normal((size, dimension)), order, rng) for _ in range(runs)
    ]
    low = sum(estimate.upper < truth for estimate in found)
    outside = low + sum(estimate.lower > truth for estimate in found)
    assert low <= stats.binom.isf(1e-3, runs, 0.03 if order == 1 else 0.085)
    # The second moment's upper limit is the one that misses more often.
    assert outside <= stats.binom.isf(1e-3, runs, 0.05 if order == 1 else 0.11)


def slow_median(points):
    def total(centre):
        return np.linalg.norm(points - centre, axis=1).sum()

    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000}
    return minimize(total, points.mean(axis=0), method="Nelder-Mead", options=options).x


def test_median_makes_the_total_distance_least(rng):
    points = rng.standard_normal((17, 2)) * [1.0, 5.0] + [3.0, -2.0]
    np.testing.assert_allclose(spatial_median(points), slow_median(points), atol=1e-5)


CORNERS = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=float)
LOPSIDED = np.array([[0, 0], [4, 0], [-2, 1], [-2, -1], [-2, 0.5], [2, -0.5]], dtype=float)
CROWD = np.vstack([np.full((6, 3), 2.0), [[90, 5, -7], [1, -80, 3], [0, 0, 70], [4, 4, 4]]])


@pytest.mark.parametrize(
    ("points", "median", "within"),
    [
        # The four corners and the centre, three times: the mean falls on it at once.
        (np.vstack([CORNERS, np.zeros((3, 2))]), [0, 0], 1e-12),
        # The mean is a point of the cloud, the median is not: (0, 0) pulls with one unit only.
        (LOPSIDED, slow_median(LOPSIDED), 1e-5),
        # A majority at one point, equal points, and one column with the ordinary median.
        (CROWD, [2, 2, 2], 1e-6),
        (np.full((5, 3), 7.25), [7.25] * 3, 0),
        (np.array([[5.0], [1.0], [100.0]]), [5.0], 0),
    ],
)
def test_median_of_what_is_special(points, median, within):
    np.testing.assert_allclose(spatial_median(points), median, rtol=0, atol=within)


@pytest.mark.parametrize("size", [1e-200, 1e-9, 1e9, 1e200])
def test_median_has_no_unit(rng, size):
    points = rng.standard_normal((9, 3))
    np.testing.assert_allclose(spatial_median(points * size) / size, spatial_median(points))


@pytest.mark.parametrize("dimension", [1, 3, 40])
def test_distances_are_from_the_median_of_the_others(rng, dimension):
    points = rng.standard_normal((12, dimension))
    slow = [
        np.linalg.norm(point - spatial_median(np.delete(points, row, axis=0)))
        for row, point in enumerate(points)
    ]
    np.testing.assert_allclose(distances_from_median(points, rng)[0], slow, rtol=5e-3)


def test_many_points_are_left_out_in_groups(rng):
    points = rng.standard_normal((MOST_FOLDS * 5 + 3, 2))
    distances = distances_from_median(points, rng)[0]
    np.testing.assert_allclose(
        distances, np.linalg.norm(points - spatial_median(points), axis=1), atol=0.15
    )
    assert distances.shape == (len(points),)


# Law, mean, size, share of upper limits allowed below the mean (0.025 is nominal).
LAWS = [
    *(
        (lambda g, n: np.abs(g.standard_normal(n)), 0.79788456, *of)
        for of in ((20, 0.035), (100, 0.03))
    ),
    (lambda g, n: np.sqrt(g.chisquare(10, n)), 3.08432776, 8, 0.03),
    *((lambda g, n: g.exponential(size=n), 1.0, size, 0.04) for size in (20, 100)),
]


def test_limits_are_students_on_the_logarithm():
    terms = np.array([1.0, 2.0, 3.0, 6.0])
    half = stats.t.ppf(0.975, 3) * np.std(terms, ddof=1) / 2 / 3.0
    assert mean_limits(terms, 0.025) == pytest.approx((3 * math.exp(-half), 3 * math.exp(half)))


def test_limits_have_no_unit_and_may_be_no_interval():
    terms = np.array([1.0, 2.0, 4.0, 9.0])
    small = np.array(mean_limits(terms * 1e-300, 0.01)) * 1e300
    np.testing.assert_allclose(small, mean_limits(terms, 0.01))
    for value in (2.5, 0.0):
        assert mean_limits(np.full(5, value), 0.025) == pytest.approx((value, value))
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
        capital, less, mixed = (
            log_capital(one, mean, 0.05)
            for one in (terms, terms * rng.random(200), rng.permutation(terms))
        )
        assert less >= capital == pytest.approx(mixed)


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
