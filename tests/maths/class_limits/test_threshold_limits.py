"""TPR at a fixed FPR, for attackers who put a threshold on the score."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special, stats

from mipaudit.maths.class_limits.roc_counts import Ladder, exact_ladder
from mipaudit.maths.class_limits.threshold_limits import (
    fewest_holdout,
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


def clopper_pearson(n, error):
    """Upper limits of 0 to n hits."""
    hits = np.arange(n)
    return np.append(1 - special.betaincinv(n - hits, hits + 1, error), 1.0)


def worst_of_mixed_limits(n, error, share):
    """Largest chance that the mixed upper limits of two nested sets lie below the mixed rates.

    Exact, just beyond every mixed limit, over pairs of rates whose mixture is the same.
    """
    upper = clopper_pearson(n, error)
    first, both = np.tril_indices(n + 1)[::-1]
    mixed = (1 - share) * upper[first] + share * upper[both]
    counts = np.stack([first, both - first, n - both], axis=1)
    worst = 0.0
    for truth in np.unique(mixed)[:-1] + 1e-12:
        least = max(0.0, (truth - share) / (1 - share))
        for inner in least + (truth - least) * np.array([0, 1e-3, 0.1, 0.3, 0.5, 0.8, 0.99, 1]):
            outer = min(max((truth - (1 - share) * inner) / share, inner), 1.0)
            rates = [inner, outer - inner, 1 - outer]
            chance = stats.multinomial.pmf(counts[mixed < truth], n, rates)
            worst = max(worst, float(np.nansum(chance)))
    return worst


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("error", [0.5, 0.3, 0.05, 0.0025])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9])
def test_mixed_limits_of_two_nested_sets_fail_no_more_than_one(n, error, share):
    assert worst_of_mixed_limits(n, error, share) <= error * (1 + NEAR)


def test_at_errors_above_a_half_mixed_limits_fail_more():
    assert worst_of_mixed_limits(25, 0.9, 0.5) > 1.005 * 0.9


def binary(member_hits, holdout_hits, sizes):
    """The ladder of a score of 1 for so many of each class, else 0."""
    return Ladder(
        members=np.array([sizes[0] - member_hits, member_hits]),
        holdout=np.array([sizes[1] - holdout_hits, holdout_hits]),
        single=np.ones(2, dtype=bool),
    )


def upper_by_lot(member_hits, holdout_hits, sizes, fpr, alpha):
    """The control: ties broken by a lot whose seed follows from the file."""
    rng = np.random.default_rng([member_hits, holdout_hits])
    scores = [
        rng.random(size) + (np.arange(size) < hits)
        for size, hits in zip(sizes, (member_hits, holdout_hits), strict=True)
    ]
    return tpr_upper(exact_ladder(*scores), fpr, alpha=alpha)


def worst_of_binary(share, sizes, fpr, alpha, limit, bound):
    """Largest exact chance of a wrong limit, over FPRs of the flag just beyond every limit."""
    members = np.array([sizes[0]]) if share == 1 else np.arange(sizes[0] + 1)
    holdout = np.arange(sizes[1] + 1)
    table = np.array([[limit(x, y) for y in holdout] for x in members])
    found = np.unique(table[(table > 1e-6) & (table <= share)])
    worst = 0.0
    for rate in np.clip(share * fpr / found[:, None] * [1 - 1e-9, 1 + 1e-9], fpr, 1).ravel():
        truth = share * fpr / rate
        missed = table > truth + 1e-12 if bound == "lower" else table < truth - 1e-12
        chances = stats.binom.pmf(holdout, sizes[1], rate)
        worst = max(worst, float(stats.binom.pmf(members, sizes[0], share) @ missed @ chances))
    return worst


def binary_limits(sizes, fpr, alpha):
    """Both limits of a binary score as functions of the hits."""

    def lower(x, y):
        return tpr_at_fpr(binary(x, y, sizes), fpr, alpha=alpha).lower or 0.0

    def upper(x, y):
        return tpr_upper(binary(x, y, sizes), fpr, alpha=alpha)

    return {"lower": lower, "upper": upper}


@pytest.mark.parametrize("sizes", [(20, 20), (36, 36), (97, 97), (30, 150), (400, 400)])
@pytest.mark.parametrize("fpr", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.0025])
def test_exact_misses_where_every_member_is_flagged(sizes, fpr, alpha):
    """All files of such a law, and their chances: no lot is fixed for any of them."""
    for bound, limit in binary_limits(sizes, fpr, alpha).items():
        assert worst_of_binary(1, sizes, fpr, alpha, limit, bound) <= alpha


@pytest.mark.parametrize("share", [0.97, 0.95, 0.6])
@pytest.mark.parametrize("sizes", [(24, 31), (45, 40)])
def test_exact_misses_where_most_members_are_flagged(sizes, share):
    for bound, limit in binary_limits(sizes, 0.1, 0.025).items():
        assert worst_of_binary(share, sizes, 0.1, 0.025, limit, bound) <= 0.025


def test_a_lot_that_is_fixed_for_each_file_is_caught():
    sizes, fpr, alpha = (97, 97), 0.1, 0.025

    def limit(x, y):
        return upper_by_lot(x, y, sizes, fpr, alpha)

    assert worst_of_binary(1, sizes, fpr, alpha, limit, "upper") > 1.5 * alpha


def test_a_pair_of_sets_says_more_than_a_whole_tie():
    """90 of 200 others are flagged with all members: the limit is near .01 / .45, not 1."""
    assert 0.01 / 0.45 < tpr_upper(binary(200, 90, (200, 200)), 0.01, alpha=0.025) < 0.06


def upper_in_ties(ladder, fpr, alpha):
    """The upper limit by its definition, each rank by itself."""
    steps, trials = staircase(ladder.n_holdout, fpr, alpha, "upper"), ladder.n_holdout
    members, holdout = (side[::-1].cumsum() for side in (ladder.members, ladder.holdout))
    at = np.searchsorted(holdout, steps.ranks, side="right")
    errors = np.minimum(stats.binom.sf(steps.ranks, trials, fpr), 0.5)
    share_ends, ends = [], []
    for above, inside in zip((holdout, members), (ladder.holdout, ladder.members), strict=True):
        for hits in (above[at] - inside[::-1][at], above[at]):
            if above is holdout:
                found = special.betaincinv(np.maximum(hits, 1e-300), trials - hits + 1, errors)
                share_ends.append(found)
            else:
                missed = np.maximum(ladder.n_members - hits, 1e-300)
                ends.append(1 - special.betaincinv(missed, hits + 1, steps.errors))
    share = np.clip((fpr - share_ends[0]) / (share_ends[1] - share_ends[0]), 0, 1)
    return float(((1 - share) * ends[0] + share * ends[1]).max())


@pytest.mark.parametrize("step", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("size", [300, 20_000])
def test_runs_of_ranks_cost_next_to_nothing(size, step):
    rng = np.random.default_rng(8)
    ladder = exact_ladder(*(rows_with_ties(rng, size, shift, step) for shift in (1, 0)))
    for fpr in (0.01, 0.1):
        found, by_hand = tpr_upper(ladder, fpr, alpha=0.025), upper_in_ties(ladder, fpr, 0.025)
        value = tpr_at_fpr(ladder, fpr, alpha=0.025).value
        assert by_hand <= found * (1 + NEAR)
        assert found - value <= 1.06 * (by_hand - value) + NEAR


@given(
    steps=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=6),
    fpr=st.sampled_from([0.01, 0.1, 0.4]),
    bound=st.sampled_from(BOUNDS),
)
def test_limits_lie_between_those_with_ties_won_and_lost(ladder_from, steps, fpr, bound):
    members, holdout = (np.array(side) for side in zip(*steps, strict=True))
    assume(min(members.sum(), holdout.sum()) > 0)
    zero = np.zeros_like(members)
    alpha = 0.1

    def limit(ladder):
        if bound == "upper":
            return tpr_upper(ladder, fpr, alpha=alpha)
        return tpr_at_fpr(ladder, fpr, alpha=alpha).lower or 0.0

    won, lost = (
        limit(ladder_from(*(np.ravel(pair, order="F") for pair in sides)))
        for sides in (
            ([zero, members], [holdout, zero]),
            ([members, zero], [zero, holdout]),
        )
    )
    assert lost - NEAR <= limit(ladder_from(members, holdout)) <= won + NEAR


def test_members_of_a_cell_count_with_it_or_not_at_all(ladder_from):
    cell = ladder_from([10, 50, 20, 30], [40, 60, 20, 0], [True, False, True, True])
    without = ladder_from([10, 50, 0, 20, 30], [40, 0, 60, 20, 0])
    together = ladder_from([10, 0, 50, 20, 30], [40, 60, 0, 20, 0])
    for fpr in (0.3, 0.4):  # all ranks lie in the cell
        low, high = (tpr_at_fpr(one, fpr, alpha=0.2).lower for one in (cell, without))
        assert low == high
        assert tpr_upper(cell, fpr, alpha=0.2) == tpr_upper(together, fpr, alpha=0.2)


def rows_with_ties(rng, n, shift, step):
    return np.round(rng.normal(shift, 1, n) / step) * step


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
    found = tpr_at_fpr(ladder, fpr, alpha=0.025)
    assert found.lower == (None if lower is None else pytest.approx(lower))
    assert tpr_upper(ladder, fpr, alpha=0.025) == pytest.approx(upper)


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
    found = tpr_at_fpr(exact_ladder(members, holdout), fpr, alpha=0.025)
    assert found.value == pytest.approx(expected, abs=1e-9)


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
        lower = tpr_at_fpr(ladder, fpr, alpha=alpha).lower
        low += lower is not None and lower > truth
        high += tpr_upper(ladder, fpr, alpha=alpha) < truth
    assert low + high > 0
    assert max(low, high) <= stats.binom.ppf(0.999, runs, alpha)


@cache
def table_of_limits(n_members, n_holdout, fpr, alpha, bound):
    """Limits by (members on top, members at a cluster, holdout above the cluster)."""
    table = np.zeros((n_members + 1, n_members + 1, n_holdout + 1))
    for top in range(n_members + 1):
        for cluster in range(n_members + 1 - top):
            for above in range(n_holdout + 1):
                ladder = _clustered(n_members, n_holdout, top, cluster, above)
                table[top, cluster, above] = (
                    tpr_at_fpr(ladder, fpr, alpha=alpha).lower
                    if bound == "lower"
                    else tpr_upper(ladder, fpr, alpha=alpha)
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
    ladder = exact_ladder(np.array(members, float), np.array(holdout, float))
    small, large = sorted(alphas)
    cautious, bold = (tpr_at_fpr(ladder, fpr, alpha=alpha) for alpha in (small, large))
    assert 0 <= bold.value <= 1
    assert bold.value == cautious.value
    if cautious.lower is not None:
        assert 0 <= cautious.lower <= bold.lower + 1e-12
        assert bold.lower <= bold.value + 1e-12
    wide, narrow = (tpr_upper(ladder, fpr, alpha=alpha) for alpha in (small, large))
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
        lower, inner = (tpr_at_fpr(ladder, fpr, alpha=0.025).lower for ladder in (cells, exact))
        upper, outer = (tpr_upper(ladder, fpr, alpha=0.025) for ladder in (cells, exact))
        assert lower < inner < outer < upper
