"""Counts of challengers beside the cells of other scores: against a loop over the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.summaries.challenger_counts import (
    MeetingPlan,
    MeetingTally,
    RowGuesses,
    TabledGuesses,
    score_cells,
    whole_guesses,
)
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.rows import Rows, micro_blocks, rank_bytes
from tests.fixtures.rows import burn_in, cut_rows, make_rows

SEED = 4


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    member = rng.random(900) < 0.4
    smooth = rng.standard_normal(900) + member
    return make_rows(member, smooth, np.round(rng.standard_normal(900), 1))


@pytest.fixture(scope="module")
def cut(rows):
    sample = burn_in([rows], SEED)
    plan = make_plan(sample, ["float", "float"], prior=0.5, discrete=False, seed=SEED)
    return sample, plan


def cells_of(cut, *, values=None, count=300):
    sample, plan = cut
    values = values or [None] * len(plan.columns)
    rule = {"burn_in": plan.burn_in, "prior": 0.5, "count": count}
    return [
        score_cells(one.cells, sample, index, values=own, **rule)
        for index, (one, own) in enumerate(zip(plan.columns, values, strict=True))
    ]


def plan_of(scores, rows):
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 1 << 15, size=(64, 2))
    sizes = int(scores[0].coarse[-1]) + 1, scores[0].sides * scores[1].sides
    tabled = TabledGuesses(
        weights=weights,
        guessed=tuple(rng.integers(0, weights[:, :, None] // 2 + 1, (64, 2, k)) for k in sizes),
        columns=((0,), (0, 1)),
    )
    own = rng.integers(0, 1 << 15, size=rows.member.size).astype(np.int32)
    by_row = RowGuesses(weights=own, guessed=own // 3)
    return MeetingPlan(
        scores=tuple(scores),
        seed=SEED,
        guesses=(tabled, by_row),
        meetings=((0, 0), (0, 1), (1, 0)),
    )


def counted_by_hand(rows, plan):
    blocks = micro_blocks(rank_bytes(rows, plan.seed))
    tabled, by_row = plan.guesses
    found = [
        (np.zeros((4, 2, plan.scores[s].count), dtype=np.int64), np.zeros(2, dtype=np.int64))
        for _, s in plan.meetings
    ]
    for row, micro in enumerate(blocks):
        side = int(rows.member[row])
        cells = [
            int((one.edges < scores[row]).sum())
            for one, scores in zip(plan.scores, rows.scores, strict=True)
        ]
        first, second = plan.scores
        grid = first.side[cells[0]] * second.sides + second.side[cells[1]]
        places = first.coarse[cells[0]], grid
        parts = [one[micro, side, at] for one, at in zip(tabled.guessed, places, strict=True)]
        known = [
            (tabled.weights[micro, side], sum(parts)),
            (by_row.weights[row], by_row.guessed[row]),
        ]
        for (sums, squares), (who, score) in zip(found, plan.meetings, strict=True):
            w, g = (int(one) for one in known[who])
            sums[:, side, cells[score]] += [w, g, w * w, w * g]
            squares[side] += g * g
    return found


def assert_alike(found, expected):
    for one, (sums, squares) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.sums, sums)
        np.testing.assert_array_equal(one.squares, squares)


@pytest.mark.parametrize("every_value", [False, True])
def test_counts_are_those_of_a_loop(rows, cut, every_value):
    scores = cells_of(cut, values=rows.scores if every_value else None)
    plan = plan_of(scores, rows)
    tally = MeetingTally(plan)
    tally.add(rows)
    assert_alike(tally.counts, counted_by_hand(rows, plan))


def tabled_plan(cut, rows):
    """Return a plan without rows of one batch: batches may be of any size."""
    plan = plan_of(cells_of(cut), rows)
    return replace(plan, meetings=plan.meetings[:2])


def whole_counts(rows, plan):
    whole = MeetingTally(plan)
    whole.add(rows)
    return [(one.sums, one.squares) for one in whole.counts]


def test_parts_add_up_in_any_order(rows, cut):
    plan = tabled_plan(cut, rows)
    parts = [MeetingTally(plan) for _ in range(2)]
    for part, own in zip(parts, cut_rows(rows.member, rows.scores, [250]), strict=True):
        part.add(own)
    parts[1].merge(parts[0])
    assert_alike(parts[1].counts, whole_counts(rows, plan))


def test_shares_in_whole_numbers_stay_within_the_weights():
    rng = np.random.default_rng(0)
    weights = rng.random(500) * 1e-5
    guessed, whole = whole_guesses(weights * rng.choice([0, 0.3, 1], 500), weights)
    assert (guessed <= whole).all()
    assert whole.max() == 1 << 15
    np.testing.assert_allclose(whole / whole.sum(), weights / weights.sum(), atol=1e-7)
    assert whole_guesses(np.zeros(3), np.zeros(3))[1].tolist() == [0, 0, 0]


def test_finer_cells_lie_within_the_coarse_ones(cut, rows):
    _, plan = cut
    for values in (None, rows.scores):
        for one, column in zip(cells_of(cut, values=values), plan.columns, strict=True):
            tops = np.append(one.edges, np.inf)
            expected = column.cells.coarse[np.searchsorted(column.cells.edges, tops)]
            np.testing.assert_array_equal(one.coarse, expected)
            assert (np.diff(one.side) >= 0).all()
            for side in np.unique(one.side):
                inside = one.coarse[one.side == side]
                outside = one.coarse[one.side != side]
                assert not set(inside) & set(outside)


def test_single_cells_hold_one_value(cut, rows):
    for one, scores in zip(cells_of(cut), rows.scores, strict=True):
        place = np.searchsorted(one.edges, scores, side="left")
        for cell in np.flatnonzero(one.single):
            assert np.unique(scores[place == cell]).size <= 1


def test_the_parts_of_a_plan_count_the_same_in_less_room(rows, cut):
    plan = plan_of(cells_of(cut), rows)
    whole = whole_counts(rows, plan)
    assert [one.meetings for one in plan.parts()] == [plan.meetings]
    parts = plan.parts(1)
    assert [one.meetings for one in parts] == [(one,) for one in plan.meetings]
    for part, expected in zip(parts, whole, strict=True):
        tally = MeetingTally(part)
        tally.add(rows)
        assert_alike(tally.counts, [expected])


def test_counts_of_meetings_are_bounded_however_many_cells_there_are(cut, rows):
    plan = plan_of(cells_of(cut), rows)
    many = replace(plan, meetings=plan.meetings * 40)
    most = 8 * max(one.count for one in plan.scores)
    parts = many.parts(5 * most)
    assert len(parts) > 1
    assert tuple(one for part in parts for one in part.meetings) == many.meetings
    for part in parts:
        held = sum(one.sums.size for one in MeetingTally(part).counts)
        assert held <= 5 * most


def test_threads_share_the_counts_of_meetings(rows, cut):
    @dataclass(frozen=True)
    class Part:
        rows: Rows

        def batches(self, intake):
            yield self.rows

    plan = tabled_plan(cut, rows)
    tally = MeetingTally(plan)
    parts = [*map(Part, cut_rows(rows.member, rows.scores, range(60, 900, 60)))]
    assert fold(parts, tally.shared, workers=Workers(Engine(jobs=4))) is tally
    assert_alike(tally.counts, whole_counts(rows, plan))
