"""A file sorted by score must not settle which runs choose the attack on epsilon."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mipaudit.commands.epsilon.independent_runs.limit import epsilon_runs
from mipaudit.summaries.identity.content import canonical_scores
from mipaudit.summaries.identity.seed import DEFAULT_SEED

RUNS, FILES, ALPHA = 60, 400, 0.05


def lower(scores, member, seed):
    limit = epsilon_runs(
        scores[member],
        scores[~member],
        delta=0.0,
        confidence=1 - ALPHA,
        method="conditional",
        rng=np.random.default_rng(seed),
    )
    return limit.lower


@pytest.mark.slow
def test_sorted_files_of_randomized_response_are_covered_and_a_public_seed_is_caught():
    right = math.e / (1 + math.e)
    member = np.arange(2 * RUNS) < RUNS
    misses = {"content": 0, "public": 0}
    for at in range(FILES):
        draws = np.random.default_rng([60, at]).random(2 * RUNS)
        scores = (draws < np.where(member, right, 1 - right)).astype(float)
        ordered = np.r_[np.sort(scores[member]), np.sort(scores[~member])]
        rows, content = canonical_scores(ordered, member)
        own = DEFAULT_SEED.in_use(content)
        misses["content"] += lower(rows.scores[0], rows.member, own) > 1
        public = np.random.SeedSequence(0, spawn_key=(0,))
        misses["public"] += lower(ordered, member, public) > 1
    allowed = FILES * ALPHA + 3 * math.sqrt(FILES * ALPHA * (1 - ALPHA))
    assert misses["content"] <= allowed < misses["public"], misses
