"""Cells that several sites agree on from their cuts alone."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.summaries.rows import MICRO_BLOCKS
from mipaudit.summaries.sites import (
    Cuts,
    SiteCounts,
    column_cuts,
    enough_rows,
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
