"""Which rows belong together: those of a person, of which one counts, and those of a group.

A group has one hash for the values of several columns, and what it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.column import Column, column_hashes, column_missing, mix64, number_word
from mipaudit.errors import InputError, UsageError
from mipaudit.maths.arrays import Bools, Floats, Ints, Places
from mipaudit.maths.exact_tests import counts_alike
from mipaudit.model.message import Finding
from mipaudit.statements.printable_names import quoted_name
from mipaudit.summaries.rows import HeldRows, Rows, UnitRule, one_class_each, rows_seed, unit_scores

if TYPE_CHECKING:
    from mipaudit.data.parts import ScoreColumn
    from mipaudit.data.request import ReadRequest

# Persons with the same number of rows in both classes are warned of so rarely.
_UNLIKE: Final = 0.05
_ROWS_STREAM: Final = 0x726F7773
MOST_GROUPS: Final = 1024
_MISSING_WORD: Final = "missing"
# A name is column=word, column=word: what would read otherwise is quoted.
_QUOTED: Final = frozenset(',="')
_MISSING_HASH: Final = np.uint64(0x6D697373696E6721)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chosen:
    """The rows that stand for their persons: increasing global positions (int64).

    ``scores`` are the persons' own, one array for each column, where they are not the rows'.
    """

    positions: Ints
    dropped_members: int = 0
    dropped_holdout: int = 0
    scores: tuple[Floats, ...] | None = None

    def within(self, first_row: int, rows: int) -> Chosen:
        """Return those of ``rows`` consecutive rows from ``first_row`` on."""
        place = slice(*np.searchsorted(self.positions, (first_row, first_row + rows)))
        # A copy, so that it does not drag the others along.
        scores = None if self.scores is None else tuple(one[place].copy() for one in self.scores)
        return Chosen(positions=self.positions[place].copy(), scores=scores)

    def among(self, rows: Rows) -> Rows:
        """Return the chosen rows of ``rows``."""
        own = self.within(rows.first_row, rows.source_rows)
        found = rows.picked(
            np.searchsorted(rows.positions(), own.positions),
            first_row=rows.first_row,
            source_rows=rows.source_rows,
            kept=own.positions - rows.first_row,
        )
        return found if own.scores is None else replace(found, scores=own.scores)


def choose_units(batches: Iterable[Rows], seed: int) -> Chosen:
    """Choose for each person and class the row with the smallest hash of its position.

    The choice depends on the seed and on positions, never on a score. It holds
    about 24 bytes a row while it chooses, and 8 bytes a person afterwards.

    Args:
        batches: all rows, with the hash of their person as keys.
        seed: of the run.
    """
    rows = _joined(one.of_columns(()) for one in batches)
    if rows is None or rows.keys is None:
        return Chosen(positions=np.empty(0, np.int64))
    salt = mix64(np.array([seed % 2**64], dtype=np.uint64))
    rank = mix64(rows.positions().view(np.uint64) ^ salt)
    order = np.lexsort((rank, rows.member, rows.keys))
    persons, member = rows.keys[order], rows.member[order]
    again = np.zeros(order.size, dtype=np.bool_)
    again[1:] = (persons[1:] == persons[:-1]) & (member[1:] == member[:-1])
    return Chosen(
        positions=np.sort(rows.positions()[order[~again]]),
        dropped_members=int(np.count_nonzero(again & member)),
        dropped_holdout=int(np.count_nonzero(again & ~member)),
    )


def _joined(batches: Iterable[Rows]) -> Rows | None:
    held = HeldRows()
    for rows in batches:
        held.add(rows)
    return held.joined()


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
    column, rule = str(request.unit_column), request.unit_rows
    made = None if rule == "one" else rule
    taken = tuple(columns if made is None else (_column(one, made) for one in columns))
    rows = _joined(batches)
    if rows is None or rows.keys is None:
        return taken, None, ()
    seed = rows_seed(rows.keys, rows.member, rows.scores, request.seed)
    left, both = one_class_each(rows.keys, rows.member, seed)
    places = rows.positions()[left]
    told: tuple[Finding, ...] = ()
    if both:
        dropped = int(np.count_nonzero(~left))
        told = (Finding.of("units_in_both_classes", persons=both, rows=dropped, column=column),)
    if made is None:
        return taken, Chosen(positions=places) if both else None, told
    of_each = unit_scores(rows.keys[left], [score[left] for score in rows.scores], made)
    if of_each.undefined:
        raise InputError(
            "unit_infinite",
            f"`unit_rows` {made}: {of_each.undefined:,} values of column {quoted_name(column)} "
            "have scores of plus and of minus infinity (a missing score counts as minus infinity): "
            f"they have no {made}.",
            "Give `unit_rows` one, max or min.",
        )
    order = np.argsort(places[of_each.rows])
    standing = Chosen(
        positions=places[of_each.rows][order],
        scores=tuple(score[order] for score in of_each.scores),
    )
    member, sizes = rows.member[left][of_each.rows], of_each.sizes
    counts = {"scores": member.size, "rows": int(sizes.sum())}
    told += (Finding.of("unit_scores_made", rule=made, column=column, **counts),)
    # Whether the number of a person's rows leaks, which a sum shows, and a mean as well.
    rng = np.random.default_rng((seed % 2**64, _ROWS_STREAM))
    p = float(counts_alike(sizes[member], sizes[~member], rng))
    if p <= _UNLIKE:
        told += (Finding.of("unit_rows_unlike", rule=made, column=column, p_value=p),)
    return taken, standing, told


def _column(one: ScoreColumn, rule: UnitRule) -> ScoreColumn:
    """Return the column of the persons' scores."""
    if one.kind == "string":
        raise UsageError(
            "unit_rows",
            f"`unit_rows` {rule}: column {quoted_name(one.name)} holds labels, which have no mean "
            "and no order.",
            "Give `unit_rows` one.",
        )
    if rule in {"max", "min"} or one.kind == "float":
        return one
    return replace(one, kind="float" if rule == "mean" else "integer")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupColumns:
    """The columns that name a row's group.

    Attributes:
        columns: their names.
        option: how the user names them.
        required: whether every row must name its group; else those that do not are one.
        found: what each hash seen so far stands for, a text for each column; filled as rows
            are read, from several threads.
    """

    columns: tuple[str, ...]
    option: str = "`by`"
    required: bool = False
    found: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def hashes(
        self, columns: Mapping[str, Column], kept: Places | None = None
    ) -> NDArray[np.uint64]:
        """Return the hash of each row's group, uint64, shape (n,).

        Args:
            columns: the cells.
            kept: the n rows that are audited; None for all. Values of the others make no group.

        Raises:
            InputError: ``too_many_groups``.
        """
        each = (_hashes(columns[name]) for name in self.columns)
        total = reduce(lambda before, one: mix64(before) ^ one, each)
        total = total if kept is None else total[kept]
        values, first = np.unique(total, return_index=True)
        rows = first if kept is None else kept[first]
        new = [
            pair for pair in zip(values.tolist(), rows, strict=True) if pair[0] not in self.found
        ]
        self.learn({one: tuple(_word(columns[n], row) for n in self.columns) for one, row in new})
        return total

    def unnamed(self, columns: Mapping[str, Column]) -> Bools | None:
        """Return which rows lack a value that they must have, None for none."""
        masks = (_missing(columns[name]) for name in self.columns if self.required)
        found = [mask for mask in masks if mask is not None]
        return np.logical_or.reduce(found) if found else None

    def learn(self, found: Mapping[int, tuple[str, ...]]) -> None:
        """Take in what hashes stand for, as this or another process saw it.

        Raises:
            InputError: ``too_many_groups``.
        """
        self.found.update(found)
        if len(self.found) > MOST_GROUPS:
            raise InputError(
                "too_many_groups",
                f"The columns of {self.option} have more than {MOST_GROUPS:,} combinations of "
                "values.",
                "Name columns with few values: categories, not measurements or ids.",
            )


def _hashes(column: Column) -> NDArray[np.uint64]:
    missing, values = _missing(column), column_hashes(column).values
    return values if missing is None else np.where(missing, _MISSING_HASH, values)


def _missing(column: Column) -> Bools | None:
    """Return where a cell has no value; an empty text is none, as in a file without types."""
    missing = column_missing(column)
    if "" not in column.words:
        return missing
    empty = np.asarray(column.values == column.words.index(""))
    return empty if missing is None else missing | empty


def _word(column: Column, row: int) -> str:
    """Return a cell as a group's name has it: no two groups get the same name."""
    if column.vocabulary is not None:
        code = int(column.values[row])
        word = column.words[code] if code >= 0 else ""
        if word != _MISSING_WORD and _QUOTED.isdisjoint(word):
            return word or _MISSING_WORD
        doubled = word.replace('"', '""')
        return f'"{doubled}"'
    value = column.values[row]
    gap = column.missing is not None and bool(column.missing[row])
    if gap or value != value:  # noqa: PLR0124 - NaN
        return _MISSING_WORD
    if value.dtype == np.bool_:
        return "true" if value else "false"
    return number_word(value.item())
