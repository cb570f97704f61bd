"""From a chunk of columns to rows: filter, membership, scores, identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.reading.columns.column import (
    Chunk,
    Column,
    Field,
    Labels,
    at_precision,
    column_hashes,
    column_scores,
    inexact_integers,
    met_numbers,
    rounded_decimals,
)
from mipaudit.reading.columns.membership import MemberRule, distinct_labels
from mipaudit.reading.rows.groups import GroupColumns, column_values, group_hashes
from mipaudit.reading.rows.left_out import Intake, Spread
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.summaries.rows import Rows

if TYPE_CHECKING:
    from mipaudit.reading.columns.membership import Where
    from mipaudit.reading.rows.left_out import Wrong
    from mipaudit.reading.source.request import NanPolicy

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
    rule: MemberRule | None
    side: bool | None
    where: Where | None
    key: str | None
    nan: NanPolicy
    precision: Mapping[str, str]
    coarse: frozenset[str] = frozenset()
    copies: bool = False
    groups: GroupColumns | None = None
    named: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed, each once."""
        names = [field.name for field in self.scores]
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
        keep = self._complete(scores, member, keep, chunk, intake)
        keys = None if self.key is None else self._keys(chunk, keep, intake)
        names = column_values(chunk.columns[self.key]) if self.named and self.key else None
        unnamed = None if self.groups is None else self.groups.unnamed(chunk.columns)
        if unnamed is not None:
            intake.note("null_groups", "", _and(unnamed, keep), chunk.first_row)
        kept = None if keep is None else np.flatnonzero(keep)
        groups = group_hashes(self.groups, chunk, kept)
        if kept is not None:
            member, scores = member[kept], [score[kept] for score in scores]
            keys = None if keys is None else keys[kept]
            names = None if names is None else names[kept]
        self._count_spread(scores, intake)
        intake.classes("present", member)
        if self.copies:
            _count_copies(chunk.columns[COPY_COLUMN], kept, member, intake)
        for name in self.coarse:
            for side in (True, False):
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
        decoded = self.rule.decode(column)
        if decoded.null is not None:
            intake.note("null_labels", "", _and(decoded.null, keep), chunk.first_row)
        if decoded.unknown is not None:
            intake.note("unknown_labels", "", _and(decoded.unknown, keep), chunk.first_row)
            if len(intake.labels) < _LABELS_COUNTED:
                intake.labels |= distinct_labels(column)
        if self.side is None:
            return decoded.member, keep
        own = decoded.member if self.side else ~decoded.member
        ours = _and(own, keep)
        before = chunk.rows if keep is None else int(np.count_nonzero(keep))
        intake.rows["other_side", self.side] += before - int(np.count_nonzero(ours))
        return decoded.member, ours

    def _count_inexact(self, chunk: Chunk, keep: NDArray[np.bool_] | None, intake: Intake) -> None:
        for field in self.scores:
            column = chunk.columns[field.name]
            mask = inexact_integers(column, field.kind)
            if mask is not None:
                intake.note("inexact", field.name, _and(mask, keep), chunk.first_row)
            mask = rounded_decimals(column)
            if mask is not None and (mask := _and(mask, keep)).any():
                intake.note("rounded", field.name, mask, chunk.first_row)
                intake.note("met", field.name, met_numbers(column, mask), chunk.first_row)

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
        if self.nan == "category":
            self._count_extremes(scores, keep, chunk, intake)
        for at, score in enumerate(scores):
            if not _has_nan(score):
                if self.nan == "category":
                    scores[at] = _raised(score)
                continue
            mask = np.isnan(score)
            intake.note("missing", self.scores[at].name, _and(mask, keep), chunk.first_row)
            gaps = mask if gaps is None else gaps | mask
            if self.nan == "category":
                scores[at] = np.where(mask, -np.inf, _raised(score))
        if gaps is None:
            return keep
        intake.classes("nan", member[_and(gaps, keep)])
        return keep if self.nan == "category" else _and(~gaps, keep)

    def _count_extremes(
        self,
        scores: list[NDArray[np.float64]],
        keep: NDArray[np.bool_] | None,
        chunk: Chunk,
        intake: Intake,
    ) -> None:
        """Count what the place of missing scores would hide, before they are given it."""
        for field, score in zip(self.scores, scores, strict=True):
            masks: tuple[tuple[Wrong, NDArray[np.bool_]], ...] = (
                ("infinite", np.isinf(score)),
                ("endless", score == -np.inf),
                ("lowest", score == _LOWEST),
            )
            for wrong, mask in masks:
                intake.note(wrong, field.name, _and(mask, keep), chunk.first_row)

    def _count_spread(self, scores: list[NDArray[np.float64]], intake: Intake) -> None:
        for field, score in zip(self.scores, scores, strict=True):
            # Texts are hashes here.
            if field.kind in {"float", "integer"}:
                # Missing scores have the lowest place by now, where they are kept.
                present = score[score != -np.inf] if self.nan == "category" else score
                intake.spread.setdefault(field.name, Spread()).add(present)

    def _keys(
        self, chunk: Chunk, keep: NDArray[np.bool_] | None, intake: Intake
    ) -> NDArray[np.uint64]:
        assert self.key is not None  # noqa: S101 - the caller asked
        hashes = column_hashes(chunk.columns[self.key])
        if hashes.missing is not None:
            intake.note("null_keys", "", _and(hashes.missing, keep), chunk.first_row)
        return hashes.values


def _count_copies(
    column: Column, kept: NDArray[np.intp] | None, member: NDArray[np.bool_], intake: Intake
) -> None:
    """Count the released rows among those kept, and of how many that is told."""
    if isinstance(column, Labels):
        return
    said = column_scores(column) if kept is None else column_scores(column)[kept]
    for side, rows in ((True, said[member]), (False, said[~member])):
        intake.rows["copied", side] += int(np.count_nonzero(rows == 1))
        intake.rows["told", side] += int(np.count_nonzero((rows == 1) | (rows == 0)))


def _and(mask: NDArray[np.bool_], keep: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    return mask if keep is None else mask & keep


def _has_nan(scores: NDArray[np.float64]) -> bool:
    """Tell whether a NaN is there: the minimum is NaN then, and costs one quick pass."""
    return scores.size > 0 and bool(np.isnan(scores.min()))


def _raised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``scores`` with minus infinity moved up, to make room below it."""
    return np.maximum(scores, _LOWEST)
