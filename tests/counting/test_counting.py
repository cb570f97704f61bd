"""Large inputs: counted in one pass where the first rows serve, else in two."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.counting import counts as counting
from mipaudit.counting.scores import count_by_position
from mipaudit.engine.workers import Engine, Workers
from mipaudit.maths.class_limits.area_limits import area_of
from mipaudit.maths.class_limits.class_sets import best_intervals, best_thresholds
from mipaudit.summaries import plan
from tests.fixtures.files import opened

ROWS = 40_000


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch):
    """Take 40,000 rows for a large input: cells instead of exact scores."""
    monkeypatch.setattr(plan, "EXACT_ROWS", 10_000)
    monkeypatch.setattr(plan, "_FINE_CELLS", 2048)
    monkeypatch.setattr(plan, "_LEAST_CELLS", 64)
    monkeypatch.setattr(counting, "_EARLY_ROWS", 12_000)


@pytest.fixture
def passes(monkeypatch):
    """Return the kinds of summary that were folded, in order."""
    folded = []
    real = counting.fold

    def fold(partitions, start, **settings):
        folded.append(type(start()).__name__)
        return real(partitions, start, **settings)

    monkeypatch.setattr(counting, "fold", fold)
    return folded


def scores_and_members():
    rng = np.random.default_rng(8)
    member = rng.random(ROWS) < 0.5
    return member, rng.normal(size=ROWS) + 0.5 * member


@pytest.fixture
def write(tmp_path):
    """Return a function that writes rows to a file, and returns its path."""

    def writer(member, score, group=7_000):
        path = tmp_path / f"{group}.parquet"
        pq.write_table(pa.table({"member": member, "score": score}), path, row_group_size=group)
        return str(path)

    return writer


def counted(path, **settings):
    with opened(path) as source:
        source.number_rows(3)
        return count_by_position(source, [(0,)], counting.How(discrete=False), **settings)


def test_one_pass_where_the_first_rows_serve(write, passes):
    counted(write(*scores_and_members()))
    assert passes == ["Survey"]


@pytest.mark.parametrize("order", ["by score", "by class", "drifting"])
def test_two_passes_where_they_do_not(write, passes, order):
    member, score = scores_and_members()
    if order == "drifting":
        score = score + np.linspace(0, 5, ROWS)
    else:
        rows = np.argsort(score if order == "by score" else ~member, kind="stable")
        member, score = member[rows], score[rows]
    counts = counted(write(member, score))
    assert passes == ["Survey", "Tally"]
    assert (counts.n_members, counts.n_holdout) == (member.sum(), (~member).sum())


@pytest.mark.parametrize("order", ["shuffled", "by score"])
def test_cells_bracket_the_exact_statistics(write, monkeypatch, order):
    member, score = scores_and_members()
    if order == "by score":
        rows = np.argsort(score)
        member, score = member[rows], score[rows]
    path = write(member, score)
    (cells,) = counted(path).columns
    monkeypatch.setattr(plan, "EXACT_ROWS", ROWS)
    (exact,) = counted(path).columns
    assert exact.everyone.exact
    assert not cells.everyone.exact
    rows = cells.everyone.members + cells.everyone.holdout
    largest = rows.max() / ROWS
    for ends, best in (
        (1, lambda ladder: best_thresholds(ladder, 0.5)),
        (2, lambda ladder: best_intervals(ladder, 0.5, 1)),
        (8, lambda ladder: best_intervals(ladder, 0.5, 4)),
    ):
        truth, bracketed = best(exact.everyone), best(cells.everyone)
        assert truth <= bracketed <= truth + 2 * ends * largest
    truth, bracketed = (area_of(one.everyone).limits(0.025) for one in (exact, cells))
    assert bracketed.value == pytest.approx(truth.value, abs=1e-4)
    assert bracketed.lower <= truth.lower + 1e-6
    assert bracketed.upper >= truth.upper - 1e-6


@pytest.mark.parametrize(("group", "jobs"), [(997, 1), (7_000, 2), (ROWS, 4)])
def test_row_groups_and_threads_change_nothing(write, group, jobs):
    member, score = scores_and_members()
    (one,), (two,) = (
        counted(write(member, score, size), workers=Workers(Engine(jobs=hired))).columns
        for size, hired in ((7_001, 1), (group, jobs))
    )
    np.testing.assert_array_equal(one.blocks, two.blocks)
    np.testing.assert_array_equal(one.everyone.members, two.everyone.members)
    np.testing.assert_array_equal(one.evaluated.holdout, two.evaluated.holdout)


def test_every_row_is_counted_once(write):
    member, score = scores_and_members()
    score[:7] = np.inf
    score[7:9] = -np.inf
    (counts,) = counted(write(member, score)).columns
    assert counts.blocks.sum() == ROWS
    assert counts.infinite == 9
    assert counts.everyone.n_members == member.sum()
    assert counts.evaluated.n_members == counts.scored[:, 1].sum()


def test_a_value_that_the_first_rows_lack_has_the_input_counted_again(write, passes):
    rng = np.random.default_rng(1)
    member, values = rng.random(ROWS) < 0.5, rng.integers(0, 30, ROWS)
    (column,) = counted(write(member, values)).columns
    assert passes == ["Survey"]
    assert (column.discrete, column.single.sum()) == (True, 30)
    values[20_000:] += rng.integers(0, 2, 20_000)
    counted(write(member, values))
    assert passes == ["Survey", "Survey", "Tally"]
