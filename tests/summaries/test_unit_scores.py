"""Scores of persons: against a slow twin, in any order of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.summaries.rows import one_class_each, rows_seed, unit_scores

SLOW = {
    "mean": lambda scores: math.fsum(scores) / len(scores),
    "max": max,
    "min": min,
    "sum": math.fsum,
}


def hashed(numbers):
    return np.asarray(numbers, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


@pytest.mark.parametrize("rule", SLOW)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 6), st.floats(-1e6, 1e6, allow_nan=False)), min_size=1, max_size=60
    )
)
def test_slow_twin(rule, rows):
    persons = hashed([person for person, _ in rows])
    score = np.array([score for _, score in rows])
    made = unit_scores(persons, (score, -score), rule)
    assert made.undefined == 0
    for row, size, found in zip(made.rows, made.sizes, made.scores[0], strict=True):
        own = score[persons == persons[row]]
        assert size == own.size
        assert found == pytest.approx(SLOW[rule](own.tolist()), rel=1e-12, abs=1e-9)
        if rule == "mean":
            assert own.min() <= found <= own.max()


@pytest.mark.parametrize("rule", SLOW)
def test_the_order_of_rows_changes_no_bit(rule):
    rng = np.random.default_rng(1)
    persons, score = hashed(rng.integers(0, 30, 3000)), rng.standard_cauchy(3000)
    first = unit_scores(persons, (score,), rule).scores[0]
    for _ in range(5):
        order = rng.permutation(3000)
        again = unit_scores(persons[order], (score[order],), rule).scores[0]
        assert again.tobytes() == first.tobytes()


def test_extremes():
    persons = hashed([1, 1, 2, 2, 3, 3, 4])
    score = np.array([1e308, 1.5e308, np.inf, 1, -np.inf, 2, -0.0])
    made = unit_scores(persons, (score,), "mean")
    found = dict(zip(persons[made.rows].tolist(), made.scores[0].tolist(), strict=True))
    assert [found[int(one)] for one in hashed([1, 2, 3, 4])] == [1.25e308, np.inf, -np.inf, 0.0]
    both = unit_scores(hashed([1, 1, 2]), (np.array([np.inf, -np.inf, 0.0]),), "sum")
    assert both.undefined == 1


def test_every_person_is_in_one_class():
    rng = np.random.default_rng(2)
    persons, member = hashed(rng.integers(0, 500, 2000)), rng.random(2000) < 0.5
    left, both = one_class_each(persons, member, 7)
    sides = {(int(p), bool(m)) for p, m in zip(persons[left], member[left], strict=True)}
    assert len(sides) == len({p for p, _ in sides}) == np.unique(persons).size
    every = {(int(p), bool(m)) for p, m in zip(persons, member, strict=True)}
    assert both == len(every) - np.unique(persons).size
    kept_in = sum(m for p, m in sides if (p, True) in every and (p, False) in every)
    assert abs(kept_in - both / 2) < 4 * math.sqrt(both / 4)
    # Each person's coin is its own: it does not depend on who else is there, or on the order.
    order = rng.permutation(2000)
    again, _ = one_class_each(persons[order], member[order], 7)
    assert (again == left[order]).all()
    alone, none = one_class_each(persons[left], member[left], 7)
    assert alone.all()
    assert none == 0


def test_the_seed_follows_from_the_rows_in_any_order():
    rng = np.random.default_rng(3)
    persons, member = hashed(rng.integers(0, 50, 200)), rng.random(200) < 0.5
    score = rng.normal(size=200)
    first = rows_seed(persons, member, (score,), 0)
    order = rng.permutation(200)
    assert rows_seed(persons[order], member[order], (score[order],), 0) == first
    changed = score.copy()
    changed[5] += 1
    others = {
        rows_seed(persons, member, (score,), 1),
        rows_seed(persons, ~member, (score,), 0),
        rows_seed(persons, member, (changed,), 0),
        rows_seed(persons + np.uint64(1), member, (score,), 0),
        rows_seed(persons, member, (score[order],), 0),
    }
    assert len(others | {first}) == 6
    # Two equal rows do not cancel.
    twice = [np.concatenate((one, one[:1], one[:1])) for one in (persons, member, score)]
    assert rows_seed(twice[0], twice[1], (twice[2],), 0) != first
