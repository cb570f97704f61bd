"""TPR at a fixed FPR, for attackers who put a threshold on the score."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from mipaudit.maths.class_limits.roc_counts import exact_ladder
from mipaudit.maths.class_limits.threshold_limits import (
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
