"""Rows that are kept in memory, for what no table of counts serves.

Kept scores come back whole, by class, whatever the order of the batches.

Which row stands for a person: nobody who writes the file can say.
"""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.summaries.content import ContentColumn, canonical_rows
from mipaudit.summaries.rows import KeptScores, micro_blocks, one_of_each, rank_bytes
from tests.fixtures.rows import make_rows

SIZE = 1000


@pytest.fixture
def everything():
    rng = np.random.default_rng(11)
    return rng.normal(size=(2, SIZE)), rng.random(SIZE) < 0.3


def batch(scores, member, start, stop, *, kept=None, keys=None):
    index = np.arange(start, stop) if kept is None else start + kept
    own = {"first_row": start, "source_rows": stop - start, "kept": kept}
    keys = None if keys is None else keys[index]
    return make_rows(member[index], *(column[index] for column in scores), keys=keys, **own)


def test_batches_may_come_in_any_order_and_be_empty(everything):
    scores, member = everything
    kept = KeptScores(2, rows=SIZE, ids=True)
    parts = [kept.shared(), kept.shared()]
    for at, start in enumerate((600, 0, 999, 250, 251)):
        stop = {600: 999, 0: 250, 999: 1000, 250: 251, 251: 600}[start]
        parts[at % 2].add(batch(scores, member, start, stop))
    parts[0].add(batch(scores, member, 600, 600))
    parts[0].merge(parts[1])
    for found, wanted in ((kept.members(), member), (kept.holdout(), ~member)):
        assert found.size == wanted.sum()
        for column, all_of_it in zip(found.scores, scores, strict=True):
            np.testing.assert_array_equal(column, all_of_it[wanted])
        np.testing.assert_array_equal(found.ids, np.flatnonzero(wanted))
        assert not found.repeats()


def test_rows_that_were_left_out_leave_no_gap(everything):
    scores, member = everything
    kept = KeptScores(2, rows=SIZE, ids=True)
    offsets = np.arange(0, 400, 7)
    kept.add(batch(scores, member, 600, 1000, kept=offsets))
    kept.add(batch(scores, member, 0, 600, kept=np.array([], dtype=np.int64)))
    wanted = 600 + offsets[member[600 + offsets]]
    members = kept.members()
    np.testing.assert_array_equal(members.ids, wanted)
    np.testing.assert_array_equal(members.scores[1], scores[1][wanted])


def test_keys_settle_the_order_and_may_repeat(everything):
    scores, member = everything
    keys = np.random.default_rng(2).permutation(SIZE).astype(np.uint64)
    whole = KeptScores(2, rows=SIZE, ids=False)
    whole.add(batch(scores, member, 0, SIZE, keys=keys))
    found = whole.members()
    np.testing.assert_array_equal(found.ids, np.sort(keys[member]))
    np.testing.assert_array_equal(found.scores[0], scores[0][member][np.argsort(keys[member])])
    assert not found.repeats()

    repeated = KeptScores(2, rows=SIZE, ids=False)
    repeated.add(batch(scores, member, 0, SIZE, keys=keys // 2))
    assert repeated.holdout().repeats()


def people(persons, rows_each, seed=0):
    keys = np.repeat(np.arange(persons, dtype=np.uint64) * 7919, rows_each)
    scores = np.tile(np.arange(rows_each, dtype=float), persons)
    member = np.repeat(np.arange(persons) % 2 == 0, rows_each)
    order = np.random.default_rng(seed).permutation(keys.size)
    column = ContentColumn(name="score", values=scores[order])
    return canonical_rows([column], member[order], keys[order], units=True)[0]


def test_one_row_for_each_person_and_class_whatever_the_order():
    first = one_of_each(people(50, 3, seed=1), 9)
    second = one_of_each(people(50, 3, seed=2), 9)
    assert first.keys.tolist() == second.keys.tolist() == sorted(set(first.keys.tolist()))
    assert first.scores[0].tolist() == second.scores[0].tolist()
    assert first.source_rows == first.member.size == 50


def test_a_person_of_both_classes_has_a_row_in_each():
    keys = np.zeros(6, dtype=np.uint64)
    member = np.array([True, True, True, False, False, False])
    column = ContentColumn(name="score", values=np.arange(6.0))
    rows = one_of_each(canonical_rows([column], member, keys, units=True)[0], 4)
    assert rows.member.tolist() == [False, True]


def test_every_row_of_a_person_has_the_same_chance():
    rows = people(4000, 5)
    chosen = one_of_each(rows, 3).scores[0].astype(int)
    counts = np.bincount(chosen, minlength=5)
    # Five standard deviations of a fair draw.
    assert np.abs(counts - 800).max() < 5 * np.sqrt(4000 * 0.2 * 0.8)


def test_which_row_stands_tells_nothing_of_the_persons_block():
    chosen = one_of_each(people(6000, 2), 3)
    block = micro_blocks(rank_bytes(chosen, 3)) < 32
    table = np.histogram2d(chosen.scores[0], block, bins=2)[0]
    expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
    assert ((table - expected) ** 2 / expected).sum() < 20  # chi-squared, one degree
