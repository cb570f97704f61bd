"""Attackers within a class, kept block by block."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.compare.queries.pairs import joint_scores
from mipaudit.evidence.named_attackers.difference import (
    challenger,
    class_challenger,
    evaluation_groups,
)
from mipaudit.evidence.scores.prequential_sets import Trials
from mipaudit.validation.estimands.difference import compared_columns


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(5)
    member = rng.random(3000) < 0.5
    return member, [rng.standard_normal(3000) + shift * member for shift in (1.0, 0.4)]


@pytest.fixture(scope="module")
def counted(columns):
    member, scores = columns
    return compared_columns(member, scores, prior=0.5, seed=2, pairs=[(0, 1)])


@pytest.mark.parametrize(
    ("attackers", "turns"), [("thresholds", 1), ("intervals-1", 2), ("intervals-4", 8)]
)
def test_sets_stay_within_their_class(counted, attackers, turns):
    evidence, _ = counted
    found = class_challenger(evidence[1].counts, attackers, 0.5)
    assert len(found.sets) == 15
    for one in found.sets:
        assert np.count_nonzero(np.diff(one.astype(int))) <= turns


def test_bins_are_taken_whole(counted):
    evidence, _ = counted
    counts = evidence[0].counts
    found = class_challenger(counts, "bins-16", 0.5)
    for one in found.sets:
        assert one.size == counts.blocks.shape[1]
        assert np.count_nonzero(np.diff(one.astype(int))) <= 15


def test_sets_reproduce_the_rates(counted):
    evidence, _ = counted
    counts = evidence[0].counts
    found = class_challenger(counts, "thresholds", 0.5)
    groups = evaluation_groups(counts.burn_in)
    assert (groups[: counts.burn_in] == -1).all()
    hits = sum(
        counts.blocks[groups == block][:, guess].sum(axis=(0, 1))
        for block, guess in enumerate(found.sets)
    )
    sizes = counts.blocks[groups >= 0].sum(axis=(0, 1))
    # Blocks weigh nearly alike, so the pooled rates are close to the weighted ones.
    assert hits[1] / sizes[1] == pytest.approx(found.held_out.tpr, abs=0.01)
    assert hits[0] / sizes[0] == pytest.approx(found.held_out.fpr, abs=0.01)


def test_a_block_without_one_class_teaches_nothing():
    # Each attacker takes one of two cells, alike until members alone come, all in the second.
    sets = np.broadcast_to(np.eye(2, dtype=bool), (6, 2, 2))
    scored = np.full((6, 2, 2), 5)
    scored[2] = [[0, 0], [0, 9]]
    found = challenger([Trials(sets=sets, scored=scored, seeds=2)], 0.5)
    assert [one.tolist() for one in found.sets] == 4 * [[True, False]]
    assert found.held_out.n_members == pytest.approx(30)


def test_where_nothing_leaks_the_cautious_ones_guess_alike_for_all():
    rng = np.random.default_rng(8)
    member = rng.random(2000) < 0.5
    evidence, _ = compared_columns(member, [rng.standard_normal(2000)], prior=0.5, seed=1, pairs=[])
    found = class_challenger(evidence[0].counts, "thresholds", 0.5)
    constant = [one.all() or not one.any() for one in found.sets]
    assert np.mean(constant) > 0.6


def test_a_pair_seen_together_is_on_a_score_or_a_grid(counted):
    evidence, cohort = counted
    found = cohort.met.together[0, 1]
    assert set(found.challenger.table) <= set(range(6))
    full = found.full_sets()
    sides = [one.sides for one in cohort.met.scores]
    for table, one in zip(found.challenger.table, full, strict=True):
        wanted = evidence[table].counts.blocks.shape[1] if table < 2 else sides[0] * sides[1]
        assert one.size == wanted


def test_merged_grids_hold_all_rows(counted):
    evidence, _ = counted
    rng = np.random.default_rng(0)
    grid = rng.integers(0, 3, size=(64, 12, 2))
    found = joint_scores(evidence[0], evidence[1], grid, (4, 3))
    assert [int(one.max()) + 1 for one in found.cells] == [12, 4, 1, 1]
