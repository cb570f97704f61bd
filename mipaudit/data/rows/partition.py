"""A piece of an input, from its columns to rows: filter, membership, scores, identity, groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.column import at_precision, column_hashes, column_scores, merged_numbers
from mipaudit.data.parts import named_fault
from mipaudit.data.rows.intake import Intake, Spread
from mipaudit.data.words import MemberRule, distinct_labels, said_of
from mipaudit.errors import InputError
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.summaries.rows import Rows

if TYPE_CHECKING:
    from mipaudit.data.choice import Choice
    from mipaudit.data.column import Chunk, Column, Piece
    from mipaudit.data.rows.intake import Wrong
    from mipaudit.data.rows.units import Chosen

Mask = NDArray[np.bool_]
# Counts the rows of a mask, where there is one, as wrong, in a column or as such.
Note = Callable[["Wrong", Mask | None, str], None]

# With --nan category a missing score takes the lowest place, and what was there
# moves up to the lowest finite number.
_LOWEST: Final = float(np.finfo(np.float64).min)
_LABELS_COUNTED: Final = 1000


def column_values(column: Column) -> NDArray[Any]:
    """Return the values of a key column as they are: numbers, or text as objects."""
    return column.values if column.vocabulary is None else column.told(column.words, None, object)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PiecePartition:
    """A piece of a part, with the way to make rows of it: all that a worker needs.

    Attributes:
        part: the name of the part.
        piece: of the part.
        first_row: global position of the first row of the piece.
        choice: the columns that are read, and what for.
        rule: tells members from holdout; None when ``side`` says it for all rows.
        side: True or False when all rows are given as members or as holdout.
        precision: of the score columns that files store more and less finely, the coarsest
            float type: scores of all files are rounded to it.
        coarse: those of them that are stored so here.
        copies: whether a column says which records were released word for word.
        changes: what becomes of each batch of rows; they travel with it.
    """

    part: str
    piece: Piece
    first_row: int
    choice: Choice
    rule: MemberRule | None
    side: bool | None
    precision: Mapping[str, str]
    coarse: frozenset[str]
    copies: bool
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
        choice, of_members = self.choice, [self.rule.column] if self.rule else []
        filtered = [choice.where.column] if choice.where else []
        key, copies = [choice.key] if choice.key else [], [COPY_COLUMN] if self.copies else []
        groups = choice.groups.columns if choice.groups else ()
        names = (*choice.names, *of_members, *filtered, *key, *copies, *groups)
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
        plain = replace(self.choice, key=None, groups=None, named=False)
        if not scores and plain.nan != "drop":
            plain = replace(plain, scores=())
        own = replace(self, choice=plain)
        for chunk in self.chunks(dict.fromkeys((*own.columns, *columns))):
            yield chunk, own.rows(chunk, Intake())

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows in order, and count in ``intake`` what is left out of them.

        Behind rows that must end the run no others follow: all are read to be counted.

        Raises:
            BadPartsError: the part cannot be read.
        """
        own, nan_is_error = Intake(), self.choice.nan == "error"
        for chunk in self.chunks(self.columns):
            rows = self.rows(chunk, own)
            if own.faulty(nan_is_error=nan_is_error):
                continue
            for change in self.changes:
                rows = change(rows)
            yield rows
        if self.choice.groups is not None:
            own.groups |= self.choice.groups.found
        if intake is not None:
            intake.include(own)

    def rows(self, chunk: Chunk, intake: Intake) -> Rows:
        """Return the rows of ``chunk`` that are present, and count the others.

        Faults are counted, not raised: only the whole input knows their number.
        """
        choice, columns, where = self.choice, chunk.columns, self.choice.where
        keep = None if where is None else where.mask(columns[where.column])

        def note(wrong: Wrong, mask: Mask | None, column: str = "") -> None:
            """Count rows of those that are left by now."""
            if mask is not None:
                intake.note(wrong, column, _and(mask, keep), chunk.first_row)

        member = self._member(columns, chunk.rows, note, intake)
        if self.rule is not None and self.side is not None:
            others = _and(member != self.side, keep)
            intake.rows["other_side", self.side] += int(np.count_nonzero(others))
            keep = _and(member == self.side, keep)
        scores = [self._scored(columns[one.name], one.name, note) for one in choice.scores]
        if self.copies:
            # Who leaves the copies out of the rows has not left them out of the release: neither
            # by a filter on them, nor with scores that are missing.
            every = keep is None or (where is not None and where.column == COPY_COLUMN)
            of = slice(None) if every else keep
            intake.count_copies(said_of(columns[COPY_COLUMN])[of], member[of])
        gaps = self._fill_gaps(scores, note)
        if gaps is not None:
            intake.classes("nan", member[_and(gaps, keep)])
            keep = keep if choice.nan == "category" else _and(~gaps, keep)
        kept = None if keep is None else np.flatnonzero(keep)
        present = slice(None) if kept is None else kept
        keys = names = groups = None
        if choice.key is not None:
            hashes = column_hashes(columns[choice.key])
            note("null_keys", hashes.missing)
            keys = hashes.values[present]
            names = column_values(columns[choice.key])[present] if choice.named else None
        if choice.groups is not None:
            note("null_groups", choice.groups.unnamed(columns))
            groups = choice.groups.hashes(columns, kept)
        rows = Rows(
            first_row=chunk.first_row,
            source_rows=chunk.rows,
            kept=kept,
            keys=keys,
            member=member[present],
            scores=tuple(score[present] for score in scores),
            groups=groups,
            names=names,
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
        category = self.choice.nan == "category"
        for at, (one, score) in enumerate(zip(self.choice.scores, scores, strict=True)):
            if category:
                # What the place of missing scores would hide, before they are given it.
                note("infinite", np.isinf(score), one.name)
                note("endless", score == -np.inf, one.name)
                note("lowest", score == _LOWEST, one.name)
                # Minus infinity moves up, to make room below it.
                scores[at] = np.maximum(score, _LOWEST)
            # With a NaN the minimum is one, and costs one quick pass.
            if score.size and np.isnan(score.min()):
                mask = np.isnan(score)
                note("missing", mask, one.name)
                gaps = mask if gaps is None else gaps | mask
                scores[at] = np.where(mask, -np.inf, scores[at]) if category else score
        return gaps

    def _count_present(self, rows: Rows, intake: Intake) -> None:
        """Count the rows that are left by their class, and where their scores lie."""
        intake.classes("present", rows.member)
        for name, side in product(self.coarse, (True, False)):
            intake.coarse[name, side] += int(np.count_nonzero(rows.member == side))
        for one, score in zip(self.choice.scores, rows.scores, strict=True):
            # Texts are hashes here.
            if one.kind in {"float", "integer"}:
                # Missing scores have the lowest place by now, where they are kept.
                present = score[score != -np.inf] if self.choice.nan == "category" else score
                intake.spread.setdefault(one.name, Spread()).add(present)


def _and(mask: Mask, keep: Mask | None) -> Mask:
    return mask if keep is None else mask & keep
