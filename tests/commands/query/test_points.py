from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.query import points
from mipaudit.commands.query.points import Points, copies, distinct_places


def rows_of(some):
    return list(map(tuple, np.concatenate([some.numbers, some.codes], axis=1).tolist()))


def test_copies_and_counts_are_those_of_a_set(make):
    rng = np.random.default_rng(0)
    records, others = make(rng, 300, 1, (2, 3), digits=0), make(rng, 200, 1, (2, 3), digits=0)
    found, there, rows = copies(records, others), set(rows_of(others)), rows_of(records)
    assert found.tolist() == [row in there for row in rows]
    assert 0 < found.sum() < 300
    first, inverse = distinct_places(records)
    counts = np.bincount(inverse).tolist()
    counted = dict(zip(rows_of(records.take(first)), counts, strict=True))
    assert counted == {row: rows.count(row) for row in set(rows)}


# 2 + 1e-15 rounds to the next double.
@pytest.mark.parametrize(
    ("numbers", "code"), [([1.0, 2.0 + 1e-15], 3), ([1.0, 2.0], 4), ([2.0, 1.0], 3)]
)
def test_one_column_that_differs_is_no_copy(numbers, code):
    left, right = (
        Points(numbers=np.array([one]), codes=np.array([[word]], dtype=np.int32))
        for one, word in (([1.0, 2.0], 3), (numbers, code))
    )
    assert not copies(left, right).any()
    assert copies(left, left).all()


def test_a_collision_makes_no_copy(make, monkeypatch):
    monkeypatch.setattr(points, "row_hashes", lambda p: np.zeros(len(p), dtype=np.uint64))
    rng = np.random.default_rng(0)
    records = make(rng, 50, 2, (), digits=5)
    assert copies(records, make(rng, 50, 2, (), digits=5)).sum() == 0
    assert len(distinct_places(records)[0]) == 50
