from __future__ import annotations

import numpy as np
import pytest

from mipaudit.summaries.grids.histogram import EqualWidthCounts, ScoreRange


def counted(batches, columns, bins):
    extent = ScoreRange(columns)
    for batch in batches:
        extent.add(batch)
    counts = EqualWidthCounts(extent, bins)
    for batch in batches:
        counts.add(batch)
    return extent, counts.counts


def test_bins_of_equal_width(rows_from):
    rng = np.random.default_rng(0)
    member, scores = rng.random(500) < 0.5, rng.normal(size=500)
    _, counts = counted([rows_from(member, scores)], 1, 10)
    extent = (scores.min(), scores.max())
    for side in (0, 1):
        expected, _ = np.histogram(scores[member == side], bins=10, range=extent)
        np.testing.assert_array_equal(counts[0, :, side], expected)


@pytest.mark.parametrize(
    "scores",
    [
        [np.inf, 0.0, 1.0, -np.inf],
        [2.0, 2.0, 2.0, 2.0],
        [-1.7e308, 1.7e308, 0.0, 1.0],
        [0.0, 5e-324, 0.0, 0.0],
        [1e16, 1e16 + 2, 1e16 + 4, np.inf],
    ],
    ids=["infinite", "constant", "widest", "denormal", "offset"],
)
def test_hard_columns_lose_no_row(rows_from, scores):
    _, counts = counted([rows_from([True, False, True, False], scores)], 1, 100)
    assert counts.sum(axis=(0, 1)).tolist() == [2, 2]


def test_a_column_without_a_finite_score_loses_no_row(rows_from):
    _, counts = counted([rows_from([True, False, True], [np.inf, np.inf, -np.inf])], 1, 100)
    assert counts.sum(axis=(0, 1)).tolist() == [1, 2]


def test_merging_parts(rows_from):
    rng = np.random.default_rng(1)
    member, scores = rng.random(90) < 0.5, rng.normal(size=90)
    whole_extent, whole = counted([rows_from(member, scores)], 1, 7)
    extents = []
    for part in (slice(0, 20), slice(20, 90)):
        extent = ScoreRange(1)
        extent.add(rows_from(member[part], scores[part]))
        extents.append(extent)
    extents[1].merge(extents[0])
    assert extents[1].low == whole_extent.low
    assert extents[1].high == whole_extent.high
    here, there = (EqualWidthCounts(extents[1], 7) for _ in range(2))
    here.add(rows_from(member[:20], scores[:20]))
    there.add(rows_from(member[20:], scores[20:]))
    there.merge(here)
    np.testing.assert_array_equal(there.counts, whole)
