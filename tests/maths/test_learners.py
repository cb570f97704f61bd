"""Learned scores: what is fitted on one part of the burn-in, and scores the rest.

One scale for all coordinates, whatever their extremes.

Ridge logistic regression with squares and products.

Votes of the nearest reference rows.
"""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.maths.learners import (
    Boosting,
    Logistic,
    fit_boosting,
    fit_logistic,
    fit_neighbour_share,
    robust_scale,
)

threadpoolctl = pytest.importorskip("threadpoolctl")


def test_normal_values_keep_their_order_and_get_unit_width():
    rng = np.random.default_rng(0)
    values = 7 + 3 * rng.standard_normal((20_000, 2))
    scaled = robust_scale(values).matrix(values)
    assert scaled.std(axis=0) == pytest.approx([1, 1], abs=0.03)
    assert (np.argsort(scaled[:, 0]) == np.argsort(values[:, 0])).all()


def test_infinite_and_huge_values_stay_within_twelve():
    column = np.array([0.0, 1.0, 2.0, 3.0, 1e300, -1e300, np.inf, -np.inf])
    scaled = robust_scale(column[:, None]).column(column, 0)
    assert np.isfinite(scaled).all()
    assert np.abs(scaled).max() == 12
    assert scaled[6] == scaled.max()
    assert scaled[7] == scaled.min()


@pytest.mark.parametrize(
    "column", [[5.0] * 6, [np.inf] * 4, [np.inf, -np.inf], [0.0] * 99 + [1.0], []]
)
def test_no_width_is_zero(column):
    values = np.array(column, dtype=np.float64)[:, None]
    scale = robust_scale(values)
    assert scale.width[0] > 0
    assert np.isfinite(scale.column(values[:, 0], 0)).all()


def test_the_scale_is_logarithmic_only_beyond_four_widths():
    scale = robust_scale(np.array([[-1.0], [0.0], [1.0]]))
    width = scale.width[0]
    near = np.array([3.9, 4.0]) * width
    assert scale.column(near, 0) == pytest.approx([3.9, 4.0])
    assert scale.column(np.array([103.0 * width]), 0)[0] == pytest.approx(4 + np.log(100))


def columns(rows):
    return list(np.ascontiguousarray(rows.T))


def test_it_agrees_with_an_independent_fit():
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((600, 3))
    member = rng.random(600) < 1 / (1 + np.exp(-rows @ [1.0, -0.5, 0.0]))
    fitted = fit_logistic(rows, member)
    assert fitted.pairs == ()
    other = linear_model.LogisticRegression(
        C=1 / fitted.penalty, class_weight="balanced", tol=1e-10, max_iter=1000
    ).fit(rows, member)
    assert fitted.linear == pytest.approx(other.coef_[0], abs=1e-3)


def test_products_find_what_no_coordinate_tells():
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((800, 2))
    member = rows[:, 0] * rows[:, 1] + 0.5 * rng.standard_normal(800) > 0
    fitted = fit_logistic(rows, member)
    assert (0, 1) in fitted.pairs
    score = fitted.score(columns(rows))
    assert np.mean((score > np.median(score)) == member) > 0.75


def test_a_score_does_not_depend_on_its_batch():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((1001, 7))
    fitted = fit_logistic(rows, rng.random(1001) < 0.5)
    whole = fitted.score(columns(rows))
    parts = [fitted.score(columns(part)) for part in np.array_split(rows, 13)]
    assert (np.concatenate(parts) == whole).all()


def test_score_is_the_written_out_sum():
    fitted = Logistic(
        intercept=0.5,
        linear=np.array([1.0, -2.0]),
        pairs=((0, 0), (0, 1)),
        products=np.array([3.0, 4.0]),
        penalty=1.0,
    )
    score = fitted.score([np.array([2.0]), np.array([5.0])])
    assert score[0] == 0.5 + 2 - 10 + 3 * 4 + 4 * 10


@pytest.mark.parametrize("members", [0, 3, 17, 20])
def test_too_few_rows_of_a_class_fit_nothing(members):
    member = np.arange(20) < members
    fitted = fit_logistic(np.zeros((20, 2)), member)
    assert fitted.linear.tolist() == [1, 1]


def test_more_coordinates_than_rows_are_no_trouble():
    rng = np.random.default_rng(4)
    fitted = fit_logistic(rng.standard_normal((40, 100)), np.arange(40) % 2 == 0)
    assert np.isfinite(fitted.linear).all()


def test_votes_are_those_of_a_search_by_hand():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((90, 3))
    member = rng.random(90) < 0.4
    fitted = fit_neighbour_share(rows, member, (0, 2))
    points = rng.standard_normal((20, 3))
    score = fitted.score(list(points.T))
    n1, n2 = int(member.sum()), int((~member).sum())
    small = min(n1, n2)
    for point, got in zip(points, score, strict=True):
        distance = ((rows[:, [0, 2]] - point[[0, 2]]) ** 2).sum(axis=1)
        near = np.argsort(distance)[: fitted.neighbours]
        votes = np.where(member[near], small / n1, -small / n2)
        assert got == pytest.approx(votes.sum())


def test_uneven_classes_have_equal_say():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((3000, 2))
    member = np.arange(3000) % 30 == 0
    score = fit_neighbour_share(rows, member, (0, 1)).score(list(rows.T))
    assert abs(score.mean()) < 0.3 * score.std()


def test_boosted_trees_are_reproducible_and_find_a_checkerboard():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((400, 2))
    member = (rows[:, 0] > 0) == (rows[:, 1] > 0)
    first, again = (fit_boosting(rows, member, seed=7) for _ in range(2))
    assert first is not None
    assert again is not None
    assert first.library.startswith("scikit-learn ")
    score = first.score(list(rows.T))
    assert (score == again.score(list(rows.T))).all()
    assert np.mean((score > 0) == member) > 0.9


def test_too_few_rows_grow_no_trees():
    assert fit_boosting(np.zeros((10, 2)), np.arange(10) < 5, seed=0) is None


class Trees:
    """What counts the threads that its library would take."""

    threads: tuple[int, ...] = ()

    def decision_function(self, rows):
        pools = threadpoolctl.threadpool_info()
        self.threads = tuple(p["num_threads"] for p in pools if p["user_api"] == "openmp")
        return np.zeros(len(rows))


def test_trees_score_in_one_thread():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(100, 2))
    assert fit_boosting(rows, rows[:, 0] > 0, seed=1) is not None
    trees = Trees()
    with threadpoolctl.threadpool_limits(limits=2, user_api="openmp"):
        Boosting(trees=trees, library="").score([rows[:, 0], rows[:, 1]])
        assert set(trees.threads) == {1}
        trees.decision_function(rows)
        assert set(trees.threads) == {2}  # the others' threads are theirs
