"""Where a site's scores lie: never a score, never a cell of few records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mipaudit.summaries.sites import LEAST_RECORDS, column_cuts, round_beside

FINITE = st.one_of(st.integers(-30, 30).map(float), st.floats(-1e300, 1e300))
VALUES = st.one_of(FINITE, st.sampled_from([np.inf, -np.inf]))
SCORES = hnp.arrays(np.float64, st.integers(0, 150), elements=VALUES)


def beside(values, spans, *, above=True, taken=()):
    values = np.array(values)
    sides = np.full(values.shape, above)
    return round_beside(values, np.array(spans), above=sides, taken=np.unique(np.array(taken)))


@given(
    value=st.floats(-1e6, 1e6),
    span=st.floats(1e-6, 1e6),
    taken=st.lists(st.integers(-30, 30).map(float), max_size=5),
    above=st.booleans(),
)
def test_a_round_number_lies_close_beside_and_is_not_taken(value, span, taken, above):
    (point,) = beside([value], [span], above=above, taken=[value, *taken])
    assert np.isnan(point) or (point not in taken and point != value)
    assert np.isnan(point) or 0 < (point - value if above else value - point) <= span


@pytest.mark.parametrize(
    ("value", "span", "point"),
    [
        (0.123456, 0.0021, 0.124),
        (0.1, 0.11, 0.11),
        (-3.7128, 0.3, -3.7),
        (1234.0, 4444.0, 2000.0),
        (-0.5, 0.75, -0.4),
        (1e-9, 3e-9, 2e-9),
    ],
)
def test_round_numbers_have_few_digits(value, span, point):
    assert beside([value], [span]) == [point]
    assert beside([-value], [span], above=False) == [-point]


def test_where_one_number_is_taken_all_move_by_a_half():
    assert beside([0.11, 5.5], [0.05, 20.0], taken=[0.12]) == pytest.approx([0.125, 15.0])


def test_two_records_close_to_each_other_are_not_pointed_at():
    centres = np.random.default_rng(1).normal(size=400)
    cuts = column_cuts(centres, centres + 1e-12, "float", asked=False, least=None)
    assert cuts.edges.size > 30
    assert max(len(f"{abs(edge):.10g}") for edge in cuts.edges) <= 6
    assert np.array_equal(cuts.edges, np.round(cuts.edges, 4))


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
        if least is None:
            assert cuts.counts[cell].sum() == (count if count >= fewest else 0)
    assert cuts.counts.shape == (rows.size, 2)
    if least is not None:
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
    assert rare.counts.sum() == 200
