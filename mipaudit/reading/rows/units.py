"""Which rows of persons count, and with what scores, where a person may have several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError, UsageError
from mipaudit.maths.exact_tests import counts_alike
from mipaudit.reading.columns.column import mix64
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.unit_scores import UnitRule, one_class_each, rows_seed, unit_scores

if TYPE_CHECKING:
    from mipaudit.data.parts import ScoreColumn
    from mipaudit.data.request import ReadRequest

# Persons with the same number of rows in both classes are warned of so rarely.
_UNLIKE: Final = 0.05
_ROWS_STREAM: Final = 0x726F7773


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chosen:
    """The rows that stand for their persons: increasing global positions (int64).

    ``scores`` are the persons' own, one array for each column, where they are not the rows'.
    """

    positions: NDArray[np.int64]
    dropped_members: int = 0
    dropped_holdout: int = 0
    scores: tuple[NDArray[np.float64], ...] | None = None

    def within(self, first_row: int, rows: int) -> Chosen:
        """Return those of ``rows`` consecutive rows from ``first_row`` on."""
        start, end = np.searchsorted(self.positions, (first_row, first_row + rows))
        # A copy, so that it does not drag the others along.
        return Chosen(
            positions=self.positions[start:end].copy(),
            scores=None
            if self.scores is None
            else tuple(score[start:end].copy() for score in self.scores),
        )

    def among(self, rows: Rows) -> Rows:
        """Return the chosen rows of ``rows``."""
        stop = rows.first_row + rows.source_rows
        start, end = np.searchsorted(self.positions, (rows.first_row, stop))
        kept = self.positions[start:end] - rows.first_row
        at = np.searchsorted(rows.positions(), self.positions[start:end])
        return Rows(
            first_row=rows.first_row,
            source_rows=rows.source_rows,
            kept=kept,
            keys=None if rows.keys is None else rows.keys[at],
            member=rows.member[at],
            scores=tuple(score[at] for score in rows.scores)
            if self.scores is None
            else tuple(score[start:end] for score in self.scores),
            groups=None if rows.groups is None else rows.groups[at],
            names=None if rows.names is None else rows.names[at],
        )


def choose_units(batches: Iterable[Rows], seed: int) -> Chosen:
    """Choose for each person and class the row with the smallest hash of its position.

    The choice depends on the seed and on positions, never on a score. It holds
    about 24 bytes a row while it chooses, and 8 bytes a person afterwards.

    Args:
        batches: all rows, with the hash of their person as keys.
        seed: of the run.
    """
    rows = _stacked(one.of_columns(()) for one in batches)
    if rows is None:
        return Chosen(positions=np.empty(0, np.int64))
    persons, places, member, _ = rows
    salt = mix64(np.array([seed % 2**64], dtype=np.uint64))
    rank = mix64(places.view(np.uint64) ^ salt)
    order = np.lexsort((rank, member, persons))
    new = np.ones(order.size, dtype=np.bool_)
    new[1:] = (persons[order[1:]] != persons[order[:-1]]) | (
        member[order[1:]] != member[order[:-1]]
    )
    dropped = member[order[~new]]
    members = int(np.count_nonzero(dropped))
    return Chosen(
        positions=np.sort(places[order[new]]),
        dropped_members=members,
        dropped_holdout=dropped.size - members,
    )


_Persons = tuple[
    NDArray[np.uint64], NDArray[np.int64], NDArray[np.bool_], tuple[NDArray[np.float64], ...]
]


def _stacked(batches: Iterable[Rows]) -> _Persons | None:
    """Return persons, global positions, classes and scores of all rows; None for no rows."""
    kept = []
    for rows in batches:
        assert rows.keys is not None  # noqa: S101 - read with a key column
        kept.append((rows.keys, rows.positions(), rows.member, rows.scores))
    if not kept:
        return None
    persons, places, member, scores = zip(*kept, strict=True)
    return (
        np.concatenate(persons),
        np.concatenate(places),
        np.concatenate(member),
        tuple(map(np.concatenate, zip(*scores, strict=True))),
    )


def stand_for_units(
    columns: Sequence[ScoreColumn], batches: Iterable[Rows], request: ReadRequest
) -> tuple[tuple[ScoreColumn, ...], Chosen | None, tuple[Finding, ...]]:
    """Let every person stand in one class, with the score that the rule makes of all rows.

    It takes one pass, and about 17 bytes a row and 8 more for each score.

    Args:
        columns: the scores.
        batches: all rows, with the hash of their person as keys.
        request: how persons count.

    Returns:
        The columns of the persons' scores; the rows that may stand for persons, None for all; and
        what the reader must know of them.

    Raises:
        UsageError: ``unit_rows`` for labels, which have no mean and no order.
        InputError: ``unit_infinite`` for persons whose scores have no sum.
    """
    column, rule = request.unit_column, request.unit_rows
    assert column is not None  # noqa: S101 - the caller looked
    made = None if rule == "one" else rule
    taken = tuple(columns if made is None else (_column(one, made) for one in columns))
    rows = _stacked(batches)
    if rows is None:
        return taken, None, ()
    persons, places, member, scores = rows
    seed = rows_seed(persons, member, scores, request.seed)
    left, both = one_class_each(persons, member, seed)
    standing: Chosen | None = None
    told: tuple[Finding, ...] = ()
    if both:
        persons, places, member = persons[left], places[left], member[left]
        scores = tuple(score[left] for score in scores)
        standing = Chosen(positions=places)
        told = (both_finding(both, left.size - places.size, column),)
    if made is None:
        return taken, standing, told
    of_each = unit_scores(persons, scores, made)
    if of_each.undefined:
        raise _infinite(made, of_each.undefined, column)
    positions = places[of_each.rows]
    order = np.argsort(positions)
    standing = Chosen(
        positions=positions[order], scores=tuple(score[order] for score in of_each.scores)
    )
    told += made_findings(made, of_each.sizes, member[of_each.rows], column, seed)
    return taken, standing, told


def _infinite(rule: UnitRule, persons: int, column: str) -> InputError:
    return InputError(
        "unit_infinite",
        f"`unit_rows` {rule}: {persons:,} values of column {quoted_name(column)} have scores of "
        f"both infinities (a missing one counts as minus infinity), which have no {rule}.",
        hint="Give `unit_rows` one, max or min.",
    )


def both_finding(persons: int, rows: int, column: str) -> Finding:
    """Return that persons with rows of both classes are counted in one, and others left out."""
    return Finding.of("units_in_both_classes", persons=int(persons), rows=int(rows), column=column)


def made_findings(
    rule: UnitRule,
    sizes: NDArray[np.int64],
    member: NDArray[np.bool_],
    column: str,
    seed: int,
) -> tuple[Finding, ...]:
    """Return what a score is that is made of several rows, and whether their number leaks.

    Args:
        rule: how it is made.
        sizes: the rows of each person.
        member: their class.
        column: names the persons.
        seed: of the test.
    """
    found = [
        Finding.of(
            "unit_scores_made",
            rule=rule,
            column=column,
            scores=member.size,
            rows=int(sizes.sum()),
        )
    ]
    rng = np.random.default_rng((seed % 2**64, _ROWS_STREAM))
    p = counts_alike(sizes[member], sizes[~member], rng)
    if p <= _UNLIKE:
        found.append(Finding.of("unit_rows_unlike", rule=rule, column=column, p_value=float(p)))
    return tuple(found)


def _column(one: ScoreColumn, rule: UnitRule) -> ScoreColumn:
    """Return the column of the persons' scores."""
    if one.kind == "string":
        raise UsageError(
            "unit_rows",
            f"`unit_rows` {rule}: column {quoted_name(one.name)} holds labels, which have no mean "
            "and no order.",
            hint="Give `unit_rows` one.",
        )
    if rule in {"max", "min"} or one.kind == "float":
        return one
    return replace(one, kind="float" if rule == "mean" else "integer")
