"""The order and the digest of rows: nothing but the rows may decide them.

A stream's digest depends on every row and its place, and on nothing else."""

from __future__ import annotations

import itertools
import struct
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.summaries.content import (
    ContentColumn,
    RowStream,
    canonical_order,
    canonical_rows,
    canonical_scores,
    dense_ranks,
)
from mipaudit.summaries.seed import SeedChoice
from tests.fixtures.rows import make_rows

FEW = st.integers(-2, 2)
ROWS = st.lists(st.tuples(FEW, FEW, st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)
SIZE = 40


def columns(rows, labels=(False, False)):
    first, second, member, keys = (np.array(part) for part in zip(*rows, strict=True))
    values = [part.astype(np.float64) for part in (first, second)]
    values = [np.abs(v) if label else v for v, label in zip(values, labels, strict=True)]
    named = [
        ContentColumn(name=name, values=v, labels=label)
        for name, v, label in zip("ab", values, labels, strict=True)
    ]
    return named, member.astype(bool), keys.astype(np.uint64)


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("labels", [(False, False), (True, False)])
@given(rows=ROWS, shuffle=st.randoms(use_true_random=False))
def test_any_order_of_rows_gives_the_same_order_and_digest(width, keyed, labels, rows, shuffle):
    def found(rows):
        named, member, keys = columns(rows, labels)
        ordered, content = canonical_rows(named[:width], member, keys if keyed else None)
        parts = [ordered.member.tolist(), *(score.tolist() for score in ordered.scores)]
        return content, parts, None if ordered.keys is None else ordered.keys.tolist()

    other = list(rows)
    shuffle.shuffle(other)
    assert found(other) == found(rows)


@given(rows=ROWS)
def test_the_quick_way_for_one_score_is_the_general_one(rows):
    named, member, _ = columns(rows)
    (one, *_) = named
    general = canonical_order([one], member)
    quick, content = canonical_scores(one.values, member)
    assert content == general.content
    assert quick.scores[0].tolist() == one.values[general.order].tolist()
    assert quick.member.tolist() == member[general.order].tolist()


@given(rows=ROWS, other=ROWS)
def test_digests_agree_where_the_ladders_do_and_nowhere_else(rows, other):
    """A slow twin: the counts at each distinct value, in order."""

    def ladder(rows):
        values = sorted({value for value, *_ in rows})
        return [
            tuple(sum(v == value and m == side for v, _, m, _ in rows) for side in (True, False))
            for value in values
        ]

    def digest(rows):
        named, member, _ = columns(rows)
        return canonical_scores(named[0].values, member)[1]

    assert (digest(rows) == digest(other)) == (ladder(rows) == ladder(other))


@given(rows=ROWS, other=ROWS)
def test_joined_digests_agree_where_the_ranked_rows_do_and_nowhere_else(rows, other):
    def ranked(rows):
        firsts, seconds = (sorted({row[at] for row in rows}) for at in (0, 1))
        return sorted((firsts.index(a), seconds.index(b), m) for a, b, m, _ in rows)

    def digest(rows):
        named, member, _ = columns(rows)
        return canonical_order(named, member).content

    assert (digest(rows) == digest(other)) == (ranked(rows) == ranked(other))


@pytest.mark.parametrize(
    "change", [np.exp, np.arctan, lambda x: 3 * x - 7, lambda x: x.astype(np.float32)]
)
def test_an_increasing_map_of_a_score_changes_nothing(change):
    rng = np.random.default_rng(3)
    member = rng.random(500) < 0.4
    scores = np.round(rng.normal(member * 0.5, 1), 1)
    before = canonical_scores(scores, member)[1]
    assert canonical_scores(change(scores).astype(np.float64), member)[1] == before


def test_labels_have_no_order_but_names_and_a_missing_one_is_one_of_its_own():
    member = np.array([True, True, False])
    one, other = np.array([1.0, 2.0, 2.0]), np.array([1.0, 3.0, 3.0])
    ordered = [canonical_scores(values, member)[1] for values in (one, other)]
    named = [canonical_scores(values, member, labels=True)[1] for values in (one, other)]
    assert ordered[0] == ordered[1]
    assert named[0] != named[1]
    assert named[0] != ordered[0]
    missing = np.array([-np.inf, 0.0, 0.0])
    present = np.array([1.0, 0.0, 0.0])
    found = [canonical_scores(values, member, labels=True)[1] for values in (missing, present)]
    assert found[0] != found[1]
    column = ContentColumn(name="a", values=missing, labels=True)
    assert canonical_order([column], member).content == found[0]


def test_minus_zero_is_zero_and_no_rows_have_an_order_too():
    rows, content = canonical_scores(np.empty(0), np.empty(0, dtype=bool))
    assert rows.member.size == content.n_members == content.n_holdout == 0
    member = np.array([True, False, True])
    both = (np.array(values) for values in ([0.0, 1.0, -0.0], [-0.0, 1.0, 0.0]))
    found = [canonical_scores(values, member) for values in both]
    texts = {(str(rows.scores[0].tolist()), content) for rows, content in found}
    assert len(texts) == 1
    assert "-0.0" not in str(texts)


def test_another_name_of_one_row_changes_the_digest_and_so_every_block():
    member = np.arange(64) % 2 == 0
    column = ContentColumn(name="a", values=np.random.default_rng(0).normal(size=64))
    keys = np.tile(np.arange(64, dtype=np.uint64), (3, 1))
    keys[1, 5] = 1000
    keys[2, [3, 4]] = keys[2, [4, 3]]
    assert len({canonical_order([column], member, one).content.digest for one in keys}) == 3


def test_many_columns_need_more_than_one_word_to_order():
    """Five columns of 20 bits do not fit into 64 bits: ties are broken by the whole row."""
    rng = np.random.default_rng(1)
    n = 300
    wide = [np.repeat(np.arange(n // 2) << 0, 2).astype(float) for _ in range(9)]
    wide.append(rng.permutation(n).astype(float))
    named = [ContentColumn(name=str(at), values=values) for at, values in enumerate(wide)]
    member = rng.random(n) < 0.5
    found = canonical_order(named, member).order
    wanted = np.lexsort((member, *(dense_ranks(one.values) for one in reversed(named))))
    assert found.tolist() == wanted.tolist()


def test_a_seed_is_never_used_as_it_is_stated():
    rng = np.random.default_rng(2)
    member = rng.random(40) < 0.5
    contents = [canonical_scores(rng.normal(size=40), member)[1] for _ in range(3)]
    choices = [
        SeedChoice(),
        *(SeedChoice(origin="stated", number=number) for number in (0, 1)),
        SeedChoice(origin="fresh", number=2),
    ]
    used = [one.in_use(content) for one, content in itertools.product(choices, contents)]
    assert len(set(used)) == len(used)
    assert not set(used) & {0, 1, 2}
    assert all(0 <= one < 2**64 for one in used)
    # A fresh one can be stated again.
    fresh, stated = (SeedChoice(origin=origin, number=9) for origin in ("fresh", "stated"))
    assert fresh.in_use(contents[0]) == stated.in_use(contents[0])


def test_the_rule_of_seeds_stays_what_it_is():
    """Another rule makes every report of this version unverifiable."""
    ladder = struct.pack("<6q", 1, 0, 1, 1, 0, 1)  # (members, holdout) of 1, 2 and 5
    content = blake2b(ladder, digest_size=32).digest()
    scores, member = np.array([5.0, 2.0, 1.0, 2.0]), np.array([False, True, True, False])
    for choice, stated in ((SeedChoice(), "default"), (SeedChoice(origin="stated", number=7), "7")):
        text = f"mipaudit/2|{stated}|ladder|2|2|".encode() + content
        wanted = int.from_bytes(blake2b(text, digest_size=8).digest(), "big")
        assert choice.in_use(canonical_scores(scores, member)[1]) == wanted


def whole(seed=0):
    rng = np.random.default_rng(seed)
    kept = np.flatnonzero(rng.random(SIZE) < 0.8)
    keys = rng.integers(0, 2**63, kept.size)
    member = rng.random(kept.size) < 0.5
    scores = rng.normal(size=kept.size), rng.integers(0, 2, kept.size) * -0.0
    return make_rows(member, *scores, kept=kept, keys=keys, source_rows=SIZE)


def digest(batches, names=("a", "b")):
    stream = RowStream(names)
    for rows in batches:
        stream.add(rows)
    return stream.digest()


def with_all(rows):
    """Say that all rows are there, as a batch says of which none is left out."""
    return replace(rows, kept=None) if rows.member.size == rows.source_rows else rows


@settings(max_examples=60)
@given(ends=st.lists(st.integers(0, SIZE), max_size=6))
def test_batches_do_not_matter(ends):
    rows = whole()
    cuts = [0, *sorted(ends), SIZE]
    pieces = [with_all(rows.between(a, b)) for a, b in pairwise(cuts)]
    assert digest(pieces) == digest([rows])


def test_every_row_and_its_place_matters():
    rows = whole()
    order = np.arange(rows.member.size)
    order[[3, 4]] = [4, 3]
    kept = rows.kept.copy()
    kept[-1] = next(at for at in range(kept[-2] + 1, SIZE) if at != kept[-1])
    other = rows.scores[0].copy()
    other[7] = np.nextafter(other[7], 1)
    keys = rows.keys.copy()
    keys[0] += np.uint64(1)
    first, second = rows.scores
    changes = [
        *({}, {"member": rows.member[order]}, {"kept": kept}, {"keys": keys}, {"keys": None}),
        *({"scores": one} for one in ((first[order], second), (other, second), (second, first))),
    ]
    assert len({digest([replace(rows, **one)]) for one in changes}) == len(changes)
    # The place of a column and the sign of zero do not matter.
    assert digest([replace(rows, scores=rows.scores[::-1])], ("b", "a")) == digest([rows])
    positive = (rows.scores[0], np.abs(rows.scores[1]))
    assert digest([replace(rows, scores=positive)]) == digest([rows])
