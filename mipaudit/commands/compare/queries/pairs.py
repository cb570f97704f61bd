"""Queries of the same rows or not: who meets whom, and every limit of a difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.named_attackers.difference import (
    Challenger,
    apart_lower,
    bins_of,
    class_challengers,
    encounter,
    in_bins,
    joint_challenger,
    same_rows_lower,
)
from mipaudit.evidence.scores.averaged_lower import Averaged, averaged_among
from mipaudit.evidence.scores.evidence import CLASSES, Evidence
from mipaudit.maths.class_limits.difference import Encounter
from mipaudit.statements.estimate import Attackers
from mipaudit.summaries.challenger_counts import MeetingCounts, MeetingPlan, ScoreCells
from mipaudit.summaries.ranked_rows import RankedRows

Key = tuple[int, Attackers] | tuple[int, int]

# The grid is merged this many rows or columns at a time: up to 32, 16, 8 and 4 a side.
_MERGED: Final = (1, 2, 4, 8)


def common_classes(first: Evidence, second: Evidence) -> tuple[Attackers, ...]:
    """Return the classes that a difference of two queries can be stated for."""
    found: tuple[Attackers, ...] = ("any",) if first.discrete and second.discrete else ()
    if not (first.ordered and second.ordered):
        return found
    divisible = first.divisible and second.divisible
    return found + tuple(one for one in CLASSES if one != "bins-16" or divisible)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Meeting:
    """What a meeting's counts come to; the counts themselves are many times larger.

    Attributes:
        found: with the cells of the rival's score that hold rows; None without rows.
        cells: these cells.
    """

    found: Encounter | None
    cells: NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SameRows:
    """Queries of the same rows, with the attackers that meet each other.

    Attributes:
        evidence: of every query.
        scores: the finer cells of every query's score.
        alone: the attackers of a class on one query.
        together: the attackers on two queries at once.
        plan: what is to be counted.
    """

    evidence: tuple[Evidence, ...]
    scores: tuple[ScoreCells, ...]
    alone: Mapping[tuple[int, Attackers], Challenger]
    together: Mapping[tuple[int, int], Challenger]
    plan: MeetingPlan
    _index: Mapping[tuple[Key, int], int]

    def meetings(self, part: MeetingPlan, counts: Sequence[MeetingCounts]) -> tuple[Meeting, ...]:
        """Return the meetings of one part of the plan.

        Args:
            part: of the plan.
            counts: of its meetings.
        """
        challengers = [*self.alone.values(), *self.together.values()]
        found = []
        for one, (who, rival) in zip(counts, part.meetings, strict=True):
            # No rival gains or loses anything in a cell without rows.
            cells = np.flatnonzero(one.sums[0].any(axis=0))
            single = self.scores[rival].single[cells]
            met = encounter(one.sums[..., cells], one.squares, single, challengers[who].rates)
            found.append(Meeting(found=met, cells=cells))
        return tuple(found)

    def lower(
        self,
        meetings: Sequence[Meeting],
        key: Key,
        rival: int,
        attackers: Attackers,
        alpha: float,
    ) -> float | None:
        """Return a lower limit of a challenger minus the best of a class on another query.

        Args:
            meetings: all of them, in the plan's order.
            key: the challenger.
            rival: the other query.
            attackers: its class.
            alpha: one-sided error in (0, 1).
        """
        met = meetings[self._index[key, rival]]
        found = met.found
        if attackers == "bins-16" and found is not None:
            starts = bins_of(self.evidence[rival].counts)
            coarse = self.scores[rival].coarse[met.cells]
            found = in_bins(found, np.searchsorted(starts, coarse, side="right"))
        query, other = key
        alone = self.together[query, other] if isinstance(other, int) else self.alone[query, other]
        return same_rows_lower(alone, found, attackers, alpha)


def same_rows(
    evidence: Sequence[Evidence],
    scores: Sequence[ScoreCells],
    *,
    pairs: Sequence[tuple[int, int]],
    grids: Mapping[tuple[int, int], NDArray[np.int64]],
    seed: int,
    rows: Sequence[RankedRows] | None = None,
) -> SameRows:
    """Return the attackers that have learned, and the plan of who meets whom.

    Args:
        evidence: of every query, of the same rows.
        scores: the finer cells of every query's score.
        pairs: the pairs of queries to compare.
        grids: counts in the product grid of those pairs that are seen together.
        seed: of the row assignment.
        rows: in order of every query's score; None where there are too many.
    """
    wanted: dict[int, dict[Attackers, None]] = {}
    for pair in pairs:
        for query in pair:
            classes = common_classes(evidence[pair[0]], evidence[pair[1]])
            wanted.setdefault(query, {}).update(dict.fromkeys(classes))
    alone = {
        (query, attackers): found
        for query, classes in wanted.items()
        for attackers, found in class_challengers(
            evidence[query].counts,
            classes,
            evidence[query].prior,
            column=query,
            rows=None if rows is None else rows[query],
        ).items()
    }
    together = {
        (a, b): seen_together(
            (evidence[a], evidence[b]), grid, (scores[a].sides, scores[b].sides), (a, b)
        )
        for (a, b), grid in grids.items()
    }
    keys: list[Key] = [*alone, *together]
    met = [(key, rival) for key in keys for rival in _rivals(key, pairs, evidence)]
    return SameRows(
        evidence=tuple(evidence),
        scores=tuple(scores),
        alone=alone,
        together=together,
        plan=MeetingPlan(
            scores=tuple(scores),
            seed=seed,
            guesses=tuple(one.guesses for one in (*alone.values(), *together.values())),
            meetings=tuple((keys.index(key), rival) for key, rival in met),
        ),
        _index={pair: place for place, pair in enumerate(met)},
    )


def seen_together(
    scores: tuple[Evidence, Evidence],
    grid: NDArray[np.int64],
    sides: tuple[int, int],
    pair: tuple[int, int],
) -> Challenger:
    """Return the attackers on two scores of the same rows.

    Args:
        scores: both.
        grid: counts in their product grid, shape (64, sides[0] * sides[1], 2).
        sides: cells of the grid along each score.
        pair: columns of the two scores.
    """
    cells = [merged_cells(sides, step) for step in _MERGED]
    tables = [one.counts.blocks for one in scores] + [_merged(grid, one) for one in cells]
    return joint_challenger(tables, cells, scores[0].counts, scores[0].prior, pair)


def merged_cells(sides: tuple[int, int], step: int) -> NDArray[np.intp]:
    """Return the cell of a coarser grid that holds each cell of the finest one."""
    rows, columns = np.arange(sides[0]) // step, np.arange(sides[1]) // step
    return (rows[:, None] * (int(columns[-1]) + 1) + columns).ravel()


def _merged(grid: NDArray[np.int64], cells: NDArray[np.intp]) -> NDArray[np.int64]:
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], np.arange(int(cells.max()) + 1))
    return np.add.reduceat(grid[:, order], starts, axis=1)


def _rivals(
    key: Key, pairs: Sequence[tuple[int, int]], evidence: Sequence[Evidence]
) -> Sequence[int]:
    """Return the queries that a challenger meets."""
    query, other = key
    if isinstance(other, int):
        return (query, other)
    both = chain.from_iterable([(a, b), (b, a)] for a, b in pairs)
    return [b for a, b in both if a == query and other in common_classes(evidence[a], evidence[b])]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cohort:
    """Queries of the same rows, counted.

    Attributes:
        queries: their numbers among all queries.
        met: the attackers that met, or None where there is one query only.
        meetings: what they came to, in the order of the plan.
    """

    queries: tuple[int, ...]
    met: SameRows | None
    meetings: Sequence[Meeting]


@dataclass(frozen=True, kw_only=True, eq=False)
class Compared:
    """All queries, and how any two of them differ.

    Attributes:
        evidence: one for each query; names are unique.
        cohorts: which queries are of the same rows.
        independent: whether different cohorts hold different records.
    """

    evidence: tuple[Evidence, ...]
    cohorts: tuple[Cohort, ...]
    independent: bool
    _challengers: dict[tuple[int, Attackers], Challenger] = field(default_factory=dict)

    def cohort(self, query: int) -> Cohort:
        """Return the cohort that a query belongs to."""
        return next(one for one in self.cohorts if query in one.queries)

    def classes(self, first: int, second: int) -> tuple[Attackers, ...]:
        """Return the classes that a difference can be stated for."""
        return common_classes(self.evidence[first], self.evidence[second])

    def challenger(self, query: int, attackers: Attackers) -> Challenger:
        """Return the attackers of a class that learned on a query."""
        cohort, key = self.cohort(query), (query, attackers)
        if cohort.met is not None:
            met = cohort.met.alone.get((cohort.queries.index(query), attackers))
            if met is not None:
                return met
        if key not in self._challengers:
            one = self.evidence[query]
            found = class_challengers(one.counts, [attackers], one.prior)
            self._challengers[key] = found[attackers]
        return self._challengers[key]

    def lower(self, first: int, second: int, attackers: Attackers, alpha: float) -> float | None:
        """Return a lower limit of the first query's advantage minus the second's.

        Args:
            first: number of a query.
            second: number of another.
            attackers: the class, on either query.
            alpha: one-sided error in (0, 1).
        """
        cohort = self.cohort(first)
        if second in cohort.queries and cohort.met is not None:
            place = cohort.queries.index
            key = (place(first), attackers)
            return cohort.met.lower(cohort.meetings, key, place(second), attackers, alpha)
        return apart_lower(
            self.challenger(first, attackers),
            self.evidence[second],
            attackers,
            alpha,
            independent=self.independent,
        )

    def upper(self, first: int, second: int, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit of the first query's advantage minus the second's."""
        lower = self.lower(second, first, attackers, alpha)
        return None if lower is None else -lower

    def value(self, query: int, attackers: Attackers) -> float:
        """Return the best estimate of a query's advantage within a class: biased downward."""
        return self.challenger(query, attackers).rates.value

    def largest(self, cohort: Cohort) -> Averaged:
        """Return the guesses of one attacker at a time, on whichever query of a cohort."""
        found = [self.evidence[one] for one in cohort.queries]
        blocks = [one.counts.blocks for one in found]
        return averaged_among(blocks, found[0].counts.burn_in, found[0].prior)

    def gain(
        self, cohort: Cohort, pair: tuple[int, int], attackers: Attackers, alpha: float
    ) -> float | None:
        """Return a lower limit of what a pair shows beyond the better of the two alone.

        The better of the two is one fixed attacker, on one of the scores: the smaller of
        the two limits holds without a share of the error for either. Two scores never
        show less than one, so the limit is at least 0.

        Args:
            cohort: of both.
            pair: numbers within the cohort.
            attackers: the class of those who see one score alone.
            alpha: one-sided error in (0, 1).
        """
        if cohort.met is None:
            return None
        limits = [
            cohort.met.lower(cohort.meetings, pair, rival, attackers, alpha) for rival in pair
        ]
        known = [one for one in limits if one is not None]
        return max(0.0, min(known)) if len(known) == len(limits) else None
