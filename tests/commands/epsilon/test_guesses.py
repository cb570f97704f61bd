"""Coins that decide who is in, guesses about them, and what may be asked of ``epsilon``."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mipaudit as package
from mipaudit.commands.epsilon.guesses import (
    can_refute,
    check_fair_coin,
    coin_findings,
    count_guesses,
    plan_guesses,
    require_fresh_coins,
    require_one_share,
    settled_shares,
)
from mipaudit.commands.epsilon.options import EpsilonOptions
from mipaudit.errors import InputError, UsageError


def codes(canaries, included):
    coin = check_fair_coin(canaries=canaries, included=included)
    return [finding.code for finding in coin_findings(coin)]


@pytest.mark.parametrize("canaries", [1, 2, 7, 20])
def test_the_p_value_against_enumeration(canaries):
    for included in range(canaries + 1):
        extreme = abs(2 * included - canaries)
        expected = sum(
            math.comb(canaries, k) for k in range(canaries + 1) if abs(2 * k - canaries) >= extreme
        )
        found = check_fair_coin(canaries=canaries, included=included).p_value
        assert found == pytest.approx(expected / 2**canaries)


def test_an_unlikely_number_and_exactly_half_of_many_are_named():
    for included in (0, 447):
        assert codes(1000, included) == ["inclusion_not_fair"]
    assert codes(1000, 500) == ["inclusion_exactly_half"]
    for fine in ((1000, 460), (1001, 500), (100, 50), (2, 1), (1, 0), (1, 1)):
        assert codes(*fine) == []


def rows(coins):
    """Return runs, canaries and inclusion of a table of coins, shape (runs, canaries)."""
    runs, canaries = np.indices(coins.shape).reshape(2, -1).astype(np.uint64)
    return runs, canaries, coins.ravel()


def told_by(check, *given):
    try:
        check(*given)
    except InputError as error:
        return error.code
    return None


def refused(coins, keep=slice(None)):
    return told_by(require_fresh_coins, *(part[keep] for part in rows(coins))) == "shared_coins"


@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize(("runs", "canaries"), [(2, 30), (10, 100), (50, 8)])
def test_the_same_coins_in_every_run_are_refused_and_fresh_ones_are_not(runs, canaries, share):
    rng = np.random.default_rng(1)
    shared = np.tile(rng.random(canaries) < share, (runs, 1))
    assert refused(shared)
    assert sum(refused(rng.random((runs, canaries)) < share) for _ in range(60)) <= 1


def test_some_shared_coins_are_refused_and_fewer_runs_with_a_canary_are_fine():
    rng = np.random.default_rng(2)
    coins = rng.random((10, 300)) < 0.5
    coins[:, :60] = coins[0, :60]
    assert refused(coins)
    fresh = rng.random((10, 300)) < 0.5
    assert not refused(fresh, keep=rng.random(3000) < 0.4)
    assert not refused(fresh[:1])


def test_the_order_of_rows_changes_nothing_and_two_canaries_show_nothing():
    rng = np.random.default_rng(3)
    shared = np.tile(rng.random(40) < 0.5, (3, 1))
    assert refused(shared, keep=rng.permutation(120))
    assert not refused(np.array([[True, False], [True, False]]))


def unlike(runs, included):
    return told_by(require_one_share, runs, included) == "unlike_shares"


@pytest.mark.parametrize("sizes", [(40, 40), (500, 20, 3), (1, 1, 1, 200)])
def test_coins_of_one_share_are_refused_once_in_1000_whatever_the_sizes(sizes):
    rng = np.random.default_rng(4)
    runs = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
    refused = sum(unlike(runs, rng.random(runs.size) < 0.3) for _ in range(600))
    assert refused <= 4


def test_unlike_shares_are_refused_in_any_order_of_rows():
    # Null scores that differ from run to run would certify the difference of the coins.
    rng = np.random.default_rng(5)
    runs = rng.permutation(np.repeat(np.arange(2, dtype=np.uint64), 500))
    shares = np.where(runs == 0, 0.65, 0.35)
    assert unlike(runs, rng.random(1000) < shares)
    assert not unlike(np.zeros(1000, dtype=np.uint64), rng.random(1000) < shares)
    assert unlike(np.repeat(np.arange(2, dtype=np.uint64), 20), np.repeat([True, False], 20))


def counted(included, scores, guesses, **options):
    included, scores = np.asarray(included, bool), np.asarray(scores, float)
    options = {"direction": "high"} | options
    found = count_guesses(included, scores, plan_guesses(included.size, guesses), **options)
    return [guesses for _, guesses, _ in found]


@pytest.mark.parametrize("canaries", [1, 2, 3, 10, 19, 20, 80, 1000, 10**6])
def test_the_default_grid_shares_out_the_error_and_fits(canaries):
    plans = plan_guesses(canaries, None)
    assert sum(plan.share for plan in plans) == pytest.approx(1)
    for plan in plans:
        assert 1 <= plan.guessed_in + plan.guessed_out <= canaries


def test_the_default_grid_of_a_thousand():
    plans = [(p.guessed_in, p.guessed_out) for p in plan_guesses(1000, None)]
    assert plans[:3] == [(250, 250), (63, 62), (16, 15)]
    assert plans[3:] == [(49, 0), (490, 0), (0, 49), (0, 490)]


@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-2])
@pytest.mark.parametrize("canaries", [1, 50, 1000, 10**5])
def test_plans_that_delta_rules_out_give_their_share_to_the_others(canaries, delta):
    plans, alpha = plan_guesses(canaries, None), 0.025
    shares = settled_shares(plans, canaries=canaries, delta=delta, alpha=alpha)
    assert sum(shares) == pytest.approx(1)
    kept = [(plan, share) for plan, share in zip(plans, shares, strict=True) if share]
    numbers = {"canaries": canaries, "delta": delta}
    possible = [can_refute(plan, **numbers, alpha=alpha * share) for plan, share in kept]
    assert all(possible) or len(kept) == 1
    # The control: with the shares that all plans have together, some of the larger run cannot.
    if canaries == 10**5 and delta:
        assert not all(can_refute(plan, **numbers, alpha=alpha * plan.share) for plan in plans)


def test_a_number_is_split_between_the_ends():
    (plan,) = plan_guesses(10, 7)
    assert (plan.guessed_in, plan.guessed_out, plan.share) == (4, 3, 1)
    (plan,) = plan_guesses(10, (0, 10))
    assert (plan.guessed_in, plan.guessed_out) == (0, 10)


@pytest.mark.parametrize("guesses", [0, -1, 11, (0, 0), (6, 5), (-1, 3)])
def test_impossible_numbers_are_refused(guesses):
    with pytest.raises(UsageError, match="from 1 to the number of canaries, 10"):
        plan_guesses(10, guesses)


def test_the_ends_are_guessed_and_the_rest_left_alone():
    for included, high, low in (([1, 0, 0, 1, 1], 2, 2), ([1, 0, 1, 0, 0], 4, 0)):
        for direction, correct in (("high", high), ("low", low)):
            (count,) = counted(included, [5, 1, 4, 2, 3], (2, 2), direction=direction)
            assert (count.guesses, count.correct) == (4, correct)


def test_an_unknown_direction_tries_both_and_halves_the_error():
    included, scores = np.array([0, 0, 1, 1], bool), np.array([4.0, 3, 2, 1])
    tried = count_guesses(included, scores, plan_guesses(4, (1, 1)), direction=None)
    assert [(way, made.correct, plan.share) for plan, made, way in tried] == [
        ("high", 0, 0.5),
        ("low", 2, 0.5),
    ]


def test_infinite_scores_are_the_most_and_the_least_telling():
    scores = [0.0, np.inf, 1.0, -np.inf]
    (count,) = counted([0, 1, 1, 0], scores, (1, 1))
    assert count.correct == 2


def test_equal_scores_do_not_follow_the_order_of_the_file():
    # All included ones come last: by file order every guess would be right.
    included = np.repeat([False, True], 500)
    shares = [counted(included, np.zeros(1000), 1000, seed=s)[0].correct for s in range(20)]
    assert 480 < np.mean(shares) < 520
    assert len(set(shares)) > 5


def test_with_ids_the_order_of_the_file_does_not_matter():
    rng = np.random.default_rng(5)
    included, scores = rng.random(300) < 0.5, rng.integers(0, 4, 300)
    ids = rng.permutation(10**6)[:300].astype(np.uint64)
    order = rng.permutation(300)
    first = counted(included, scores, None, ids=ids, seed=3)
    again = counted(included[order], scores[order], None, ids=ids[order], seed=3)
    assert first == again
    assert first != counted(included, scores, None, ids=ids, seed=4)


FOREIGN = {
    "independent-runs": [
        *({"guesses": 5}, {"member_side": "low"}, {"canaries": 9}, {"correct": 3}),
        {"inclusion_rate": 0.5},
    ],
    "one-run": [{"method": "gdp"}, {"tp": 0}, {"curve": True}],
    "one-model": [{"tn": 5}, {"guesses": 5}, {"claimed_mu": 1}, {"assume_gdp": True}],
}
CASES = [(design, idle) for design, options in FOREIGN.items() for idle in options]


@pytest.mark.parametrize(("design", "idle"), CASES, ids=str)
def test_what_belongs_to_another_design_is_refused_by_its_name(design, idle):
    with pytest.raises(UsageError) as refused:
        EpsilonOptions(design=design, **idle)

    (name,) = idle
    assert refused.value.code == "other_design"
    flag = f"--{name.replace('_', '-')}"
    assert refused.value.message == f"{flag} cannot be used with --design {design}."


@pytest.mark.parametrize("many", [10_000, 1e4, "10000", "1e4"])
def test_counts_may_be_written_in_short(many):
    asked = EpsilonOptions(canaries=many, guesses=many, correct="5e3")

    assert asked.kind == "one-run"
    assert asked.totals == (10_000, 10_000, 5_000)


@pytest.mark.parametrize("wrong", [0.5, "half", "1e400", "", True, None, [5]])
def test_what_is_no_count_is_refused(wrong):
    with pytest.raises(UsageError) as refused:
        EpsilonOptions(design="independent-runs", tp=wrong, fn=5, fp=5, tn=5)

    assert refused.value.code == ("tp" if wrong is not None else "counts")


def test_a_report_of_counts_in_short_is_verified(mipaudit):
    counts = ("--tp", "9e2", "--fn", "1e2", "--fp", "1e2", "--tn", "9e2")
    done = mipaudit(
        "epsilon", "--design", "independent-runs", *counts, "-f", "json", "-o", "counts.json"
    )

    assert done.returncode == 0
    assert mipaudit("verify", "counts.json").returncode == 0


def test_points_of_a_curve_are_recorded_by_a_word():
    asked = EpsilonOptions(canaries=9, guesses=5, correct=3, claimed_curve=([0.1], [0.2]))

    assert asked.curve_read[0] == "the points given"
    assert {one.name: one.value for one in asked.recorded()}["claimed_curve"] == "the points given"
    assert package.epsilon(canaries=9, guesses=5, correct=3, claimed_curve=[[0.1], [0.2]]).claim
