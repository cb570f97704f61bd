"""MACE's bins, of equal width, for reproduction; those that are occupied, against a dictionary."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.maths.kernel_density import Grid, rounded, silverman, spread
from mipaudit.summaries import grids
from mipaudit.summaries.grids import (
    PLACES,
    Bandwidth,
    EqualWidthCounts,
    GridCounts,
    GridPlan,
    SparseBins,
    make_grid_plans,
    shuffled_counts,
)
from mipaudit.summaries.plan import ScoreRange, VectorSurvey, make_plan, sample_size
from mipaudit.summaries.rows import micro_blocks, rank_bytes
from tests.fixtures.codes import refused
from tests.fixtures.rows import burn_in, cut_rows, make_rows

GRID = Grid(low=-1.0, step=0.25, nodes=9)
BURN_IN = 13


def plan(atoms=()):
    return GridPlan(
        grid=GRID,
        bandwidths=(Bandwidth(width=1.0, selectors=("silverman",)),),
        common=1.0,
        own=None,
        atoms=np.array(atoms, dtype=float),
    )


def counted(plan, *batches):
    counts = GridCounts([plan], burn_in=BURN_IN, seed=3)
    for batch in batches:
        counts.add(batch)
    return counts


def by_hand(scores, member, burned, *, everyone):
    """Nodes, rows outside and infinite rows of each class, row by row."""
    found = {side: ([0] * GRID.nodes, [0], [0, 0]) for side in (False, True)}
    for score, side, early in zip(scores, member, burned, strict=True):
        if early and not everyone:
            continue
        nodes, outside, infinite = found[side]
        if math.isinf(score):
            infinite[int(score > 0)] += 1
            continue
        place = (score - GRID.low) * (PLACES / GRID.step) + PLACES + 0.5
        if not PLACES <= place < GRID.nodes * PLACES:
            outside[0] += 1
            continue
        cell, share = divmod(math.floor(place), PLACES)
        nodes[cell - 1] += PLACES - share
        nodes[cell] += share
    return found


SCORE = st.one_of(
    st.floats(-1.4, 1.4), st.sampled_from([math.inf, -math.inf, 0.0, -1.0, 1.0, 1e300, -1e308])
)


@settings(max_examples=80)
@given(data=st.lists(st.tuples(SCORE, st.booleans()), min_size=1, max_size=60))
def test_is_counting_row_by_row(data):
    scores, member = [s for s, _ in data], [m for _, m in data]
    rows = make_rows(member, scores)
    burned = micro_blocks(rank_bytes(rows, 3)) < BURN_IN
    (column,) = counted(plan(), rows).columns()
    for everyone in (False, True):
        expected = by_hand(scores, member, burned, everyone=everyone)
        for side in (False, True):
            found = column.side(int(side), everyone=everyone)
            nodes, outside, infinite = expected[side]
            assert (found.nodes * PLACES).tolist() == nodes
            assert (found.outside, found.infinite.tolist()) == (outside[0], infinite)
            assert found.records == sum(nodes) / PLACES + outside[0] + sum(infinite)


@settings(max_examples=40)
@given(cuts=st.lists(st.integers(0, 300), max_size=4), swap=st.booleans())
def test_any_cut_into_parts_gives_the_same_integers(cuts, swap):
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(0, 0.6, 290), [np.inf] * 3, [0.25] * 7])
    member = rng.random(300) < 0.4
    whole = counted(plan([0.25]), make_rows(member, scores))
    parts = [counted(plan([0.25]), one) for one in cut_rows(member, [scores], cuts)]
    if swap:
        parts.reverse()
    merged = parts[0]
    for part in parts[1:]:
        merged.merge(part)
    (one,), (other,) = whole.columns(), merged.columns()
    for name in ("cells", "parts", "infinite", "atoms"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == np.int64
        np.testing.assert_array_equal(first, second)


def test_recurring_values_are_counted_exactly():
    scores = np.array([0.1, 0.1, 0.3, np.nextafter(0.1, 1), -5.0, np.inf])
    member = np.array([True, False, True, True, False, False])
    (column,) = counted(plan([-5.0, 0.1, np.inf]), make_rows(member, scores)).columns()
    assert column.side(1, everyone=True).atoms.tolist() == [0, 1, 0]
    assert column.side(0, everyone=True).atoms.tolist() == [1, 1, 1]


def test_a_column_without_a_grid_is_left_out():
    counts = GridCounts([None], burn_in=BURN_IN, seed=0)
    counts.add(make_rows([True], [1.0]))
    other = GridCounts([None], burn_in=BURN_IN, seed=0)
    counts.merge(other)
    assert counts.columns() == (None,)


def test_many_batches_are_gathered():
    rng = np.random.default_rng(1)
    scores, member = rng.normal(0, 0.4, 600_000), rng.random(600_000) < 0.5
    batches = cut_rows(member, [scores], range(50_000, 600_000, 50_000))
    (column,) = counted(plan(), *batches).columns()
    assert int(column.cells.sum()) == 600_000
    mean = column.side(1, everyone=True).nodes @ GRID.points()
    inside = member & (scores >= -1) & (scores < 1)
    assert mean == pytest.approx(scores[inside].sum(), abs=0.25 / PLACES * inside.sum())


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


def binned(batches, bins):
    """Return what two parts and the whole find in one column: range and counts."""
    found = []
    for parts in ([batches], [[one] for one in batches]):
        extents = [ScoreRange(1) for _ in parts]
        for extent, part in zip(extents, parts, strict=True):
            for rows in part:
                extent.add(rows)
        for extent in extents[:-1]:
            extents[-1].merge(extent)
        counts = [EqualWidthCounts(extents[-1], bins) for _ in parts]
        for one, part in zip(counts, parts, strict=True):
            for rows in part:
                one.add(rows)
        for one in counts[:-1]:
            counts[-1].merge(one)
        found.append((extents[-1].low, extents[-1].high, counts[-1].counts))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    return found[0][-1]


def test_bins_of_equal_width_also_of_merged_parts():
    rng = np.random.default_rng(0)
    member, scores = rng.random(500) < 0.5, rng.normal(size=500)
    counts = binned(cut_rows(member, [scores], [120]), 10)
    extent = (scores.min(), scores.max())
    for side in (0, 1):
        expected, _ = np.histogram(scores[member == side], bins=10, range=extent)
        np.testing.assert_array_equal(counts[0, :, side], expected)


@pytest.mark.parametrize(
    "scores",
    [
        [np.inf, 0.0, 1.0, -np.inf],
        [2.0, 2.0, 2.0, 2.0],
        [-1.7e308, 1.7e308, 0.0, 1.0],
        [0.0, 5e-324, 0.0, 0.0],
        [1e16, 1e16 + 2, 1e16 + 4, np.inf],
        [np.inf, np.inf, -np.inf, np.inf],
    ],
    ids=["infinite", "constant", "widest", "denormal", "offset", "none finite"],
)
def test_hard_columns_lose_no_row(scores):
    counts = binned([make_rows([True, False, True, False], scores)], 100)
    assert counts.sum(axis=(0, 1)).tolist() == [2, 2]


def twin(values, member, bins):
    """Count bins row by row in a dictionary."""
    finite = np.where(np.isfinite(values), values, np.nan)
    low, high = np.nanmin(finite, axis=0), np.nanmax(finite, axis=0)
    counts = {False: Counter(), True: Counter()}
    for row, inside in zip(values, member, strict=True):
        place = []
        for value, least, most in zip(row, low, high, strict=True):
            share = (min(max(value, least), most) - least) / (most - least)
            place.append(min(int(share * bins), bins - 1))
        counts[bool(inside)][tuple(place)] += 1
    return sorted(
        (counts[False][cell], counts[True][cell]) for cell in {*counts[False], *counts[True]}
    )


@pytest.mark.parametrize("d", [2, 3, 12])
def test_counts_are_those_of_a_dictionary(d):
    rng = np.random.default_rng(d)
    values = rng.integers(0, 5, (400, d)).astype(float)
    values[:, 0] = rng.standard_normal(400)
    values[3, 1] = np.inf
    member = rng.random(400) < 0.5
    survey = VectorSurvey(d, 0)
    survey.add(make_rows(member, *values.T))
    parts = [SparseBins(tuple(range(d)), survey.low, survey.high, 100) for _ in range(2)]
    for part, rows in zip(parts, cut_rows(member, values.T, [150]), strict=True):
        part.add(rows)
    parts[0].merge(parts[1])
    found = sorted(map(tuple, parts[0].counts().tolist()))
    assert found == twin(values, member, 100)


def test_shuffling_keeps_rows_and_members():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, (50, 2)) + 1
    dealt = shuffled_counts(counts, rng)
    assert (dealt.sum(axis=1) == counts.sum(axis=1)).all()
    assert (dealt.sum(axis=0) == counts.sum(axis=0)).all()
    assert not (dealt == counts).all()


def test_too_many_bins_are_refused(monkeypatch):
    monkeypatch.setattr(grids, "MOST_OCCUPIED", 10)
    values = np.random.default_rng(0).standard_normal((50, 2))
    bins = SparseBins((0, 1), values.min(axis=0), values.max(axis=0), 100)
    bins.add(make_rows(np.ones(50), *values.T))
    refused("too_many_bins", bins.counts)


def test_a_survey_knows_extremes_and_constants_whatever_the_parts():
    values = np.array([[1.0, 5.0, np.inf, 0.0], [1.0, -2.0, np.inf, np.inf], [1.0, 7.0, np.inf, 0]])
    member = np.array([True, False, True])
    surveys = [VectorSurvey(4, 1) for _ in range(3)]
    rows = [make_rows(member, *values.T), *cut_rows(member, values.T, [1])]
    for survey, own in zip(surveys, rows, strict=True):
        survey.add(own)
    whole, first, second = surveys
    first.merge(second)
    for one in (whole, first):
        assert one.low[:2].tolist() == [1, -2]
        assert one.high[:2].tolist() == [1, 7]
        assert [one.constant(at) for at in range(4)] == [True, False, True, False]
        assert one.infinite.tolist() == [[0, 0], [0, 0], [0, 3], [0, 1]]
        assert (one.sample.members.rows, one.sample.holdout.rows) == (2, 1)


def test_the_sample_of_many_coordinates_is_smaller():
    assert sample_size(2) == 1 << 16
    assert sample_size(100) * 100 <= 1 << 20
