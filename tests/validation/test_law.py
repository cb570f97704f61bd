from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from mipaudit.validation.law import Ladder, best_union

GAINS = np.array([3.0, -1.0, 2.0, -5.0, 4.0, -2.0, 3.0])


def atoms(members, holdout):
    members, holdout = np.asarray(members, float), np.asarray(holdout, float)
    return Ladder(members=members, holdout=holdout, atom=np.ones(len(members), dtype=bool))


def random_ladder(rng, size):
    return atoms(rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size)))


def advantage_of(ladder, prior, guess):
    guess = np.asarray(guess, bool)
    tpr, fpr = ladder.members[guess].sum(), ladder.holdout[guess].sum()
    return 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)


def runs_of(guess):
    return sum(now and not before for before, now in zip((0, *guess), guess, strict=False))


@pytest.mark.parametrize(("k", "best"), [(0, 0), (1, 5), (2, 9), (3, 11), (4, 12), (9, 12)])
def test_best_union_of_a_worked_example(k, best):
    assert best_union(GAINS, k) == best


@pytest.mark.parametrize(("k", "best"), [(1, 9), (2, 11)])
def test_best_complement_of_a_worked_example(k, best):
    assert GAINS.sum() + best_union(-GAINS, k) == best


def test_best_union_of_losses_is_empty():
    assert best_union(-np.ones(5), 2) == 0.0


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
def test_every_class_agrees_with_enumeration(prior):
    rng = np.random.default_rng(11)
    for _ in range(10):
        ladder = random_ladder(rng, 8)
        guesses = list(product((0, 1), repeat=8))
        value = {guess: advantage_of(ladder, prior, guess) for guess in guesses}
        assert ladder.advantage(prior) == pytest.approx(max(value.values()))
        for k in (1, 2, 4):
            allowed = [
                guess
                for guess in guesses
                if min(runs_of(guess), runs_of(tuple(1 - bit for bit in guess))) <= k
            ]
            best = max(value[guess] for guess in allowed)
            assert ladder.advantage_intervals(prior, k) == pytest.approx(best)
        thresholds = [guess for guess in guesses if (np.diff(guess) != 0).sum() <= 1]
        best = max(value[guess] for guess in thresholds)
        assert ladder.advantage_thresholds(prior) == pytest.approx(best)


def test_auc_agrees_with_all_pairs():
    ladder = random_ladder(np.random.default_rng(2), 7)
    pairs = combinations(range(7), 2)
    above = sum(ladder.members[high] * ladder.holdout[low] for low, high in pairs)
    assert ladder.auc() == pytest.approx(above + ladder.members @ ladder.holdout / 2)


def test_a_coin_is_tossed_within_an_atom():
    ladder = atoms([0.2, 0.3, 0.5], [0.6, 0.3, 0.1])
    assert ladder.tpr_at_fpr(0.0, "high") == 0.0
    assert ladder.tpr_at_fpr(0.05, "high") == pytest.approx(0.25)
    assert ladder.tpr_at_fpr(0.1, "high") == pytest.approx(0.5)
    assert ladder.tpr_at_fpr(0.25, "high") == pytest.approx(0.65)
    assert ladder.tpr_at_fpr(0.4, "high") == pytest.approx(0.8)
    assert ladder.tpr_at_fpr(0.3, "low") == pytest.approx(0.1)
    assert ladder.tpr_at_fpr(0.6, "low") == pytest.approx(0.2)
    assert ladder.tpr_at_fpr(1.0, "low") == pytest.approx(1.0)


def test_a_cell_is_cut_where_the_rate_is_reached():
    cells = Ladder(
        members=np.array([0.2, 0.8]), holdout=np.array([0.9, 0.1]), atom=np.zeros(2, dtype=bool)
    )
    assert cells.tpr_at_fpr(0.05, "high") == pytest.approx(0.4)
    assert cells.tpr_at_fpr(0.55, "high") == pytest.approx(0.9)
    assert cells.tpr_at_fpr(0.45, "low") == pytest.approx(0.1)


def test_rungs_without_holdout_cost_nothing():
    ladder = atoms([0.1, 0.5, 0.4], [0.5, 0.5, 0.0])
    assert ladder.tpr_at_fpr(0.0, "high") == pytest.approx(0.4)
    assert ladder.tpr_at_fpr(0.0, "low") == 0.0
