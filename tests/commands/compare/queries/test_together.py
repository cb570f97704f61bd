"""Attackers who see two scores of the same rows."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.compare.queries.cohort import merged_cells, seen_together
from mipaudit.validation.estimands.together import compared_columns


@pytest.fixture(scope="module")
def counted():
    rng = np.random.default_rng(5)
    member = rng.random(3000) < 0.5
    parity = rng.random((2, 3000)) < 0.5
    parity[1, member] = parity[0, member]
    scores = [rng.random(3000) + one for one in parity]
    return compared_columns(member, scores, prior=0.5, seed=2, pairs=[(0, 1)])


def test_what_neither_score_shows_the_grid_does(counted):
    cohort, evidence = counted, counted.evidence
    found = cohort.challengers[0, 1]
    # Members agree in both halves, half of the others do: the truth is 1/2.
    assert found.rates.value == pytest.approx(0.5, abs=0.06)
    assert 0.3 < cohort.gain((0, 1), "thresholds", 0.025) < 0.5
    one, two, grid = found.guesses.guessed
    assert grid.shape[:2] == (64, 2)
    assert (one.shape[2], two.shape[2]) == tuple(each.counts.blocks.shape[1] for each in evidence)
    burn_in = evidence[0].counts.burn_in
    assert not found.guesses.weights[:burn_in].any()
    assert found.guesses.weights[burn_in:].all()
    weights = found.guesses.weights[:, :, None]
    assert (one.max(axis=2) + two.max(axis=2) + grid.max(axis=2) <= weights[..., 0] + 2).all()


def test_what_is_counted_of_two_scores_makes_their_rates(counted):
    found = counted.challengers[0, 1]
    for rival in (0, 1):
        rates = counted.meetings[(0, 1), rival].found.rates[:, 1].sum(axis=1)
        assert rates == pytest.approx([found.rates.fpr.value, found.rates.tpr.value], abs=1e-3)


def test_where_nothing_leaks_nothing_is_gained():
    rng = np.random.default_rng(8)
    member = rng.random(2000) < 0.5
    cohort = compared_columns(
        member, list(rng.standard_normal((2, 2000))), prior=0.5, seed=1, pairs=[(0, 1)]
    )
    assert not cohort.challengers[0, 1].gains(0.025)
    assert cohort.gain((0, 1), "thresholds", 0.025) == 0


def test_merged_grids_hold_all_rows(counted):
    evidence = counted.evidence
    grid = np.random.default_rng(0).integers(0, 3, size=(64, 12, 2))
    steps = [int(merged_cells((4, 3), step).max()) + 1 for step in (1, 2, 4, 8)]
    assert steps == [12, 4, 1, 1]
    found = seen_together((evidence[0], evidence[1]), grid, (4, 3), (0, 1))
    assert found.guesses.columns == ((0,), (1,), (0, 1))
