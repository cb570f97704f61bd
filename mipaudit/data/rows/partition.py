"""A piece of an input, from its columns to rows: filter, membership, scores, identity, groups.

A group has one hash for the values of several columns, and what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.column import (
    Chunk,
    Column,
    Field,
    Labels,
    at_precision,
    column_hashes,
    column_missing,
    column_scores,
    merged_numbers,
    mix64,
    number_word,
)
from mipaudit.data.parts import FaultyRowsError, Piece, named_fault
from mipaudit.data.rows.intake import Intake, Spread
from mipaudit.data.words import MemberRule, distinct_labels, said_of
from mipaudit.errors import InputError
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.summaries.rows import Rows

if TYPE_CHECKING:
    from mipaudit.data.request import NanPolicy
    from mipaudit.data.rows.intake import Wrong
    from mipaudit.data.rows.units import Chosen
    from mipaudit.data.words import Where

Mask = NDArray[np.bool_]
# Counts the rows of a mask, where there is one, as wrong, in a column or as such.
Note = Callable[["Wrong", Mask | None, str], None]

MOST_GROUPS: Final = 1024
_MISSING_WORD: Final = "missing"
# A name is column=word, column=word: what would read otherwise is quoted.
_QUOTED: Final = frozenset(',="')
_MISSING_HASH: Final = np.uint64(0x6D697373696E6721)
# With --nan category a missing score takes the lowest place, and what was there
# moves up to the lowest finite number.
_LOWEST: Final = float(np.finfo(np.float64).min)
_LABELS_COUNTED: Final = 1000


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
        each = (_hashes(columns[name]) for name in self.columns)
        total = reduce(lambda before, one: mix64(before) ^ one, each)
        total = total if kept is None else total[kept]
        values, first = np.unique(total, return_index=True)
        rows = first if kept is None else kept[first]
        found = zip(values.tolist(), rows.tolist(), strict=True)
        self.learn(
            {
                value: tuple(_word(columns[name], row) for name in self.columns)
                for value, row in found
                if value not in self.found
            }
        )
        return total

    def unnamed(self, columns: Mapping[str, Column]) -> Mask | None:
        """Return which rows lack a value that they must have, None for none."""
        masks = [_missing(columns[name]) for name in self.columns if self.required]
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
                hint="Name columns with few values: categories, not measurements or ids.",
            )


def _hashes(column: Column) -> NDArray[np.uint64]:
    missing, values = _missing(column), column_hashes(column).values
    return values if missing is None else np.where(missing, _MISSING_HASH, values)


def _missing(column: Column) -> Mask | None:
    """Return where a cell has no value; an empty text is none, as in a file without types."""
    missing = column_missing(column)
    if not isinstance(column, Labels) or "" not in column.vocabulary.words:
        return missing
    empty = np.asarray(column.codes == column.vocabulary.words.index(""))
    return empty if missing is None else missing | empty


def _word(column: Column, row: int) -> str:
    """Return a cell as a group's name has it: no two groups get the same name."""
    if isinstance(column, Labels):
        code = int(column.codes[row])
        word = column.vocabulary.words[code] if code >= 0 else ""
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


def column_values(column: Column) -> NDArray[Any]:
    """Return the values of a key column as they are: numbers, or text as objects."""
    if not isinstance(column, Labels):
        return column.values
    words = np.array([*column.vocabulary.words, None], dtype=object)
    return np.asarray(words[column.codes])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PiecePartition:
    """A piece of a part, with the way to make rows of it: all that a worker needs.

    Attributes:
        part: the name of the part.
        piece: of the part.
        first_row: global position of the first row of the piece.
        scores: the score columns.
        rule: tells members from holdout; None when ``side`` says it for all rows.
        side: True or False when all rows are given as members or as holdout.
        where: the filter, or None.
        key: the column that identifies a row or a person, or None.
        nan: what to do with a missing score.
        precision: of the score columns that files store more and less finely, the coarsest
            float type: scores of all files are rounded to it.
        coarse: those of them that are stored so here.
        copies: whether a column says which records were released word for word.
        groups: the columns that name a row's group, or None.
        named: rows carry the key column's values.
        changes: what becomes of each batch of rows; they travel with it.
    """

    part: str
    piece: Piece
    first_row: int
    scores: tuple[Field, ...]
    rule: MemberRule | None
    side: bool | None
    where: Where | None
    key: str | None
    nan: NanPolicy
    precision: Mapping[str, str]
    coarse: frozenset[str]
    copies: bool
    groups: GroupColumns | None
    named: bool
    changes: tuple[Callable[[Rows], Rows], ...] = ()

    def then(self, change: Callable[[Rows], Rows]) -> PiecePartition:
        """Return the piece with one more change."""
        return replace(self, changes=(*self.changes, change))

    def only(self, chosen: Chosen) -> PiecePartition:
        """Return the piece with the chosen rows alone: it takes its own share along, not all."""
        return self.then(chosen.within(self.first_row, self.piece.rows).among)

    @property
    def stays(self) -> bool:
        """Tell whether the rows are in this process, and must be read here."""
        return self.piece.stays

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

    def chunks(self, names: Collection[str]) -> Iterator[Chunk]:
        """Yield the named columns.

        Raises:
            BadPartsError: the part cannot be read.
        """
        try:
            yield from self.piece.chunks(names, self.first_row)
        except InputError as error:
            raise named_fault(error, self.part) from None

    def looked_at(
        self, columns: Collection[str] = (), *, scores: bool = True
    ) -> Iterator[tuple[Chunk, Rows]]:
        """Yield chunks with further columns, and their rows: nothing is told of what is left out.

        Args:
            columns: that chunks have, too.
            scores: whether rows have them, and not only who is a member.
        """
        own = replace(self, key=None, groups=None, named=False)
        if not scores and own.nan != "drop":
            own = replace(own, scores=())
        for chunk in self.chunks(dict.fromkeys((*own.columns, *columns))):
            yield chunk, own.rows(chunk, Intake())

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows in order, and count in ``intake`` what is left out of them.

        Raises:
            FaultyRowsError: rows that must end the run; they are counted by the source.
            BadPartsError: the part cannot be read.
        """
        intake = Intake() if intake is None else intake
        for chunk in self.chunks(self.columns):
            rows = self.rows(chunk, intake)
            if intake.faulty(nan_is_error=self.nan == "error"):
                raise FaultyRowsError("faulty_rows", f"{self.part}: some rows cannot be audited.")
            for change in self.changes:
                rows = change(rows)
            yield rows
        if self.groups is not None:
            intake.groups |= self.groups.found

    def rows(self, chunk: Chunk, intake: Intake) -> Rows:
        """Return the rows of ``chunk`` that are present, and count the others.

        Faults are counted, not raised: only the whole input knows their number.
        """
        columns, where = chunk.columns, self.where
        keep = None if where is None else where.mask(columns[where.column])

        def note(wrong: Wrong, mask: Mask | None, column: str = "") -> None:
            """Count rows of those that are left by now."""
            if mask is not None:
                intake.note(wrong, column, _and(mask, keep), chunk.first_row)

        member = self._member(columns, chunk.rows, note, intake)
        if self.rule is not None and self.side is not None:
            ours = _and(member if self.side else ~member, keep)
            before = chunk.rows if keep is None else int(np.count_nonzero(keep))
            intake.rows["other_side", self.side] += before - int(np.count_nonzero(ours))
            keep = ours
        scores = [self._scored(columns[one.name], one.name, note) for one in self.scores]
        if self.copies:
            # Who leaves the copies out of the rows has not left them out of the release: neither
            # by a filter on them, nor with scores that are missing.
            every = keep is None or (where is not None and where.column == COPY_COLUMN)
            of = slice(None) if every else keep
            intake.count_copies(said_of(columns[COPY_COLUMN])[of], member[of])
        gaps = self._fill_gaps(scores, note)
        if gaps is not None:
            intake.classes("nan", member[_and(gaps, keep)])
            keep = keep if self.nan == "category" else _and(~gaps, keep)
        keys = None if self.key is None else column_hashes(columns[self.key])
        if keys is not None:
            note("null_keys", keys.missing)
        names = column_values(columns[self.key]) if self.named and self.key else None
        if self.groups is not None:
            note("null_groups", self.groups.unnamed(columns))
        kept = None if keep is None else np.flatnonzero(keep)
        present = slice(None) if kept is None else kept
        rows = Rows(
            first_row=chunk.first_row,
            source_rows=chunk.rows,
            kept=kept,
            keys=None if keys is None else keys.values[present],
            member=member[present],
            scores=tuple(score[present] for score in scores),
            groups=None if self.groups is None else self.groups.hashes(columns, kept),
            names=None if names is None else names[present],
        )
        self._count_present(rows, intake)
        return rows

    def _member(self, columns: Mapping[str, Column], rows: int, note: Note, intake: Intake) -> Mask:
        """Return who is a member, bool, shape (rows,), and count whose label does not say it."""
        if self.rule is None:
            return np.full(rows, bool(self.side))
        column = columns[self.rule.column]
        member, unknown, null = self.rule.decode(column)
        note("null_labels", null, "")
        note("unknown_labels", unknown, "")
        if unknown is not None and len(intake.labels) < _LABELS_COUNTED:
            intake.labels |= distinct_labels(column)
        return member

    def _scored(self, column: Column, name: str, note: Note) -> NDArray[np.float64]:
        """Return a column's scores as all parts can tell them; count what is lost by that."""
        note("inexact", merged_numbers(column), name)
        scores = column_scores(column)
        precision = self.precision.get(name)
        if precision is None or name in self.coarse:
            return scores
        rounded = at_precision(scores, precision)
        note("overflowed", np.isinf(rounded) & np.isfinite(scores), name)
        note("moved", (rounded != scores) & ~np.isnan(scores), name)
        return rounded

    def _fill_gaps(self, scores: list[NDArray[np.float64]], note: Note) -> Mask | None:
        """Give missing scores their place where they have one; return which rows lack a score."""
        gaps: Mask | None = None
        category = self.nan == "category"
        for at, (one, score) in enumerate(zip(self.scores, scores, strict=True)):
            if category:
                # What the place of missing scores would hide, before they are given it.
                note("infinite", np.isinf(score), one.name)
                note("endless", score == -np.inf, one.name)
                note("lowest", score == _LOWEST, one.name)
                # Minus infinity moves up, to make room below it.
                scores[at] = np.maximum(score, _LOWEST)
            # With a NaN the minimum is one, and costs one quick pass.
            if not score.size or not np.isnan(score.min()):
                continue
            mask = np.isnan(score)
            note("missing", mask, one.name)
            gaps = mask if gaps is None else gaps | mask
            if category:
                scores[at] = np.where(mask, -np.inf, scores[at])
        return gaps

    def _count_present(self, rows: Rows, intake: Intake) -> None:
        """Count the rows that are left by their class, and where their scores lie."""
        intake.classes("present", rows.member)
        for name, side in product(self.coarse, (True, False)):
            intake.coarse[name, side] += int(np.count_nonzero(rows.member == side))
        for one, score in zip(self.scores, rows.scores, strict=True):
            # Texts are hashes here.
            if one.kind in {"float", "integer"}:
                # Missing scores have the lowest place by now, where they are kept.
                present = score[score != -np.inf] if self.nan == "category" else score
                intake.spread.setdefault(one.name, Spread()).add(present)


def _and(mask: Mask, keep: Mask | None) -> Mask:
    return mask if keep is None else mask & keep
