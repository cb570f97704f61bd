"""Limits of what thresholds on the score achieve: TPR at a fixed FPR, and the AUC."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, stats

from mipaudit.maths.class_limits.roc_counts import exact_ladder
from mipaudit.maths.class_limits.threshold_limits import (
    Area,
    area_of,
    fewest_holdout,
    members_above,
    staircase,
    tpr_at_fpr,
    tpr_upper,
)

BOUNDS = ("lower", "upper")
NEAR = 1e-9


def test_fewest_holdout_vector():
    assert fewest_holdout(0.001, 0.025) == 3688


@given(fpr=st.floats(1e-3, 0.9), alpha=st.floats(1e-4, 0.4), more=st.integers(1, 4000))
def test_fewest_holdout_is_where_a_lower_limit_begins(fpr, alpha, more):
    least = fewest_holdout(fpr, alpha)
    assert staircase(least + more, fpr, alpha, "lower") is not None
    assert least <= 2 or staircase(least - 1, fpr, alpha, "lower") is None


def error_of_each_count(steps, n, bound):
    """The least error among the ranks on the safe side, for 0 to n holdout records above."""
    errors = np.ones(n + 1)
    for k in range(n + 1):
        safe = steps.ranks < k if bound == "lower" else steps.ranks >= k
        if safe.any():
            errors[k] = steps.errors[safe].min()
    return errors


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("alpha", [0.1, 0.025, 0.00125])
@pytest.mark.parametrize(("n", "fpr"), [(100, 0.3), (700, 0.01), (3000, 0.1), (20_000, 0.001)])
def test_errors_of_the_steps_add_up_to_alpha(n, fpr, alpha, bound):
    steps = staircase(n, fpr, alpha, bound)
    assert (np.diff(steps.ranks) == 1).all()
    assert 0 <= steps.ranks.min() <= steps.ranks.max() < n
    total = stats.binom.pmf(np.arange(n + 1), n, fpr) @ error_of_each_count(steps, n, bound)
    assert 0.8 * alpha <= total <= alpha * (1 + NEAR)


@given(
    n=st.integers(1, 400), fpr=st.floats(0.001, 0.97), alpha=st.floats(1e-3, 0.4), data=st.data()
)
def test_errors_of_the_steps_never_exceed_alpha(n, fpr, alpha, data):
    bound = data.draw(st.sampled_from(BOUNDS))
    steps = staircase(n, fpr, alpha, bound)
    assume(steps is not None)
    total = stats.binom.pmf(np.arange(n + 1), n, fpr) @ error_of_each_count(steps, n, bound)
    assert total <= alpha * (1 + NEAR)


def circle_by_hand(n, fpr, alpha, bound):
    """Rank to error for the least z of the grid, over all counts, from the docstring."""
    spread = math.sqrt(n * fpr * (1 - fpr))
    mean = math.floor(fpr * n + NEAR)
    chance = stats.binom.pmf(np.arange(n + 1), n, fpr)
    for deviate in np.arange(0.5, 8.0, 0.0025):
        errors, total = {}, 0.0
        for k in range(n + 1):
            rank = k - 1 if bound == "lower" else k
            d = (mean - rank if bound == "lower" else rank - mean) / spread
            error = 1.0
            if 0 <= rank < n and max(d, 0) <= deviate:
                error = math.erfc(math.sqrt((deviate**2 - max(d, 0) ** 2) / 2)) / 2
            total += chance[k] * error
            if error < 1 and d >= 0:
                errors[rank] = error
        if total <= alpha:
            return errors
    return None


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(
    ("n", "fpr", "alpha"), [(3, 0.5, 0.2), (25, 0.1, 0.1), (25, 0.1, 0.025), (40, 0.8, 0.05)]
)
def test_staircase_by_hand(n, fpr, alpha, bound):
    steps, expected = staircase(n, fpr, alpha, bound), circle_by_hand(n, fpr, alpha, bound)
    if expected is None:
        assert steps is None
        return
    assert dict(zip(steps.ranks.tolist(), steps.errors, strict=True)) == pytest.approx(expected)


@given(
    n=st.integers(1, 5000),
    fpr=st.floats(0.001, 0.9),
    alphas=st.tuples(st.floats(1e-3, 0.4), st.floats(1e-3, 0.4)),
    bound=st.sampled_from(BOUNDS),
)
def test_a_smaller_alpha_has_more_steps_and_smaller_errors(n, fpr, alphas, bound):
    cautious, bold = (staircase(n, fpr, alpha, bound) for alpha in sorted(alphas))
    assume(cautious is not None)
    small, large = (
        dict(zip(steps.ranks.tolist(), steps.errors, strict=True)) for steps in (cautious, bold)
    )
    assert small.keys() >= large.keys()
    assert all(small[rank] <= error for rank, error in large.items())


@pytest.mark.parametrize("bound", BOUNDS)
def test_many_rows_have_limits_at_tiny_errors(bound):
    assert staircase(10**6, 0.1, 1e-6, bound) is not None


def above_by_hand(ladder, ranks, rng):
    """Members above the next holdout record, the rows of each step put in a random order."""
    order = np.concatenate(
        [
            rng.permutation(np.repeat([True, False], [m, h]))
            for m, h in zip(ladder.members[::-1], ladder.holdout[::-1], strict=True)
        ]
    )
    return [int(order[: np.flatnonzero(~order)[rank]].sum()) for rank in ranks]


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda step: 0 in step),
        min_size=1,
        max_size=25,
    ).filter(lambda steps: sum(s[1] for s in steps) > 0),
    data=st.data(),
)
def test_members_above_where_the_classes_share_no_value(ladder_from, steps, data):
    ladder = ladder_from(*zip(*steps, strict=True))
    every = st.lists(st.integers(0, ladder.n_holdout - 1), min_size=1, unique=True)
    ranks = np.array(sorted(data.draw(every)), dtype=np.int64)
    rng = np.random.default_rng(0)
    expected = above_by_hand(ladder, ranks, rng)
    for divided in ("with", "without"):
        assert members_above(ladder, ranks, rng, divided=divided).tolist() == expected


@pytest.mark.parametrize("ranks", [(2, 4), (3, 7), (0, 6)])
def test_members_above_among_ties_have_the_law_of_a_random_order(ladder_from, ranks):
    ladder = ladder_from([3, 4, 2, 1], [1, 6, 3, 0])
    rng, draws = np.random.default_rng(1), 3000
    ranks = np.array(ranks)
    made = [tuple(members_above(ladder, ranks, rng, divided="with").tolist()) for _ in range(draws)]
    by_hand = [tuple(above_by_hand(ladder, ranks, rng)) for _ in range(draws)]
    pairs = sorted(set(made) | set(by_hand))
    table = np.array([[sample.count(pair) for pair in pairs] for sample in (made, by_hand)])
    common = table.sum(axis=0) >= 20
    assert common.sum() > 2
    assert stats.chi2_contingency(table[:, common]).pvalue > 1e-3


def test_members_above_in_one_tie_are_negative_hypergeometric(ladder_from):
    members, holdout, draws = 6, 9, 4000
    ladder = ladder_from([members], [holdout])
    rng = np.random.default_rng(2)
    for rank in (0, 4, 8):
        hits = [
            int(members_above(ladder, np.array([rank]), rng, divided="without")[0])
            for _ in range(draws)
        ]
        law = stats.nhypergeom(members + holdout, members, rank + 1).pmf(np.arange(members + 1))
        seen = np.bincount(hits, minlength=members + 1)
        assert stats.chisquare(seen, law / law.sum() * draws).pvalue > 1e-3


def test_members_of_a_cell_count_with_it_or_not_at_all(ladder_from):
    ladder = ladder_from([1, 5, 2, 3], [4, 6, 2, 0], [True, False, True, True])
    ranks = np.array([2, 5, 7])  # all in the cell
    rng = np.random.default_rng(3)
    assert members_above(ladder, ranks, rng, divided="without").tolist() == [5, 5, 5]
    assert members_above(ladder, ranks, rng, divided="with").tolist() == [10, 10, 10]
    assert members_above(ladder, np.array([8]), rng, divided="without")[0] >= 10


def rows_with_ties(rng, n, shift, step):
    return np.round(rng.normal(shift, 1, n) / step) * step


def jittered(values, rng):
    """The same rows with ties broken at random: noise far below the step."""
    return values + 1e-6 * rng.random(values.size)


def limits_by_hand(members, holdout, fpr, alpha):
    """Both limits from rows without ties: the worst over the thresholds of the staircase."""
    descending = np.sort(holdout)[::-1]

    def limits(bound):
        steps = staircase(holdout.size, fpr, alpha, bound)
        if steps is None:
            return None
        found = []
        for rank, error in zip(steps.ranks, steps.errors, strict=True):
            hits = int((members > descending[rank]).sum())
            both = stats.binomtest(hits, members.size).proportion_ci(1 - 2 * error, "exact")
            found.append(both.low if bound == "lower" else both.high)
        return found

    lower, upper = limits("lower"), limits("upper")
    return None if lower is None else min(lower), 1.0 if not upper else max(upper)


@pytest.mark.parametrize("fpr", [0.01, 0.1, 0.25])
@pytest.mark.parametrize("sizes", [(30, 20), (80, 500), (400, 90)])
def test_limits_from_rows_without_ties(sizes, fpr):
    rng = np.random.default_rng(5)
    members, holdout = rng.normal(1, 1, sizes[0]), rng.normal(0, 1, sizes[1])
    ladder = exact_ladder(members, holdout)
    lower, upper = limits_by_hand(members, holdout, fpr, 0.025)
    found = tpr_at_fpr(ladder, fpr, alpha=0.025, rng=rng)
    assert found.lower == (None if lower is None else pytest.approx(lower))
    assert tpr_upper(ladder, fpr, alpha=0.025, rng=rng) == pytest.approx(upper)


@pytest.mark.parametrize("step", [1e-9, 0.7])
@pytest.mark.parametrize("fpr", [0.001, 0.013, 0.1, 0.25])
def test_value_lies_on_the_line_between_the_steps_of_the_curve(fpr, step):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(6)
    members, holdout = (rows_with_ties(rng, 300, shift, step) for shift in (1, 0))
    false, true, _ = metrics.roc_curve(
        np.repeat([1, 0], 300), np.concatenate([members, holdout]), drop_intermediate=False
    )
    # On a vertical stretch the best point counts: ask just beyond it.
    expected = np.interp(fpr + 1e-12, false, true)
    found = tpr_at_fpr(exact_ladder(members, holdout), fpr, alpha=0.025, rng=rng)
    assert found.value == pytest.approx(expected, abs=1e-9)


def test_ties_are_as_good_as_jittered_ones():
    rng, draws = np.random.default_rng(7), 400
    members, holdout = (rows_with_ties(rng, 200, shift, 1.0) for shift in (1, 0))
    ladder = exact_ladder(members, holdout)
    tied, apart = [], []
    for _ in range(draws):
        broken = exact_ladder(jittered(members, rng), jittered(holdout, rng))
        for sample, found in ((tied, ladder), (apart, broken)):
            sample.append(
                (
                    tpr_at_fpr(found, 0.1, alpha=0.025, rng=rng).lower,
                    tpr_upper(found, 0.1, alpha=0.025, rng=rng),
                )
            )
    for one, other in zip(np.transpose(tied), np.transpose(apart), strict=True):
        assert np.unique(one).size > 3
        assert stats.ks_2samp(one, other).pvalue > 1e-3


def truth_with_ties(fpr, step):
    """TPR of N(1,1) against N(0,1), both rounded to the step, a coin tossed among ties."""
    cuts = np.arange(60, -61, -1) * step - step / 2
    false, true = stats.norm.sf(cuts), stats.norm.sf(cuts, 1)
    return np.interp(fpr, false, true)


@pytest.mark.parametrize("step", [0.5, 2.0, 1e-9], ids=["ties", "few-values", "smooth"])
def test_limits_cover_the_interpolated_truth(step):
    fpr, alpha, runs = 0.1, 0.05, 600
    truth = stats.norm.sf(stats.norm.isf(fpr) - 1) if step < 0.1 else truth_with_ties(fpr, step)
    rng = np.random.default_rng(11)
    low = high = 0
    for _ in range(runs):
        ladder = exact_ladder(
            rows_with_ties(rng, 60, 1.0, step), rows_with_ties(rng, 120, 0.0, step)
        )
        lower = tpr_at_fpr(ladder, fpr, alpha=alpha, rng=rng).lower
        low += lower is not None and lower > truth
        high += tpr_upper(ladder, fpr, alpha=alpha, rng=rng) < truth
    assert low + high > 0
    assert max(low, high) <= stats.binom.ppf(0.999, runs, alpha)


@cache
def table_of_limits(n_members, n_holdout, fpr, alpha, bound):
    """Limits by (members on top, members at a cluster, holdout above the cluster)."""
    rng = np.random.default_rng(0)  # unused: the classes share no value
    table = np.zeros((n_members + 1, n_members + 1, n_holdout + 1))
    for top in range(n_members + 1):
        for cluster in range(n_members + 1 - top):
            for above in range(n_holdout + 1):
                ladder = _clustered(n_members, n_holdout, top, cluster, above)
                table[top, cluster, above] = (
                    tpr_at_fpr(ladder, fpr, alpha=alpha, rng=rng).lower
                    if bound == "lower"
                    else tpr_upper(ladder, fpr, alpha=alpha, rng=rng)
                )
    return table


def _clustered(n_members, n_holdout, top, cluster, above):
    members = np.repeat([0.0, 2.0, 4.0], [n_members - top - cluster, cluster, top])
    return exact_ladder(members, np.repeat([1.0, 3.0], [n_holdout - above, above]))


@pytest.mark.parametrize("bound", BOUNDS)
def test_worst_miss_where_members_cluster_at_the_threshold(bound):
    """By enumeration: the curve jumps where a cluster lies, just before or after the FPR."""
    n_members, n_holdout, fpr, alpha = 8, 24, 0.2, 0.1
    table = table_of_limits(n_members, n_holdout, fpr, alpha, bound)
    count = np.arange(n_members + 1)
    worst = 0.0
    for top in (0.0, 0.1, 0.3, 0.6):
        for cluster in (0.05, 0.2, 0.4):
            shares = [top, cluster, 1 - top - cluster]
            members = np.array(
                [
                    [
                        stats.multinomial.pmf([t, c, n_members - t - c], n_members, shares)
                        if t + c <= n_members
                        else 0
                        for c in count
                    ]
                    for t in count
                ]
            )
            for place in (0.05, 0.1, 0.15, 0.19, 0.2, 0.201, 0.21, 0.25, 0.3, 0.4):
                truth = top + cluster * (place <= fpr)
                holdout = stats.binom.pmf(np.arange(n_holdout + 1), n_holdout, place)
                missed = table > truth + NEAR if bound == "lower" else table < truth - NEAR
                worst = max(worst, float((members[:, :, None] * holdout * missed).sum()))
    assert 0.01 < worst <= alpha * (1 + NEAR)


@given(
    members=st.lists(st.integers(0, 60), min_size=1, max_size=40),
    holdout=st.lists(st.integers(0, 60), min_size=1, max_size=40),
    fpr=st.sampled_from([0.001, 0.1, 0.3, 0.8]),
    alphas=st.tuples(st.floats(1e-3, 0.4), st.floats(1e-3, 0.4)),
)
def test_limits_enclose_the_value_and_move_with_the_error(members, holdout, fpr, alphas):
    # The classes share no value: the limits do not depend on the random order.
    ladder = exact_ladder(np.array(members, float), np.array(holdout) + 0.5)
    rng = np.random.default_rng(0)
    small, large = sorted(alphas)
    cautious, bold = (tpr_at_fpr(ladder, fpr, alpha=alpha, rng=rng) for alpha in (small, large))
    assert 0 <= bold.value <= 1
    assert bold.value == cautious.value
    if cautious.lower is not None:
        assert 0 <= cautious.lower <= bold.lower + 1e-12
        assert bold.lower <= bold.value + 1e-12
    wide, narrow = (tpr_upper(ladder, fpr, alpha=alpha, rng=rng) for alpha in (small, large))
    assert 0 <= narrow <= wide + 1e-12
    assert bold.value <= narrow + 1e-12


def test_cells_are_wider_than_the_values_in_them(ladder_from):
    rng = np.random.default_rng(2)
    members, holdout = rng.normal(1, 1, 3000), rng.normal(0, 1, 3000)
    exact = exact_ladder(members, holdout)
    edges = np.linspace(-3, 3, 50)
    counts = [
        np.bincount(np.searchsorted(edges, side), minlength=51) for side in (members, holdout)
    ]
    cells = ladder_from(*counts, np.zeros(51, bool))
    for fpr in (0.01, 0.1):
        lower, inner = (
            tpr_at_fpr(ladder, fpr, alpha=0.025, rng=rng).lower for ladder in (cells, exact)
        )
        upper, outer = (tpr_upper(ladder, fpr, alpha=0.025, rng=rng) for ladder in (cells, exact))
        assert lower < inner < outer < upper


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
