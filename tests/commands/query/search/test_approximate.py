"""Approximate search: never nearer than the truth, and the same for equal records anywhere."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from mipaudit.commands.query.search.approximate import recall
from mipaudit.commands.query.search.neighbours import Neighbours
from mipaudit.commands.query.search.points import Geometry
from mipaudit.errors import InputError, MissingExtraError

PLENTY = 1 << 33


@pytest.fixture
def approximate_search():
    if find_spec("faiss") is None:
        pytest.skip("faiss is not installed")
    from mipaudit.commands.query.search import approximate as approximate_search

    return approximate_search


@pytest.fixture(params=["euclidean", "gower"])
def case(request, make):
    rng = np.random.default_rng(3)
    levels = (2, 5, 40)
    geometry = Geometry(metric=request.param, levels=levels, columns=8)
    rows, records = (make(rng, count, 5, levels, digits=6) for count in (6000, 400))
    return records, rows, geometry


def found(case, k=4, memory=PLENTY, seed=1):
    records, rows, geometry = case
    search = Neighbours(rows, geometry, memory)
    search.approximate(seed)
    return search.nearest(records, range(1, k + 1))


def exact(case, k=4):
    records, rows, geometry = case
    return Neighbours(rows, geometry, PLENTY).nearest(records, range(1, k + 1))


def test_with_all_lists_the_search_is_exact(case, approximate_search, monkeypatch):
    monkeypatch.setattr(approximate_search, "_RECORDS", 64)

    np.testing.assert_array_equal(found(case), exact(case))


def test_with_few_lists_no_distance_is_too_short(case, approximate_search, monkeypatch):
    monkeypatch.setattr(approximate_search, "_ROWS_A_LIST", 100)
    monkeypatch.setattr(approximate_search, "PROBES", {"euclidean": 1, "gower": 1})

    near, true = found(case), exact(case)

    assert (near >= true).all()
    assert 0.05 < (near[:, 0] == true[:, 0]).mean() < 0.95


def test_equal_records_have_equal_scores_wherever_they_stand(case, approximate_search, monkeypatch):
    for name, value in (("_ROWS_A_LIST", 100), ("_RECORDS", 32)):
        monkeypatch.setattr(approximate_search, name, value)
    monkeypatch.setattr(approximate_search, "PROBES", {"euclidean": 2, "gower": 2})
    records, rows, geometry = case
    order = np.random.default_rng(0).permutation(np.r_[np.arange(400), np.arange(50), 7, 7, 7])

    near = found((records.take(order), rows, geometry))

    np.testing.assert_array_equal(near, found(case)[order])


def test_lists_that_are_too_short_are_made_good(case, approximate_search, monkeypatch):
    monkeypatch.setattr(approximate_search, "_ROWS_A_LIST", 100)
    monkeypatch.setattr(approximate_search, "PROBES", {"euclidean": 1, "gower": 1})

    near = found(case, k=1000)

    assert np.isfinite(near).all()
    np.testing.assert_array_equal(near, exact(case, k=1000))


def test_an_index_that_is_too_large_is_refused(case, approximate_search):
    assert approximate_search
    with pytest.raises(InputError) as caught:
        found(case, memory=1 << 16)
    assert caught.value.code == "too_little_memory"


def test_a_ball_has_no_approximate_form(case, approximate_search):
    assert approximate_search
    records, rows, geometry = case
    search = Neighbours(rows, geometry, PLENTY)
    search.approximate(0)

    with pytest.raises(TypeError):
        search.ball(records, 1.0)


def test_without_faiss_the_extra_is_named(case, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)

    with pytest.raises(MissingExtraError) as caught:
        found(case)

    assert "mipaudit[approximate]" in str(caught.value.hint)


def test_recall_counts_what_was_found():
    said = recall(2, np.array([1.0, 2.2, 0.0, 0.5]), np.array([1.0, 2.0, 0.0, 0.0]))

    assert (said.neighbours, said.records, said.right, said.copies_missed) == (2, 4, 2, 1)
    assert said.excess_mean == pytest.approx(0.05)
    assert said.excess_95 == pytest.approx(0.095)


def test_recall_where_all_are_copies():
    said = recall(1, np.zeros(3), np.zeros(3))

    assert (said.right, said.excess_mean, said.excess_95, said.copies_missed) == (3, 0.0, 0.0, 0)
