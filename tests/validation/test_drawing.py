from __future__ import annotations

import numpy as np
import pytest

from mipaudit.validation.scenarios import drawn_chunks, scenario, scenario_names

ROWS = {"scores": {"members": 300, "holdout": 700}, "canaries": {"canaries": 1000}}
ROWS["splits"] = {"splits": 1000}


def drawn(name, *, order="shuffled", seed=0, chunk=128, rows=None):
    found = scenario(name)
    parts = list(drawn_chunks(found, rows or ROWS[found.kind], order, seed, chunk))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@pytest.mark.parametrize("name", scenario_names())
def test_rows_are_numbered_and_the_classes_have_their_sizes(name):
    table = drawn(name)
    found = scenario(name)
    assert set(table) == set(found.columns)
    assert (table[found.columns[0]] == np.arange(1000)).all()
    if found.kind == "scores":
        assert table["member"].sum() == 300
        assert table["member"].dtype == bool
    if found.kind == "canaries":
        assert 400 < table["included"].sum() < 600


@pytest.mark.parametrize("name", ["laplace-1", "subgroup-leak", "xor2d-0.4", "canaries-laplace-1"])
def test_orders(name):
    found = scenario(name)
    member, score = found.member_column, found.drawn[0]
    by_score = drawn(name, order="sorted")
    assert (np.diff(by_score[score]) >= 0).all()
    assert (np.diff(by_score[found.columns[0]]) == 1).all()
    first = drawn(name, order="members-first")
    assert (np.diff(first[member].astype(int)) <= 0).all()
    shuffled = drawn(name)
    assert np.abs(np.diff(shuffled[member].astype(int))).sum() > 200
    # Sorting moves whole rows.
    for column in (member, *found.drawn):
        assert sorted(by_score[column].tolist()) == sorted(shuffled[column].tolist())
    where = {value: at for at, value in enumerate(shuffled[score])}
    same = np.array([where[value] for value in by_score[score]])
    for column in (member, *found.drawn):
        assert (by_score[column] == shuffled[column][same]).all()


@pytest.mark.parametrize("name", ["laplace-1", "canaries-laplace-1", "izzo-prop9-14"])
def test_a_seed_fixes_every_value(name):
    first, again, other = drawn(name), drawn(name), drawn(name, seed=1)
    for column, values in first.items():
        assert (again[column] == values).all()
    last = list(first)[-1]
    assert (other[last] != first[last]).any()


def test_chunks_and_scenarios_have_streams_of_their_own():
    table = drawn("null-gaussian", chunk=100)
    assert len(np.unique(table["score"])) == 1000
    assert not (drawn("gauss-shift-1")["score"] == drawn("gauss-shift-2")["score"]).any()


def test_members_are_spread_evenly_over_shuffled_chunks():
    # Exactly as many as asked for, and in any chunk as many as a fair shuffle would put there.
    counts = [
        drawn("constant", seed=seed, rows={"members": 200, "holdout": 200})["member"][:100].sum()
        for seed in range(300)
    ]
    assert np.mean(counts) == pytest.approx(50, abs=0.8)
    # A hypergeometric count of 100 among 400, half of them members: 25 * 300 / 399.
    assert np.var(counts) == pytest.approx(18.8, rel=0.3)


def test_within_a_chunk_every_place_is_as_likely_a_members():
    places = sum(
        drawn("constant", seed=seed, chunk=50, rows={"members": 20, "holdout": 30})["member"]
        for seed in range(400)
    )
    assert np.abs(places / 400 - 0.4).max() < 5 * np.sqrt(0.24 / 400)


def test_one_record_of_each_class():
    table = drawn("laplace-1", rows={"members": 1, "holdout": 1})
    assert sorted(table["member"]) == [False, True]
