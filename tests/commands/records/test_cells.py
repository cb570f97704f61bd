from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.commands.records.cells import MOST_CELLS, RecordTally, cells_wanted, cut_cells
from mipaudit.errors import InputError
from mipaudit.summaries.plan import BurnInSample
from mipaudit.summaries.rows import Rows, micro_blocks, rank_bytes


def rows_of(member, score, first=0):
    return Rows(
        first_row=first,
        source_rows=member.size,
        kept=None,
        keys=None,
        member=member,
        scores=(np.asarray(score, dtype=np.float64),),
    )


def cut(member, score, *, seed=0, kind="float", **settings):
    sample = BurnInSample(1, seed)
    sample.add(rows_of(member, score))
    sample.settle()
    return cut_cells(sample, kind, seed=seed, **settings)


def halves(n):
    return np.arange(n) % 2 == 0


def test_more_rows_bear_more_cells():
    wanted = [cells_wanted(n, n) for n in (10, 100, 1_000, 10**5, 10**7, 10**9)]
    assert wanted == sorted(wanted)
    assert wanted[0] == 4
    assert wanted[-1] == MOST_CELLS
    assert cells_wanted(1_000, 10**6) == cells_wanted(1_000, 1_000) == 20


def test_cells_hold_about_equally_many_rows():
    rng = np.random.default_rng(0)
    score = rng.normal(size=20_000)
    cells = cut(halves(20_000), score, cells=16)
    rows = np.bincount(cells.of(score))
    assert not cells.single.any()
    inner = rows[2:-2]
    assert inner.min() > 20_000 / 16 * 0.8
    assert inner.max() < 20_000 / 16 * 1.2


def test_the_ends_are_halved_where_the_rows_bear_it():
    rng = np.random.default_rng(1)
    score = rng.normal(size=100_000)
    cells = cut(halves(100_000), score, cells=16)
    assert 16 < cells.count <= 16 + 8
    rows = np.bincount(cells.of(score))
    assert rows.min() > 200


def test_a_smaller_class_places_as_many_cells():
    # 100 members lie where hardly a holdout record does: they get cells all the same.
    rng = np.random.default_rng(2)
    score = np.concatenate([rng.normal(10, 1, 1_000), rng.normal(0, 1, 50_000)])
    member = np.arange(score.size) < 1_000
    cells = cut(member, score, cells=16)
    assert np.unique(cells.of(score[member])).size >= 6


@given(
    values=st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]), min_size=40),
    seed=st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_every_score_has_a_cell_and_equal_scores_share_it(values, seed):
    score = np.array(values)
    cells = cut(halves(score.size), score, seed=seed)
    found = cells.of(score)
    assert found.min() >= 0
    assert found.max() < cells.count
    for value in np.unique(score):
        assert np.unique(found[score == value]).size == 1
    assert cells.single.size == cells.count


def test_each_frequent_value_is_a_cell():
    rng = np.random.default_rng(3)
    score = rng.integers(0, 5, 5_000).astype(float)
    cells = cut(halves(5_000), score, kind="integer")
    assert cells.discrete
    assert cells.single.sum() == 5
    assert np.unique(cells.of(np.arange(5.0))).size == 5
    # Values that the burn-in lacks share a last cell.
    rare = cells.of(np.array([-3.0, 17.0, 2.5]))
    assert set(rare.tolist()) == {cells.count - 1}


def test_rare_values_are_joined():
    rng = np.random.default_rng(4)
    score = np.concatenate([np.zeros(5_000), rng.permutation(1_000) + 1.0])
    cells = cut(rng.random(6_000) < 0.5, score, kind="integer")
    rows = np.bincount(cells.of(score), minlength=cells.count)
    assert cells.of(np.zeros(1))[0] == np.flatnonzero(cells.single)[0]
    assert 10 < cells.count < 200
    assert np.median(rows) >= 5


def test_too_many_values_cannot_be_called_discrete():
    score = np.arange(200_000, dtype=np.float64)
    with pytest.raises(InputError, match="distinct values"):
        cut(halves(200_000), score, discrete=True)


def test_cells_depend_on_burn_in_rows_alone():
    rng = np.random.default_rng(5)
    member, score = halves(4_000), rng.normal(size=4_000)
    cells = cut(member, score)
    early = micro_blocks(rank_bytes(rows_of(member, score), 0)) < cells.burn_in
    other = np.where(early, score, score * 3 + 1)
    changed = cut(member, other)
    assert np.array_equal(cells.edges, changed.edges)
    assert np.array_equal(cells.cell, changed.cell)


def test_tally_counts_and_merges():
    rng = np.random.default_rng(6)
    member, score = rng.random(5_000) < 0.4, rng.normal(size=5_000)
    cells = cut(member, score)
    whole = RecordTally(cells)
    whole.add(rows_of(member, score))
    parts = RecordTally(cells)
    for start in (3_000, 0):
        other = RecordTally(cells)
        stop = 5_000 if start else 3_000
        other.add(rows_of(member[start:stop], score[start:stop], first=start))
        parts.merge(other)
    assert np.array_equal(whole.counts, parts.counts)
    early = micro_blocks(rank_bytes(rows_of(member, score), 0)) < cells.burn_in
    cell = cells.of(score)
    for at in (0, 3, cells.count - 1):
        for burned in (False, True):
            for inside in (False, True):
                count = ((cell == at) & (early == burned) & (member == inside)).sum()
                assert whole.counts[at, int(burned), int(inside)] == count
