from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betainc

from mipaudit.maths.epsilon.bands import counts_beyond, local_level, roc_band, two_ended_ranks
from mipaudit.maths.privacy.mechanism import LaplaceMechanism


@pytest.mark.parametrize("size", [1, 2, 3, 50, 10_000, 10**7])
def test_ranks_are_fixed_by_the_size(size):
    ranks = two_ended_ranks(size)
    assert ranks[0] == 1
    assert ranks[-1] == size
    assert (np.diff(ranks) > 0).all()
    assert ranks.size <= 160


@pytest.mark.parametrize("size", [1, 7, 400])
def test_local_level_errs_on_the_safe_side(size):
    ranks = two_ended_ranks(size)
    level = local_level(size, 0.05)
    ordered = np.sort(np.random.default_rng(3).random((6_000, size)), axis=1)[:, ranks - 1]
    below = betainc(ranks, size - ranks + 1, ordered)
    outside = (np.minimum(below, 1 - below).min(axis=1) < level).mean()
    assert 0.025 < outside < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 6_000)


def test_a_tiny_alpha_falls_back_on_bonferroni():
    assert local_level(100, 1e-6) == pytest.approx(1e-6 / 2 / two_ended_ranks(100).size)


def test_counts_beyond_include_ties():
    ordered = np.array([1.0, 2.0, 2.0, np.inf])
    assert counts_beyond(ordered, np.array([2.0, np.inf]), high=True).tolist() == [3, 1]
    assert counts_beyond(ordered, np.array([2.0, np.inf]), high=False).tolist() == [3, 4]


@pytest.mark.parametrize("rounded", [False, True])
def test_the_whole_band_is_below_the_roc(rounded):
    curve = LaplaceMechanism(shift=1.0)
    rng = np.random.default_rng(8)
    missed = 0
    for _ in range(150):
        members, holdout = 1 + rng.laplace(size=300), rng.laplace(size=300)
        if rounded:
            members, holdout = members.round(), holdout.round()
        found = roc_band(members, holdout, alpha=0.1)
        allowed = np.array([curve.tpr(float(f)) for f in found.fpr])
        missed += bool((found.tpr > allowed + 1e-12).any())
    assert missed <= 0.1 * 150 + 3 * np.sqrt(0.09 * 150)
    # The last band is not empty talk: it refutes something.
    assert found.epsilon(0.0) > 0.1


def test_counts_are_those_beyond_each_threshold():
    rng = np.random.default_rng(4)
    members, holdout = rng.integers(0, 40, 300) / 8 + 1, rng.integers(0, 40, 200) / 8
    found = roc_band(members, holdout, alpha=0.05)
    ordered = np.sort(members)
    for tp, fp, high in zip(found.tp, found.fp, found.members_high, strict=True):
        at = ordered[-tp] if high else ordered[tp - 1]
        assert fp == np.count_nonzero(holdout >= at if high else holdout <= at)
