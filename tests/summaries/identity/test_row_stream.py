"""A stream's digest depends on every row and its place, and on nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.summaries.identity.row_stream import RowStream
from mipaudit.summaries.rows import Rows

SIZE = 40


def whole(seed=0):
    rng = np.random.default_rng(seed)
    kept = np.flatnonzero(rng.random(SIZE) < 0.8)
    return Rows(
        first_row=0,
        source_rows=SIZE,
        kept=kept,
        keys=rng.integers(0, 2**63, kept.size).astype(np.uint64),
        member=rng.random(kept.size) < 0.5,
        scores=(rng.normal(size=kept.size), rng.integers(0, 2, kept.size) * -0.0),
    )


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
    changed = [
        rows,
        replace(rows, member=rows.member[order]),
        replace(rows, scores=(rows.scores[0][order], rows.scores[1])),
        replace(rows, scores=(other, rows.scores[1])),
        replace(rows, scores=rows.scores[::-1]),
        replace(rows, kept=kept),
        replace(rows, keys=keys),
        replace(rows, keys=None),
    ]
    assert len({digest([one]) for one in changed}) == len(changed)


def test_the_place_of_a_column_and_the_sign_of_zero_do_not_matter():
    rows = whole()
    assert digest([replace(rows, scores=rows.scores[::-1])], ("b", "a")) == digest([rows])
    positive = (rows.scores[0], np.abs(rows.scores[1]))
    assert digest([replace(rows, scores=positive)]) == digest([rows])
