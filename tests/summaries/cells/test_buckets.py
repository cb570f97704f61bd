from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mipaudit.summaries.cells.buckets import Buckets, Locator, choose_buckets
from mipaudit.summaries.cells.cells import build_cells

HARD = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    np.inf,
    -np.inf,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    1e16,
    1e16 + 2,
    1.0,
    1.0000000000000002,
]
ANY = st.one_of(
    st.sampled_from(HARD), st.floats(allow_nan=False, allow_infinity=True), st.floats(-1, 1)
)


def with_neighbours(values):
    """Add each value's neighbours: where a cell ends is where mistakes are made."""
    with np.errstate(over="ignore"):
        return np.unique(
            np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])
        )


def assert_located(edges, buckets, scores):
    with np.errstate(over="ignore"):  # a score may lie beyond what the grid can carry
        found = Locator(edges, buckets)(scores)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, np.searchsorted(edges, scores, side="left"))


@settings(max_examples=150)
@given(
    edges=hnp.arrays(np.float64, st.integers(0, 40), elements=ANY, unique=True),
    scores=hnp.arrays(np.float64, st.integers(0, 40), elements=ANY),
    grid=st.tuples(st.floats(-1e300, 1e300), st.floats(1e-300, 1e300)),
)
def test_any_grid_gives_the_answer_of_a_search(edges, scores, grid):
    edges = np.unique(edges[edges < np.inf])
    scores = np.concatenate([scores, with_neighbours(edges)])
    low, scale = grid
    with np.errstate(over="ignore", invalid="ignore"):
        assume(((edges - low) * scale < 2.0**62).all())
        assert_located(edges, Buckets(low=low, scale=scale), scores)


# Every place and width at which doubles are spaced differently.
PLACES = [
    (0.0, 1.0),
    (0.0, 1e-320),
    (0.0, 1e-308),
    (1e16, 64.0),
    (1e9, 1e-6),
    (-1e300, 1e299),
    (0.0, 1e308),
    (-1e-5, 1e-12),
    (1.0, 1e-15),
    (2**53, 3000.0),
]


@pytest.mark.parametrize("law", ["normal", "heavy", "atoms", "ties"])
@pytest.mark.parametrize(("centre", "width"), PLACES)
def test_chosen_grids_give_the_answer_of_a_search(centre, width, law):
    rng = np.random.default_rng(4)
    shape = {
        "normal": rng.normal(size=3000),
        "heavy": rng.standard_cauchy(3000) * 1e-3,
        "atoms": np.where(rng.random(3000) < 0.5, 0.25, rng.normal(size=3000)),
        "ties": np.round(rng.normal(size=3000), 1),
    }[law]
    values = np.sort(centre + width * np.clip(shape, -1, 1))
    edges = np.unique(values[:: max(1, values.size // 500)])[:-1]
    buckets = choose_buckets(values, edges)
    if buckets is not None:
        edges = buckets.snap(edges)
        assert (np.diff(edges) > 0).all()
    extremes = np.array([np.inf, -np.inf, 0.0, -0.0, 5e-324])
    assert_located(edges, buckets, np.concatenate([values, with_neighbours(edges), extremes]))


FAR = {"infinite": np.inf, "huge": 1e300, "far": 1e20}


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("far", FAR.values(), ids=FAR)
def test_scores_far_beyond_the_others(far):
    rng = np.random.default_rng(0)
    members, holdout = rng.normal(size=20_000), rng.normal(size=20_000)
    members[:200] = far
    cells = build_cells(
        members, holdout, prior=0.5, coarse=512, fine=65_536, discrete=False, grid=True
    )
    assert cells.buckets is not None
    assert_located(cells.edges, cells.buckets, np.concatenate([members, holdout]))


def test_a_smooth_score_needs_hardly_any_search():
    """The grid is worth its code: after snapping, few rows fall into a divided bucket."""
    values = np.sort(np.random.default_rng(0).normal(size=60_000))
    edges = values[30::60]
    buckets = choose_buckets(values, edges)
    assert buckets is not None
    table = buckets.table(buckets.snap(edges))
    located = np.clip(buckets.locate(values), 0, table.size - 1)
    assert (table[located] < 0).mean() < 0.05


@given(
    values=hnp.arrays(np.float64, st.integers(2, 200), elements=st.floats(-1e6, 1e6)),
    pairs=hnp.arrays(np.float64, st.integers(2, 30), elements=st.floats(-1e6, 1e6)),
)
def test_snapping_keeps_edges_in_order_and_near(values, pairs):
    values, edges = np.sort(values), np.unique(pairs)
    buckets = choose_buckets(values, edges)
    if buckets is None:
        return
    snapped = buckets.snap(edges)
    assert (np.diff(snapped) > 0).all()
    # Each edge stays, or moves up by at most its own bucket.
    nearest = np.searchsorted(snapped, edges)
    assert (nearest < snapped.size).all()
    assert (snapped[nearest] - edges <= 1.001 / buckets.scale + 1e-9).all()


def test_no_grid_where_floats_cannot_carry_one():
    ones = np.ones(100)
    assert choose_buckets(ones, np.array([1.0])) is None
    widest = np.array([-1.7e308] * 50 + [1.7e308] * 50)
    assert choose_buckets(widest, np.array([0.0])) is None
