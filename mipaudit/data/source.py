"""An opened input: its score columns, and its rows in partitions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.choice import UNUSED, Choice, choice_findings, member_rule, tells_copies
from mipaudit.data.column import (
    Chunk,
    Column,
    Kind,
    Part,
    Piece,
    at_precision,
    column_hashes,
    column_scores,
    merged_numbers,
)
from mipaudit.data.parts import Opened, ScoreColumn, merge_fields, named_fault, uneven_storage
from mipaudit.data.rows.intake import (
    Intake,
    Spread,
    Wrong,
    fault_of,
    intake_findings,
    precision_findings,
)
from mipaudit.data.rows.units import Chosen, choose_units
from mipaudit.data.words import MemberRule, distinct_labels, empty_class_error, said_of
from mipaudit.errors import InputError, UsageError
from mipaudit.maths.arrays import Floats
from mipaudit.model.message import Finding
from mipaudit.statements.copies import COPY_COLUMN, Copies, copy_findings
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.provenance import InputFile, Provenance, Setting, provenance
from mipaudit.summaries.rows import Rows, ScoreKind

if TYPE_CHECKING:
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.summary_source import SummarySource
    from mipaudit.summaries.seed import SeedChoice

    # What an audit asks of its input once it is counted: read to its end, or the summaries of one.
    AuditedInput: TypeAlias = "ScoreSource | SummarySource"

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
        copies: whether a column says which records were released unchanged.
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

    def _scored(self, column: Column, name: str, note: Note) -> Floats:
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

    def _fill_gaps(self, scores: list[Floats], note: Note) -> Mask | None:
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


# Parts by the class that they were given for; None where a column says it.
Sides = Sequence[tuple[bool | None, tuple[Part, ...]]]


class Partitions(tuple[PiecePartition, ...]):  # noqa: SLOT001 - a tuple can have no slots
    """Partitions in row order, with their source, which takes account of what is left out."""

    source: ScoreSource

    @classmethod
    def of(cls, items: Iterable[PiecePartition], source: ScoreSource) -> Self:
        """Return the partitions of an input."""
        found = cls(items)
        found.source = source
        return found

    def mapped(self, change: Callable[[PiecePartition], PiecePartition]) -> Partitions:
        """Return them changed."""
        return Partitions.of(map(change, self), self.source)

    def then(self, change: Callable[[Rows], Rows] | None) -> Partitions:
        """Return them with one more change of their rows; None for none."""
        return self if change is None else self.mapped(methodcaller("then", change))

    def rows(self) -> Iterator[Rows]:
        """Yield all rows in order, read here; a full pass is settled.

        Raises:
            InputError: a fault of the rows, with their number.
        """
        intake, nan_is_error = Intake(), self.source.choice.nan == "error"
        for one in self:
            for rows in one.batches(intake):
                if not intake.faulty(nan_is_error=nan_is_error):
                    yield rows
        self.source.settle(intake)


def _score_kind(kind: Kind) -> ScoreKind:
    """Return what a column is as a score: one without values reads as NaN, which is a float."""
    return "float" if kind in {"empty", "other"} else kind  # type: ignore[return-value]


class ScoreSource:
    """An opened input. Use it as a context manager, or close it.

    Attributes:
        choice: the columns that are read.
        columns: the score columns, in file order.
        vectors: scores of several numbers, each made of some of the columns.
        scalars: which columns are scores by themselves: all, unless there are vectors.
        member_column: the membership column, None when files or arrays say it.
        skipped: (column, why) for every column that was not taken.
        chosen_words: what the reader must know of the choice of the columns.
        mixed: the score columns whose type differs between files.
        rounded: those that are rounded to the float type of the coarsest files, with these.
        rows_hint: rows in the input before any is left out.
        position_seed: of rows that their positions tell apart.
        unit_seed: chooses the rows that stand for persons; None without ``unit_column``.
        unit_rows_dropped: rows of members and of the holdout that stand for nobody.
        standing: the rows of persons that count, with the persons' scores where these are made
            of several; None where all count as they are.
        assumed: what was taken on the user's word, and how persons are counted.
        intake: what was left out, as the last full pass counted it.
    """

    def __init__(self, choice: Choice, request: ReadRequest, sides: Sides, opened: Opened) -> None:
        """Number the rows of loaded parts: position follows the order of the sides and parts.

        Raises:
            InputError: nothing says who is a member.
        """
        self.opened = opened
        self.rounded, self.mixed = uneven_storage(choice.names, opened.parts)
        kinds = {field.name: field.kind for field in merge_fields(opened.parts)}
        self.columns = tuple(
            ScoreColumn(name=name, kind=_score_kind(kinds[name])) for name in choice.names
        )
        place = {name: at for at, name in enumerate(choice.names)}
        self.scalars = tuple(at for name, at in place.items() if name in choice.scalars)
        # Of each score of several numbers the places of its columns.
        self.vectors = {",".join(one): tuple(map(place.__getitem__, one)) for one in choice.vectors}
        rules = [
            member_rule(parts, choice.members, request, required=side is None)
            for side, parts in sides
        ]
        self.member_column = next((rule.column for rule in rules if rule is not None), None)
        taken = {self.member_column, *choice.names}
        self.skipped = tuple(one for one in choice.skipped if one[0] not in taken)
        self.chosen_words = choice_findings(choice, request)
        # What was left out need not travel with every partition.
        self.choice = replace(choice, skipped=(), unaudited=())
        self._partitions = list(self._pieces(sides, rules))
        self.rows_hint = sum(one.piece.rows for one in self._partitions)
        self.position_seed = 0
        self.unit_seed: int | None = None
        self.unit_rows_dropped = (0, 0)
        self._chosen: Chosen | None = None
        self.standing: Chosen | None = None
        self.assumed: tuple[Finding, ...] = ()
        self._described: dict[bool, tuple[InputFile, ...]] = {}
        self.intake = Intake()

    def _pieces(self, sides: Sides, rules: Sequence[MemberRule | None]) -> Iterator[PiecePartition]:
        """Yield the pieces of all parts in row order, with the way to make rows of each."""
        precision = {name: kind for name, (kind, _) in self.rounded.items()}
        choice, first_row = self.choice, 0
        for (side, parts), rule in zip(sides, rules, strict=True):
            for part in parts:
                stored = {field.name: field.storage for field in part.fields}
                coarse = (name for name, kind in precision.items() if stored[name] == kind)
                of_part = partial(
                    PiecePartition,
                    part=part.name,
                    choice=choice,
                    rule=rule,
                    side=side,
                    precision=precision,
                    coarse=frozenset(coarse),
                    copies=choice.copies and tells_copies(part.fields),
                )
                for piece in part.pieces():
                    yield of_part(piece=piece, first_row=first_row)
                    first_row += piece.rows

    def partitions(self) -> Partitions:
        """Return the partitions in row order, with one row for each person and class.

        Who stands for a person is chosen at the first call, in one more pass.
        """
        every = self.every_row()
        if self.unit_seed is None:
            return every
        if self._chosen is None:
            self.stand_for(choose_units(every.rows(), self.unit_seed))
        return every.mapped(methodcaller("only", self._chosen))

    def number_rows(self, seed: int) -> None:
        """Let rows be told apart by their positions, with this seed."""
        self.position_seed = seed
        if self.unit_seed is not None:
            self.unit_seed = seed

    def stand_for(self, chosen: Chosen) -> None:
        """Let these rows stand for their persons, as the person who counted them chose."""
        self._chosen = chosen
        self.unit_rows_dropped = chosen.dropped_members, chosen.dropped_holdout

    def every_row(self) -> Partitions:
        """Return the partitions in row order, with all rows of a person that may count."""
        found = Partitions.of(self._partitions, self)
        return found if self.standing is None else found.mapped(methodcaller("only", self.standing))

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Return the columns that might have been scores and were not taken, by name."""
        return tuple(sorted(name for name, why in self.skipped if why.code not in UNUSED))

    @property
    def unused(self) -> tuple[str, ...]:
        """Return the columns that nothing depends on: ids, labels, what was not named."""
        return tuple(name for name, why in self.skipped if why.code in UNUSED)

    def settle(self, intake: Intake) -> None:
        """Take the account of one full pass.

        Raises:
            InputError: a fault of the rows, with their number.
        """
        self.intake = intake
        if self.choice.groups is not None:
            self.choice.groups.learn(intake.groups)
        if not intake.faulty(nan_is_error=self.choice.nan == "error"):
            return
        for rule in {one.rule for one in self._partitions if one.rule is not None}:
            intake.labels |= rule.members | (rule.holdout or frozenset())
        raise fault_of(
            intake,
            self.choice.names,
            member_column=self.member_column,
            key_column=self.choice.key,
            coarse=self.rounded,
        )

    def inputs(self, *, hash_all: bool = False) -> tuple[InputFile, ...]:
        """Return the inputs as they were read; asked once more, as they were the first time.

        Args:
            hash_all: sha256 of every input; otherwise, where they have more than 64 MiB
                together, each has a fingerprint of its size, footer and ends.
        """
        if hash_all not in self._described:
            self._described[hash_all] = self.opened.described(hash_all=hash_all, together=True)
        return self._described[hash_all]

    def provenance(
        self,
        seed: SeedChoice,
        seeds: Mapping[str | None, int],
        settings: Sequence[Setting],
        *,
        hash_all: bool,
    ) -> Provenance:
        """Return where a report on the input comes from, of a run that ends now.

        Args:
            seed: which one was asked for.
            seeds: in use.
            settings: to record.
            hash_all: as of `inputs`.

        Raises:
            InputError: ``input_changed``.
        """
        self.opened.check_unchanged()
        return provenance(
            seed=seed,
            inputs=self.inputs(hash_all=hash_all),
            settings=settings,
            seeds=seeds,
            unused_columns=self.unused,
        )

    @property
    def remote(self) -> bool:
        """Tell whether a file is far away."""
        return self.opened.remote

    @property
    def incomplete(self) -> bool:
        """Tell whether files are skipped."""
        return bool(self.opened.left_out)

    @property
    def copies(self) -> Copies | None:
        """The records that were released unchanged, after a full pass; None if unknown."""
        return self.intake.copies

    @property
    def told(self) -> tuple[Finding, ...]:
        """What must be known first: of copies, and of the choice of the columns."""
        return (*copy_findings(self.copies), *self.chosen_words)

    def findings(self) -> tuple[Finding, ...]:
        """Return what the reader must know about rows left out; valid after a full pass."""
        return (
            *self.assumed,
            *self.opened.skipped,
            *intake_findings(
                self.intake, self.unit_rows_dropped, category=self.choice.nan == "category"
            ),
            *(Finding.of("types_differ", column=name) for name in self.mixed),
            *precision_findings(self.intake, self.rounded),
        )

    def infinite(self, names: Sequence[str]) -> int | None:
        """Count the infinite scores of columns; None unless missing ones have a place too."""
        if self.choice.nan != "category":
            return None
        found = self.intake.of("infinite")
        return sum(found[name].count for name in names if name in found)

    def sentinels(self, name: str) -> dict[int, int]:
        """Count rows by value, of values that may stand for a missing score; after a full pass."""
        spread = self.intake.spread.get(name)
        return {} if spread is None else spread.far

    def require_numbers(self) -> None:
        """Raise UsageError ``no_order`` for a score column of labels."""
        for column in self.columns:
            if column.kind == "string":
                raise UsageError(
                    "no_order",
                    f"Column {quoted_name(column.name)} holds labels, which have no order.",
                    "Name a column of numbers with `score_col`.",
                )

    def check_classes(self) -> None:
        """Raise InputError ``empty_class`` if a class has no row; valid after a full pass."""
        members, holdout = (self.intake.rows["present", side] for side in (True, False))
        if not members and not holdout:
            raise InputError("no_rows", "No row is left.", "Check `where` and `nan`.")
        if not members or not holdout:
            raise empty_class_error(members=not members)

    def close(self) -> None:
        """Release files, memory and temporary files."""
        self.opened.close()

    def __enter__(self) -> Self:
        """Return the source itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close it."""
        self.close()
