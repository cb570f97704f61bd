"""Ridge logistic regression with squares and products."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.maths.learners.logistic import Logistic, fit_logistic


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


@pytest.mark.parametrize("members", [0, 3])
def test_too_few_rows_of_a_class_fit_nothing(members):
    member = np.arange(20) < members
    fitted = fit_logistic(np.zeros((20, 2)), member)
    assert fitted.linear.tolist() == [1, 1]


def test_more_coordinates_than_rows_are_no_trouble():
    rng = np.random.default_rng(4)
    fitted = fit_logistic(rng.standard_normal((40, 100)), np.arange(40) % 2 == 0)
    assert np.isfinite(fitted.linear).all()
