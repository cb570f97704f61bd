"""Limits of the area under the ROC curve."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from mipaudit.maths.class_limits.area_limits import Area, area_of, better_side
from mipaudit.maths.class_limits.roc_counts import exact_ladder


def placements(members, holdout):
    """For each member, the share of holdout below, ties half; and the same for the holdout."""
    wins = (members[:, None] > holdout) + 0.5 * (members[:, None] == holdout)
    return wins.mean(axis=1), wins.mean(axis=0)


def limits(ladder, alpha=0.025):
    return area_of(ladder).limits(alpha)


def delong(members, holdout):
    by_member, by_holdout = placements(members, holdout)
    variance = sum(one.var(ddof=1) / one.size for one in (by_member, by_holdout))
    return by_member.mean(), variance


def third_cumulant(members, holdout):
    """Of the area, if the rows seen were the law: every pair and triple of rows, by hand."""
    wins = (members[:, None] > holdout) + 0.5 * (members[:, None] == holdout)
    centred = wins - wins.mean()
    by_member, by_holdout = centred.mean(axis=1), centred.mean(axis=0)
    together = (centred * by_member[:, None] * by_holdout).mean()
    return (
        (by_member**3).mean() / members.size**2
        + (by_holdout**3).mean() / holdout.size**2
        + 6 * together / wins.size
    )


def drop_by_search(value, variance, skew, fewest, alpha):
    """How far the area may fall: where it is z standard errors, rows unseen taken in."""
    z = stats.norm.isf(alpha)
    rare = max(1, 1.06 * fewest * (alpha ** (-1 / fewest) - 1) / z**2)
    room = value / fewest

    def root(growth, left):
        def gap(drop):
            return drop**2 - z**2 * (1 - left * drop / 2) * (variance + growth * drop)

        return optimize.brentq(gap, 1e-12, 2, xtol=1e-14)

    most = root(rare * room, 1)
    if alpha > 0.05:
        return most
    slope = np.clip((8 * room**3 - skew) / (variance + 8 * room**2), -room, room)
    return min(most, root(rare * slope if slope > 0 else slope / 2, 0) + room)


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
    skew = third_cumulant(members, holdout)
    assert found.value == pytest.approx(value)
    below = drop_by_search(value, variance, skew, min(sizes), alpha)
    above = drop_by_search(1 - value, variance, -skew, min(sizes), alpha)
    assert found.lower == pytest.approx(max(0, value - below), abs=1e-9)
    assert found.upper == pytest.approx(min(1, value + above), abs=1e-9)


def test_a_lax_error_is_taken_as_a_tenth(ladder_from):
    area = area_of(ladder_from([5, 30, 25], [40, 30, 10]))
    assert area.limits(0.25) == area.limits(0.1)
    assert area.limits(0.1).lower > area.limits(0.09).lower


def test_a_look_at_the_skewness_only_narrows():
    rng = np.random.default_rng(3)
    narrower = 0
    for shift in (0.0, 1.0, 3.0):
        for sizes in ((10, 12), (100, 90), (1000, 40)):
            seen = area_of(exact_ladder(rng.normal(shift, 1, sizes[0]), rng.normal(0, 1, sizes[1])))
            blind = replace(seen, skew=None)
            for alpha in (0.05, 0.025, 0.0025):
                assert seen.drop(alpha) <= blind.drop(alpha)
                narrower += seen.drop(alpha) < 0.97 * blind.drop(alpha)
    assert narrower >= 4


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


def areas_of_all(members, holdout):
    """The area for every pair of ways as (kinds, which, values): shape (ways, ways)."""
    n1, n2 = int(members[0].sum()), int(holdout[0].sum())
    x, y = members / n1, holdout / n2
    wins, loses = y.cumsum(axis=1) - y / 2, 1 - x.cumsum(axis=1) + x / 2
    value = x @ wins.T
    g, h = wins[None] - value[:, :, None], loses[:, None] - value[:, :, None]
    x, y = x[:, None], y[None]
    variance = (x * g**2).sum(axis=-1) / (n1 - 1) + (y * h**2).sum(axis=-1) / (n2 - 1)
    below = (y * h).cumsum(axis=-1) - y * h / 2
    skew = (x * g**3).sum(axis=-1) / n1**2 + (y * h**3).sum(axis=-1) / n2**2
    skew += 6 * (x * g * below).sum(axis=-1) / (n1 * n2)
    triples = np.round(np.stack([value, np.maximum(variance, 0), skew], axis=-1).reshape(-1, 3), 13)
    kinds, which = np.unique(triples, axis=0, return_inverse=True)
    areas = [
        Area(value=value, variance=variance, skew=skew, fewest=min(n1, n2), bracket=0.0)
        for value, variance, skew in kinds.tolist()
    ]
    return areas, which.reshape(value.shape), value


def laws_of(rng, levels, fewest, number):
    """Pairs of laws, most of them with rare levels, a third with hardly a difference."""
    for turn in range(number):
        p, q = (rng.dirichlet(np.full(levels, rng.choice([0.1, 0.3, 1.0]))) for _ in range(2))
        if turn % 3 == 0:
            q = np.clip(p + rng.normal(0, 0.3 / math.sqrt(fewest), levels), 1e-9, None)
            q /= q.sum()
        yield p, q


def worst_misses(sizes, levels, alpha, *, laws):
    """The largest probabilities of a miss, by exact enumeration.

    Of the lower limit of a given side; of the lower limit of the better side, which is wrong
    too where it is above 1/2 on the worse one; and of the upper limit of the better side.
    """
    rng = np.random.default_rng(0)
    members, holdout = (counts_of(n, levels) for n in sizes)
    areas, which, value = areas_of_all(members, holdout)
    given_side = np.array([area.limits(alpha).lower for area in areas])[which]
    better = [better_side(area if area.value >= 0.5 else area.turned(), alpha) for area in areas]
    lower = np.array([found.lower for found in better])[which]
    upper = np.array([found.upper for found in better])[which]
    worst = np.zeros(3)
    for p, q in laws_of(rng, levels, min(sizes), laws):
        truth = p @ (q.cumsum() - q / 2)
        chance = np.outer(
            stats.multinomial.pmf(members, sizes[0], p), stats.multinomial.pmf(holdout, sizes[1], q)
        )
        named = np.where(value >= 0.5 - 1e-12, truth, 1 - truth)
        missed = (
            given_side > truth + 1e-12,
            (lower > 0.5) & (lower > named + 1e-12),
            upper < max(truth, 1 - truth) - 1e-12,
        )
        worst = np.maximum(worst, [float(chance[one].sum()) for one in missed])
    return worst


# The upper limit is the lower one of the score turned round, and exchanging the classes turns it.
@pytest.mark.parametrize("alpha", [0.1, 0.025, 0.0025])
@pytest.mark.parametrize(
    ("sizes", "levels"),
    [((4, 4), 4), ((9, 9), 3), ((20, 20), 2), ((60, 60), 2), ((5, 40), 3), ((8, 800), 2)],
)
def test_coverage_by_enumeration_over_small_laws(sizes, levels, alpha):
    assert (worst_misses(sizes, levels, alpha, laws=400) <= alpha).all()


def most_of_a_share(n, alpha, levels, shares):
    """The largest miss of the lower limit against a holdout without end, by enumeration.

    Each member wins against a share of the holdout, one of three; the shares are the levels.
    """
    first, second = (one.ravel() for one in np.indices((n + 1, n + 1)))
    within = first + second <= n
    ways = np.stack([first, second, n - first - second], axis=1)[within]
    value = ways @ levels / n
    apart = levels - value[:, None]
    variance, third = ((ways * apart**power).sum(axis=1) / n for power in (2, 3))
    lower = np.array(
        [
            a - Area(value=a, variance=v, skew=k, fewest=n, bracket=0.0).drop(alpha)
            for a, v, k in zip(
                value.tolist(), (variance / (n - 1)).tolist(), (third / n**2).tolist(), strict=True
            )
        ]
    )
    return max(
        float(stats.multinomial.pmf(ways, n, law) @ (lower > law @ levels + 1e-12))
        for law in shares
    )


# The laws at which looser rules missed most: rare losers, or a bulk that hardly spreads.
WORST_LEVELS = ([0, 0.25, 0.5], [0, 0.5, 1], [0, 0.836, 0.846], [0, 0.45, 0.55], [0.2, 0.5, 0.6])


@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.0025])
@pytest.mark.parametrize("levels", WORST_LEVELS)
@pytest.mark.parametrize("n", [30, 80])
def test_rare_losers_beside_a_bulk_by_enumeration(n, levels, alpha):
    rng = np.random.default_rng(4)
    rare = rng.exponential(4, 60).clip(0, 0.9 * n) / n
    rest = rng.dirichlet([0.4, 0.4], 60)
    laws = np.column_stack([rare, (1 - rare)[:, None] * rest])
    missed = most_of_a_share(n, alpha, np.array(levels, dtype=float), laws)
    assert missed <= alpha


def flagged(n, alpha, rule):
    """The largest miss of the upper limit where a rare share of members is above all else.

    AUC = 1/2 + share / 2; the holdout is without end, and all of it tied.
    """
    count = np.arange(n + 1)
    share = count / n
    value, variance = (1 + share) / 2, share * (1 - share) / 4 / (n - 1)
    # Turned round: each such member loses everything.
    skew = -share * (1 - share) * (1 - 2 * share) / 8 / n**2
    seen = zip((1 - value).tolist(), variance.tolist(), skew.tolist(), strict=True)
    upper = value + np.array([rule(a, v, k, n, alpha) for a, v, k in seen])
    worst = 0.0
    for rare in np.geomspace(1e-3, 0.3, 300):
        missed = upper < (1 + rare) / 2 - 1e-12
        worst = max(worst, float(stats.binom.pmf(count, n, rare) @ missed))
    return worst


def drop(value, variance, skew, n, alpha):
    return Area(value=value, variance=variance, skew=skew, fewest=n, bracket=0.0).drop(alpha)


def drop_by_pseudo_rows(value, variance, skew, n, alpha):
    """Clopper-Pearson at DeLong's effective size with pseudo-rows."""
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
    skew = value * (1 - value) * (1 - 2 * value) / n**2
    seen = zip(value.tolist(), variance.tolist(), skew.tolist(), strict=True)
    lower = value - [drop(*one, n, alpha) for one in seen]
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


@pytest.mark.parametrize(("members", "holdout"), [(5, 8), (40, 2)])
def test_the_area_of_one_cell_may_be_anything(ladder_from, members, holdout):
    # Whatever stands in what order: the variance of a coin for each class, the value a half.
    found = area_of(ladder_from([members], [holdout], [False]))
    assert (found.value, found.bracket, found.fewest) == (0.5, 0.5, min(members, holdout))
    assert found.variance == pytest.approx(0.25 / (members - 1) + 0.25 / (holdout - 1))


def test_the_unknown_order_in_cells_adds_to_the_spread_of_what_is_seen(ladder_from):
    members, holdout = np.array([3, 6, 1]), np.array([4, 4, 2])
    values = np.arange(3.0)
    p, q = members / 10, holdout / 10
    # The share of the other class below, of which half of one's own cell is not known.
    below, above = np.cumsum(q) - q / 2, np.cumsum(p[::-1])[::-1] - p / 2
    spreads = [
        np.sqrt(law @ (won - law @ won) ** 2) + np.sqrt(law @ (law_of_other / 2) ** 2)
        for law, won, law_of_other in ((p, below, q), (q, above, p))
    ]
    found = area_of(ladder_from(members, holdout, np.zeros(values.size, dtype=bool)))
    assert found.value == pytest.approx(p @ below)
    assert found.bracket == pytest.approx(p @ q / 2)
    assert found.variance == pytest.approx(sum(one**2 for one in spreads) / 9)


def folded_by_search(area, alpha):
    """The lower limit of the better side by root finding, from the two errors of a truth."""
    halved = area.drop(alpha / 2)
    other = replace(area, value=0.5 + halved, skew=None)

    def error_of_other(truth):
        def gap(error):
            return other.drop(error) - (halved + truth - 0.5)

        ends = 1e-9 * alpha, alpha / 2
        if gap(ends[0]) <= 0 or gap(ends[1]) >= 0:
            return ends[gap(ends[1]) >= 0]
        return optimize.brentq(gap, *ends)

    def gap(truth):
        return area.value - area.drop(alpha - error_of_other(truth)) - truth

    return optimize.brentq(gap, 0.5, area.value) if area.value - halved > 0.5 else 0.5


@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.0025])
@pytest.mark.parametrize("shift", [0.1, 0.3, 0.5])
def test_the_folded_limit_is_where_both_sides_come_to_alpha(shift, alpha):
    rng = np.random.default_rng(9)
    for n1, n2 in ((60, 60), (150, 400), (900, 900)):
        area = area_of(exact_ladder(rng.normal(shift, 1, n1), rng.normal(0, 1, n2)))
        area = area if area.value >= 0.5 else area.turned()
        found = better_side(area, alpha)
        assert found.lower == pytest.approx(folded_by_search(area, alpha), abs=2e-5)
        assert found.lower <= folded_by_search(area, alpha) + 1e-9
        # Never below half of the error, unless it says nothing, nor above all of it.
        assert found.lower >= area.limits(alpha / 2).lower
        assert found.lower <= max(0.5, area.limits(alpha).lower)


def test_far_from_chance_the_folded_limit_has_all_of_the_error():
    rng = np.random.default_rng(12)
    area = area_of(exact_ladder(rng.normal(1, 1, 300), rng.normal(0, 1, 300)))
    found = better_side(area, 0.025)
    assert found.lower == pytest.approx(area.limits(0.025).lower, abs=1e-5)
    assert found.upper == area.limits(0.025).upper


def test_without_a_difference_each_side_has_half_of_the_error(ladder_from):
    # Of this law a limit above 1/2 is a miss, on whichever side it is stated.
    n, alpha = 60, 0.025
    members, holdout = counts_of(n, 2), counts_of(n, 2)
    areas, which, _ = areas_of_all(members, holdout)
    better = [better_side(one if one.value >= 0.5 else one.turned(), alpha) for one in areas]
    half = [max(one.limits(alpha / 2).lower, one.turned().limits(alpha / 2).lower) for one in areas]
    above = np.array([one.lower > 0.5 for one in better])
    assert (above == (np.array(half) > 0.5)).all()
    coins = stats.binom.pmf(members[:, 0], n, 0.5)
    assert 0.3 * alpha < coins @ above[which] @ coins <= alpha


def test_the_better_side_of_a_file_that_says_nothing(ladder_from):
    for members, holdout in (([90], [90]), ([5, 5], [5, 5]), ([1], [1])):
        found = better_side(area_of(ladder_from(members, holdout)), 0.025)
        assert (found.value, found.lower) == (0.5, 0.5)
        assert found.upper > 0.5
    empty = better_side(area_of(ladder_from([3], [0])), 0.025)
    assert (empty.lower, empty.upper) == (0.5, 1.0)
