"""MACE's bins, of equal width, for reproduction; those that are occupied, against a dictionary."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from mipaudit.summaries import grids
from mipaudit.summaries.grids import EqualWidthCounts, SparseBins, shuffled_counts
from mipaudit.summaries.plan import ScoreRange, VectorSurvey, sample_size
from tests.fixtures.files import refused
from tests.fixtures.rows import cut_rows, make_rows


def counted(batches, bins):
    """Return what two parts and the whole find in one column: range and counts."""
    found = []
    for parts in ([batches], [[one] for one in batches]):
        extents = [ScoreRange(1) for _ in parts]
        for extent, part in zip(extents, parts, strict=True):
            for rows in part:
                extent.add(rows)
        for extent in extents[:-1]:
            extents[-1].merge(extent)
        counts = [EqualWidthCounts(extents[-1], bins) for _ in parts]
        for one, part in zip(counts, parts, strict=True):
            for rows in part:
                one.add(rows)
        for one in counts[:-1]:
            counts[-1].merge(one)
        found.append((extents[-1].low, extents[-1].high, counts[-1].counts))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    return found[0][-1]


def test_bins_of_equal_width_also_of_merged_parts():
    rng = np.random.default_rng(0)
    member, scores = rng.random(500) < 0.5, rng.normal(size=500)
    counts = counted(cut_rows(member, [scores], [120]), 10)
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
        [np.inf, np.inf, -np.inf, np.inf],
    ],
    ids=["infinite", "constant", "widest", "denormal", "offset", "none finite"],
)
def test_hard_columns_lose_no_row(scores):
    counts = counted([make_rows([True, False, True, False], scores)], 100)
    assert counts.sum(axis=(0, 1)).tolist() == [2, 2]


def twin(values, member, bins):
    """Count bins row by row in a dictionary."""
    finite = np.where(np.isfinite(values), values, np.nan)
    low, high = np.nanmin(finite, axis=0), np.nanmax(finite, axis=0)
    counts = {False: Counter(), True: Counter()}
    for row, inside in zip(values, member, strict=True):
        place = []
        for value, least, most in zip(row, low, high, strict=True):
            share = (min(max(value, least), most) - least) / (most - least)
            place.append(min(int(share * bins), bins - 1))
        counts[bool(inside)][tuple(place)] += 1
    return sorted(
        (counts[False][cell], counts[True][cell]) for cell in {*counts[False], *counts[True]}
    )


@pytest.mark.parametrize("d", [2, 3, 12])
def test_counts_are_those_of_a_dictionary(d):
    rng = np.random.default_rng(d)
    values = rng.integers(0, 5, (400, d)).astype(float)
    values[:, 0] = rng.standard_normal(400)
    values[3, 1] = np.inf
    member = rng.random(400) < 0.5
    survey = VectorSurvey(d, 0)
    survey.add(make_rows(member, *values.T))
    parts = [SparseBins(tuple(range(d)), survey.low, survey.high, 100) for _ in range(2)]
    for part, rows in zip(parts, cut_rows(member, values.T, [150]), strict=True):
        part.add(rows)
    parts[0].merge(parts[1])
    found = sorted(map(tuple, parts[0].counts().tolist()))
    assert found == twin(values, member, 100)


def test_shuffling_keeps_rows_and_members():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, (50, 2)) + 1
    dealt = shuffled_counts(counts, rng)
    assert (dealt.sum(axis=1) == counts.sum(axis=1)).all()
    assert (dealt.sum(axis=0) == counts.sum(axis=0)).all()
    assert not (dealt == counts).all()


def test_too_many_bins_are_refused(monkeypatch):
    monkeypatch.setattr(grids, "MOST_OCCUPIED", 10)
    values = np.random.default_rng(0).standard_normal((50, 2))
    bins = SparseBins((0, 1), values.min(axis=0), values.max(axis=0), 100)
    bins.add(make_rows(np.ones(50), *values.T))
    refused("too_many_bins", bins.counts)


def test_a_survey_knows_extremes_and_constants_whatever_the_parts():
    values = np.array([[1.0, 5.0, np.inf, 0.0], [1.0, -2.0, np.inf, np.inf], [1.0, 7.0, np.inf, 0]])
    member = np.array([True, False, True])
    surveys = [VectorSurvey(4, 1) for _ in range(3)]
    rows = [make_rows(member, *values.T), *cut_rows(member, values.T, [1])]
    for survey, own in zip(surveys, rows, strict=True):
        survey.add(own)
    whole, first, second = surveys
    first.merge(second)
    for one in (whole, first):
        assert one.low[:2].tolist() == [1, -2]
        assert one.high[:2].tolist() == [1, 7]
        assert [one.constant(at) for at in range(4)] == [True, False, True, False]
        assert one.infinite.tolist() == [[0, 0], [0, 0], [0, 3], [0, 1]]
        assert (one.sample.members.rows, one.sample.holdout.rows) == (2, 1)


def test_the_sample_of_many_coordinates_is_smaller():
    assert sample_size(2) == 1 << 16
    assert sample_size(100) * 100 <= 1 << 20
