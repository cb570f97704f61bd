"""Attackers who see two scores of the same rows, and what is kept of the counts of both."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.compare.queries.cohort import merged_cells, seen_together
from mipaudit.evidence.difference import encounter, in_bins
from mipaudit.evidence.scores.averaged_lower import Averaged
from mipaudit.maths.binomial import MeanRate
from mipaudit.maths.class_limits.difference import paired_lower
from mipaudit.validation.estimands.together import compared_columns

HALF = MeanRate(value=0.5, variance=0.01, squares=0.01)
RATES = Averaged(tpr=HALF, fpr=HALF, prior=0.3, assignments=1, n_members=90, n_holdout=70)


def sums_of(seed, cells=24):
    """Return what rows add up to, half of the cells being empty, and the squares."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 30, size=(40, 2, cells)) * (rng.random(cells) < 0.5)
    guessed = rng.integers(0, weights + 1)
    sums = [one.sum(axis=0) for one in (weights, guessed, weights**2, weights * guessed)]
    return np.array(sums), (guessed**2).sum(axis=(0, 2))


@pytest.mark.parametrize("kind", ["any", "thresholds", "intervals-1", "intervals-4"])
@pytest.mark.parametrize("seed", range(5))
def test_cells_without_rows_change_no_limit(kind, seed):
    sums, squares = sums_of(seed)
    held = np.flatnonzero(sums[0].any(axis=0))
    # Some cells hold several values: none that is listed, so that the same search is done.
    single = np.arange(24) != held[0]
    few, every = (
        paired_lower(encounter(sums[..., at], squares, single[at], RATES), kind, 0.025)
        for at in (held, slice(None))
    )
    assert few == pytest.approx(every, abs=1e-9)


def test_a_class_without_weight_has_no_meeting():
    sums, squares = sums_of(0)
    sums[:, 1] = 0
    assert encounter(sums, squares, np.ones(24, dtype=bool), RATES) is None


def test_bins_of_rates_are_the_rates_of_bins():
    sums, squares = sums_of(1)
    bins = np.repeat([0, 1, 3], [10, 4, 10])
    found = in_bins(encounter(sums, squares, np.zeros(24, dtype=bool), RATES), bins)
    merged = np.add.reduceat(sums, [0, 10, 14], axis=2)
    expected = encounter(merged, squares, np.ones(3, dtype=bool), RATES)
    np.testing.assert_allclose(found.rates, expected.rates, atol=1e-12)
    np.testing.assert_allclose(found.shared.squares, expected.shared.squares, atol=1e-12)
    assert found.single.all()


def cohort_of(seed, scores):
    rng = np.random.default_rng(seed)
    member = rng.random(3000) < 0.5
    return compared_columns(member, list(scores(rng, member)), prior=0.5, seed=2, pairs=[(0, 1)])


def hidden(rng, member):
    """Return scores whose halves agree for members, and for half of the others."""
    parity = rng.random((2, 3000)) < 0.5
    parity[1, member] = parity[0, member]
    return rng.random((2, 3000)) + parity


@pytest.fixture(scope="module")
def counted():
    return cohort_of(5, hidden)


def test_what_is_kept_of_many_values_is_small():
    cohort = cohort_of(0, lambda rng, _: rng.integers(0, 500, (2, 3000)).astype(float))
    for found, bins in cohort.meetings.values():
        assert found.rates.shape == (2, 2, bins.size)
        assert bins.size <= 500
    assert cohort.evidence[0].score == "query 0"


def test_what_neither_score_shows_the_grid_does(counted):
    found, evidence = counted.challengers[0, 1], counted.evidence
    # The truth is 1/2.
    assert found.rates.value == pytest.approx(0.5, abs=0.06)
    assert 0.3 < counted.gain((0, 1), "thresholds", 0.025) < 0.5
    one, two, grid = found.guesses.guessed
    assert grid.shape[:2] == (64, 2)
    assert (one.shape[2], two.shape[2]) == tuple(each.counts.blocks.shape[1] for each in evidence)
    burn_in, weights = evidence[0].counts.burn_in, found.guesses.weights
    assert not weights[:burn_in].any()
    assert weights[burn_in:].all()
    assert (one.max(axis=2) + two.max(axis=2) + grid.max(axis=2) <= weights + 2).all()
    for rival in (0, 1):
        rates = counted.meetings[(0, 1), rival][0].rates[:, 1].sum(axis=1)
        assert rates == pytest.approx([found.rates.fpr.value, found.rates.tpr.value], abs=1e-3)


def test_where_nothing_leaks_nothing_is_gained():
    cohort = cohort_of(8, lambda rng, _: rng.standard_normal((2, 3000)))
    assert not cohort.challengers[0, 1].gains(0.025)
    assert cohort.gain((0, 1), "thresholds", 0.025) == 0


def test_merged_grids_hold_all_rows(counted):
    grid = np.random.default_rng(0).integers(0, 3, size=(64, 12, 2))
    steps = [int(merged_cells((4, 3), step).max()) + 1 for step in (1, 2, 4, 8)]
    assert steps == [12, 4, 1, 1]
    found = seen_together(tuple(counted.evidence[:2]), grid, (4, 3), (0, 1))
    assert found.guesses.columns == ((0,), (1,), (0, 1))
