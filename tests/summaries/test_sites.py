"""Cells that several sites agree on from their cuts alone."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mipaudit.summaries.rows import MICRO_BLOCKS
from mipaudit.summaries.sites import (
    LEAST_RECORDS,
    Cuts,
    SiteCounts,
    column_cuts,
    enough_rows,
    round_beside,
    safe_edges,
    shared_plan,
)


def site(holdout, members, *, kind="float", least=None, rows=None, burn_in=7):
    return Cuts(
        columns=(column_cuts(holdout, members, kind, asked=False, least=least),),
        n_members=rows or 10 * members.size,
        n_holdout=rows or 10 * holdout.size,
        burn_in=burn_in,
        seed=0,
        least=least,
    )


def same(one, two):
    return all(
        np.array_equal(getattr(one, name), getattr(two, name))
        for name in ("edges", "single", "coarse")
    )


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), ties=st.booleans())
def test_the_order_of_the_sites_does_not_matter(seed, ties):
    generator = np.random.default_rng(seed)
    draw = lambda n: generator.normal(size=n).round(1 if ties else 15)  # noqa: E731
    sites = [site(draw(200), draw(300)), site(draw(500), draw(100)), site(draw(100), draw(200))]
    first, *others = [shared_plan(order, prior=0.3) for order in permutations(sites)]
    for other in others:
        assert same(first.columns[0].cells, other.columns[0].cells)
        assert first.burn_in == other.burn_in


def test_cells_follow_the_mass_of_all_sites():
    generator = np.random.default_rng(5)
    near = site(*generator.normal(0, 1, (2, 20_000)), rows=900_000)
    far = site(*generator.normal(100, 1, (2, 20_000)), rows=100_000)
    edges = shared_plan([near, far], prior=0.5).columns[0].cells.edges
    cells = shared_plan([near, far], prior=0.5).columns[0].cells
    coarse = cells.edges[np.flatnonzero(np.diff(cells.coarse))]
    assert (coarse < 50).mean() == pytest.approx(0.9, abs=0.02)
    assert edges.size > coarse.size


def test_the_burn_in_covers_every_row_that_chose_a_cell():
    generator = np.random.default_rng(6)
    large = site(*generator.normal(size=(2, 500)), rows=10**6, burn_in=7)
    assert shared_plan([large], prior=0.5).burn_in == 7
    small = site(*generator.normal(size=(2, 50)), rows=200, burn_in=20)
    assert shared_plan([large, small], prior=0.5).burn_in == 20
    assert shared_plan([site(*generator.normal(size=(2, 50)), rows=200)], prior=0.5).burn_in == 14


def test_a_score_is_discrete_where_every_site_tells_every_value():
    values = np.repeat([0.0, 1.0, 2.0], 40)
    other = np.repeat([1.0, 2.0, 3.0], 40)
    plan = shared_plan(
        [site(values, values, kind="integer"), site(other, other, kind="integer")], prior=0.5
    )
    assert plan.columns[0].discrete
    assert plan.columns[0].cells.single.sum() == 4
    rare = site(values, np.r_[values, 9.0], kind="integer")
    assert not shared_plan([rare, site(other, other)], prior=0.5).columns[0].discrete


def test_a_safe_plan_keeps_counts_large():
    """What the sample foretells holds for rows drawn anew, block by block."""
    generator = np.random.default_rng(7)
    n, least, small = 60_000, 10, 0
    for _ in range(40):
        members, holdout = generator.normal(0.5, 1, n), generator.normal(0, 1, n)
        cuts = site(holdout[: n // 10], members[: n // 10], least=least, rows=n)
        cells = shared_plan([cuts], prior=0.5).columns[0].cells
        assert cells.coarse_count == cells.count
        for scores in (members, holdout):
            block = generator.integers(0, MICRO_BLOCKS, n)
            code = block * cells.count + np.searchsorted(cells.edges, scores)
            counts = np.bincount(code, minlength=MICRO_BLOCKS * cells.count)
            small += int(((counts > 0) & (counts < least)).sum())
    assert small == 0
    assert cells.count >= 5


def test_safe_edges_of_a_class_that_is_not_there_are_none():
    edges = np.array([0.0, 1.0])
    counts = np.array([[4000, 0], [4000, 0], [0, 4000]])
    assert safe_edges([SiteCounts(edges=edges, counts=counts, rows=(80_000, 40_000))], 10).size == 0
    even = np.full((3, 2), 4000)
    kept = safe_edges([SiteCounts(edges=edges, counts=even, rows=(120_000, 120_000))], 10)
    assert kept.tolist() == [0.0, 1.0]
    few = safe_edges([SiteCounts(edges=edges, counts=even, rows=(1_200, 120_000))], 10)
    assert few.size == 0


def test_every_site_must_be_safe():
    edges = np.array([0.0, 1.0])
    full = SiteCounts(edges=edges, counts=np.full((3, 2), 4000), rows=(120_000, 120_000))
    lopsided = SiteCounts(
        edges=edges, counts=np.array([[10, 10], [5000, 5000], [5000, 5000]]), rows=(90_000, 90_000)
    )
    assert safe_edges([full, lopsided], 10).tolist() == [1.0]


def counted(generator, rows, sites, least):
    """Return how many cells several sites of members that lie apart share, and their least count.

    Every record is in a block by chance, and the blocks that train tell where scores lie.
    """
    drawn = [
        [
            (generator.normal(at, 1, rows), generator.integers(0, MICRO_BLOCKS, rows))
            for at in (0, 1)
        ]
        for _ in range(sites)
    ]
    cuts = [
        site(*(scores[block < 7] for scores, block in one), least=least, rows=rows) for one in drawn
    ]
    cells = shared_plan(cuts, prior=0.5).columns[0].cells
    places = (
        block * cells.count + np.searchsorted(cells.edges, scores, side="left")
        for one in drawn
        for scores, block in one
    )
    counts = [np.bincount(at, minlength=MICRO_BLOCKS * cells.count).min() for at in places]
    return cells.count, min(counts)


@pytest.mark.parametrize(("least", "sites"), [(2, 1), (2, 5), (10, 2), (30, 2)])
def test_the_rows_that_are_said_to_be_enough_nearly_always_are(least, sites):
    rows, draws = enough_rows(least), 100
    for share, few, most in ((1.0, 0, 2), (0.75, 50, draws)):
        generator = np.random.default_rng([least, sites])
        found = [counted(generator, int(share * rows), sites, least) for _ in range(draws)]
        assert few <= sum(cells == 1 or smallest < least for cells, smallest in found) <= most


# --- where a site's scores lie: never a score, never a cell of few records

FINITE = st.one_of(st.integers(-30, 30).map(float), st.floats(-1e300, 1e300))
VALUES = st.one_of(FINITE, st.sampled_from([np.inf, -np.inf]))
SCORES = hnp.arrays(np.float64, st.integers(0, 150), elements=VALUES)


def beside(values, spans, *, above=True, taken=()):
    values = np.array(values)
    sides = np.full(values.shape, above)
    return round_beside(values, np.array(spans), above=sides, taken=np.unique(np.array(taken)))


@given(
    value=st.floats(-1e6, 1e6),
    span=st.floats(1e-6, 1e6),
    taken=st.lists(st.integers(-30, 30).map(float), max_size=5),
    above=st.booleans(),
)
def test_a_round_number_lies_close_beside_and_is_not_taken(value, span, taken, above):
    (point,) = beside([value], [span], above=above, taken=[value, *taken])
    assert np.isnan(point) or (point not in taken and point != value)
    assert np.isnan(point) or 0 < (point - value if above else value - point) <= span


@pytest.mark.parametrize(
    ("value", "span", "point"),
    [
        (0.123456, 0.0021, 0.124),
        (0.1, 0.11, 0.11),
        (-3.7128, 0.3, -3.7),
        (1234.0, 4444.0, 2000.0),
        (-0.5, 0.75, -0.4),
        (1e-9, 3e-9, 2e-9),
    ],
)
def test_round_numbers_have_few_digits(value, span, point):
    assert beside([value], [span]) == [point]
    assert beside([-value], [span], above=False) == [-point]


def test_where_one_number_is_taken_all_move_by_a_half():
    assert beside([0.11, 5.5], [0.05, 20.0], taken=[0.12]) == pytest.approx([0.125, 15.0])


def test_two_records_close_to_each_other_are_not_pointed_at():
    centres = np.random.default_rng(1).normal(size=400)
    cuts = column_cuts(centres, centres + 1e-12, "float", asked=False, least=None)
    assert cuts.edges.size > 30
    assert max(len(f"{abs(edge):.10g}") for edge in cuts.edges) <= 6
    assert np.array_equal(cuts.edges, np.round(cuts.edges, 4))


def rows_per_cell(cuts, scores):
    return np.bincount(np.searchsorted(cuts.edges, scores), minlength=cuts.edges.size + 1)


@given(holdout=SCORES, members=SCORES, least=st.sampled_from([None, 2, 5]))
def test_no_score_and_no_small_cell_is_told(holdout, members, least):
    cuts = column_cuts(holdout, members, "float", asked=False, least=least)
    fewest = LEAST_RECORDS if least is None else least
    values = np.concatenate([holdout, members])
    times = {value: int((values == value).sum()) for value in np.unique(values)}
    assert (np.diff(cuts.edges) > 0).all()
    for atom in cuts.atoms:
        assert times[atom] >= fewest
    # An edge that is a record's score belongs to an atom: its value, or the float below.
    told = [edge for edge in cuts.edges if edge in times and edge not in cuts.atoms]
    assert all(np.nextafter(edge, np.inf) in cuts.atoms for edge in told)
    rows = rows_per_cell(cuts, values)
    fences = np.isin(cuts.edges, [*cuts.atoms, *np.nextafter(cuts.atoms, -np.inf)])
    for cell, count in enumerate(rows):
        between_fences = (cell == 0 or fences[cell - 1]) and (cell == fences.size or fences[cell])
        assert between_fences or count >= fewest
        if least is None:
            assert cuts.counts[cell].sum() == (count if count >= fewest else 0)
    assert cuts.counts.shape == (rows.size, 2)
    if least is not None:
        assert (cuts.counts % least == 0).all()
        assert np.abs(cuts.counts.sum(axis=1) - rows).max() <= least


def test_both_classes_are_cut_evenly():
    generator = np.random.default_rng(3)
    holdout, members = generator.normal(0, 1, 40_000), generator.normal(1, 1, 4_000)
    cuts = column_cuts(holdout, members, "float", asked=False, least=None)
    shares = cuts.counts / cuts.counts.sum(axis=0)
    mass = shares.mean(axis=1)
    assert cuts.edges.size > 2_500
    assert np.quantile(mass, 0.99) < 4 * np.median(mass)


def test_truth_values_have_a_cell_each_however_rare():
    holdout, members = np.zeros(50), np.r_[np.zeros(49), 1.0]
    cuts = column_cuts(holdout, members, "bool", asked=False, least=None)
    assert cuts.discrete
    assert cuts.atoms.tolist() == [0.0, 1.0]


def test_a_discrete_score_with_rare_values_is_not_told_value_by_value():
    holdout = np.repeat(np.arange(5.0), 20)
    common = column_cuts(holdout, holdout, "integer", asked=False, least=None)
    rare = column_cuts(holdout, np.r_[holdout, 17.0], "integer", asked=False, least=None)
    assert common.discrete
    assert not rare.discrete
    assert rare.atoms.tolist() == [0, 1, 2, 3, 4]
    assert 17.0 not in rare.edges
    assert rare.counts.sum() == 200
