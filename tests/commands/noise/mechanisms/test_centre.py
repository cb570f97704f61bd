from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from mipaudit.commands.noise.mechanisms.centre import (
    MOST_FOLDS,
    distances_from_median,
    spatial_median,
)


def slow_median(points):
    def total(centre):
        return np.linalg.norm(points - centre, axis=1).sum()

    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000}
    return minimize(total, points.mean(axis=0), method="Nelder-Mead", options=options).x


def test_median_makes_the_total_distance_least(rng):
    points = rng.standard_normal((17, 2)) * [1.0, 5.0] + [3.0, -2.0]
    np.testing.assert_allclose(spatial_median(points), slow_median(points), atol=1e-5)


def test_median_may_be_one_of_the_points():
    # Four corners and the centre, three times: the mean falls on it at once.
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=float)
    points = np.vstack([corners, np.zeros((3, 2))])
    np.testing.assert_allclose(spatial_median(points), [0, 0], atol=1e-12)


def test_median_leaves_a_point_that_is_not_the_centre():
    # The mean is a point of the cloud, the median is not: (0, 0) pulls with one unit only.
    points = np.array([[0, 0], [4, 0], [-2, 1], [-2, -1], [-2, 0.5], [2, -0.5]], dtype=float)
    assert not points.mean(axis=0).any()
    np.testing.assert_allclose(spatial_median(points), slow_median(points), atol=1e-5)


def test_median_with_a_majority_at_one_point_is_that_point(rng):
    points = np.vstack([np.full((6, 3), 2.0), rng.standard_normal((5, 3)) * 100])
    np.testing.assert_allclose(spatial_median(points), [2, 2, 2], atol=1e-6)


def test_median_of_equal_points_is_that_point():
    np.testing.assert_array_equal(spatial_median(np.full((5, 3), 7.25)), [7.25] * 3)


def test_median_of_one_column_is_the_ordinary_one():
    np.testing.assert_array_equal(spatial_median(np.array([[5.0], [1.0], [100.0]])), [5.0])


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
    np.testing.assert_allclose(distances_from_median(points, rng).left_out, slow, rtol=5e-3)


def test_many_points_are_left_out_in_groups(rng):
    points = rng.standard_normal((MOST_FOLDS * 5 + 3, 2))
    distances = distances_from_median(points, rng).left_out
    np.testing.assert_allclose(
        distances, np.linalg.norm(points - spatial_median(points), axis=1), atol=0.15
    )
    assert distances.shape == (len(points),)


def test_equal_points_are_at_no_distance(rng):
    np.testing.assert_array_equal(distances_from_median(np.ones((6, 2)), rng).left_out, np.zeros(6))
