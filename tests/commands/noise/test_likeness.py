"""Whether a release lies among its splits: an exact rank test, and what is far."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.noise.release import likeness, too_far

LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "correlated": lambda rng, shape: (
        3 * rng.normal(size=(shape[0], 1)) + 0.1 * rng.normal(size=shape)
    ),
    "cauchy": lambda rng, shape: rng.standard_cauchy(size=shape),
    "counts": lambda rng, shape: rng.poisson(2, size=shape).astype(float),
    "rare": lambda rng, shape: (rng.random(shape) < 0.02).astype(float),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("splits", "coordinates"), [(8, 1), (8, 30), (40, 3)])
def test_one_more_split_is_seldom_beyond_and_hardly_refused(law, splits, coordinates):
    rng = np.random.default_rng([splits, coordinates, len(law)])
    times, beyond, unlike = 400, 0, 0
    for _ in range(times):
        drawn = LAWS[law](rng, (splits + 1, coordinates))
        found = likeness(drawn[1:], drawn[0])
        beyond += found.ratio > 1
        unlike += found.unlike
    most = 2 / (splits + 1)  # two figures, each an exact rank test
    assert beyond <= times * most + 3 * np.sqrt(times * most)
    assert unlike <= times * (0.04 if law == "cauchy" else 0.003)


@pytest.mark.parametrize("splits", [8, 20, 200])
@pytest.mark.parametrize("coordinates", [1, 5, 300])
def test_another_unit_of_one_coordinate_is_seen(splits, coordinates):
    rng = np.random.default_rng([splits, coordinates])
    drawn = 50 + rng.normal(size=(splits + 1, coordinates))
    released = drawn[0].copy()
    assert not likeness(drawn[1:], released).unlike
    # Of few splits and many coordinates one has by chance a split that is far by itself.
    for factor in (1000, -50) if splits < 20 else (1000, 0.001, -1, 0.45):
        other = released.copy()
        other[-1] *= factor
        found = likeness(drawn[1:], other)
        assert found.unlike
        assert list(found.far) == [coordinates - 1]


def test_another_order_of_the_coordinates_is_seen():
    rng = np.random.default_rng(1)
    drawn = np.array([50.0, 3.0, -20.0]) + rng.normal(size=(31, 3))
    found = likeness(drawn[1:], drawn[0][::-1])
    assert found.unlike
    assert list(found.far) == [0, 2]


def test_a_little_of_every_coordinate_is_seen():
    rng = np.random.default_rng(2)
    drawn = rng.normal(size=(101, 400))
    found = likeness(drawn[1:], drawn[0] + 4)
    assert found.unlike
    assert found.far.size < 400


def test_scale_and_place_change_nothing():
    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(21, 4))
    plain = likeness(drawn[1:], drawn[0])
    moved = likeness(1e40 * drawn[1:] + 5e41, 1e40 * drawn[0] + 5e41)
    assert moved.ratio == pytest.approx(plain.ratio, rel=1e-6)
    assert likeness(drawn[1:], np.full(4, -1.7e308)).unlike


def test_equal_and_constant_coordinates():
    rng = np.random.default_rng(4)
    splits = np.column_stack([rng.normal(size=30), np.full(30, 7.0)])
    same = likeness(splits, splits[17])
    assert list(same.equal) == [17]
    assert not same.beyond
    odd = likeness(splits, np.array([splits[0, 0], 8.0]))
    assert list(odd.odd) == [1]
    assert odd.beyond
    assert not odd.unlike  # nothing is known of how far is far
    alike = likeness(np.ones((5, 1)), np.array([2.0]))
    assert alike.beyond
    assert not alike.unlike


def test_fewer_splits_need_more():
    assert [too_far(count) for count in (2, 5, 8, 20, 500)] == [10_000, 30, 5, 3, 3]
