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
    return (
        1 - 2 * prior + 2 * (prior * guesses[member].mean() - (1 - prior) * guesses[~member].mean())
    )


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

    def log_density(sigma):
        return -((at / sigma) ** 2) / 2 - math.log(sigma)

    assert log_density(inside) == pytest.approx(log_density(outside), rel=1e-9)
    cut = gaussian_cut(inside, outside)
    assert cut.at == at
    assert cut.below == (inside < outside)


def test_the_gaussian_adversary_reaches_its_formula_on_normal_residuals():
    rng = np.random.default_rng(1)
    member = np.arange(400_000) % 2 == 0
    residual = np.abs(rng.normal(size=400_000) * np.where(member, 1.0, 1.5))
    for cut, formula in (
        (gaussian_cut(1.0, 1.5), gaussian_advantage(1.0, 1.5)),
        (Cut(at=1.0), one_error_advantage(1.0, 1.5)),
    ):
        assert advantage(cut.guesses(residual), member) == pytest.approx(formula, abs=0.006)


def test_equal_standard_errors_tell_nothing():
    assert gaussian_cut(2.0, 2.0).guesses(np.array([0.0, 5.0])).all()
    assert gaussian_advantage(2.0, 2.0) == 0.0
    assert one_error_advantage(2.0, 2.0) == pytest.approx(0.0)


def test_a_fully_grown_tree_has_no_residuals_on_members():
    # sigma_S = 0: a residual of 0 is a member's.
    assert gaussian_cut(0.0, 3.0).guesses(np.array([0.0, 0.1])).tolist() == [True, False]
    assert Cut(at=0.0).guesses(np.array([0.0, 0.1])).tolist() == [True, False]
    assert gaussian_advantage(0.0, 3.0) == one_error_advantage(0.0, 3.0) == 1.0
    assert gaussian_advantage(0.0, 0.0) == one_error_advantage(0.0, 0.0) == 0.0


def test_the_standard_error_neither_overflows_nor_vanishes():
    assert standard_error(np.array([3.0, -4.0])) == pytest.approx(math.sqrt(12.5))
    assert standard_error(np.array([1e200, 1e200])) == pytest.approx(1e200)
    assert standard_error(np.zeros(3)) == 0.0


def test_top_cut_takes_the_share_with_its_ties():
    loss = np.array([5.0, 1.0, 2.0, 3.0, 4.0])
    assert top_cut(loss, 0.4).guesses(loss).sum() == 2
    assert not top_cut(loss, 0.0).guesses(loss).any()
    assert top_cut(loss, 1.0).guesses(loss).all()
    assert top_cut(np.zeros(5), 0.4).guesses(np.zeros(5)).all()


def slow_best(loss, member, prior):
    cuts = [Cut(at=x) for x in loss] + [Cut(at=-math.inf)]
    return max(advantage(cut.guesses(loss), member, prior) for cut in cuts)


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(8))
def test_best_cut_is_the_best_of_all(seed, prior):
    rng = np.random.default_rng(seed)
    loss = np.round(rng.normal(size=40), 1)
    member = rng.random(40) < 0.5
    found = best_cut(Labelled(loss=loss, member=member), prior)
    assert advantage(found.guesses(loss), member, prior) == pytest.approx(
        slow_best(loss, member, prior)
    )


def test_best_cut_of_one_class_or_of_infinite_losses():
    one = Labelled(loss=np.array([1.0, 2.0]), member=np.array([True, True]))
    assert not best_cut(one, 0.5).guesses(one.loss).any()
    assert best_cut(one, 0.7).guesses(one.loss).all()
    far = Labelled(loss=np.array([-np.inf, np.inf]), member=np.array([True, False]))
    assert best_cut(far, 0.5).guesses(far.loss).tolist() == [True, False]


def test_each_class_has_a_threshold_of_its_own_where_it_has_the_rows():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.array([1, 2, 3], dtype=np.uint64), [400, 400, 4])
    member = np.arange(groups.size) % 2 == 0
    loss = rng.normal(size=groups.size) - 2.0 * member + 10.0 * (groups == 2)
    rows = Labelled(loss=loss, member=member, classes=groups)
    fallback, own = class_cuts(rows, 0.5)
    assert set(own) == {1, 2}
    guesses = class_guesses(rows, (fallback, own))
    rare = groups == 3
    assert (guesses[rare] == fallback.guesses(loss[rare])).all()
    assert advantage(guesses, member) > advantage(fallback.guesses(loss), member) + 0.1


def test_a_cut_includes_its_loss():
    assert Cut(at=1.0).guesses(np.array([1.0, 1.1])).tolist() == [True, False]
