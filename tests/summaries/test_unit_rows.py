"""Which row stands for a person: nobody who writes the file can say."""

from __future__ import annotations

import numpy as np

from mipaudit.summaries.identity.content import ContentColumn, canonical_rows
from mipaudit.summaries.identity.row_rank import micro_blocks, rank_bytes
from mipaudit.summaries.unit_rows import one_of_each


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
