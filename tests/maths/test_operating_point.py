from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mipaudit.maths.ladder import exact_ladder
from mipaudit.maths.operating_point import (
    fewest_holdout,
    generous_rank,
    strict_rank,
    tpr_lower,
    tpr_lower_strict,
    tpr_upper,
)


@pytest.mark.parametrize(("fpr", "below", "above"), [(0.001, 3, 19), (0.01, 77, 124)])
def test_rank_vectors(fpr, below, above):
    # Half of a one-sided 2.5% each for the threshold and for the members above it.
    assert strict_rank(10_000, fpr, 0.0125) == below
    assert generous_rank(10_000, fpr, 0.0125) == above


def test_fewest_holdout_vector():
    assert fewest_holdout(0.001, 0.025) == 3688
    assert strict_rank(3687, 0.001, 0.025) is None
    assert strict_rank(3688, 0.001, 0.025) == 0


def strict_by_hand(n, fpr, alpha):
    """The share of the law above the (k+1)-th largest of n is Beta(k+1, n-k)."""
    fits = [k for k in range(n) if stats.beta.ppf(1 - alpha, k + 1, n - k) <= fpr]
    return max(fits, default=None)


def generous_by_hand(n, fpr, alpha):
    """The share at or above the k-th largest is at least Beta(k, n-k+1)."""
    fits = [k for k in range(1, n + 1) if stats.beta.ppf(alpha, k, n - k + 1) >= fpr]
    return min(fits, default=None)


@pytest.mark.parametrize("alpha", [0.0125, 0.025, 0.2])
@pytest.mark.parametrize("fpr", [0.001, 0.01, 0.1, 0.5, 0.97])
@pytest.mark.parametrize("n", [1, 2, 5, 40, 300])
def test_ranks_by_hand(n, fpr, alpha):
    assert strict_rank(n, fpr, alpha) == strict_by_hand(n, fpr, alpha)
    assert generous_rank(n, fpr, alpha) == generous_by_hand(n, fpr, alpha)


@given(fpr=st.floats(1e-4, 0.9), alpha=st.floats(1e-4, 0.4))
def test_fewest_holdout_is_where_a_strict_rank_begins(fpr, alpha):
    least = fewest_holdout(fpr, alpha)
    assert strict_rank(least + 1, fpr, alpha) is not None
    assert least <= 2 or strict_rank(least - 1, fpr, alpha) is None


def jumps_by_hand(members, holdout, between, fall, holdout_fall):
    """Members at values that hold a tenth, and over one, of either class in between."""
    low, high = between
    jumps = 0
    for value in np.unique(np.concatenate([members, holdout])):
        if low < value <= high:
            here, there = int((members == value).sum()), int((holdout == value).sum())
            if here >= max(2, 0.1 * fall) or there >= max(2, 0.1 * holdout_fall):
                jumps += here
    return jumps


def limits_by_hand(members, holdout, fpr, alpha):
    """All three limits from the rows: order statistics of the holdout, members above."""
    n1, n2 = members.size, holdout.size
    descending = np.sort(holdout)[::-1]

    def hits_above(rank):
        return int((members > descending[rank]).sum())

    def lower(hits, error):
        return stats.binomtest(hits, n1).proportion_ci(1 - 2 * error, "exact").low

    empirical = hits_above(int(fpr * n2 + 1e-9))
    rank = strict_by_hand(n2, fpr, alpha)
    tight = None
    if rank is not None:
        sampling = empirical / n1 - lower(empirical, alpha)
        fall = empirical - hits_above(rank)
        allowed = int(fpr * n2 + 1e-9)
        jumps = jumps_by_hand(
            members, holdout, (descending[allowed], descending[rank]), fall, allowed - rank
        )
        smooth = np.hypot(sampling, (fall - jumps) / n1)
        tight = max(0.0, (empirical - jumps) / n1 - smooth)
    rank = strict_by_hand(n2, fpr, alpha / 2)
    strict = None if rank is None else lower(hits_above(rank), alpha / 2)
    rank = generous_by_hand(n2, fpr, alpha / 2)
    upper = 1.0
    if rank is not None:
        hits = hits_above(rank - 1)
        upper = stats.binomtest(hits, n1).proportion_ci(1 - alpha, "exact").high
    return empirical / n1, tight, strict, upper


@pytest.mark.parametrize("step", [0.001, 0.7])
@pytest.mark.parametrize("fpr", [0.01, 0.1, 0.25])
@pytest.mark.parametrize("sizes", [(30, 20), (80, 500), (400, 90)])
def test_limits_from_rows_with_and_without_ties(sizes, fpr, step):
    rng = np.random.default_rng(5)
    members = np.round(rng.normal(1, 1, sizes[0]) / step) * step
    holdout = np.round(rng.normal(0, 1, sizes[1]) / step) * step
    ladder = exact_ladder(members, holdout)
    value, tight, strict, upper = limits_by_hand(members, holdout, fpr, 0.025)
    assert tpr_lower(ladder, fpr, alpha=0.025).value == pytest.approx(value)
    assert tpr_lower(ladder, fpr, alpha=0.025).lower == pytest.approx(tight)
    assert tpr_lower_strict(ladder, fpr, alpha=0.025).lower == pytest.approx(strict)
    assert tpr_upper(ladder, fpr, alpha=0.025) == pytest.approx(upper)


@pytest.mark.parametrize(
    ("draw", "cuts"),
    [
        (lambda rng, n, shift: rng.normal(shift, 1, n), stats.norm.isf([0.1])),
        (
            lambda rng, n, shift: np.round(rng.normal(shift, 1, n) * 2) / 2,
            np.arange(-8, 8, 0.5) + 0.25,
        ),
    ],
    ids=["smooth", "ties"],
)
def test_finite_sample_limits_cover(draw, cuts):
    fpr, alpha, runs = 0.1, 0.05, 800
    rng = np.random.default_rng(11)
    # The best threshold with an FPR of at most 10%, from the laws themselves.
    allowed = cuts[stats.norm.sf(cuts) <= fpr * (1 + 1e-12)]
    truth = stats.norm.sf(allowed - 1).max()
    low = high = 0
    for _ in range(runs):
        ladder = exact_ladder(draw(rng, 60, 1.0), draw(rng, 120, 0.0))
        lower = tpr_lower_strict(ladder, fpr, alpha=alpha).lower
        low += lower is not None and lower > truth
        high += tpr_upper(ladder, fpr, alpha=alpha) < truth
    most = stats.binom.ppf(0.9999, runs, alpha)
    assert low + high > 0
    assert max(low, high) <= most


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), min_size=1, max_size=30
    ).filter(lambda steps: sum(s[0] for s in steps) > 0 and sum(s[1] for s in steps) > 0),
    fpr=st.sampled_from([0.001, 0.1, 0.3, 0.8]),
    alphas=st.tuples(st.floats(1e-3, 0.4), st.floats(1e-3, 0.4)),
)
def test_limits_enclose_the_value_and_move_with_the_error(ladder_from, steps, fpr, alphas):
    ladder = ladder_from(*zip(*steps, strict=True))
    small, large = sorted(alphas)
    for estimate in (tpr_lower, tpr_lower_strict):
        cautious, bold = (estimate(ladder, fpr, alpha=alpha) for alpha in (small, large))
        assert 0 <= bold.value <= 1
        if cautious.lower is not None:
            assert 0 <= cautious.lower <= bold.lower + 1e-12
            assert bold.lower <= bold.value + 1e-12
    assert tpr_upper(ladder, fpr, alpha=large) <= tpr_upper(ladder, fpr, alpha=small) + 1e-12
    assert bold.value <= tpr_upper(ladder, fpr, alpha=large) + 1e-12


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
        assert (
            tpr_lower_strict(cells, fpr, alpha=0.025).lower
            <= tpr_lower_strict(exact, fpr, alpha=0.025).lower
        )
        assert tpr_upper(cells, fpr, alpha=0.025) >= tpr_upper(exact, fpr, alpha=0.025)
