"""Limits of challenger minus the best of a class: against enumeration of the class."""

from __future__ import annotations

import math
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, multinomial

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.class_limits.class_sets import best_rival
from mipaudit.maths.class_limits.difference import (
    Encounter,
    Shared,
    Standing,
    fixed_lower,
    independent_lower,
    paired_lower,
    separate_lower,
)

ALPHA = 0.025


def encounter(seed, cells=7, prior=0.5, n=400):
    """Return random rates in which the challenger knows something."""
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.ones(2 * cells), size=2).reshape(2, 2, cells)
    return Encounter(
        rates=rates,
        single=np.ones(cells, dtype=bool),
        n_members=n * rng.uniform(0.5, 1.5),
        n_holdout=n * rng.uniform(0.5, 1.5),
        prior=prior,
    )


def fixed_rival_lower(found, rival, alpha):
    """Return the limit for one rival, from its variance: a slow twin of no shortcut."""
    p = found.prior
    z = NormalDist().inv_cdf(1 - alpha)
    difference, variance, third, room = 0.0, 0.0, 0.0, 0.0
    for side, scale, size in ((0, -2 * (1 - p), found.n_holdout), (1, 2 * p, found.n_members)):
        values, masses = [], []
        for guess, cell in product((0, 1), range(rival.size)):
            values.append(guess - int(rival[cell]))
            masses.append(found.rates[side, guess, cell])
        mean = np.average(values, weights=masses)
        difference += scale * mean
        variance += scale**2 * np.average((np.array(values) - mean) ** 2, weights=masses) / size
        third += scale**3 * np.average((np.array(values) - mean) ** 3, weights=masses) / size**2
        # One row can move X from the mean to -1, or to 1 for a holdout record.
        room = max(room, abs(scale) * (1 + math.copysign(1, scale) * mean) / size)

    def drop(growth):
        return growth * z**2 / 2 + z * math.sqrt(variance + (growth * z / 2) ** 2)

    # z^2 must not be below what no event allows.
    patience = max(1.0, -1.06 * math.log(alpha) / z**2)
    slope = np.clip((8 * room**3 - third) / (variance + 8 * room**2), -room, room)
    growth = patience * slope if slope > 0 else slope / 2
    return difference - min(drop(patience * room), drop(growth) + room)


def everyone(kind, cells):
    if kind == "any":
        return [np.array(one, dtype=bool) for one in product((0, 1), repeat=cells)]
    steps = np.arange(cells)
    if kind == "thresholds":
        cuts = range(cells + 1)
        return [steps < cut for cut in cuts] + [steps >= cut for cut in cuts]
    inside = [(steps >= a) & (steps < b) for a in range(cells + 1) for b in range(a, cells + 1)]
    return inside + [~one for one in inside]


@pytest.mark.parametrize("kind", ["any", "thresholds", "intervals-1"])
@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_the_limit_is_below_that_of_every_rival_and_not_far_below(kind, prior):
    gaps = []
    for seed in range(40):
        found = encounter(seed, prior=prior)
        least = min(fixed_rival_lower(found, one, ALPHA) for one in everyone(kind, 7))
        limit = paired_lower(found, kind, ALPHA)
        room = 1 - abs(2 * prior - 1)
        assert limit <= max(least, -room) + 1e-9
        gaps.append(max(least, -room) - limit)
    if kind == "intervals-1":
        assert np.mean(gaps) < 0.02
    else:
        assert max(gaps) < 1e-9


def rows_of_a_mean(seed, cells=5, n=60):
    """Return class, cell, weight and guessed part of rows that several attackers judged."""
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.4
    cell = rng.integers(0, cells, n)
    weight = rng.uniform(0.5, 1.5, n)
    for side in (member, ~member):
        weight[side] /= weight[side].sum()
    # Attackers that mostly agree, and share their luck: rows say more than one of them does.
    guessed = weight * np.clip(rng.normal(0.3 + 0.4 * member, 0.3), 0, 1)
    return member, cell, weight, guessed


def met_by_a_mean(rows, cells=5, prior=0.5):
    member, cell, weight, guessed = rows
    rates, squares = np.zeros((2, 2, cells)), np.zeros((2, 2, cells))
    for side in (0, 1):
        at = member == bool(side)
        for guess, part in enumerate((weight - guessed, guessed)):
            rates[side, guess] = np.bincount(cell[at], weights=part[at], minlength=cells)
            mass = (weight * part)[at]
            squares[side, guess] = np.bincount(cell[at], weights=mass, minlength=cells)
    return Encounter(
        rates=rates,
        single=np.ones(cells, dtype=bool),
        n_members=int(member.sum()),
        n_holdout=int((~member).sum()),
        prior=prior,
        shared=Shared(
            squares=squares,
            guessed=np.array([(guessed[member == bool(side)] ** 2).sum() for side in (0, 1)]),
        ),
    )


def lower_beside_a_mean(rows, rival, prior, alpha):
    """Return the limit for one rival, row by row: the larger variance of two counts."""
    member, cell, weight, guessed = rows
    z = NormalDist().inv_cdf(1 - alpha)
    value, third, room, variances = 0.0, 0.0, 0.0, np.zeros(2)
    for side, scale in ((0, -2 * (1 - prior)), (1, 2 * prior)):
        at = member == bool(side)
        n, w, g, b = at.sum(), weight[at], guessed[at], rival[cell[at]]
        mean = (g - w * b).sum()
        value += scale * mean
        disagree = (g * (1 - b) + (w - g) * b).sum()
        seen = ((g - w * b - w * mean) ** 2).sum() * n / (n - 1)
        variances += scale**2 * np.array([(disagree - mean**2) / n, seen])
        heaviest = abs(scale) * (w**2).sum()
        third += scale * heaviest**2 * (mean - 3 * mean * disagree + 2 * mean**3)
        room = max(room, heaviest * (1 + math.copysign(1, scale) * mean))
    patience = max(1.0, -1.06 * math.log(alpha) / z**2)
    limits = []
    for variance in variances:
        slope = np.clip((8 * room**3 - third) / (variance + 8 * room**2), -room, room)
        growth = patience * slope if slope > 0 else slope / 2
        drops = [
            more + k * z**2 / 2 + z * math.sqrt(variance + (k * z / 2) ** 2)
            for k, more in ((patience * room, 0.0), (growth, room))
        ]
        limits.append(value - min(drops))
    return min(limits)


@pytest.mark.parametrize("kind", ["any", "thresholds", "intervals-1"])
@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_beside_a_mean_of_attackers_the_larger_variance_counts(kind, prior):
    for seed in range(20):
        rows = rows_of_a_mean(seed)
        found = met_by_a_mean(rows, prior=prior)
        every = everyone(kind, 5)
        slow = min(lower_beside_a_mean(rows, one, prior, ALPHA) for one in every)
        room = 1 - abs(2 * prior - 1)
        limit = paired_lower(found, kind, ALPHA)
        if kind == "intervals-1":
            assert limit <= max(slow, -room) + 1e-9
        else:
            assert limit == pytest.approx(max(slow, -room))
            one = fixed_lower(found, every[3], ALPHA)
            assert one == pytest.approx(lower_beside_a_mean(rows, every[3], prior, ALPHA))


def test_one_attacker_who_is_no_mean_has_the_limit_of_rates():
    member, cell, _, guessed = rows_of_a_mean(3, n=4000)
    weight = np.where(member, 1 / member.sum(), 1 / (~member).sum())
    found = met_by_a_mean((member, cell, weight, weight * (guessed > 0.5 * weight)))
    alone = Encounter(
        rates=found.rates,
        single=found.single,
        n_members=found.n_members,
        n_holdout=found.n_holdout,
        prior=0.5,
    )
    for kind in ("thresholds", "intervals-1", "any"):
        limits = [paired_lower(one, kind, ALPHA) for one in (found, alone)]
        assert limits[0] == pytest.approx(limits[1], abs=1e-4)


@pytest.mark.parametrize("kind", ["any", "intervals-1"])
def test_a_challenger_is_not_far_behind_a_rival_who_guesses_alike(kind):
    rates = np.zeros((2, 2, 2))
    rates[0, 0, 0] = rates[1, 1, 1] = 0.8
    rates[0, 1, 1] = rates[1, 0, 0] = 0.2
    alike = Encounter(
        rates=rates, single=np.ones(2, dtype=bool), n_members=1e4, n_holdout=1e4, prior=0.5
    )
    assert -0.02 < paired_lower(alike, kind, ALPHA) < 0


def test_one_cell_that_tells_all_leaves_the_score_limit():
    # The rival sees one value only, so the constants are its class: it gains nothing.
    rates = np.array([[[0.7], [0.3]], [[0.2], [0.8]]])
    found = Encounter(
        rates=rates, single=np.ones(1, dtype=bool), n_members=500.0, n_holdout=500.0, prior=0.5
    )
    exact = min(fixed_rival_lower(found, np.array([one]), ALPHA) for one in (False, True))
    z = 1.959963984540054
    patience, room = -1.06 * math.log(0.025) / z**2, 1.8 / 500
    variance, third = (0.21 + 0.16) / 500, (0.16 * -0.6 - 0.21 * 0.4) / 500**2
    slope = (8 * room**3 - third) / (variance + 8 * room**2) * patience
    closed = 0.5 - room - slope * z**2 / 2 - z * math.sqrt(variance + (slope * z / 2) ** 2)
    assert exact == pytest.approx(closed, abs=1e-12)
    assert paired_lower(found, "thresholds", ALPHA) == pytest.approx(closed, abs=1e-12)


# How a member's guess and rival's cell are as a rule, and in the rare rows. The rival
# guesses the rows in its cell 1 to be members; X is the challenger less the rival.
RARE_ROWS = {
    "from 1 to -1": ((1, 0), (0, 1)),
    "from 1 to 0": ((1, 0), (0, 0)),
    "from 0 to -1": ((0, 0), (0, 1)),
}


def members_with_rare_rows(usual, rare, share, *, n, n_holdout):
    rates = np.zeros((2, 2, 2))
    rates[0, 0, 0] = 1.0
    rates[1][usual] = 1 - share
    rates[1][rare] = share
    return Encounter(
        rates=rates,
        single=np.ones(2, dtype=bool),
        n_members=float(n),
        n_holdout=float(n_holdout),
        prior=0.5,
    )


@pytest.mark.parametrize("law", RARE_ROWS)
@pytest.mark.parametrize("n", [20, 100, 1000])
@pytest.mark.parametrize("alpha", [0.25, 0.1, 0.05, 0.025, 0.005, 0.025 / 66])
def test_rare_rows_are_missed_no_oftener_than_promised(law, n, alpha):
    usual, rare = RARE_ROWS[law]
    x, other = usual[0] - usual[1], rare[0] - rare[1]
    # Many holdout records: nothing but the members' own terms covers the rare rows.
    limits = np.array(
        [
            paired_lower(
                members_with_rare_rows(usual, rare, count / n, n=n, n_holdout=1e7),
                "thresholds",
                alpha,
            )
            for count in range(n + 1)
        ]
    )
    counts = np.arange(n + 1)
    worst = 0.0
    # The miss probability is largest where the truth has just fallen below one of the limits.
    for limit in limits:
        share = (x - limit) / (x - other) + 1e-9
        if 0 < share < 1:
            missed = limits > x + (other - x) * share
            worst = max(worst, float(binom.pmf(counts, n, share)[missed].sum()))
    assert worst <= 1.02 * alpha
    # Not because it says nothing: but for the fewest rows and the smallest error, it can miss.
    assert worst > 0 or (n == 20 and alpha < 0.001)


def three_outcomes(shares, n):
    """X is -1, 0 or 1 of a member, and 0 of a holdout record, of which there is no end."""
    rates = np.zeros((2, 2, 2))
    rates[0, 0, 0] = 1.0
    rates[1, 0, 1], rates[1, 0, 0], rates[1, 1, 0] = shares
    return Encounter(
        rates=rates, single=np.ones(2, dtype=bool), n_members=float(n), n_holdout=1e7, prior=0.5
    )


@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.0025, 0.025 / 66])
@pytest.mark.parametrize("n", [20, 60])
def test_the_limit_for_one_rival_by_enumeration_of_three_outcomes(n, alpha):
    counts = np.array([(a, n - a - b, b) for a in range(n + 1) for b in range(n + 1 - a)])
    rival = np.array([False, True])
    limits = np.array([fixed_lower(three_outcomes(one / n, n), rival, alpha) for one in counts])
    rng = np.random.default_rng(n)
    rare = rng.exponential(4, 150).clip(0, 0.9 * n)[:, None] / n
    laws = [
        *np.hstack([rare, (1 - rare) * rng.dirichlet([0.4, 0.4], 150)]),
        *rng.dirichlet([0.5, 0.5, 0.5], 150),
    ]
    worst = max(
        multinomial.pmf(counts, n, law)[limits > law[2] - law[0] + 1e-12].sum() for law in laws
    )
    assert 0 < worst <= alpha


def test_two_limits_added_up_miss_most_where_both_fall_together():
    """Hits of two attackers on the same members, in any dependence, each limit at alpha."""
    n = 12
    counts = np.array(
        [
            (a, b, c, n - a - b - c)
            for a in range(n + 1)
            for b in range(n + 1 - a)
            for c in range(n + 1 - a - b)
        ]
    )
    one, other = counts[:, 0] + counts[:, 1], counts[:, 0] + counts[:, 2]
    rng = np.random.default_rng(5)
    laws = [rng.dirichlet(np.full(4, spread)) for spread in (0.1, 0.3, 1.0) for _ in range(100)]
    # Where the one hits what the other misses: their errors are one.
    opposed = [np.array([0.0, share, 1 - share, 0.0]) for share in np.linspace(0.02, 0.98, 97)]
    for alpha in (0.1, 0.025, 0.0025):
        lower = np.array([float(clopper_pearson_lower(float(k), n, alpha)) for k in one])
        upper = np.array([float(clopper_pearson_upper(float(k), n, alpha)) for k in other])

        def missed(law, limit=lower - upper):
            chance = multinomial.pmf(counts, n, law)
            return float(chance[limit > law[1] - law[2] + 1e-12].sum())

        assert 0.3 * alpha < max(map(missed, opposed)) <= alpha
        assert max(map(missed, laws)) <= alpha


def test_at_large_errors_a_whole_swing_of_a_row_is_allowed_for():
    found, rival, alpha = encounter(2), np.arange(7) < 3, 0.1
    z = NormalDist().inv_cdf(1 - alpha)
    swing = 2 * (-1.06 * math.log(alpha) / z**2) * max(1 / found.n_members, 1 / found.n_holdout)
    mean, second = (
        found.rates[:, 1].sum(axis=1)
        + sign * found.rates.sum(axis=1) @ rival
        - (1 + sign) * found.rates[:, 1] @ rival
        for sign in (-1, 1)
    )
    variance = ((second - mean**2) / [found.n_holdout, found.n_members]).sum()
    mean = mean[1] - mean[0]
    expected = mean - swing * z**2 / 2 - z * math.sqrt(variance + (swing * z / 2) ** 2)
    assert fixed_lower(found, rival, alpha) == pytest.approx(expected)


@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.3, 0.5, 0.9]))
def test_limits_stay_in_range_and_wider_classes_and_smaller_errors_give_lower_ones(seed, prior):
    found = encounter(seed, prior=prior)
    room = 1 - abs(2 * prior - 1)
    limits = [paired_lower(found, kind, ALPHA) for kind in ("thresholds", "any")]
    assert all(-room <= one <= room for one in limits)
    assert limits[1] <= limits[0] + 1e-12
    assert paired_lower(found, "any", ALPHA / 10) <= limits[1] + 1e-12


def test_a_cell_of_several_values_is_bracketed():
    found = encounter(3)
    several = Encounter(
        rates=found.rates,
        single=np.zeros(7, dtype=bool),
        n_members=found.n_members,
        n_holdout=found.n_holdout,
        prior=found.prior,
    )
    for kind in ("any", "thresholds", "intervals-4"):
        assert paired_lower(several, kind, ALPHA) <= paired_lower(found, kind, ALPHA) + 1e-6


@given(st.integers(0, 10_000))
def test_the_best_rival_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    gains = rng.normal(size=(4, 6))
    single = np.ones(6, dtype=bool)
    for kind in ("any", "thresholds", "intervals-1"):
        most, rival = best_rival(gains, single, kind)
        best = max(float(gains.sum(axis=0) @ one) for one in everyone(kind, 6))
        assert most == pytest.approx(best, abs=1e-12)
        if kind != "intervals-1":
            assert gains.sum(axis=0) @ rival == pytest.approx(most, abs=1e-12)


def test_slacks_of_independent_inputs_combine_as_the_sides_of_a_triangle():
    limit = independent_lower(Standing(value=0.6, slack=0.03), Standing(value=0.2, slack=0.04), 0.5)
    assert limit == pytest.approx(0.35)


@given(st.floats(0, 1), st.floats(0, 0.5))
def test_the_independent_limit_falls_as_the_rival_does_better(value, slack):
    mine = Standing(value=0.7, slack=0.1)
    less = independent_lower(mine, Standing(value=value, slack=slack), 0.5)
    more = independent_lower(mine, Standing(value=value + 0.05, slack=slack), 0.5)
    assert more <= less


def test_two_limits_subtract_within_the_range():
    assert separate_lower(0.5, 0.3, 0.5) == pytest.approx(0.2)
    assert separate_lower(0.8, 1.0, 0.1) == pytest.approx(-0.2)
    assert separate_lower(0.0, 1.0, 0.9) == pytest.approx(-0.2)
