from __future__ import annotations

import numpy as np
import pytest

from mipaudit.maths.kernel_density import rounded, silverman, spread
from mipaudit.summaries.grids import make_grid_plans
from mipaudit.summaries.plan import make_plan
from tests.fixtures.rows import burn_in, make_rows


def planned(scores, member=None, kind="float", prior=0.5):
    scores = np.asarray(scores, dtype=float)
    if member is None:
        member = np.arange(scores.size) % 2 == 0
    sample = burn_in([make_rows(member, scores)], 5)
    plan = make_plan(sample, [kind], prior=prior, discrete=False, seed=5)
    (found,) = make_grid_plans(sample, plan, [kind], prior=prior)
    return found, sample, plan


def burned(sample, plan):
    return np.concatenate(
        [one.scores[one.within(plan.burn_in), 0] for one in (sample.members, sample.holdout)]
    )


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_bandwidths_rest_on_the_burn_in_alone(rng):
    scores = rng.normal(size=4000)
    found, sample, plan = planned(scores)
    early = burned(sample, plan)
    late = 4000 * (64 - plan.burn_in) / 64
    assert rounded(silverman(spread(early), late)) in {one.width for one in found.bandwidths}
    moved = scores.copy()
    moved[~np.isin(scores, early)] += rng.normal(size=4000 - early.size)
    again, *_ = planned(moved)
    assert again.bandwidths == found.bandwidths
    assert again.grid == found.grid


def test_every_bandwidth_is_rounded_and_different(rng):
    found, *_ = planned(rng.normal(size=3000))
    widths = [one.width for one in found.bandwidths]
    assert widths == sorted(set(widths))
    assert all(width == rounded(width) for width in widths)
    named = sorted(name for one in found.bandwidths for name in one.selectors)
    assert named == ["held-out", "isj", "silverman"]


def test_the_grid_holds_the_burn_in_and_is_fine(rng):
    found, sample, plan = planned(rng.normal(3, 2, 2000))
    early, grid = burned(sample, plan), found.grid
    least = min(one.width for one in found.bandwidths)
    assert grid.low < early.min()
    assert grid.points()[-1] > early.max()
    assert grid.step <= least / 40 * (1 + 1e-9)
    assert (grid.floor, grid.ceiling) == (None, None)


@pytest.mark.parametrize(
    ("draw", "floor", "ceiling"),
    [
        (lambda rng: rng.beta(0.6, 0.6, 3000), 0.0, 1.0),
        (lambda rng: rng.exponential(size=3000), 0.0, None),
        (lambda rng: -rng.exponential(size=3000), None, 0.0),
        (lambda rng: rng.beta(50, 50, 3000), None, None),
        (lambda rng: 5 + rng.exponential(size=3000), None, None),
    ],
)
def test_ends_of_the_range_are_nodes(rng, draw, floor, ceiling):
    found, *_ = planned(draw(rng))
    points = found.grid.points()
    for node, end in ((found.grid.floor, floor), (found.grid.ceiling, ceiling)):
        assert (node is None) == (end is None)
        if node is not None:
            assert points[node] == pytest.approx(end, abs=1e-9)


def test_heavy_tails_are_cut_off_not_followed(rng):
    found, sample, plan = planned(rng.standard_cauchy(20_000) ** 3)
    grid = found.grid
    least = min(one.width for one in found.bandwidths)
    assert grid.nodes <= 1 << 16
    assert grid.step <= least / 8 * (1 + 1e-9)
    early = burned(sample, plan)
    inside = (early >= grid.low) & (early <= grid.points()[-1])
    assert inside.mean() > 0.7


def test_recurring_values_are_apart_and_do_not_set_the_bandwidth(rng):
    scores = rng.normal(size=4000)
    scores[rng.random(4000) < 0.6] = 0.5
    found, sample, plan = planned(scores)
    assert found.atoms.tolist() == [0.5]
    assert found.common == pytest.approx(
        silverman(spread(burned(sample, plan)[burned(sample, plan) != 0.5]), 4000), rel=0.01
    )


@pytest.mark.parametrize("kind", ["string", "bool"])
def test_labels_have_no_grid(kind):
    found, *_ = planned(np.arange(400) % 3, kind=kind)
    assert found is None


@pytest.mark.parametrize(
    "scores",
    [
        np.full(400, 7.0),
        np.where(np.arange(400) % 3 == 0, np.inf, 1.0),
        np.full(400, -np.inf),
        np.random.default_rng(1).normal(size=400) * 1e-300,
    ],
)
def test_no_spread_no_grid(scores):
    assert planned(scores)[0] is None


def test_classes_of_far_different_spread_have_no_bandwidths_of_their_own(rng):
    member = np.arange(4000) % 2 == 0
    found, *_ = planned(rng.normal(size=4000) * np.where(member, 1e4, 1.0), member)
    assert found.own is None


@pytest.mark.parametrize("size", [1e-280, 1e-30, 1e30, 1e300])
def test_any_unit_will_do(rng, size):
    found, *_ = planned(rng.normal(size=2000) * size)
    assert found is not None
    assert 0 < found.grid.step < size


def test_widest_range_of_floats(rng):
    scores = rng.normal(size=2000)
    scores[::7] = np.where(rng.random(scores[::7].size) < 0.5, -1.5e308, 1.5e308)
    found, *_ = planned(scores)
    assert found is None or np.isfinite(found.grid.points()).all()
