"""Where a site's scores lie: never a score, never a cell of few records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mipaudit.summaries.cuts import LEAST_RECORDS, column_cuts
from mipaudit.summaries.round_points import round_between

FINITE = st.one_of(st.integers(-30, 30).map(float), st.floats(-1e300, 1e300))
VALUES = st.one_of(FINITE, st.sampled_from([np.inf, -np.inf]))
SCORES = hnp.arrays(np.float64, st.integers(0, 150), elements=VALUES)


@given(st.lists(st.floats(-1e308, 1e308), min_size=2, max_size=2, unique=True).map(sorted))
def test_a_round_number_lies_between_or_there_is_none(pair):
    low, high = np.array(pair[:1]), np.array(pair[1:])
    (point,) = round_between(low, high)
    assert np.isnan(point) or low[0] < point < high[0]


@pytest.mark.parametrize(
    ("low", "high", "point"),
    [
        (0.123456, 0.125, 0.124),
        (0.1, 0.2, 0.11),
        (-3.7128, -3.5002, -3.7),
        (1234.0, 5678.0, 2000.0),
        (-0.5, 0.25, -0.4),
        (1e-9, 3e-9, 2e-9),
    ],
)
def test_round_numbers_have_few_digits(low, high, point):
    assert round_between(np.array([low]), np.array([high])) == [point]


def test_nothing_lies_between_neighbouring_floats():
    assert np.isnan(round_between(np.array([1.0]), np.array([np.nextafter(1.0, 2)]))).all()


def rows_per_cell(cuts, scores):
    return np.bincount(np.searchsorted(cuts.edges, scores), minlength=cuts.edges.size + 1)


@given(holdout=SCORES, members=SCORES, least=st.sampled_from([None, 2, 5]))
def test_no_score_and_no_small_cell_is_told(holdout, members, least):
    cuts = column_cuts(holdout, members, "float", asked=False, least=least)
    fewest = LEAST_RECORDS if least is None else least
    values = np.concatenate([holdout, members])
    times = {value: int((values == value).sum()) for value in np.unique(values)}
    assert (np.diff(cuts.edges) > 0).all()
    for atom in cuts.atoms:
        assert times[atom] >= fewest
    # An edge that is a record's score belongs to an atom: its value, or the float below.
    told = [edge for edge in cuts.edges if edge in times and edge not in cuts.atoms]
    assert all(np.nextafter(edge, np.inf) in cuts.atoms for edge in told)
    rows = rows_per_cell(cuts, values)
    fences = np.isin(cuts.edges, [*cuts.atoms, *np.nextafter(cuts.atoms, -np.inf)])
    for cell, count in enumerate(rows):
        between_fences = (cell == 0 or fences[cell - 1]) and (cell == fences.size or fences[cell])
        assert between_fences or count >= fewest
    assert cuts.counts.shape == (rows.size, 2)
    if least is None:
        assert (cuts.counts.sum(axis=1) == rows).all()
    else:
        assert (cuts.counts % least == 0).all()
        assert np.abs(cuts.counts.sum(axis=1) - rows).max() <= least


def test_both_classes_are_cut_evenly():
    generator = np.random.default_rng(3)
    holdout, members = generator.normal(0, 1, 40_000), generator.normal(1, 1, 4_000)
    cuts = column_cuts(holdout, members, "float", asked=False, least=None)
    shares = cuts.counts / cuts.counts.sum(axis=0)
    mass = shares.mean(axis=1)
    assert cuts.edges.size > 2_500
    assert np.quantile(mass, 0.99) < 4 * np.median(mass)


def test_truth_values_have_a_cell_each_however_rare():
    holdout, members = np.zeros(50), np.r_[np.zeros(49), 1.0]
    cuts = column_cuts(holdout, members, "bool", asked=False, least=None)
    assert cuts.discrete
    assert cuts.atoms.tolist() == [0.0, 1.0]


def test_a_discrete_score_with_rare_values_is_not_told_value_by_value():
    holdout = np.repeat(np.arange(5.0), 20)
    common = column_cuts(holdout, holdout, "integer", asked=False, least=None)
    rare = column_cuts(holdout, np.r_[holdout, 17.0], "integer", asked=False, least=None)
    assert common.discrete
    assert not rare.discrete
    assert rare.atoms.tolist() == [0, 1, 2, 3, 4]
    assert 17.0 not in rare.edges
