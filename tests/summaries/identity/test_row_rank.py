from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mipaudit.summaries.rows import (
    MICRO_BLOCKS,
    micro_blocks,
    position_bytes,
    rank_bytes,
    ranks,
    splitmix64,
)

GOLDEN = 0x9E3779B97F4A7C15


def test_splitmix64_is_the_published_generator():
    """The first outputs of Vigna's splitmix64.c from state 0."""
    states = np.array([0, GOLDEN, 2 * GOLDEN % 2**64], dtype=np.uint64)
    assert [hex(int(value)) for value in splitmix64(states, 0)] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


@given(
    seed=st.integers(0, 2**64 - 1),
    first=st.integers(0, 2**50),
    count=st.integers(0, 300),
    skip=st.integers(0, 200),
)
def test_a_positions_byte_does_not_depend_on_the_range_asked_for(seed, first, count, skip):
    whole = position_bytes(seed, first, skip + count)
    assert whole.size == skip + count
    assert whole[skip:].tolist() == position_bytes(seed, first + skip, count).tolist()


@pytest.mark.parametrize("seed", [0, 1, 2**63 + 5])
def test_bytes_are_uniform_and_independent_between_neighbours(seed):
    drawn = position_bytes(seed, 12_345, 400_000)
    assert stats.chisquare(np.bincount(drawn, minlength=256)).pvalue > 1e-4
    pairs = (drawn[:-1] >> 4).astype(int) * 16 + (drawn[1:] >> 4)
    assert stats.chisquare(np.bincount(pairs, minlength=256)).pvalue > 1e-4
    # Not stratified along the file: block sizes in a stretch vary as a binomial does.
    blocks = np.bincount(micro_blocks(drawn[:64_000]), minlength=MICRO_BLOCKS)
    assert 0.5 < blocks.var() / (1000 * (1 - 1 / 64)) < 1.7


def test_seeds_give_unrelated_bytes():
    here, there = position_bytes(0, 0, 100_000), position_bytes(1, 0, 100_000)
    assert (here == there).mean() == pytest.approx(1 / 256, abs=0.001)


def test_rows_left_out_do_not_shift_the_others(rows_from):
    everyone = rows_from(np.ones(50, bool), np.zeros(50), first_row=1000)
    kept = [3, 4, 20, 49]
    some = rows_from(np.ones(4, bool), np.zeros(4), first_row=1000, kept=kept, source_rows=50)
    assert rank_bytes(some, 7).tolist() == rank_bytes(everyone, 7)[kept].tolist()
    top = rank_bytes(everyone, 7)
    whole = ranks(everyone, 7, np.arange(50), top)
    part = ranks(some, 7, np.arange(4), rank_bytes(some, 7))
    assert part.tolist() == whole[kept].tolist()
    assert (whole >> np.uint64(56)).tolist() == top.tolist()


def test_keys_replace_positions(rows_from):
    keys = np.array([5, 9, 5, 2**63], dtype=np.uint64)
    here = rows_from(np.ones(4, bool), np.zeros(4), keys=keys)
    there = rows_from(np.ones(4, bool), np.zeros(4), keys=keys[::-1], first_row=999)
    assert rank_bytes(here, 3).tolist() == rank_bytes(there, 3)[::-1].tolist()
    found = ranks(here, 3, np.arange(4), rank_bytes(here, 3))
    assert found[0] == found[2]
    assert (found >> np.uint64(56)).tolist() == rank_bytes(here, 3).tolist()
