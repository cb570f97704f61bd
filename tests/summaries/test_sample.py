from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.summaries.plan import BurnInSample, burn_in_blocks
from mipaudit.summaries.rows import rank_bytes, ranks
from tests.fixtures.rows import burn_in, make_rows


@pytest.mark.parametrize(
    ("smaller", "blocks"), [(1, 20), (50, 20), (100, 20), (225, 13), (900, 7), (10**9, 7)]
)
def test_burn_in_share(smaller, blocks):
    assert burn_in_blocks(smaller, 10**9) == burn_in_blocks(10**9, smaller) == blocks


def file_of(n, seed=0, columns=2):
    rng = np.random.default_rng(seed)
    return rng.random(n) < 0.3, [rng.normal(size=n) for _ in range(columns)]


def contents(sample):
    return [
        (side.rows, side.ranks.tolist(), side.scores.tolist())
        for side in (sample.members, sample.holdout)
    ]


@pytest.mark.parametrize("size", [8, 100, 1 << 16])
def test_holds_the_rows_of_smallest_rank(cut, size):
    member, scores = file_of(3000)
    (batch,) = cut(member, scores, [])
    sample = burn_in([batch], 5, size)
    rank = ranks(batch, 5, np.arange(3000), rank_bytes(batch, 5))
    for side, chosen in ((sample.members, member), (sample.holdout, ~member)):
        order = np.argsort(np.where(chosen, rank, np.uint64(2**64 - 1)))[: int(chosen.sum())]
        early = [row for row in order if int(rank[row]) >> 58 < 20][:size]
        assert side.rows == chosen.sum()
        assert side.ranks.tolist() == rank[early].tolist()
        assert side.scores.tolist() == np.column_stack(scores)[early].tolist()


@settings(max_examples=40)
@given(
    places=st.lists(st.integers(0, 2000), max_size=8),
    size=st.sampled_from([5, 64, 1 << 16]),
    order=st.randoms(use_true_random=False),
    split=st.integers(0, 8),
    keyed=st.booleans(),
)
def test_neither_batches_nor_order_nor_merging_matters(cut, places, size, order, split, keyed):
    member, scores = file_of(2000)
    keys = np.random.default_rng(1).integers(0, 900, 2000).astype(np.uint64) if keyed else None
    expected = contents(burn_in(cut(member, scores, [], keys), 5, size))
    batches = cut(member, scores, places, keys)
    order.shuffle(batches)
    here, there = (BurnInSample(2, 5, size) for _ in range(2))
    for batch in batches[:split]:
        here.add(batch)
    for batch in batches[split:]:
        there.add(batch)
    here.merge(there)
    here.settle()
    assert contents(here) == expected


def test_merging_is_associative(cut):
    member, scores = file_of(3000)

    a, b, c, d, e, f = (BurnInSample(2, 5, 30) for _ in range(6))
    for parts in ((a, b, c), (d, e, f)):
        for part, batch in zip(parts, cut(member, scores, [700, 1900]), strict=True):
            part.add(batch)
    for here, there in ((a, b), (a, c), (e, f), (d, e)):
        here.merge(there)
    a.settle()
    d.settle()
    assert contents(a) == contents(d)


def test_the_sample_does_not_know_the_scores():
    """A file sorted by score gives a sample of the same law as one that is not."""
    sample = burn_in([make_rows(np.ones(40_000), np.linspace(0, 1, 40_000))], 5, 1000)
    found = sample.members.scores[:, 0]
    assert found.size == 1000
    assert found.mean() == pytest.approx(0.5, abs=4 * np.sqrt(1 / 12 / 1000))
