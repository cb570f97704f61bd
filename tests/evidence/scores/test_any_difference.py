from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mipaudit.evidence.scores.any_difference import any_difference, joint_p_value
from mipaudit.maths.class_limits.roc_counts import Ladder


def test_all_rows_count_where_no_label_chose_the_cells(evidence_from):
    rng = np.random.default_rng(0)
    evidence = evidence_from(rng.normal(size=90), rng.normal(size=60))
    row = any_difference(evidence, 0.95)
    assert (row.n_members, row.n_holdout, row.selection) == (90, 60, "all rows")
    assert 0 < row.value <= 1
    assert row.lower is row.upper is None
    counts = evidence.counts
    everyone = replace(counts.everyone, single=np.zeros_like(counts.everyone.single))
    coarse = replace(evidence, counts=replace(counts, everyone=everyone))
    fewer = any_difference(coarse, 0.95)
    assert fewer.n_members == counts.evaluated.n_members < 90
    assert "outside the burn-in" in fewer.selection


def test_more_rows_than_can_be_counted_have_a_reason(evidence_from):
    evidence = evidence_from([0.0, 1.0] * 20, [1.0, 2.0] * 20)
    many = Ladder(members=np.array([10**9]), holdout=np.array([5]), single=np.ones(1, dtype=bool))
    row = any_difference(replace(evidence, counts=replace(evidence.counts, everyone=many)), 0.95)
    assert row.value is None
    assert row.value_reason == "counted up to 999,999,999 rows"


def test_holds_its_level_through_the_seeds_in_use(evidence_from):
    rng = np.random.default_rng(1)
    found = [
        any_difference(evidence_from(rng.normal(size=60), rng.normal(size=90), seed=seed), 0.95)
        for seed in range(150)
    ]
    for level in (0.05, 0.2, 0.5):
        below = sum(row.value <= level for row in found)
        assert stats.binom.sf(below - 1, len(found), level) > 1e-4


def test_joint(evidence_from):
    row = any_difference(evidence_from([0.0, 1.0] * 20, [1.0, 2.0] * 20), 0.95)
    assert joint_p_value([]) is None
    assert joint_p_value([replace(row, value=None)]) is None
    several = [replace(row, value=value) for value in (0.3, 0.02, 0.9)]
    assert joint_p_value(several) == pytest.approx(0.06)
    assert joint_p_value([replace(row, value=0.7)] * 2) == 1
