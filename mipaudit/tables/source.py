"""An opened input: its score columns, and its rows in partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, Self

from mipaudit.errors import InputError
from mipaudit.report.model import InputFile
from mipaudit.tables.blob import describe_blob
from mipaudit.tables.faults import empty_class_error, fault_of
from mipaudit.tables.tally import Tally, merge_tallies, tally_findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from mipaudit.audit.finding import Finding
    from mipaudit.summaries.rows import Rows
    from mipaudit.tables.assembly import Assembly
    from mipaudit.tables.part import Part, Piece
    from mipaudit.tables.request import ReadRequest
    from mipaudit.tables.units import Chosen

ScoreKind = Literal["float", "integer", "bool", "string"]


class Partition(Protocol):
    """A part of the input that can be read on its own."""

    def batches(self) -> Iterator[Rows]:
        """Yield the rows in order.

        May be called several times, and for different partitions from several
        threads at once.

        Raises:
            InputError: a missing score, membership or key; three labels; a file
                that is damaged.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumn:
    """A score column that is read."""

    name: str
    kind: ScoreKind


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """Parts that are understood in the same way, and the rows in each of their pieces."""

    parts: tuple[Part, ...]
    assembly: Assembly


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PiecePartition:
    """A piece of a part, with the way to make rows of it."""

    source: ScoreSource
    index: int
    piece: Piece
    first_row: int
    assembly: Assembly

    def batches(self) -> Iterator[Rows]:
        """Yield the rows in order."""
        tally = Tally()
        nan_is_error = self.assembly.nan == "error"
        chosen = self.source.chosen
        for chunk in self.piece.chunks(self.assembly.columns, self.first_row):
            rows = self.assembly.rows(chunk, tally)
            if tally.faulty(nan_is_error=nan_is_error):
                raise self.source.fault()
            yield rows if chosen is None else chosen.among(rows)
        self.source.tallies[self.index] = tally

    def add_to(self, tally: Tally) -> None:
        """Count the rows and faults of this partition without stopping at the first."""
        for chunk in self.piece.chunks(self.assembly.columns, self.first_row):
            self.assembly.rows(chunk, tally)


class ScoreSource:
    """An opened input. Use it as a context manager, or close it.

    Attributes:
        columns: the score columns taken, in file order.
        member_column: the membership column, None when files or arrays say it.
        skipped: (column, why) for every column that was not taken.
        rows_hint: rows in the input before any is left out.
        chosen: the rows that stand for persons, None without ``unit_column``.
        tallies: what was left out, by partition that was read to its end.
    """

    def __init__(
        self,
        *,
        columns: tuple[ScoreColumn, ...],
        skipped: tuple[tuple[str, str], ...],
        groups: Sequence[Group],
    ) -> None:
        """Number the rows: position follows the order of the groups and their parts."""
        self.columns = columns
        self.skipped = skipped
        self.chosen: Chosen | None = None
        self.tallies: dict[int, Tally] = {}
        self._parts = [part for group in groups for part in group.parts]
        self._partitions: list[PiecePartition] = []
        self._rows = [self._add_part(part, group) for group in groups for part in group.parts]
        self.rows_hint: int | None = sum(self._rows)
        rules = [group.assembly.rule for group in groups if group.assembly.rule]
        self.member_column: str | None = rules[0].column if rules else None

    def _add_part(self, part: Part, group: Group) -> int:
        rows = 0
        start = self._end()
        for piece in part.pieces():
            self._partitions.append(
                PiecePartition(
                    source=self,
                    index=len(self._partitions),
                    piece=piece,
                    first_row=start + rows,
                    assembly=group.assembly,
                )
            )
            rows += piece.rows
        return rows

    def _end(self) -> int:
        if not self._partitions:
            return 0
        last = self._partitions[-1]
        return last.first_row + last.piece.rows

    def partitions(self) -> Sequence[PiecePartition]:
        """Return the partitions in row order."""
        return tuple(self._partitions)

    def inputs(self, *, hash_all: bool = False) -> tuple[InputFile, ...]:
        """Return the inputs as they were read.

        Args:
            hash_all: sha256 of every input; otherwise those above 64 MiB have a
                fingerprint of their size, footer and ends.
        """
        return tuple(
            InputFile(name=part.name, rows=rows, bytes=None)
            if part.blob is None
            else describe_blob(part.blob, rows, hash_all=hash_all)
            for part, rows in zip(self._parts, self._rows, strict=True)
        )

    def check_unchanged(self) -> None:
        """Raise InputError ``input_changed`` if a file is not as it was at opening."""
        for part in self._parts:
            if part.blob is not None and part.blob.changed():
                raise InputError(
                    "input_changed",
                    f"{part.name}: the file changed while it was read.",
                    hint="Audit a copy that nobody writes to.",
                )

    def findings(self) -> tuple[Finding, ...]:
        """Return what the reader must know about rows left out; valid after a full pass."""
        if not self._partitions:
            return ()
        category = self._partitions[0].assembly.nan == "category"
        return tally_findings(self._total(), category=category)

    def check_classes(self) -> None:
        """Raise InputError ``empty_class`` if a class has no row; valid after a full pass."""
        total = self._total()
        if not total.members and not total.holdout:
            raise InputError("no_rows", "No row is left.", hint="Check --where and --nan.")
        if not total.members or not total.holdout:
            raise empty_class_error(members=not total.members)

    def _total(self) -> Tally:
        total = merge_tallies(self.tallies.values())
        if self.chosen is not None:
            total.unit_members += self.chosen.dropped_members
            total.unit_holdout += self.chosen.dropped_holdout
        return total

    def fault(self) -> InputError:
        """Count the faults of the whole input, in one more pass, and return the error."""
        total = merge_tallies(self._fault_tallies())
        assembly = self._partitions[0].assembly
        rules = [p.assembly.rule for p in self._partitions if p.assembly.rule]
        for rule in rules:
            total.labels |= rule.members | (rule.holdout or frozenset())
        return fault_of(total, member_column=self.member_column, key_column=assembly.key)

    def _fault_tallies(self) -> Iterator[Tally]:
        for partition in self._partitions:
            tally = Tally()
            partition.add_to(tally)
            yield tally

    def close(self) -> None:
        """Release files, memory and temporary files."""
        for part in self._parts:
            part.close()

    def __enter__(self) -> Self:
        """Return the source itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close it."""
        self.close()


def open_scores(request: ReadRequest) -> ScoreSource:
    """Open the files that ``request`` names.

    CSV is parsed here, once; Parquet is decoded in every pass.

    Raises:
        UsageError: the request contradicts itself.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.tables.opening import open_files

    return open_files(request)


def open_arrays(
    members: ArrayLike, holdout: ArrayLike, *, names: Sequence[str] = ()
) -> ScoreSource:
    """Open the scores of both classes from arrays.

    Args:
        members: shape (n,) or (n, d), numbers or booleans.
        holdout: shape (m,) or (m, d).
        names: of the d scores; by default ``score``, or ``score_0`` and so on.

    Raises:
        InputError: a wrong shape or type, or a class without scores.
    """
    from mipaudit.tables.opening import open_pair

    return open_pair(members, holdout, names)


def open_frame(frame: object, request: ReadRequest) -> ScoreSource:
    """Open a pandas or polars frame, or an Arrow table.

    Args:
        frame: anything with ``__arrow_c_stream__``.
        request: how to understand it; its files are not looked at.

    Raises:
        InputError: the frame cannot be audited as it is.
    """
    from mipaudit.tables.opening import open_table

    return open_table(frame, request)
