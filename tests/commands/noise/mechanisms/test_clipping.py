from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mipaudit.commands.noise.mechanisms.moments import half_moment_limit
from mipaudit.commands.noise.mechanisms.shape import Ball, diagonal_shape, isotropic_shape


def moment_limit(points, radius, confidence, rng, centre=(0.0, 0.0)):
    """Return the limit of one half of the splits about a centre from the other."""
    dimension = points.shape[1]
    ball = Ball(centre=np.array(centre)[:dimension], radius=radius)
    first, second = np.array_split(rng.permutation(points), 2)
    return half_moment_limit(first, second, isotropic_shape(np.ones(dimension)), ball, confidence)


def test_points_inside_stay_as_they_are(rng):
    points = rng.standard_normal((50, 3)) * 0.1 + [1, 2, 3]
    ball = Ball(centre=np.array([1.0, 2.0, 3.0]), radius=2.0)
    np.testing.assert_array_equal(ball.clip(points), points)
    assert ball.count_outside(points) == 0


def test_points_outside_go_to_the_surface_on_their_ray():
    ball = Ball(centre=np.array([1.0, 0.0]), radius=5.0)
    np.testing.assert_allclose(ball.clip(np.array([[1.0, 50.0], [7.0, 8.0]])), [[1, 5], [4, 4]])


def test_points_outside_are_counted(rng):
    ball = Ball(centre=np.zeros(2), radius=1.0)
    points = rng.standard_normal((100, 2))
    clipped = ball.clip(points)
    assert (np.linalg.norm(clipped, axis=1) <= 1 + 1e-12).all()
    assert 0 < ball.count_outside(points) < 100
    assert ball.count_outside(clipped * (1 - 1e-12)) == 0


def rare_outputs(rng, size, share):
    """Return outputs at the far end of the ball with this chance, and else at the centre."""
    points = np.zeros((size, 2))
    points[rng.random(size) < share] = [3.0, 4.0]
    return points


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("size", [4, 40, 400])
def test_limit_covers_the_moment_of_rare_large_outputs(rng, share, size):
    runs, confidence = 400, 0.9
    # About any centre; the spatial median of the law is at the origin for share up to 1/2.
    truth = 5 * share
    limits = [
        moment_limit(rare_outputs(rng, size, share), 5.0, confidence, rng) for _ in range(runs)
    ]
    misses = sum(limit.upper < truth for limit in limits)
    assert misses <= stats.binom.isf(1e-4, runs, 1 - confidence)
    assert all(limit.upper <= 10.0 for limit in limits)


def test_limit_covers_in_the_norm_of_a_learnt_shape(rng):
    runs, confidence = 300, 0.8
    ball = Ball(centre=np.zeros(2), radius=6.0)
    law = np.concatenate([rng.standard_normal((9900, 2)) * [0.1, 1.0], np.full((100, 2), 4.0)])
    misses = 0
    for _ in range(runs):
        rows = law[rng.integers(0, len(law), 60)]
        first, second = rows[:30], rows[30:]
        shape = diagonal_shape(first, np.ones(2))
        limit = half_moment_limit(first, second, shape, ball, confidence)
        # The least moment about any centre is at most that about the origin; use a lower one.
        truth = np.linalg.norm(shape.whiten(law), axis=1).mean()
        misses += limit.upper < 0.9 * truth
    assert misses <= stats.binom.isf(1e-4, runs, 1 - confidence)


def test_limit_comes_down_to_the_moment(rng):
    points = rng.standard_normal((40_000, 2))
    limit = moment_limit(points, 6.0, 0.95, rng, centre=np.full(2, 0.5))
    truth = math.sqrt(math.pi / 2)
    assert truth < limit.upper < 1.05 * truth
    assert limit.lower is None
    assert (limit.validity, limit.n_splits) == ("finite-sample", 20_000)


def test_limit_is_of_the_clipped_release(rng):
    points = rng.standard_cauchy((1000, 1)) * 100
    limit = moment_limit(points, 1.0, 0.95, rng)
    assert 0.5 < limit.value <= limit.upper <= 2.0


def test_limit_reaches_across_the_ball():
    ball = Ball(centre=np.array([10.0, 0.0]), radius=3.0)
    near, far = np.tile([13.0, 0.0], (20, 1)), np.tile([7.0, 0.0], (20, 1))
    limit = half_moment_limit(near, far, isotropic_shape(np.ones(2)), ball, 0.95)
    assert (limit.value, limit.upper) == (6.0, 6.0)


def test_equal_splits_still_have_a_limit_above_zero(rng):
    limit = moment_limit(np.ones((100, 2)), 3.0, 0.95, rng)
    assert limit.value == 0
    assert 0 < limit.upper < 3.0
