"""Counts of challengers beside the cells of other scores: against a loop over the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.evidence.named_attackers.difference import evaluation_groups
from mipaudit.summaries.challenger_counts import (
    GridTally,
    GuessPlan,
    MeetingPlan,
    MeetingTally,
    ValueSet,
    cells_at_once,
    score_cells,
)
from mipaudit.summaries.identity.row_rank import micro_blocks, rank_bytes
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.sample import BurnInSample

SEED = 4


def rows_of(member, columns, first=0):
    return Rows(
        first_row=first,
        source_rows=member.size,
        kept=None,
        keys=None,
        member=member,
        scores=tuple(columns),
    )


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    member = rng.random(900) < 0.4
    smooth = rng.standard_normal(900) + member
    return rows_of(member, [smooth, np.round(rng.standard_normal(900), 1)])


@pytest.fixture(scope="module")
def cut(rows):
    sample = BurnInSample(2, SEED)
    sample.add(rows)
    sample.settle()
    plan = make_plan(sample, ["float", "float"], prior=0.5, discrete=False, seed=SEED)
    return sample, plan


def cells_of(cut, *, values=None, count=300):
    sample, plan = cut
    return [
        score_cells(
            one.cells,
            sample,
            index,
            burn_in=plan.burn_in,
            prior=0.5,
            count=count,
            values=None if values is None else values[index],
        )
        for index, one in enumerate(plan.columns)
    ]


def plan_of(cut, scores):
    _, plan = cut
    rng = np.random.default_rng(3)
    coarse = int(scores[0].coarse[-1]) + 1
    grid = scores[0].sides * scores[1].sides
    table = rng.integers(0, 2, size=15)
    sets = tuple(rng.random(grid if on else coarse) < 0.5 for on in table)
    guess = GuessPlan(columns=((0,), (0, 1)), table=table, sets=sets)
    return MeetingPlan(
        scores=tuple(scores),
        groups=evaluation_groups(plan.burn_in),
        seed=SEED,
        guesses=(guess,),
        meetings=((0, 0), (0, 1)),
    )


def counted_by_hand(rows, plan):
    blocks = micro_blocks(rank_bytes(rows, plan.seed))
    guess = plan.guesses[0]
    found = [np.zeros((15, 2, plan.scores[s].count, 2), dtype=np.int64) for _, s in plan.meetings]
    for row, micro in enumerate(blocks):
        block = plan.groups[micro]
        if block < 0:
            continue
        cells = [
            int((one.edges < scores[row]).sum())
            for one, scores in zip(plan.scores, rows.scores, strict=True)
        ]
        if guess.table[block] == 0:
            place = plan.scores[0].coarse[cells[0]]
        else:
            place = plan.scores[0].side[cells[0]] * plan.scores[1].sides
            place += plan.scores[1].side[cells[1]]
        called = int(guess.sets[block][place])
        for counts, (_, score) in zip(found, plan.meetings, strict=True):
            counts[block, called, cells[score], int(rows.member[row])] += 1
    return found


@pytest.mark.parametrize("every_value", [False, True])
def test_counts_are_those_of_a_loop(rows, cut, every_value):
    scores = cells_of(cut, values=rows.scores if every_value else None)
    plan = plan_of(cut, scores)
    tally = MeetingTally(plan)
    tally.add(rows)
    for found, expected in zip(tally.counts, counted_by_hand(rows, plan), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_parts_add_up_in_any_order(rows, cut):
    scores = cells_of(cut)
    plan = plan_of(cut, scores)
    whole = MeetingTally(plan)
    whole.add(rows)
    parts = []
    for start, stop in ((0, 250), (250, 900)):
        part = MeetingTally(plan)
        part.add(rows_of(rows.member[start:stop], [one[start:stop] for one in rows.scores], start))
        parts.append(part)
    parts[1].merge(parts[0])
    for found, expected in zip(parts[1].counts, whole.counts, strict=True):
        np.testing.assert_array_equal(found, expected)


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


def test_the_grid_counts_every_row_once(cut, rows):
    scores = cells_of(cut)
    tally = GridTally(scores, [(0, 1)], SEED)
    tally.add(rows)
    (counts,) = tally.counts
    assert counts.sum() == rows.member.size
    assert counts[..., 1].sum() == rows.member.sum()
    again = GridTally(scores, [(0, 1)], SEED)
    again.add(rows)
    again.merge(tally)
    np.testing.assert_array_equal(again.counts[0], 2 * counts)


def test_values_are_distinct_and_sorted(rows):
    found, other = ValueSet(2), ValueSet(2)
    found.add(rows)
    other.add(rows)
    found.merge(other)
    for one, scores in zip(found.values(), rows.scores, strict=True):
        np.testing.assert_array_equal(one, np.unique(scores))


def test_many_meetings_leave_fewer_cells():
    assert cells_at_once(10, 15) > cells_at_once(1000, 15) >= 512


def test_the_parts_of_a_plan_count_the_same_in_less_room(rows, cut):
    plan = plan_of(cut, cells_of(cut))
    whole = MeetingTally(plan)
    whole.add(rows)
    assert [one.meetings for one in plan.parts()] == [plan.meetings]
    parts = plan.parts(1)
    assert [one.meetings for one in parts] == [(one,) for one in plan.meetings]
    for part, expected in zip(parts, whole.counts, strict=True):
        tally = MeetingTally(part)
        tally.add(rows)
        np.testing.assert_array_equal(tally.counts[0], expected)


def test_counts_of_meetings_are_bounded_however_many_cells_there_are(cut):
    plan = plan_of(cut, cells_of(cut))
    many = replace(plan, meetings=plan.meetings * 40)
    most = 4 * 15 * max(one.count for one in plan.scores)
    parts = many.parts(5 * most)
    assert len(parts) > 1
    assert tuple(one for part in parts for one in part.meetings) == many.meetings
    for part in parts:
        held = sum(4 * part.blocks * plan.scores[score].count for _, score in part.meetings)
        assert held <= 5 * most


def test_threads_share_the_counts_of_meetings(rows, cut):
    @dataclass(frozen=True)
    class Part:
        rows: Rows

        def batches(self, intake):
            yield self.rows

    plan = plan_of(cut, cells_of(cut))
    whole = MeetingTally(plan)
    whole.add(rows)
    tally = MeetingTally(plan)
    parts = [
        Part(rows_of(rows.member[at : at + 60], [one[at : at + 60] for one in rows.scores], at))
        for at in range(0, 900, 60)
    ]
    assert fold(parts, tally.shared, workers=Workers(Engine(jobs=4))) is tally
    for found, expected in zip(tally.counts, whole.counts, strict=True):
        np.testing.assert_array_equal(found, expected)
