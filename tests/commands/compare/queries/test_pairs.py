"""Meetings of queries: what is kept of their counts says what the counts say."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.evidence.difference import encounter, in_bins
from mipaudit.evidence.scores.averaged_lower import Averaged
from mipaudit.maths.binomial import MeanRate
from mipaudit.maths.class_limits.difference import paired_lower
from mipaudit.validation.estimands.together import compared_columns

RATES = Averaged(
    tpr=MeanRate(value=0.5, variance=0.01, squares=0.01),
    fpr=MeanRate(value=0.5, variance=0.01, squares=0.01),
    prior=0.3,
    assignments=1,
    n_members=90,
    n_holdout=70,
)


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
    every = encounter(sums, squares, single, RATES)
    few = encounter(sums[..., held], squares, single[held], RATES)
    assert paired_lower(few, kind, 0.025) == pytest.approx(
        paired_lower(every, kind, 0.025), abs=1e-9
    )


def test_a_class_without_weight_has_no_meeting():
    sums, squares = sums_of(0)
    sums[:, 1] = 0
    assert encounter(sums, squares, np.ones(24, dtype=bool), RATES) is None


def test_bins_of_rates_are_the_rates_of_bins():
    sums, squares = sums_of(1)
    bins = np.repeat([0, 1, 3], [10, 4, 10])
    starts = np.array([0, 10, 14])
    found = in_bins(encounter(sums, squares, np.zeros(24, dtype=bool), RATES), bins)
    merged = np.add.reduceat(sums, starts, axis=2)
    expected = encounter(merged, squares, np.ones(3, dtype=bool), RATES)
    np.testing.assert_allclose(found.rates, expected.rates, atol=1e-12)
    np.testing.assert_allclose(found.shared.squares, expected.shared.squares, atol=1e-12)
    assert found.single.all()


def test_what_is_kept_of_many_values_is_small():
    rng = np.random.default_rng(0)
    member = rng.random(4000) < 0.5
    columns = [rng.integers(0, 500, 4000).astype(float) for _ in range(2)]
    cohort = compared_columns(member, columns, prior=0.5, seed=0, pairs=[(0, 1)])
    for one in cohort.meetings.values():
        assert one.found.rates.shape == (2, 2, one.bins.size)
        assert one.bins.size <= 500
    assert cohort.evidence[0].score == "query 0"
