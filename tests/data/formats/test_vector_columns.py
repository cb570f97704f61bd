"""Comma lists of columns, and inputs seen through a map of their scores."""

from __future__ import annotations

from dataclasses import replace
from operator import methodcaller

import numpy as np
import pandas as pd

from mipaudit.data.choice import choose_named
from mipaudit.data.column import Field
from mipaudit.data.opening import open_input
from mipaudit.data.request import ReadRequest

FIELDS = tuple(Field(name=name, kind="float") for name in ("a", "b", "c", "d"))


def test_a_list_keeps_its_order_and_its_columns_are_read_once_in_file_order():
    found = choose_named(FIELDS, ("c,a", "a", "c , a"), vectors=True)
    assert found.vectors == (("c", "a"),)
    assert [field.name for field in found.scores] == ["a", "c"]
    assert found.scalars == {"a"}
    assert [name for name, _ in found.skipped] == ["b", "d"]


def test_rows_with_other_scores():
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2), columns=["a", "b"])
    frame["member"] = [1, 0, 1, 0, 1, 0]
    request = ReadRequest(score_columns=("a,b", "b"), vectors=True)
    with open_input(frame, None, None, request) as source:
        (vector,) = source.vectors
        assert (vector.name, vector.coordinates, source.scalars) == ("a,b", (0, 1), (1,))
        (part,) = source.partitions()
        total = part.then(lambda rows: replace(rows, scores=(rows.scores[0] + rows.scores[1],)))
        rows = list(total.batches())
        assert np.concatenate([one.scores[0] for one in rows]).tolist() == [1, 5, 9, 13, 17, 21]
        alone = part.then(methodcaller("of_columns", source.scalars))
        first = next(alone.batches())
        assert first.scores[0].tolist() == frame["b"].tolist()
        assert first.member.tolist() == [True, False] * 3
