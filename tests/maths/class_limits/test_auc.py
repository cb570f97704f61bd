from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from mipaudit.maths.class_limits.auc import Area, area_of
from mipaudit.maths.class_limits.roc_counts import exact_ladder


def placements(members, holdout):
    """For each member, the share of holdout below, ties half; and the same for the holdout."""
    wins = (members[:, None] > holdout) + 0.5 * (members[:, None] == holdout)
    return wins.mean(axis=1), wins.mean(axis=0)


def limits(ladder, alpha=0.025):
    return area_of(ladder).limits(lower_alpha=alpha, upper_alpha=alpha)


def delong(members, holdout):
    by_member, by_holdout = placements(members, holdout)
    variance = sum(one.var(ddof=1) / one.size for one in (by_member, by_holdout))
    return by_member.mean(), variance


def drop_by_search(value, variance, fewest, alpha):
    """How far the area may fall: where it is z standard errors, rows unseen taken in."""
    z = stats.norm.isf(alpha)
    room = max(1, 1.06 * fewest * (alpha ** (-1 / fewest) - 1) / z**2)

    def gap(drop):
        return drop**2 - z**2 * (1 - drop / 2) * (variance + room * value * drop / fewest)

    return optimize.brentq(gap, 1e-12, 2, xtol=1e-14)


@pytest.mark.parametrize("alpha", [0.1, 0.025, 0.0025])
@pytest.mark.parametrize("step", [0.001, 0.5, 2.0])
@pytest.mark.parametrize("sizes", [(20, 20), (60, 90), (400, 300), (2000, 50)])
@pytest.mark.parametrize("shift", [0.0, 1.0, 2.5])
def test_limits_are_where_the_drop_is_z_standard_errors(sizes, shift, step, alpha):
    rng = np.random.default_rng(1)
    members = np.round(rng.normal(shift, 1, sizes[0]) / step) * step
    holdout = np.round(rng.normal(0, 1, sizes[1]) / step) * step
    found = limits(exact_ladder(members, holdout), alpha)
    value, variance = delong(members, holdout)
    assert found.value == pytest.approx(value)
    below = drop_by_search(value, variance, min(sizes), alpha)
    above = drop_by_search(1 - value, variance, min(sizes), alpha)
    assert found.lower == pytest.approx(max(0, value - below), abs=1e-9)
    assert found.upper == pytest.approx(min(1, value + above), abs=1e-9)


def test_each_limit_has_its_own_error(ladder_from):
    area = area_of(ladder_from([5, 30, 25], [40, 30, 10]))
    found = area.limits(lower_alpha=0.0125, upper_alpha=0.025)
    assert found.lower == area.limits(lower_alpha=0.0125, upper_alpha=0.1).lower
    assert found.upper == area.limits(lower_alpha=0.1, upper_alpha=0.025).upper
    # A lax error is taken as a tenth.
    assert area.limits(lower_alpha=0.25, upper_alpha=0.25) == area.limits(
        lower_alpha=0.1, upper_alpha=0.1
    )


def test_unseen_rows_weigh_on_the_side_of_the_unseen():
    rng = np.random.default_rng(2)
    found = limits(exact_ladder(rng.normal(2, 1, 300), rng.normal(0, 1, 300)))
    assert found.value - found.lower > found.upper - found.value > 0


def test_a_single_row_in_either_class():
    rows = np.arange(40.0)
    for members, holdout in ((rows[25:26] + 0.5, rows), (rows, rows[25:26] + 0.5)):
        found = limits(exact_ladder(members, holdout))
        assert 0 <= found.lower < 0.05
        assert 0.95 < found.upper <= 1


def test_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    members, holdout = rng.integers(0, 30, 500), rng.integers(-4, 25, 700)
    labels = np.repeat([1, 0], [500, 700])
    expected = metrics.roc_auc_score(labels, np.concatenate([members, holdout]))
    found = limits(exact_ladder(members.astype(float), holdout.astype(float)))
    assert found.value == pytest.approx(expected, abs=1e-12)


@given(
    members=st.lists(st.integers(0, 6), min_size=1, max_size=20),
    holdout=st.lists(st.integers(0, 6), min_size=1, max_size=20),
    alpha=st.floats(0.001, 0.5),
)
def test_any_file_gives_limits_about_the_share_of_pairs(members, holdout, alpha):
    members, holdout = np.array(members, float), np.array(holdout, float)
    found = limits(exact_ladder(members, holdout), alpha)
    assert found.value == pytest.approx(placements(members, holdout)[0].mean(), abs=1e-12)
    assert 0 <= found.lower <= found.value + 1e-12
    assert found.value <= found.upper + 1e-12
    assert found.upper <= 1
    # Exchanging the classes is turning the score round.
    mirrored = limits(exact_ladder(holdout, members), alpha)
    assert mirrored.value == pytest.approx(1 - found.value, abs=1e-12)
    assert mirrored.lower == pytest.approx(1 - found.upper, abs=1e-6)
    assert mirrored.upper == pytest.approx(1 - found.lower, abs=1e-6)


def test_perfect_separation_leaves_room_below_one(ladder_from):
    found = limits(ladder_from([0, 20], [20, 0]))
    assert found.value == found.upper == 1
    assert 0.75 < found.lower < 0.95


def test_all_tied(ladder_from):
    found = limits(ladder_from([90], [90]))
    assert found.value == 0.5
    assert found.lower < 0.5 < found.upper


def test_ties_in_a_cell_could_be_won_or_lost(ladder_from):
    members, holdout = [5, 30, 25], [40, 30, 10]
    single = limits(ladder_from(members, holdout))
    cells = limits(ladder_from(members, holdout, [True, False, True]))
    half = 30 / 60 * 30 / 80 / 2
    assert cells.value == single.value
    assert cells.lower < single.lower - half
    assert cells.upper > min(1, single.upper + half)
    # However the cell is ordered, the exact limits lie within.
    for x, y in (([5, 0, 30, 25], [40, 30, 0, 10]), ([5, 30, 0, 25], [40, 0, 30, 10])):
        ordered = limits(ladder_from(x, y))
        assert cells.lower <= ordered.lower
        assert ordered.upper <= cells.upper


def counts_of(rows, levels):
    """Every way to put rows on levels, shape (ways, levels)."""
    drawn = np.array(list(combinations_with_replacement(range(levels), rows)))
    return np.stack([(drawn == level).sum(axis=1) for level in range(levels)], axis=1)


def lower_limits(members, holdout, alpha, rule=None):
    """The lower limit for every pair of ways, shape (ways, ways)."""
    n1, n2 = int(members[0].sum()), int(holdout[0].sum())
    x, y = members / n1, holdout / n2
    wins, loses = y.cumsum(axis=1) - y / 2, 1 - x.cumsum(axis=1) + x / 2
    value = x @ wins.T
    variance = (x @ (wins**2).T - value**2) / (n1 - 1) + (loses**2 @ y.T - value**2) / (n2 - 1)
    pairs = np.round(np.stack([value, np.maximum(variance, 0)], axis=-1).reshape(-1, 2), 13)
    kinds, where = np.unique(pairs, axis=0, return_inverse=True)
    found = [
        value - rule(value, variance, n1, alpha)
        if rule
        else Area(value=value, variance=variance, fewest=min(n1, n2), bracket=0.0)
        .limits(lower_alpha=alpha, upper_alpha=alpha)
        .lower
        for value, variance in kinds
    ]
    return np.array(found)[where.ravel()].reshape(value.shape)


def worst_miss(sizes, levels, alpha, *, laws, seed=0, rule=None):
    """The largest probability that the lower limit is too high, by exact enumeration.

    Laws are drawn, most of them with rare levels, and moved to where they just miss.
    """
    rng = np.random.default_rng(seed)
    members, holdout = (counts_of(n, levels) for n in sizes)
    table = lower_limits(members, holdout, alpha, rule)
    ways = [stats.multinomial, (members, sizes[0]), (holdout, sizes[1])]
    worst = 0.0
    for _ in range(laws):
        p, q = (rng.dirichlet(np.full(levels, rng.choice([0.1, 0.3, 1.0]))) for _ in range(2))
        truth = p @ (q.cumsum() - q / 2)
        by_member, by_holdout = (
            ways[0].pmf(*counts, law) for counts, law in zip(ways[1:], (p, q), strict=True)
        )
        worst = max(worst, float(by_member @ (table > truth + 1e-12) @ by_holdout))
    return worst


# The upper limit is the lower one of the score turned round, and exchanging the classes turns it.
@pytest.mark.parametrize("alpha", [0.1, 0.025, 0.0025])
@pytest.mark.parametrize(
    ("sizes", "levels"),
    [((4, 4), 4), ((9, 9), 3), ((20, 20), 2), ((60, 60), 2), ((5, 40), 3), ((8, 800), 2)],
)
def test_coverage_by_enumeration_over_small_laws(sizes, levels, alpha):
    assert worst_miss(sizes, levels, alpha, laws=400) <= alpha


def flagged(n, alpha, rule):
    """The largest miss of the upper limit where a rare share of members is above all else.

    AUC = 1/2 + share / 2; the holdout is without end, and all of it tied.
    """
    count = np.arange(n + 1)
    share = count / n
    value, variance = (1 + share) / 2, share * (1 - share) / 4 / (n - 1)
    upper = np.array([a + rule(1 - a, v, n, alpha) for a, v in zip(value, variance, strict=True)])
    worst = 0.0
    for rare in np.geomspace(1e-3, 0.3, 300):
        missed = upper < (1 + rare) / 2 - 1e-12
        worst = max(worst, float(stats.binom.pmf(count, n, rare) @ missed))
    return worst


def drop(value, variance, n, alpha):
    area = Area(value=float(value), variance=float(variance), fewest=n, bracket=0.0)
    return value - area.limits(lower_alpha=alpha, upper_alpha=alpha).lower


def drop_by_pseudo_rows(value, variance, n, alpha):
    """Clopper-Pearson at DeLong's effective size with pseudo-rows, as version 0.1.0 had it."""
    unseen = (math.log(1 / alpha) / stats.norm.isf(alpha)) ** 2 * value**2
    variance += unseen / (n * (n - 1))
    trials = max(n, value * (1 - value) / variance) if variance > 0 else n
    return value - stats.beta.ppf(alpha, value * trials, (1 - value) * trials + 1)


@pytest.mark.parametrize("n", [100, 500])
@pytest.mark.parametrize("alpha", [0.025, 0.0025])
def test_few_members_that_decide(n, alpha):
    assert flagged(n, alpha, drop) <= alpha
    # The control that must be caught.
    assert flagged(500, alpha, drop_by_pseudo_rows) > 1.5 * alpha


@pytest.mark.parametrize("alpha", [0.1, 0.025, 0.0125, 0.0025, 0.00025])
@pytest.mark.parametrize("n", [1, 2, 10, 50, 400])
def test_a_share_of_losers_by_enumeration(n, alpha):
    count = np.arange(n + 1)
    value = 1 - count / n
    variance = value * (1 - value) / max(n - 1, 1)
    lower = value - [drop(a, v, n, alpha) for a, v in zip(value, variance, strict=True)]
    for limit in lower[lower > 0]:
        truth = limit - 1e-12
        assert stats.binom.pmf(count, n, 1 - truth) @ (lower > truth) <= alpha * 1.001


@pytest.mark.parametrize("size", [20, 60, 150])
@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
def test_coverage_by_simulation(shift, size):
    truth = stats.norm.cdf(shift / math.sqrt(2))
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(500):
        found = limits(exact_ladder(rng.normal(shift, 1, size), rng.normal(0, 1, size)))
        missed += not found.lower <= truth <= found.upper
    assert missed <= stats.binom.ppf(0.999, 500, 0.05)
