"""Rows that are kept in memory, for what no table of counts serves.

Kept scores come back whole, by class, whatever the order of the batches.

Which row stands for a person: nobody who writes the file can say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mipaudit.summaries.content import ContentColumn, canonical_rows
from mipaudit.summaries.rows import (
    MICRO_BLOCKS,
    KeptScores,
    micro_blocks,
    one_class_each,
    one_of_each,
    position_bytes,
    rank_bytes,
    ranks,
    rows_seed,
    splitmix64,
    unit_scores,
)
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


# --- scores of persons: against a slow twin, in any order of rows

SLOW = {
    "mean": lambda scores: math.fsum(scores) / len(scores),
    "max": max,
    "min": min,
    "sum": math.fsum,
}


def hashed(numbers):
    return np.asarray(numbers, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


@pytest.mark.parametrize("rule", SLOW)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 6), st.floats(-1e6, 1e6, allow_nan=False)), min_size=1, max_size=60
    )
)
def test_slow_twin(rule, rows):
    persons = hashed([person for person, _ in rows])
    score = np.array([score for _, score in rows])
    made = unit_scores(persons, (score, -score), rule)
    assert made.undefined == 0
    for row, size, found in zip(made.rows, made.sizes, made.scores[0], strict=True):
        own = score[persons == persons[row]]
        assert size == own.size
        assert found == pytest.approx(SLOW[rule](own.tolist()), rel=1e-12, abs=1e-9)
        if rule == "mean":
            assert own.min() <= found <= own.max()


@pytest.mark.parametrize("rule", SLOW)
def test_the_order_of_rows_changes_no_bit(rule):
    rng = np.random.default_rng(1)
    persons, score = hashed(rng.integers(0, 30, 3000)), rng.standard_cauchy(3000)
    first = unit_scores(persons, (score,), rule).scores[0]
    for _ in range(5):
        order = rng.permutation(3000)
        again = unit_scores(persons[order], (score[order],), rule).scores[0]
        assert again.tobytes() == first.tobytes()


def test_extremes():
    persons = hashed([1, 1, 2, 2, 3, 3, 4])
    score = np.array([1e308, 1.5e308, np.inf, 1, -np.inf, 2, -0.0])
    made = unit_scores(persons, (score,), "mean")
    found = dict(zip(persons[made.rows].tolist(), made.scores[0].tolist(), strict=True))
    assert [found[int(one)] for one in hashed([1, 2, 3, 4])] == [1.25e308, np.inf, -np.inf, 0.0]
    both = unit_scores(hashed([1, 1, 2]), (np.array([np.inf, -np.inf, 0.0]),), "sum")
    assert both.undefined == 1


def test_every_person_is_in_one_class():
    rng = np.random.default_rng(2)
    persons, member = hashed(rng.integers(0, 500, 2000)), rng.random(2000) < 0.5
    left, both = one_class_each(persons, member, 7)
    sides = {(int(p), bool(m)) for p, m in zip(persons[left], member[left], strict=True)}
    assert len(sides) == len({p for p, _ in sides}) == np.unique(persons).size
    every = {(int(p), bool(m)) for p, m in zip(persons, member, strict=True)}
    assert both == len(every) - np.unique(persons).size
    kept_in = sum(m for p, m in sides if (p, True) in every and (p, False) in every)
    assert abs(kept_in - both / 2) < 4 * math.sqrt(both / 4)
    # Each person's coin is its own: it does not depend on who else is there, or on the order.
    order = rng.permutation(2000)
    again, _ = one_class_each(persons[order], member[order], 7)
    assert (again == left[order]).all()
    alone, none = one_class_each(persons[left], member[left], 7)
    assert alone.all()
    assert none == 0


def test_the_seed_follows_from_the_rows_in_any_order():
    rng = np.random.default_rng(3)
    persons, member = hashed(rng.integers(0, 50, 200)), rng.random(200) < 0.5
    score = rng.normal(size=200)
    first = rows_seed(persons, member, (score,), 0)
    order = rng.permutation(200)
    assert rows_seed(persons[order], member[order], (score[order],), 0) == first
    changed = score.copy()
    changed[5] += 1
    others = {
        rows_seed(persons, member, (score,), 1),
        rows_seed(persons, ~member, (score,), 0),
        rows_seed(persons, member, (changed,), 0),
        rows_seed(persons + np.uint64(1), member, (score,), 0),
        rows_seed(persons, member, (score[order],), 0),
    }
    assert len(others | {first}) == 6
    # Two equal rows do not cancel.
    twice = [np.concatenate((one, one[:1], one[:1])) for one in (persons, member, score)]
    assert rows_seed(twice[0], twice[1], (twice[2],), 0) != first
