"""Kept scores come back whole, by class, whatever the order of the batches."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.summaries.kept_scores import KeptScores
from mipaudit.summaries.rows import Rows

SIZE = 1000


@pytest.fixture
def everything():
    rng = np.random.default_rng(11)
    return rng.normal(size=(2, SIZE)), rng.random(SIZE) < 0.3


def batch(scores, member, start, stop, *, kept=None, keys=None):
    index = np.arange(start, stop) if kept is None else start + kept
    return Rows(
        first_row=start,
        source_rows=stop - start,
        kept=kept,
        keys=None if keys is None else keys[index],
        member=member[index],
        scores=tuple(column[index] for column in scores),
    )


def test_batches_may_come_in_any_order_and_be_empty(everything):
    scores, member = everything
    kept = KeptScores(2, rows=SIZE, ids=True)
    parts = [kept.part(), kept.part()]
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
