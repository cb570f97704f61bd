from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.epsilon.guesses import (
    can_refute,
    count_guesses,
    plan_guesses,
    settled_shares,
)
from mipaudit.errors import UsageError


def counted(included, scores, guesses, **options):
    included, scores = np.asarray(included, bool), np.asarray(scores, float)
    options = {"direction": "high"} | options
    found = count_guesses(included, scores, plan_guesses(included.size, guesses), **options)
    return [guesses for _, guesses in found]


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
    scores = [5, 1, 4, 2, 3]
    (count,) = counted([1, 0, 0, 1, 1], scores, (2, 2))
    assert (count.guesses, count.correct) == (4, 2)
    (count,) = counted([1, 0, 0, 1, 1], scores, (2, 2), direction="low")
    assert (count.guesses, count.correct) == (4, 2)
    (count,) = counted([1, 0, 1, 0, 0], scores, (2, 2))
    assert count.correct == 4
    (count,) = counted([1, 0, 1, 0, 0], scores, (2, 2), direction="low")
    assert count.correct == 0


def test_an_unknown_direction_tries_both_and_halves_the_error():
    included, scores = np.array([0, 0, 1, 1], bool), np.array([4.0, 3, 2, 1])
    tried = count_guesses(included, scores, plan_guesses(4, (1, 1)), direction=None)
    assert [(made.direction, made.correct, plan.share) for plan, made in tried] == [
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
