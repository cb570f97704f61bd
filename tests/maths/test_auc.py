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


def delong_by_hand(members, holdout, alpha):
    by_member, by_holdout = placements(members, holdout)
    value = by_member.mean()
    error = math.sqrt(
        by_member.var(ddof=1) / members.size + by_holdout.var(ddof=1) / holdout.size
    )
    centre = math.log(value / (1 - value))
    half = stats.norm.isf(alpha / 2) * error / (value * (1 - value))
    return tuple(1 / (1 + math.exp(-logit)) for logit in (centre - half, centre + half))


@pytest.mark.parametrize("step", [0.001, 0.5, 2.0])
@pytest.mark.parametrize("sizes", [(40, 60), (300, 25), (500, 500)])
def test_delong_on_rows(sizes, step):
    rng = np.random.default_rng(0)
    members = np.round(rng.normal(0.6, 1, sizes[0]) / step) * step
    holdout = np.round(rng.normal(0, 1, sizes[1]) / step) * step
    found = auc(exact_ladder(members, holdout), alpha=0.05)
    assert found.method == "logit-delong"
    assert found.value == pytest.approx(placements(members, holdout)[0].mean(), abs=1e-12)
    assert (found.lower, found.upper) == pytest.approx(delong_by_hand(members, holdout, 0.05))


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


def newcombe_residual(t, value, n1, n2, alpha):
    """Distance of |value - t| from z sqrt(V(t)): 0 at a limit."""
    half_sum = (n1 + n2) / 2 - 1
    variance = t * (1 - t) * (1 + half_sum * ((1 - t) / (2 - t) + t / (1 + t))) / (n1 * n2)
    return abs(value - t) - stats.norm.isf(alpha / 2) * math.sqrt(variance)


@pytest.mark.parametrize("errors", [0, 1, 7])
@pytest.mark.parametrize("sizes", [(10, 10), (6, 200)])
def test_newcombe_limits_are_roots(sizes, errors, ladder_from):
    n1, n2 = sizes
    # `errors` holdout records lie above all members.
    ladder = ladder_from([0, n1, 0], [n2 - errors, 0, errors])
    found = auc(ladder, alpha=0.05)
    assert found.value == pytest.approx(1 - errors / n2)
    if errors * n1 / max(n1, n2) < 5 and min(errors / n2, 1 - errors / n2) * min(n1, n2) < 5:
        assert found.method == "newcombe-5"
        assert newcombe_residual(found.lower, found.value, n1, n2, 0.05) == pytest.approx(
            0, abs=1e-9
        )
        if errors:
            assert newcombe_residual(found.upper, found.value, n1, n2, 0.05) == pytest.approx(
                0, abs=1e-9
            )
        else:
            assert found.upper == 1


def test_perfect_separation_leaves_room_below_one(ladder_from):
    found = auc(ladder_from([0, 20], [20, 0]), alpha=0.05)
    assert found.value == found.upper == 1
    assert 0.75 < found.lower < 0.95


def test_ties_in_a_cell_could_be_won_or_lost(ladder_from):
    members, holdout = [5, 30, 25], [40, 30, 10]
    single = auc(ladder_from(members, holdout), alpha=0.05)
    cells = auc(ladder_from(members, holdout, [True, False, True]), alpha=0.05)
    half = 30 / 60 * 30 / 80 / 2
    assert cells.value == single.value
    assert cells.lower == pytest.approx(single.lower - half)
    assert cells.upper == pytest.approx(min(1, single.upper + half))


@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
def test_coverage_by_simulation(shift):
    truth = stats.norm.cdf(shift / math.sqrt(2))
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(600):
        found = auc(exact_ladder(rng.normal(shift, 1, 40), rng.normal(0, 1, 40)), alpha=0.05)
        missed += not found.lower <= truth <= found.upper
    # Nominal 30 of 600; the approximation may lose 2%.
    assert missed <= 600 * 0.07 + 3 * math.sqrt(600 * 0.05 * 0.95)
