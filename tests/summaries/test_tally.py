from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.maths.class_limits.class_sets import best_intervals, best_sets, best_thresholds
from mipaudit.summaries import plan as plans
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.rows import micro_blocks, rank_bytes
from mipaudit.summaries.tally import Tally
from tests.fixtures.rows import burn_in

SIZE = 6000


def file_of(n=SIZE, seed=0):
    """A smooth score, one with atoms and infinities, one of few values."""
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.4
    smooth = rng.normal(size=n) + 0.5 * member
    mixed = np.where(rng.random(n) < 0.2, 0.5, rng.standard_cauchy(n))
    mixed[rng.random(n) < 0.02] = np.inf
    few = np.floor(rng.normal(size=n) + member)
    return member, [smooth, mixed, few]


@pytest.fixture(scope="module")
def planned(cut):
    """A plan for the file: exact, or with fine cells."""

    def make(exact):
        member, scores = file_of()
        sample = burn_in(cut(member, scores, []), 9)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plans, "EXACT_ROWS", plans.EXACT_ROWS if exact else 10)
            return make_plan(sample, ["float"] * 3, prior=0.5, discrete=False, seed=9)

    return make


def tallied(plan, batches):
    tally = Tally(plan)
    for batch in batches:
        tally.add(batch)
    return tally


def contents(counts):
    found = []
    for one in counts:
        sides = [
            (own.members.tolist(), own.holdout.tolist()) for own in (one.everyone, one.evaluated)
        ]
        found.append((one.blocks.tolist(), sides, one.infinite))
    return found


@pytest.mark.parametrize("exact", [True, False])
def test_counts_row_by_row(planned, cut, exact):
    plan = planned(exact)
    assert plan.exact is exact
    member, scores = file_of()
    (batch,) = cut(member, scores, [])
    block = micro_blocks(rank_bytes(batch, 9))
    late = block >= plan.burn_in
    for column, counts, values in zip(
        plan.columns, tallied(plan, [batch]).counts(), scores, strict=True
    ):
        cell = np.searchsorted(column.cells.edges, values, side="left")
        expected = np.zeros((64, column.cells.coarse_count, 2), dtype=np.int64)
        np.add.at(expected, (block, column.cells.coarse[cell], member.astype(int)), 1)
        np.testing.assert_array_equal(counts.blocks, expected)
        np.testing.assert_array_equal(counts.trained + counts.scored, expected.sum(axis=0))
        assert counts.infinite == np.isinf(values).sum()
        assert counts.everyone.n_members == member.sum()
        assert counts.evaluated.n_holdout == (~member & late).sum()
        assert counts.scored.sum() == late.sum()
        if not exact:
            for found, own in (
                (counts.evaluated.members, member & late),
                (counts.everyone.holdout, ~member),
            ):
                wanted = np.bincount(cell[own], minlength=column.cells.count)
                np.testing.assert_array_equal(found, wanted)


@settings(max_examples=15)
@given(
    places=st.lists(st.integers(0, SIZE), max_size=6),
    order=st.randoms(use_true_random=False),
    split=st.integers(0, 6),
    exact=st.booleans(),
)
def test_neither_batches_nor_order_nor_merging_matters(planned, cut, places, order, split, exact):
    plan = planned(exact)
    member, scores = file_of()
    expected = contents(tallied(plan, cut(member, scores, [])).counts())
    batches = cut(member, scores, places)
    order.shuffle(batches)
    here, there = tallied(plan, batches[:split]), tallied(plan, batches[split:])
    there.merge(here)
    assert contents(there.counts()) == expected


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_fine_cells_bracket_the_exact_ladder(planned, cut, prior):
    member, scores = file_of()
    batches = cut(member, scores, [])
    exact = tallied(planned(exact=True), batches).counts()
    fine = tallied(planned(exact=False), batches).counts()
    for here, there in zip(exact, fine, strict=True):
        for best in (
            best_thresholds,
            best_sets,
            lambda ladder, p: best_intervals(ladder, p, 1),
            lambda ladder, p: best_intervals(ladder, p, 4),
        ):
            assert best(here.everyone, prior) <= best(there.everyone, prior) + 1e-12
        gap = best_thresholds(there.everyone, prior) - best_thresholds(here.everyone, prior)
        assert gap < 0.005
        np.testing.assert_array_equal(here.blocks.sum(axis=(0, 1)), there.blocks.sum(axis=(0, 1)))


def test_counts_of_a_discrete_score_are_exact_in_both_modes(planned, cut):
    member, scores = file_of()
    batches = cut(member, scores, [])
    for exact in (True, False):
        plan = planned(exact)
        counts = tallied(plan, batches).counts()[2]
        assert plan.columns[2].discrete
        # In fine mode what the burn-in lacks shares the cells between the values.
        late = micro_blocks(rank_bytes(batches[0], 9)) >= plan.burn_in
        known = scores[2] if exact else scores[2][~late]
        occupied = (counts.everyone.members + counts.everyone.holdout) > 0
        assert counts.everyone.single[occupied].sum() == np.unique(known).size
