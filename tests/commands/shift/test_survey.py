from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.shift import survey
from mipaudit.commands.shift.survey import (
    ColumnTallies,
    CopyCount,
    HoldoutKeys,
    KeyForm,
    cut_columns,
)
from mipaudit.summaries.rows import Rows, rank_bytes


def tallies(values, member, categories, seen=None):
    cells = cut_columns(values if seen is None else seen, categories)
    found = ColumnTallies(cells)
    found.add(list(values.T), member)
    return found


def cell_twin(marks, value, *, category):
    """Return the cell of one value, one mark at a time."""
    if np.isnan(value):
        return len(marks) + 1
    below = (at for at, m in enumerate(marks) if value == m or (not category and value < m))
    return next(below, len(marks))


@pytest.mark.parametrize("category", [False, True])
def test_cells_slow_twin(category):
    values = np.random.default_rng(1).integers(0, 60, 500).astype(float)
    values[::7] = np.nan
    (cells,) = cut_columns(values[:200, None], [category])
    later = np.r_[values[200:], -5.0, 99.0]
    twins = [cell_twin(cells.marks.tolist(), value, category=category) for value in later]
    assert cells.locate(later).tolist() == twins


def test_every_value_of_few_is_a_cell_and_nothing_known_is_one():
    (cells,) = cut_columns(np.array([[0.0], [1.0], [1.0], [5.0]]), [False])
    assert cells.marks.tolist() == [0.0, 1.0]
    for cells in cut_columns(np.full((3, 2), np.nan), [False, True]):
        assert cells.locate(np.array([1.0, np.nan])).tolist() == [0, 1]


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


def count(values, member, *, fractions=None, keys=None, parts=1):
    """Count the copies of holdout records among members, of rows in parts."""
    values, member = np.array(values, dtype=float), np.asarray(member, dtype=bool)
    fractions = fractions or (False,) * values.shape[1]
    form = KeyForm(fractions=fractions, persons=keys is not None)
    pieces = [
        Rows(
            first_row=int(at[0]),
            source_rows=len(at),
            kept=None,
            keys=None if keys is None else keys[at],
            member=member[at],
            scores=tuple(np.ascontiguousarray(values[at].T)),
        )
        for at in np.array_split(np.arange(len(values)), parts)
    ]
    wanted = HoldoutKeys(form, 3)
    for piece in pieces:
        one = HoldoutKeys(form, 3)
        one.take(piece, rank_bytes(piece, 3))
        wanted.merge(one)
    found = CopyCount(wanted.finish())
    for piece in pieces:
        one = CopyCount(found._wanted)
        one.take(piece)
        found.merge(one)
    return found.copies()


def same(a, b):
    return a == b or (np.isnan(a) and np.isnan(b))


def twin(values, member):
    """Compare every holdout record with every member, cell by cell."""
    exact = near = 0
    for one in values[~member]:
        differing = [
            sum(not same(a, b) for a, b in zip(one, other, strict=True)) for other in values[member]
        ]
        exact += 0 in differing
        near += 0 not in differing and 1 in differing
    return exact, near


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("parts", [1, 4])
def test_slow_twin(seed, parts):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (120, 4)).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    values[values == 0] *= rng.choice([1.0, -1.0])
    member = rng.random(120) < 0.5
    found = count(values, member, parts=parts)
    assert (found.exact, found.but_one) == twin(values, member)
    assert found.searched == found.holdout == int((~member).sum())


ABC = [[1, 2, 3], [2, 1, 3], [3, 2, 1]]
FOUR = [[1, 2, 3], [1, 2, 3], [1, 2, 3], [9, 9, 9]]
DIGITS = [[1.2341, 5], [1.2349, 5], [1.25, 5], [0.0012341, 5], [0.0012342, 6]]
OF_TWO = {"exact": 0, "but_one": None}  # two columns: all but one say too little


@pytest.mark.parametrize(
    ("values", "member", "more", "found"),
    [
        # Copies within the holdout are counted for comparison.
        (FOUR, [1, 0, 0, 0], {}, {"exact": 2, "exact_within": 2}),
        # Rounding finds what differs in the fourth digit.
        (DIGITS, [1, 0, 0, 1, 0], {"fractions": (True, False)}, {"rounded": 1, **OF_TWO}),
        (DIGITS, [1, 0, 0, 1, 0], {}, {"rounded": None}),
        # Equal numbers of another column are no copy.
        (ABC, [1, 0, 0], {}, {"exact": 0, "but_one": 0}),
        (
            np.arange(12.0).reshape(4, 3),
            [1, 1, 0, 0],
            {"keys": np.array([5, 6, 5, 7], dtype=np.uint64)},
            {"persons": 1, "exact": 0},
        ),
    ],
)
def test_what_is_a_copy(values, member, more, found):
    copies = count(values, member, **more)
    assert {name: getattr(copies, name) for name in found} == found


def test_a_large_holdout_is_sampled_alike_in_any_order(monkeypatch):
    monkeypatch.setattr(survey, "_MOST_KEYS", 1)
    monkeypatch.setattr(survey, "_FEWEST_ROWS", 50)
    rng = np.random.default_rng(1)
    values = rng.integers(0, 3, (400, 3)).astype(float)
    member = np.arange(400) < 100
    one, other = count(values, member), count(values, member, parts=7)
    assert one == other
    assert (one.searched, one.holdout, one.exact_within) == (50, 300, None)


def test_wide_tables_are_looked_through_in_pieces(monkeypatch):
    rng = np.random.default_rng(7)
    values = rng.integers(0, 3, (200, 6)).astype(float)
    member = rng.random(200) < 0.5
    whole = count(values, member)
    assert whole.exact
    assert whole.but_one
    monkeypatch.setattr(survey, "_KEYS_AT_ONCE", 40)
    assert count(values, member) == whole


def test_a_thousand_columns_take_little_memory():
    form = KeyForm(fractions=(False,) * 1000, persons=False)
    assert form.most_rows * form.count * 8 < 1 << 25
    assert max(part.stop - part.start for part in form.slices(70_000)) * form.count <= 1 << 20
    sought = HoldoutKeys(form, 3).finish().sought
    assert len(sought) == form.count
    assert sum(one.sieve.size for one in sought) < 1 << 12
