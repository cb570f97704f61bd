from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mipaudit.maths.auc import auc
from mipaudit.maths.ladder import exact_ladder


def placements(members, holdout):
    """For each member, the share of holdout below, ties half; and the same for the holdout."""
    wins = (members[:, None] > holdout) + 0.5 * (members[:, None] == holdout)
    return wins.mean(axis=1), wins.mean(axis=0)


def effective_size_by_hand(members, holdout, alpha, *, lose):
    """Trials of one limit: DeLong's variance with pseudo-rows that lose, or win, everything.

    Normal limits would then reach as far beyond the value as ln(2/alpha) such rows can
    move it, the number expected where none is seen with probability alpha/2.
    """
    by_member, by_holdout = placements(members, holdout)
    value = by_member.mean()
    reach = math.log(2 / alpha) * (value if lose else 1 - value)
    missing = (reach / stats.norm.isf(alpha / 2)) ** 2
    variance = 0.0
    for placement in (by_member, by_holdout):
        n = placement.size
        variance += placement.var(ddof=1) / n + missing / (n * (n - 1))
    return max(min(members.size, holdout.size), value * (1 - value) / variance)


@pytest.mark.parametrize("alpha", [0.05, 0.0025])
@pytest.mark.parametrize("step", [0.001, 0.5, 2.0])
@pytest.mark.parametrize("sizes", [(20, 20), (60, 90), (400, 300), (2000, 50)])
@pytest.mark.parametrize("shift", [0.0, 1.0, 2.5])
def test_limits_are_clopper_pearsons_at_the_effective_size(sizes, shift, step, alpha):
    rng = np.random.default_rng(1)
    members = np.round(rng.normal(shift, 1, sizes[0]) / step) * step
    holdout = np.round(rng.normal(0, 1, sizes[1]) / step) * step
    found = auc(exact_ladder(members, holdout), alpha=alpha)
    value = placements(members, holdout)[0].mean()
    assert found.value == pytest.approx(value)
    below = effective_size_by_hand(members, holdout, alpha, lose=True)
    above = effective_size_by_hand(members, holdout, alpha, lose=False)
    lower = stats.beta.ppf(alpha / 2, value * below, (1 - value) * below + 1)
    upper = stats.beta.ppf(1 - alpha / 2, value * above + 1, (1 - value) * above)
    assert found.lower == pytest.approx(lower, abs=1e-9)
    assert found.upper == pytest.approx(upper, abs=1e-9)


def test_pseudo_rows_weigh_on_the_side_of_the_unseen():
    rng = np.random.default_rng(2)
    members, holdout = rng.normal(2, 1, 300), rng.normal(0, 1, 300)
    below = effective_size_by_hand(members, holdout, 0.05, lose=True)
    above = effective_size_by_hand(members, holdout, 0.05, lose=False)
    assert 300 < below < above
    found = auc(exact_ladder(members, holdout), alpha=0.05)
    assert found.value - found.lower > found.upper - found.value > 0


def test_a_single_row_in_either_class():
    rows = np.arange(40.0)
    for members, holdout in ((rows[25:26] + 0.5, rows), (rows, rows[25:26] + 0.5)):
        found = auc(exact_ladder(members, holdout), alpha=0.05)
        assert 0 <= found.lower < 0.05
        assert 0.95 < found.upper <= 1


def test_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    members, holdout = rng.integers(0, 30, 500), rng.integers(-4, 25, 700)
    labels = np.repeat([1, 0], [500, 700])
    expected = metrics.roc_auc_score(labels, np.concatenate([members, holdout]))
    found = auc(exact_ladder(members.astype(float), holdout.astype(float)), alpha=0.05)
    assert found.value == pytest.approx(expected, abs=1e-12)


@given(
    members=st.lists(st.integers(0, 6), min_size=1, max_size=20),
    holdout=st.lists(st.integers(0, 6), min_size=1, max_size=20),
    alpha=st.floats(0.001, 0.5),
)
def test_any_file_gives_limits_about_the_share_of_pairs(members, holdout, alpha):
    members, holdout = np.array(members, float), np.array(holdout, float)
    found = auc(exact_ladder(members, holdout), alpha=alpha)
    assert found.value == pytest.approx(placements(members, holdout)[0].mean(), abs=1e-12)
    assert 0 <= found.lower <= found.value + 1e-12
    assert found.value <= found.upper + 1e-12
    assert found.upper <= 1
    # Exchanging the classes is turning the score round.
    mirrored = auc(exact_ladder(holdout, members), alpha=alpha)
    assert mirrored.value == pytest.approx(1 - found.value, abs=1e-12)
    assert mirrored.lower == pytest.approx(1 - found.upper, abs=1e-6)
    assert mirrored.upper == pytest.approx(1 - found.lower, abs=1e-6)


def test_perfect_separation_leaves_room_below_one(ladder_from):
    found = auc(ladder_from([0, 20], [20, 0]), alpha=0.05)
    assert found.value == found.upper == 1
    assert 0.75 < found.lower < 0.95


def test_all_tied(ladder_from):
    found = auc(ladder_from([90], [90]), alpha=0.05)
    assert found.value == 0.5
    assert found.lower < 0.5 < found.upper


def test_ties_in_a_cell_could_be_won_or_lost(ladder_from):
    members, holdout = [5, 30, 25], [40, 30, 10]
    single = auc(ladder_from(members, holdout), alpha=0.05)
    cells = auc(ladder_from(members, holdout, [True, False, True]), alpha=0.05)
    half = 30 / 60 * 30 / 80 / 2
    assert cells.value == single.value
    assert cells.lower == pytest.approx(single.lower - half)
    assert cells.upper == pytest.approx(min(1, single.upper + half))


@pytest.mark.parametrize("size", [20, 60, 150])
@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
def test_coverage_by_simulation(shift, size):
    truth = stats.norm.cdf(shift / math.sqrt(2))
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(500):
        found = auc(exact_ladder(rng.normal(shift, 1, size), rng.normal(0, 1, size)), alpha=0.05)
        missed += not found.lower <= truth <= found.upper
    assert missed <= stats.binom.ppf(0.999, 500, 0.05)
