"""Meetings of queries: what is kept of their counts says what the counts say."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.evidence.named_attackers.difference import encounter, in_bins
from mipaudit.maths.class_limits.difference import paired_lower
from mipaudit.validation.estimands.difference import compared_columns


def counts_of(seed, cells=24):
    """Return counts of which half the cells are empty."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 9, size=(15, 2, cells, 2))
    counts[:, :, rng.random(cells) < 0.5] = 0
    return counts


@pytest.mark.parametrize("kind", ["any", "thresholds", "intervals-1", "intervals-4"])
@pytest.mark.parametrize("seed", range(5))
def test_cells_without_rows_change_no_limit(kind, seed):
    counts = counts_of(seed)
    held = np.flatnonzero(counts.any(axis=(0, 1, 3)))
    # Some cells hold several values: none that is listed, so that the same search is done.
    single = np.arange(24) != held[0]
    every = encounter(counts, single, 0.3)
    few = encounter(counts[:, :, held], single[held], 0.3)
    assert paired_lower(few, kind, 0.025) == pytest.approx(
        paired_lower(every, kind, 0.025), abs=1e-9
    )


def test_bins_of_rates_are_the_rates_of_bins():
    counts = counts_of(1)
    bins = np.repeat([0, 1, 3], [10, 4, 10])
    starts = np.array([0, 10, 14])
    found = in_bins(encounter(counts, np.zeros(24, dtype=bool), 0.5), bins)
    merged = np.add.reduceat(counts, starts, axis=2)
    expected = encounter(merged, np.ones(3, dtype=bool), 0.5)
    np.testing.assert_allclose(found.rates, expected.rates, atol=1e-12)
    assert found.single.all()


def test_what_is_kept_of_many_values_is_small():
    rng = np.random.default_rng(0)
    member = rng.random(4000) < 0.5
    columns = [rng.integers(0, 500, 4000).astype(float) for _ in range(2)]
    evidence, cohort = compared_columns(member, columns, prior=0.5, seed=0, pairs=[(0, 1)])
    assert len(cohort.meetings) == len(cohort.met.plan.meetings)
    counted = 0
    for one, (_, rival) in zip(cohort.meetings, cohort.met.plan.meetings, strict=True):
        assert one.found.rates.shape == (2, 2, one.cells.size)
        assert one.cells.size <= 500
        counted += cohort.met.plan.blocks * 4 * cohort.met.plan.scores[rival].count
    assert sum(one.found.rates.size for one in cohort.meetings) < counted / 10
    assert evidence[0].score == "query 0"
