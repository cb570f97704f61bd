"""Two tables of records, members and holdout, as columns of numbers.

A number is itself and NaN where it is missing; a text is a hash of itself, which orders
nothing but tells texts apart; a day, a time or a duration counts in days.

Rows are compared in an order and with a seed of their own: what a row is, and so whether it
only trains, follows from what it holds and not from where it stands. Who orders the rows of a
file chooses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, Self

import numpy as np

from mipaudit.counting.kept_rows import RowsInMemory
from mipaudit.counting.large_seed import costs_a_pass, position_seed, rows_in_order
from mipaudit.engine.fold import fold
from mipaudit.errors import InputError
from mipaudit.reading.columns.column import Labels, column_hashes, column_scores, word_days
from mipaudit.reading.rows.units import Chosen, choose_units
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.summaries.held_rows import HeldRows, one_of_each
from mipaudit.summaries.identity.content import ContentColumn, canonical_order
from mipaudit.summaries.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.shift.options import ShiftOptions
    from mipaudit.data.parts import Opened, Part, Partition, Piece
    from mipaudit.engine.workers import Workers
    from mipaudit.reading.columns.column import Chunk, Column
    from mipaudit.reading.rows.intake import Intake
    from mipaudit.statements.estimate import Finding
    from mipaudit.summaries.identity.seed import SeedChoice

FeatureKind = Literal["number", "category", "date"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureColumn:
    """A column that both tables have.

    Attributes:
        name: of the column.
        kind: what its cells are.
        fractions: whether its numbers are stored as such.
        precision: the float type that its numbers are rounded to, because some files are.
    """

    name: str
    kind: FeatureKind
    fractions: bool = False
    precision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeaturePartition:
    """A piece of one table."""

    piece: Piece
    member: bool
    first_row: int
    source: FeatureSource

    @property
    def stays(self) -> bool:
        """Rows are read in this process: its threads share what ids stand for."""
        return True

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows in order: their scores are the features, NaN where missing."""
        del intake  # nothing is left out
        columns, person = self.source.columns, self.source.id_column
        wanted = {*(column.name for column in columns), *([person] if person else [])}
        for chunk in self.piece.chunks(wanted, self.first_row):
            keys = None if person is None else self.source.ids(chunk.columns[person])
            rows = Rows(
                first_row=chunk.first_row,
                source_rows=chunk.rows,
                kept=None,
                keys=keys,
                member=np.full(chunk.rows, self.member),
                scores=tuple(_numbers(chunk, column) for column in columns),
            )
            yield rows if self.source.chosen is None else self.source.chosen.among(rows)


@dataclass(kw_only=True, eq=False)
class FeatureSource:
    """The opened tables. Use it as a context manager, or close it.

    Attributes:
        columns: the features, in the order of the members' table.
        skipped: (column, code of why) for every column that is left out.
        id_column: names the person behind a row.
        held: whether all rows fit in memory, so that no order of them can tell.
        sides: the parts of both tables.
        opened: what they are read from.
        chosen: the rows that stand for their persons; None for every row.
    """

    columns: tuple[FeatureColumn, ...]
    skipped: tuple[tuple[str, str], ...]
    id_column: str | None
    held: bool
    sides: tuple[tuple[bool, tuple[Part, ...]], ...]
    opened: Opened
    chosen: Chosen | None = None
    _partitions: list[FeaturePartition] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Number the rows, members first."""
        row = 0
        for member, parts in self.sides:
            for part in parts:
                for piece in part.pieces():
                    self._partitions.append(
                        FeaturePartition(
                            piece=piece,
                            member=member,
                            first_row=row,
                            source=self,
                        )
                    )
                    row += piece.rows
        self.rows_hint = row

    def partitions(self) -> Sequence[FeaturePartition]:
        """Return the partitions in row order."""
        return tuple(self._partitions)

    def choose(self, seed: int) -> Chosen:
        """Let one row of each person and class stand for them from now on.

        Args:
            seed: in use for the positions of the rows.

        Raises:
            InputError: ``missing_id``.
        """
        batches = (rows for part in self._partitions for rows in part.batches())
        self.chosen = choose_units(batches, seed)
        return self.chosen

    def ids(self, column: Column) -> NDArray[np.uint64]:
        """Return the hash of each row's person.

        Raises:
            InputError: ``missing_id``.
        """
        hashes = column_hashes(column)
        if hashes.missing is not None and hashes.missing.any():
            raise InputError(
                "missing_id",
                f"Column {quoted_name(str(self.id_column))} is missing in some rows: whose they "
                "are is not known.",
                hint="Fill it in, or leave `id_col` out.",
            )
        return hashes.values

    def __enter__(self) -> Self:
        """Return the source itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Release files and memory."""
        self.opened.close()


def _numbers(chunk: Chunk, column: FeatureColumn) -> NDArray[np.float64]:
    found = chunk.columns[column.name]
    if isinstance(found, Labels) and column.kind == "date":
        return _days(found, column.name)
    if isinstance(found, Labels) and column.kind == "number":
        raise mixed_column(column.name)
    return column_scores(found, column.precision)


def _days(labels: Labels, name: str) -> NDArray[np.float64]:
    """Return the days of texts, NaN where missing.

    Raises:
        InputError: ``not_a_date``.
    """
    # A dictionary may hold words that no row has.
    used = np.unique(labels.codes[labels.codes >= 0])
    days = word_days([labels.vocabulary.words[at] for at in used.tolist()])
    if days is None:
        raise InputError(
            "not_a_date",
            f"Column {quoted_name(name)} holds days in its first rows, and text that is no day "
            "further down.",
            hint="Write days as 2024-05-31 and leave unknown ones empty, or leave the column out "
            "with `ignore`.",
        )
    table = np.full(len(labels.vocabulary.words) + 1, np.nan)
    table[used] = days
    return np.asarray(table[labels.codes], dtype=np.float64)


def mixed_column(name: str) -> InputError:
    """Return the error for a column of numbers in one file and of text in another."""
    return InputError(
        "mixed_column",
        f"Column {quoted_name(name)} holds numbers in one place and text in another.",
        hint="Write it the same way everywhere, or leave it out with `ignore`.",
    )


_ROWS_AT_ONCE: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShiftRows:
    """What is compared.

    Attributes:
        partitions: the rows, one for each person and class where there are persons.
        seed: in use for them.
        choice: of the seed, as it is recorded.
        dropped: rows that stand for nobody.
        findings: on the seed.
    """

    partitions: Sequence[Partition]
    seed: int
    choice: SeedChoice
    dropped: int
    findings: tuple[Finding, ...] = ()


def shift_rows(
    source: FeatureSource,
    asked: ShiftOptions,
    *,
    workers: Workers,
    progress: Callable[[int], None] | None,
) -> ShiftRows:
    """Return the rows of the tables with the seed that they decide.

    Args:
        source: opened, no person's row chosen.
        asked: which seed, and whether every row of a large input is to be hashed, whatever it
            costs.
        workers: who reads.
        progress: called with numbers of rows.

    Raises:
        InputError: rows that cannot be compared.
    """
    if not source.held:
        return _in_place(source, asked)
    held = fold(source.partitions(), HeldRows, workers=workers, progress=progress).joined()
    assert held is not None  # noqa: S101 - neither table is empty
    rows = replace(held, scores=tuple(map(_one_zero, held.scores)))
    columns = [
        # Words of the bits tell all values and the missing apart, whatever a column holds.
        ContentColumn(name=column.name, values=values.view(np.uint64), labels=True)
        for column, values in zip(source.columns, rows.scores, strict=True)
    ]
    persons = rows.keys is not None
    found = canonical_order(columns, rows.member, rows.keys, units=persons)
    choice = asked.chosen_seed
    seed = choice.in_use(found.content)
    rows = rows.reordered(found.order)
    every = rows.member.size
    if persons:
        rows = one_of_each(rows, seed)
    parts = [
        RowsInMemory(rows=rows.between(start, start + _ROWS_AT_ONCE))
        for start in range(0, rows.source_rows, _ROWS_AT_ONCE)
    ]
    return ShiftRows(partitions=parts, seed=seed, choice=choice, dropped=every - rows.member.size)


def _in_place(source: FeatureSource, asked: ShiftOptions) -> ShiftRows:
    """Return rows that are too many to keep: their positions tell them apart."""
    content = None
    if not costs_a_pass(source.opened.described(hash_all=asked.hash_inputs)):
        names = [column.name for column in source.columns]
        batches = (rows for part in source.partitions() for rows in part.batches())
        plain = (replace(one, scores=tuple(map(_one_zero, one.scores))) for one in batches)
        content = rows_in_order([(names, plain)])
    choice, seed, findings = position_seed(asked.chosen_seed, content)
    dropped = 0
    if source.id_column is not None:
        chosen = source.choose(seed)
        dropped = chosen.dropped_members + chosen.dropped_holdout
    return ShiftRows(
        partitions=source.partitions(),
        seed=seed,
        choice=choice,
        dropped=dropped,
        findings=findings,
    )


def _one_zero(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a column with one kind of zero and of NaN."""
    values = column + 0.0
    values[np.isnan(values)] = np.nan
    return values
