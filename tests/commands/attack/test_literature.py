"""The attackers of the literature: their formulas, published values, and slow twins."""

import math

import numpy as np
import pytest

from mipaudit.commands.attack.adversaries import (
    Cut,
    Labelled,
    best_cut,
    bounded_loss_guesses,
    class_cuts,
    class_guesses,
    equal_density,
    gaussian_advantage,
    gaussian_cut,
    one_error_advantage,
    standard_error,
    top_cut,
)


def advantage(guesses, member, prior=0.5):
    guesses = np.asarray(guesses, dtype=float)
    right = prior * guesses[member].mean() - (1 - prior) * guesses[~member].mean()
    return 1 - 2 * prior + 2 * right


def said_of(cut, *losses):
    return [bool(one) for one in cut.guesses(np.array(losses))]


def test_the_bounded_loss_adversary_has_the_generalization_error_over_the_bound():
    # Yeom et al. 2018, Theorem 2.
    rng = np.random.default_rng(0)
    loss, member = rng.random(500) * 3, rng.random(500) < 0.4
    gap = loss[~member].mean() - loss[member].mean()
    assert advantage(bounded_loss_guesses(loss, 3.0), member) == pytest.approx(gap / 3)
    assert bounded_loss_guesses(np.array([-1.0, 9.0]), 3.0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("ratio", "wanted"), [(1.5, 0.19358), (3.0, 0.48433)])
def test_theorem_3_has_its_published_values(ratio, wanted):
    assert gaussian_advantage(1.0, ratio) == pytest.approx(wanted, abs=5e-6)
    assert gaussian_advantage(ratio, 1.0) == pytest.approx(wanted, abs=5e-6)


@pytest.mark.parametrize(("inside", "outside"), [(1.0, 1.5), (2.0, 0.5), (1e-3, 1e3)])
def test_the_gaussian_cut_is_where_the_densities_are_equal(inside, outside):
    at = equal_density(inside, outside)
    logs = [-((at / sigma) ** 2) / 2 - math.log(sigma) for sigma in (inside, outside)]
    assert logs[0] == pytest.approx(logs[1], rel=1e-9)
    assert gaussian_cut(inside, outside) == Cut(at=at, below=inside < outside)


def test_the_gaussian_adversary_reaches_its_formula_on_normal_residuals():
    member = np.arange(400_000) % 2 == 0
    drawn = np.random.default_rng(1).normal(size=400_000)
    residual = np.abs(drawn * np.where(member, 1.0, 1.5))
    both = (gaussian_cut(1, 1.5), gaussian_advantage), (Cut(at=1.0), one_error_advantage)
    for cut, formula in both:
        found = advantage(cut.guesses(residual), member)
        assert found == pytest.approx(formula(1.0, 1.5), abs=0.006)


def test_standard_errors_that_are_equal_or_nought():
    assert said_of(gaussian_cut(2.0, 2.0), 0.0, 5.0) == [True, True]
    assert gaussian_advantage(2.0, 2.0) == 0.0
    assert one_error_advantage(2.0, 2.0) == pytest.approx(0.0)
    # Of a fully grown tree sigma_S = 0: a residual of 0 is a member's.
    assert said_of(gaussian_cut(0.0, 3.0), 0.0, 0.1) == [True, False]
    assert said_of(Cut(at=0.0), 0.0, 0.1) == [True, False]
    assert gaussian_advantage(0.0, 3.0) == one_error_advantage(0.0, 3.0) == 1.0
    assert gaussian_advantage(0.0, 0.0) == one_error_advantage(0.0, 0.0) == 0.0


@pytest.mark.parametrize(
    ("values", "error"),
    [([3.0, -4.0], math.sqrt(12.5)), ([1e200, 1e200], 1e200), ([0.0, 0.0, 0.0], 0.0)],
)
def test_the_standard_error_neither_overflows_nor_vanishes(values, error):
    assert standard_error(np.array(values)) == pytest.approx(error)


def test_top_cut_takes_the_share_with_its_ties():
    loss = np.array([5.0, 1.0, 2.0, 3.0, 4.0])
    shares = [top_cut(loss, share).guesses(loss).sum() for share in (0.4, 0.0, 1.0)]
    assert shares == [2, 0, 5]
    assert top_cut(np.zeros(5), 0.4).guesses(np.zeros(5)).all()
    assert said_of(Cut(at=1.0), 1.0, 1.1) == [True, False]


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(8))
def test_best_cut_is_the_best_of_all(seed, prior):
    rng = np.random.default_rng(seed)
    loss, member = np.round(rng.normal(size=40), 1), rng.random(40) < 0.5
    found = best_cut(Labelled(loss=loss, member=member), prior)
    every = [Cut(at=at).guesses(loss) for at in (*loss, -math.inf)]
    best = max(advantage(one, member, prior) for one in every)
    assert advantage(found.guesses(loss), member, prior) == pytest.approx(best)


@pytest.mark.parametrize(
    ("loss", "member", "prior", "guessed"),
    [
        ([1.0, 2.0], [True, True], 0.5, [False, False]),
        ([1.0, 2.0], [True, True], 0.7, [True, True]),
        ([-math.inf, math.inf], [True, False], 0.5, [True, False]),
    ],
)
def test_best_cut_of_one_class_or_of_infinite_losses(loss, member, prior, guessed):
    rows = Labelled(loss=np.array(loss), member=np.array(member))
    assert said_of(best_cut(rows, prior), *loss) == guessed


def test_each_class_has_a_threshold_of_its_own_where_it_has_the_rows():
    groups = np.repeat(np.array([1, 2, 3], dtype=np.uint64), [400, 400, 4])
    member = np.arange(groups.size) % 2 == 0
    drawn = np.random.default_rng(5).normal(size=groups.size)
    loss = drawn - 2.0 * member + 10.0 * (groups == 2)
    rows = Labelled(loss=loss, member=member, classes=groups)
    fallback, own = class_cuts(rows, 0.5)
    guesses = class_guesses(rows, (fallback, own))
    rare = groups == 3
    assert set(own) == {1, 2}
    assert (guesses[rare] == fallback.guesses(loss[rare])).all()
    assert advantage(guesses, member) > advantage(fallback.guesses(loss), member) + 0.1
