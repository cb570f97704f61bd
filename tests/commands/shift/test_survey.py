from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.shift.survey import ColumnTallies, cut_columns


def tallies(values, member, categories, seen=None):
    cells = cut_columns(values if seen is None else seen, categories)
    found = ColumnTallies(cells)
    found.add(list(values.T), member)
    return found


def cell_twin(marks, value, *, category):
    """Return the cell of one value, one mark at a time."""
    if np.isnan(value):
        return len(marks) + 1
    for at, mark in enumerate(marks):
        if value == mark or (not category and value < mark):
            return at
    return len(marks)


@pytest.mark.parametrize("category", [False, True])
def test_cells_slow_twin(category):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 60, 500).astype(float)
    values[::7] = np.nan
    (cells,) = cut_columns(values[:200, None], [category])
    later = np.r_[values[200:], -5.0, 99.0]
    twins = [cell_twin(cells.marks.tolist(), value, category=category) for value in later]
    assert cells.locate(later).tolist() == twins


def test_every_value_of_few_is_a_cell():
    (cells,) = cut_columns(np.array([[0.0], [1.0], [1.0], [5.0]]), [False])
    assert cells.marks.tolist() == [0.0, 1.0]


def test_nothing_known_is_one_cell():
    numbers, texts = cut_columns(np.full((3, 2), np.nan), [False, True])
    assert numbers.locate(np.array([1.0, np.nan])).tolist() == [0, 1]
    assert texts.locate(np.array([1.0, np.nan])).tolist() == [0, 1]


def test_effects_are_differences_of_shares():
    member = np.repeat([True, False], 100)
    number = np.r_[np.repeat([1.0, 2.0], [70, 30]), np.repeat([1.0, 2.0], [40, 60])]
    text = np.r_[np.repeat([7.0, 8.0, 9.0], [20, 50, 30]), np.repeat([7.0, 8.0, 9.0], [20, 20, 60])]
    gaps = np.where(np.r_[np.arange(100) < 25, np.arange(100) < 5], np.nan, 3.0)
    values = np.stack([number, text, gaps], axis=1)
    tests = tallies(values, member, [False, True, False]).tests(
        ["n", "t", "g"], ["numbers", "categories", "numbers"]
    )
    found = {(one.column, one.aspect): one for one in tests}
    assert found["n", "numbers"].effect == pytest.approx(0.3)
    assert abs(found["t", "categories"].effect) == pytest.approx(0.3)
    assert found["g", "missing"].effect == pytest.approx(0.2)
    assert ("g", "numbers") not in found  # one value only
    assert (found["n", "numbers"].n_members, found["n", "numbers"].n_holdout) == (100, 100)
    assert tests[0].p_value <= tests[-1].p_value


def test_merging_is_adding():
    rng = np.random.default_rng(2)
    values, member = rng.normal(size=(300, 3)), rng.random(300) < 0.4
    cells = cut_columns(values, [False] * 3)
    whole, first, second = (ColumnTallies(cells) for _ in range(3))
    whole.add(list(values.T), member)
    first.add(list(values[:120].T), member[:120])
    second.add(list(values[120:].T), member[120:])
    first.merge(second)
    for mine, theirs in zip(whole.counts, first.counts, strict=True):
        assert (mine == theirs).all()


@pytest.mark.parametrize(("inside", "outside"), [(6, 8), (15, 60), (200, 200)])
def test_at_most_one_list_in_twenty_holds_a_column_that_does_not_differ(inside, outside):
    """Six columns of one law, ties and missing cells among them; cells from other rows."""
    rng = np.random.default_rng(inside)
    member = np.arange(inside + outside) < inside
    kinds = [False, False, False, True, True, False]
    wrong, times = 0, 300

    def draw(n):
        gaps = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
        columns = (
            rng.normal(size=n),
            rng.integers(0, 4, n),
            rng.exponential(size=n),
            rng.integers(0, 3, n),
            rng.integers(0, 40, n),
            gaps,
        )
        return np.stack(columns, axis=1).astype(float)

    for _ in range(times):
        tests = tallies(draw(member.size), member, kinds, seen=draw(20)).tests(
            list("abcdef"), ["numbers"] * 6
        )
        wrong += any(one.adjusted <= 0.05 for one in tests)
    # 0.05 and three standard errors of the count.
    assert wrong <= 0.05 * times + 3 * np.sqrt(times * 0.05 * 0.95)
