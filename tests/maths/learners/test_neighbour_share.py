"""Votes of the nearest reference rows."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.maths.learners.boosting import fit_boosting
from mipaudit.maths.learners.neighbour_share import fit_neighbour_share


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
