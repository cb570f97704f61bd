"""An opened input: its score columns, and its rows in partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Self, TypeAlias

from mipaudit.data.choice import UNUSED, choice_findings, member_rule, tells_copies
from mipaudit.data.column import Part
from mipaudit.data.parts import Opened, ScoreColumn, VectorScore, merge_fields, uneven_storage
from mipaudit.data.rows.intake import Intake, fault_of, intake_findings, precision_findings
from mipaudit.data.rows.partition import PiecePartition
from mipaudit.data.rows.units import Chosen, choose_units
from mipaudit.data.words import empty_class_error
from mipaudit.errors import InputError
from mipaudit.model.message import Finding
from mipaudit.statements.copies import Copies, copy_findings

if TYPE_CHECKING:
    from mipaudit.data.choice import Choice
    from mipaudit.data.column import Kind
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.summary_source import SummarySource
    from mipaudit.data.words import MemberRule
    from mipaudit.statements.provenance import InputFile
    from mipaudit.summaries.plan import ScoreKind
    from mipaudit.summaries.rows import Rows

    # What an audit asks of its input once it is counted: read to its end, or the summaries of one.
    AuditedInput: TypeAlias = "ScoreSource | SummarySource"

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
        self.vectors = tuple(
            VectorScore(name=",".join(one), coordinates=tuple(place[name] for name in one))
            for one in choice.vectors
        )
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
        """Let these rows stand for their persons, as whoever counted them chose."""
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
        """The records that were released word for word, after a full pass; None if untold."""
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

    def check_classes(self) -> None:
        """Raise InputError ``empty_class`` if a class has no row; valid after a full pass."""
        members, holdout = (self.intake.rows["present", side] for side in (True, False))
        if not members and not holdout:
            raise InputError("no_rows", "No row is left.", hint="Check `where` and `nan`.")
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
