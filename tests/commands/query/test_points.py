from __future__ import annotations

import numpy as np

from mipaudit.commands.query import points
from mipaudit.commands.query.points import Points, copies, distinct_places


def rows_of(some):
    return list(map(tuple, np.concatenate([some.numbers, some.codes], axis=1).tolist()))


def test_copies_are_those_of_a_set(make):
    rng = np.random.default_rng(0)
    records, others = make(rng, 300, 1, (2, 3), digits=0), make(rng, 200, 1, (2, 3), digits=0)

    found = copies(records, others)

    there = set(rows_of(others))
    assert found.tolist() == [row in there for row in rows_of(records)]
    assert 0 < found.sum() < 300


def test_one_column_that_differs_is_no_copy():
    left = Points(numbers=np.array([[1.0, 2.0]]), codes=np.array([[3]], dtype=np.int32))
    for numbers, code in (([1.0, 2.0 + 1e-15], 3), ([1.0, 2.0], 4), ([2.0, 1.0], 3)):
        right = Points(numbers=np.array([numbers]), codes=np.array([[code]], dtype=np.int32))
        # 2 + 1e-15 rounds to the next double.
        assert not copies(left, right).any()
    assert copies(left, left).all()


def test_a_collision_makes_no_copy(make, monkeypatch):
    monkeypatch.setattr(points, "row_hashes", lambda p: np.zeros(len(p), dtype=np.uint64))
    rng = np.random.default_rng(0)
    records = make(rng, 50, 2, (), digits=5)

    assert copies(records, make(rng, 50, 2, (), digits=5)).sum() == 0
    assert len(distinct_places(records)[0]) == 50


def test_distinct_rows_and_their_counts(make):
    records = make(np.random.default_rng(0), 500, 1, (2,), digits=0)

    first, inverse = distinct_places(records)

    counts = np.bincount(inverse).tolist()
    counted = dict(zip(rows_of(records.take(first)), counts, strict=True))
    everything = rows_of(records)
    assert counted == {row: everything.count(row) for row in set(everything)}
