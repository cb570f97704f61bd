from __future__ import annotations

import itertools

import numpy as np
import pytest

from mipaudit.summaries.rows import Rows


@pytest.fixture(scope="session")
def rows_from():
    """Make a batch from membership and one or more score columns."""

    def make(member, *scores, first_row=0, kept=None, source_rows=None, keys=None):
        member = np.asarray(member, dtype=bool)
        return Rows(
            first_row=first_row,
            source_rows=member.size if source_rows is None else source_rows,
            kept=None if kept is None else np.asarray(kept, dtype=np.int64),
            keys=None if keys is None else np.asarray(keys, dtype=np.uint64),
            member=member,
            scores=tuple(np.asarray(column, dtype=np.float64) for column in scores),
        )

    return make


@pytest.fixture(scope="session")
def cut(rows_from):
    """Cut columns held in memory into batches at these places."""

    def make(member, scores, places, keys=None):
        ends = [0, *sorted(places), member.size]
        return [
            rows_from(
                member[a:b],
                *(column[a:b] for column in scores),
                first_row=a,
                keys=None if keys is None else keys[a:b],
            )
            for a, b in itertools.pairwise(ends)
        ]

    return make
