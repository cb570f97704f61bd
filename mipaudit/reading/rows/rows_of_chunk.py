"""From a chunk of columns to rows: filter, membership, scores, identity, groups.

A group has one hash for the values of several columns, and what it stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.reading.columns.column import (
    Chunk,
    Column,
    Field,
    Labels,
    Numbers,
    at_precision,
    column_hashes,
    column_missing,
    column_scores,
    merged_numbers,
    mix64,
    number_word,
)
from mipaudit.reading.columns.membership import MemberRule, distinct_labels, said_of
from mipaudit.reading.rows.intake import Intake, Spread
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.summaries.rows import Rows

if TYPE_CHECKING:
    from mipaudit.data.request import NanPolicy
    from mipaudit.reading.columns.membership import Where
    from mipaudit.reading.rows.intake import Wrong

MOST_GROUPS: Final = 1024
_MISSING_WORD: Final = "missing"
# A name is column=word, column=word: what would read otherwise is quoted.
_QUOTED: Final = frozenset(',="')
_MISSING_HASH: Final = np.uint64(0x6D697373696E6721)


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
        self, columns: Mapping[str, Column], kept: NDArray[np.intp] | None = None
    ) -> NDArray[np.uint64]:
        """Return the hash of each row's group, uint64, shape (n,).

        Args:
            columns: the cells.
            kept: the n rows that are audited; None for all. Values of the others make no group.

        Raises:
            InputError: ``too_many_groups``.
        """
        total: NDArray[np.uint64] | None = None
        for name in self.columns:
            one = _hashes(columns[name])
            total = one if total is None else mix64(total) ^ one
        assert total is not None  # noqa: S101 - there is at least one column
        if kept is not None:
            total = total[kept]
        values, first = np.unique(total, return_index=True)
        for value, row in zip(values.tolist(), first.tolist(), strict=True):
            if value not in self.found:
                at = row if kept is None else int(kept[row])
                self.found[value] = tuple(_word(columns[name], at) for name in self.columns)
        self._require_few()
        return total

    def unnamed(self, columns: Mapping[str, Column]) -> NDArray[np.bool_] | None:
        """Return which rows lack a value that they must have, None for none."""
        masks = [_missing(columns[name]) for name in self.columns if self.required]
        found = [mask for mask in masks if mask is not None]
        return np.logical_or.reduce(found) if found else None

    def learn(self, found: Mapping[int, tuple[str, ...]]) -> None:
        """Take in what other processes saw.

        Raises:
            InputError: ``too_many_groups``.
        """
        self.found.update(found)
        self._require_few()

    def _require_few(self) -> None:
        if len(self.found) > MOST_GROUPS:
            raise InputError(
                "too_many_groups",
                f"The columns of {self.option} have more than {MOST_GROUPS:,} combinations of "
                "values.",
                hint="Name columns with few values: categories, not measurements or ids.",
            )


def _hashes(column: Column) -> NDArray[np.uint64]:
    found = column_hashes(column)
    missing = _missing(column)
    values = found.values
    return values if missing is None else np.where(missing, _MISSING_HASH, values)


def _missing(column: Column) -> NDArray[np.bool_] | None:
    """Return where a cell has no value; an empty text is none, as in a file without types."""
    missing = column_missing(column)
    if not isinstance(column, Labels) or "" not in column.vocabulary.words:
        return missing
    empty = np.asarray(column.codes == column.vocabulary.words.index(""))
    return empty if missing is None else missing | empty


def _word(column: Column, row: int) -> str:
    """Return a cell as a group's name has it."""
    match column:
        case Labels():
            code = int(column.codes[row])
            word = "" if code < 0 else column.vocabulary.words[code]
            return _text_word(word) if word else _MISSING_WORD
        case Numbers():
            gap = column.missing is not None and bool(column.missing[row])
            value = column.values[row]
            if gap or value != value:  # noqa: PLR0124 - NaN
                return _MISSING_WORD
            if value.dtype == np.bool_:
                return "true" if value else "false"
            return number_word(value.item())
        case _:
            raise TypeError("a group column is read with its values")


def _text_word(text: str) -> str:
    """Return a text so that no two groups get the same name."""
    if text != _MISSING_WORD and _QUOTED.isdisjoint(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def column_values(column: Column) -> NDArray[Any]:
    """Return the values of a key column as they are: numbers, or text as objects."""
    match column:
        case Labels():
            words = np.array([*column.vocabulary.words, None], dtype=object)
            return np.asarray(words[column.codes])
        case Numbers():
            return column.values
        case _:
            raise TypeError("a key that is written out is read with its values")


# With --nan category a missing score takes the lowest place, and what was there
# moves up to the lowest finite number.
_LOWEST: Final = float(np.finfo(np.float64).min)
_LABELS_COUNTED: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """How the rows of one group of parts are made.

    Attributes:
        scores: the score columns.
        rule: tells members from holdout; None when ``side`` says it for all rows.
        side: True or False when all rows are given as members or as holdout.
        where: the filter, or None.
        key: the column that identifies a row or a person, or None.
        nan: what to do with a missing score.
        precision: of the score columns that files store more and less finely, the coarsest
            float type: scores of all files are rounded to it.
        coarse: of these columns, those that the rows' own part stores so.
        copies: whether a column says which records were released word for word.
        groups: the columns that name a row's group, or None.
        named: whether the values of the key column travel with the rows.
    """

    scores: tuple[Field, ...]
    where: Where | None
    key: str | None
    nan: NanPolicy
    precision: Mapping[str, str]
    rule: MemberRule | None = None
    side: bool | None = None
    coarse: frozenset[str] = frozenset()
    copies: bool = False
    groups: GroupColumns | None = None
    named: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed, each once."""
        names = [one.name for one in self.scores]
        names += [self.rule.column] if self.rule else []
        names += [self.where.column] if self.where else []
        names += [self.key] if self.key else []
        names += [COPY_COLUMN] if self.copies else []
        names += self.groups.columns if self.groups else ()
        return tuple(dict.fromkeys(names))

    def rows(self, chunk: Chunk, intake: Intake) -> Rows:
        """Return the rows of ``chunk`` that are present, and count the others.

        Faults are counted, not raised: only the whole input knows their number.
        """
        where = self.where
        keep = None if where is None else where.mask(chunk.columns[where.column])
        member, keep = self._membership(chunk, keep, intake)
        self._count_inexact(chunk, keep, intake)
        scores = [self._scored(chunk, one.name, keep, intake) for one in self.scores]
        if self.copies:
            # Who leaves the copies out of the rows has not left them out of the release: neither
            # by a filter on them, nor with scores that are missing.
            every = keep is None or (where is not None and where.column == COPY_COLUMN)
            of = slice(None) if every else keep
            intake.count_copies(said_of(chunk.columns[COPY_COLUMN])[of], member[of])
        keep = self._complete(scores, member, keep, chunk, intake)
        keys = None if self.key is None else self._keys(chunk, keep, intake)
        names = column_values(chunk.columns[self.key]) if self.named and self.key else None
        unnamed = None if self.groups is None else self.groups.unnamed(chunk.columns)
        if unnamed is not None:
            intake.note("null_groups", "", _and(unnamed, keep), chunk.first_row)
        kept = None if keep is None else np.flatnonzero(keep)
        groups = None if self.groups is None else self.groups.hashes(chunk.columns, kept)
        if kept is not None:
            member, scores = member[kept], [score[kept] for score in scores]
            keys = None if keys is None else keys[kept]
            names = None if names is None else names[kept]
        self._count_spread(scores, intake)
        intake.classes("present", member)
        for name, side in product(self.coarse, (True, False)):
            intake.coarse[name, side] += int(np.count_nonzero(member == side))
        return Rows(
            first_row=chunk.first_row,
            source_rows=chunk.rows,
            kept=kept,
            keys=keys,
            member=member,
            scores=tuple(scores),
            groups=groups,
            names=names,
        )

    def _membership(
        self, chunk: Chunk, keep: NDArray[np.bool_] | None, intake: Intake
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
        if self.rule is None:
            return np.full(chunk.rows, bool(self.side)), keep
        column = chunk.columns[self.rule.column]
        member, unknown, null = self.rule.decode(column)
        if null is not None:
            intake.note("null_labels", "", _and(null, keep), chunk.first_row)
        if unknown is not None:
            intake.note("unknown_labels", "", _and(unknown, keep), chunk.first_row)
            if len(intake.labels) < _LABELS_COUNTED:
                intake.labels |= distinct_labels(column)
        if self.side is None:
            return member, keep
        own = member if self.side else ~member
        ours = _and(own, keep)
        before = chunk.rows if keep is None else int(np.count_nonzero(keep))
        intake.rows["other_side", self.side] += before - int(np.count_nonzero(ours))
        return member, ours

    def _count_inexact(self, chunk: Chunk, keep: NDArray[np.bool_] | None, intake: Intake) -> None:
        for one in self.scores:
            mask = merged_numbers(chunk.columns[one.name])
            if mask is not None:
                intake.note("inexact", one.name, _and(mask, keep), chunk.first_row)

    def _scored(
        self, chunk: Chunk, name: str, keep: NDArray[np.bool_] | None, intake: Intake
    ) -> NDArray[np.float64]:
        """Return a column's scores as all parts can tell them; count what is lost by that."""
        scores = column_scores(chunk.columns[name])
        precision = self.precision.get(name)
        if precision is None or name in self.coarse:
            return scores
        rounded = at_precision(scores, precision)
        beyond = np.isinf(rounded) & np.isfinite(scores)
        moved = (rounded != scores) & ~np.isnan(scores)
        intake.note("overflowed", name, _and(beyond, keep), chunk.first_row)
        intake.note("moved", name, _and(moved, keep), chunk.first_row)
        return rounded

    def _complete(
        self,
        scores: list[NDArray[np.float64]],
        member: NDArray[np.bool_],
        keep: NDArray[np.bool_] | None,
        chunk: Chunk,
        intake: Intake,
    ) -> NDArray[np.bool_] | None:
        """Apply the NaN policy to ``scores`` in place; return which rows are left."""
        gaps: NDArray[np.bool_] | None = None
        category = self.nan == "category"
        if category:
            self._count_extremes(scores, keep, chunk, intake)
        for at, score in enumerate(scores):
            if category:
                # Minus infinity moves up, to make room below it.
                scores[at] = np.maximum(score, _LOWEST)
            if not _has_nan(score):
                continue
            mask = np.isnan(score)
            intake.note("missing", self.scores[at].name, _and(mask, keep), chunk.first_row)
            gaps = mask if gaps is None else gaps | mask
            if category:
                scores[at] = np.where(mask, -np.inf, scores[at])
        if gaps is None:
            return keep
        intake.classes("nan", member[_and(gaps, keep)])
        return keep if category else _and(~gaps, keep)

    def _count_extremes(
        self,
        scores: list[NDArray[np.float64]],
        keep: NDArray[np.bool_] | None,
        chunk: Chunk,
        intake: Intake,
    ) -> None:
        """Count what the place of missing scores would hide, before they are given it."""
        for one, score in zip(self.scores, scores, strict=True):
            masks: tuple[tuple[Wrong, NDArray[np.bool_]], ...] = (
                ("infinite", np.isinf(score)),
                ("endless", score == -np.inf),
                ("lowest", score == _LOWEST),
            )
            for wrong, mask in masks:
                intake.note(wrong, one.name, _and(mask, keep), chunk.first_row)

    def _count_spread(self, scores: list[NDArray[np.float64]], intake: Intake) -> None:
        for one, score in zip(self.scores, scores, strict=True):
            # Texts are hashes here.
            if one.kind in {"float", "integer"}:
                # Missing scores have the lowest place by now, where they are kept.
                present = score[score != -np.inf] if self.nan == "category" else score
                intake.spread.setdefault(one.name, Spread()).add(present)

    def _keys(
        self, chunk: Chunk, keep: NDArray[np.bool_] | None, intake: Intake
    ) -> NDArray[np.uint64]:
        assert self.key is not None  # noqa: S101 - the caller asked
        hashes = column_hashes(chunk.columns[self.key])
        if hashes.missing is not None:
            intake.note("null_keys", "", _and(hashes.missing, keep), chunk.first_row)
        return hashes.values


def _and(mask: NDArray[np.bool_], keep: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    return mask if keep is None else mask & keep


def _has_nan(scores: NDArray[np.float64]) -> bool:
    """Tell whether a NaN is there: the minimum is NaN then, and costs one quick pass."""
    return scores.size > 0 and bool(np.isnan(scores.min()))
