"""``mipaudit records``: from an input to the risk of every record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.records.cells import RecordRisks
from mipaudit.commands.records.counts import RecordCounts, count_records
from mipaudit.commands.records.options import RecordsOptions, RecordTableOptions
from mipaudit.commands.records.policy import records_checks
from mipaudit.commands.records.report import ExposedRecord, RecordsDesign, RecordsReport
from mipaudit.counting.counts import row_meter
from mipaudit.counting.scores import read_input, settle_seed
from mipaudit.data.parts import BadPartsError
from mipaudit.data.request import read_request
from mipaudit.engine.workers import Workers, engine_of
from mipaudit.evidence.scores.findings import size_findings
from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Ints
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Row
from mipaudit.options.checked_limits import limits_elsewhere
from mipaudit.options.public import public
from mipaudit.statements.policy import Policy
from mipaudit.statements.verdict import decide
from mipaudit.summaries.rows import splitmix64

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.commands.records.cells import RecordCells, RecordRisks
    from mipaudit.commands.records.options import RecordsShown
    from mipaudit.data.source import ScoreSource
    from mipaudit.model.row import Row
    from mipaudit.summaries.rows import Rows
    from mipaudit.summaries.seed import SeedChoice


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordTable:
    """Every record's risk, and the report.

    Attributes:
        table: an Arrow table with a row for each record, in the order of the input.
        report: as `records` returns it.
    """

    table: pa.Table
    report: RecordsReport


def answer_records(asked: RecordsOptions) -> RecordsReport:
    """Return how exposed every record is, and write a row for each record.

    The risk of a record is |f_p| of the cell of its score, an average over the cell's
    records, with limits that hold for all cells together. The input is read twice, and once
    more if records are written or named.

    Raises:
        UsageError: a setting is wrong, or there are several scores.
        InputError: the input cannot be audited as it is.
        OutputError: the records cannot be written.
    """
    from mipaudit.output.destination import row_file
    from mipaudit.output.rows import write_rows

    form = asked.form
    if form is None:
        return _answer_with(asked, sink=None)
    with row_file(asked.output, inputs=asked.inputs()) as file:

        def write(chunks: Chunks, columns: Sequence[str]) -> None:
            """Write the rows of records to the file."""
            write_rows(
                file,
                chunks,
                form,
                columns=columns,
                # What a cell's records share: Parquet keeps each value once.
                repeating=columns[columns.index("cell") :],
                quoted=asked.key_col is not None,
                inert=asked.safe_csv,
            )

        return _answer_with(asked, sink=write)


def answer_record_table(asked: RecordTableOptions) -> RecordTable:
    """Return every record's risk as an Arrow table, with the report of `records`.

    Raises:
        UsageError: a setting is wrong, or there are several scores.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.output.rows import table_of

    tables: list[pa.Table] = []

    def keep(chunks: Chunks, columns: Sequence[str]) -> None:
        """Keep the rows of records as a table."""
        tables.append(table_of(chunks, columns=columns))

    report = _answer_with(asked, sink=keep)
    return RecordTable(table=tables[0], report=report)


def run_records(asked: RecordsOptions, shown: RecordsShown) -> int:
    """Write a row for each record into a file, and show the report; return the exit code."""
    from mipaudit.output.destination import Destination, report_beside
    from mipaudit.output.presentation import deliver
    from mipaudit.output.terminal import progress_bar

    rows = None
    if asked.output is not None:
        rows = Destination.open(asked.output, inputs=asked.inputs(), private=True)
    report_place = report_beside(shown.report, rows, inputs=asked.inputs())
    with (
        progress_bar(quiet=shown.quiet) as progress,
        nullcontext() if rows is None else rows.stream() as file,
    ):
        report = answer_records(asked.but(output=file, output_format=asked.form, progress=progress))
    files = () if rows is None else (("the records", rows),)
    to_stdout = rows is not None and rows.path is None
    return deliver(report, shown, report_place, *files, beside_data=to_stdout)


# Columns of the file of records, and what they hold of the table of cells.
_COLUMNS: Final = {
    "cell": "cell",
    "cell_members": "members",
    "cell_holdout": "holdout",
    "signed_risk": "signed",
    "risk": "risk",
    "risk_lower": "lower",
    "risk_upper": "upper",
    "risk_lower_pointwise": "lower_pointwise",
    "risk_upper_pointwise": "upper_pointwise",
}
# What is told of the cell of a record that is named.
_OF_RECORD: Final = ("cell", "risk", "lower", "upper", "speaks_for")
# A record that may be named: what decides, in order, and what is told of it.
_NAMED: Final = np.dtype(
    [
        *(("cell", "i8"), ("drawn", "u8"), ("place", "u8"), ("row", "i8"), ("member", "?")),
        ("key", "O"),
    ]
)
# Columns of rows by name, and what takes them with the names of all columns.
Chunks = Iterator[Mapping[str, NDArray[Any]]]
Sink = Callable[[Chunks, Sequence[str]], None]


def _columns_with(key: str | None, of_cell: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of the file; the key column comes second, if there is one.

    A key column that has the name of another column is called ``key``.
    """
    row, *others = "row", "member", *of_cell
    return (row, *([] if key is None else ["key" if key in (row, *others) else key]), *others)


def _cell_columns(risks: RecordRisks) -> dict[str, NDArray[Any]]:
    """Return what the records of each cell get in the file, arrays of shape (m,) by name."""
    found = {column: risks.table[name] for column, name in _COLUMNS.items()}
    return {**found, "direction": risks.together.direction, "in_list": risks.listed}


class TopRecords:
    """Records of the most exposed cells.

    All records of a cell have the same risk. Of the last cell that is needed some are drawn,
    by what the rows hold: key, score and class. Only where those are equal, too, the place of
    a row decides, and nothing else could.

    Attributes:
        tied: records in the last cell that is needed.
    """

    def __init__(self, risks: RecordRisks, count: int, seed: int) -> None:
        """Look for the ``count`` most exposed records, at least 0; the seed is of the draw."""
        rows, order = risks.everyone.sum(axis=1), risks.members_first
        # How many rows of each cell are wanted, shape (cells,).
        self._quota = np.zeros(rows.size, dtype=np.int64)
        before = np.cumsum(rows[order]) - rows[order]
        self._quota[order] = np.clip(count - before, 0, rows[order])
        self.tied = int(rows[order[self._quota[order] > 0][-1:]].sum())
        self._risks, self._seed = risks, seed
        self._found = np.empty(0, dtype=_NAMED)

    def look(self, rows: Rows, row: Ints, cell: NDArray[np.int32]) -> None:
        """Take note of wanted rows of a batch, whose numbers in the input are ``row``."""
        at = np.flatnonzero(self._quota[cell])
        if not at.size:
            return
        more = np.empty(at.size, dtype=_NAMED)
        more["cell"], more["row"], more["member"] = cell[at], row[at], rows.member[at]
        more["key"] = None if rows.names is None else rows.names[at]
        more["place"] = splitmix64(row[at].astype(np.uint64), self._seed)
        drawn = splitmix64((rows.scores[0][at] + 0.0).view(np.uint64), self._seed)
        for word in (rows.member.astype(np.uint64), rows.keys):
            drawn = drawn if word is None else splitmix64(drawn ^ word[at], self._seed)
        more["drawn"] = drawn
        every = np.concatenate([self._found, more])
        every = every[np.lexsort((every["place"], every["drawn"], every["cell"]))]
        rank = np.arange(every.size) - np.searchsorted(every["cell"], every["cell"])
        self._found = every[rank < self._quota[every["cell"]]]

    @property
    def wanted(self) -> bool:
        """Tell whether any record is to be named."""
        return bool(self._quota.any())

    def records(self) -> tuple[ExposedRecord, ...]:
        """Return the records found, as :attr:`RecordRisks.members_first` has them, ties by row."""
        order, found = self._risks.members_first, self._found
        place = np.zeros(self._quota.size, dtype=np.intp)
        place[order] = np.arange(order.size)
        found = found[np.lexsort((found["row"], place[found["cell"]]))]
        rows: list[Any] = found[["row", "member", "key"]].tolist()
        return tuple(
            ExposedRecord(row=row, member=member, key=None if key is None else str(key), **of_cell)
            for (row, member, key), of_cell in zip(
                rows, self._risks.rows(found["cell"], _OF_RECORD), strict=True
            )
        )


def _record_chunks(
    source: ScoreSource,
    cells: RecordCells,
    of_cell: Mapping[str, NDArray[Any]],
    columns: Sequence[str],
    top: TopRecords,
    meter: Callable[[int], None] | None,
) -> Chunks:
    """Yield the columns of every batch of rows, in the order of the input.

    Args:
        source: the opened input.
        cells: of the score.
        of_cell: as from `_cell_columns`.
        columns: of the file; the second is the key's, if there is one.
        top: takes note of the most exposed records.
        meter: called with the source rows of each batch.
    """
    key = columns[1] if source.choice.named else None
    partitions = source.partitions()
    for rows in (rows for partition in partitions for rows in partition.batches()):
        cell = cells.of(rows.scores[0])
        row = rows.positions()
        top.look(rows, row, cell)
        chunk = {"row": row, "member": rows.member}
        if key is not None and rows.names is not None:
            chunk[key] = _plain(rows.names)
        chunk |= {name: values[cell] for name, values in of_cell.items()}
        if meter is not None:
            meter(rows.source_rows)
        if row.size:
            yield chunk


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the widest form of their kind, so that parts agree."""
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        return values.astype(np.int64)
    return values.astype(np.float64) if values.dtype.kind == "f" else values


def _answer_with(asked: RecordTableOptions, *, sink: Sink | None) -> RecordsReport:
    """Read, count and answer; each record's risk goes into the sink, if there is one."""

    def run(source: ScoreSource) -> RecordsReport:
        """Count the records of the opened input, and write or name them."""
        passes = 3 if sink is not None or asked.top else 2
        meter = row_meter(source.rows_hint * passes, asked.progress)
        seed = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        counts = count_records(source, asked, workers=workers, meter=meter)
        risks = counts.risks(asked, asked.confidence)
        top = TopRecords(risks, asked.top, counts.cells.seed)
        if sink is not None or top.wanted:
            of_cell = _cell_columns(risks) if sink else {}
            columns = _columns_with(asked.key_col, of_cell)
            chunks = _record_chunks(source, counts.cells, of_cell, columns, top, meter)
            try:
                # What is drawn depends on every row.
                (sink or _look_through)(chunks, columns)
            except BadPartsError as bad:
                # The passes that counted could read it, and rows may be written already.
                raise bad.plain() from None
        return _report(source, asked, counts, risks, top, seed, written=sink is not None)

    request = read_request(
        asked,
        seed=asked.chosen_seed,
        group_columns=asked.by,
        named=(sink is not None or asked.top > 0) and asked.key_col is not None,
    )
    with Workers(engine_of(asked, asked.on_bad_part)) as workers:
        return read_input((asked.data, asked.members, asked.holdout), request, workers, run)


def _look_through(chunks: Chunks, _: Sequence[str]) -> None:
    """Read all rows, of which none is written."""
    for _chunk in chunks:
        pass


def _report(
    source: ScoreSource,
    asked: RecordTableOptions,
    counts: RecordCounts,
    risks: RecordRisks,
    top: TopRecords,
    seed: SeedChoice,
    *,
    written: bool,
) -> RecordsReport:
    """Return the report; ``written``: a row for each record was."""
    design = _design(source, asked, counts, risks)
    estimates = counts.of_groups(asked.prior, asked.confidence)
    policy = Policy(
        waivers=asked.judged_waivers,
        max_copies=asked.max_copies,
        on_inconclusive=asked.on_inconclusive,
    )
    found = decide(
        policy,
        records_checks(asked, counts),
        (*source.told, *source.findings()),
        source.copies,
        incomplete=source.incomplete,
    )
    holdout, members = risks.everyone[risks.listed].sum(axis=0).tolist()
    cells = risks.cell_risks(asked.min_cell)
    return RecordsReport(
        command="records",
        design=design,
        estimates=(risks.largest_row(design.score_column), *estimates),
        bands=risks.bands(),
        cells=cells,
        small_cells=risks.cells - len(cells),
        listed_members=members,
        listed_holdout=holdout,
        top=top.records(),
        top_tied=top.tied,
        groups=_groups(counts, estimates),
        rows_written=counts.n_members + counts.n_holdout if written else None,
        policy=found.checks,
        verdict=found.verdict,
        findings=(
            *found.told,
            *found.remarks,
            *limits_elsewhere("estimate", asked.limits_elsewhere),
            *_findings(asked, counts, risks),
        ),
        limitations=_limitations(design),
        provenance=source.provenance(
            seed, counts.seeds(), asked.recorded(), hash_all=asked.hash_inputs
        ),
    )


def _limitations(design: RecordsDesign) -> tuple[Message, ...]:
    """Return what the numbers do not show."""
    codes = (
        "records_values" if design.discrete else "records_average",
        "one_query",
        "records_alike",
        "records_burn_in",
        "records_pointwise",
        "records_list",
        *(("records_groups",) if design.group_columns else ()),
        *(("records_population",) if design.member_population is not None else ()),
        "records_approximate",
    )
    return tuple(map(Message, codes))


def _design(
    source: ScoreSource, asked: RecordTableOptions, counts: RecordCounts, risks: RecordRisks
) -> RecordsDesign:
    holdout, members = risks.counted.sum(axis=0).tolist()
    return RecordsDesign(
        n_members=counts.n_members,
        n_holdout=counts.n_holdout,
        counted_members=members,
        counted_holdout=holdout,
        prior=asked.prior,
        baseline=baseline(asked.prior),
        confidence=asked.confidence,
        score_column=source.columns[0].name,
        discrete=counts.cells.discrete,
        cells=risks.cells,
        min_cell=asked.min_cell,
        tau=asked.tau,
        fdr=asked.fdr,
        member_population=asked.member_population,
        member_column=source.member_column,
        skipped_columns=source.passed_over,
        group_columns=() if source.choice.groups is None else source.choice.groups.columns,
    )


def _groups(counts: RecordCounts, estimates: Sequence[Row]) -> tuple[Row, ...]:
    if counts.groups is None:
        return ()
    of_any = [e for e in estimates if e.quantity == "advantage" and e.attackers == "any"]
    found = [
        replace(row, n_members=members, n_holdout=holdout)
        for row, (members, holdout) in zip(of_any, counts.groups.sizes, strict=True)
    ]
    return tuple(sorted(found, key=lambda row: (-(row.lower or 0.0), -(row.value or 0.0))))


def _findings(asked: RecordTableOptions, counts: RecordCounts, risks: RecordRisks) -> list[Finding]:
    found = size_findings(counts.n_members, counts.n_holdout)
    if risks.cells < 2:  # noqa: PLR2004 - cells that could differ
        found.append(Finding("one_cell"))
    if asked.cells is not None and counts.cells.discrete:
        found.append(Finding("cells_not_used"))
    if risks.uncounted:
        found.append(Finding.of("uncounted_cells", records=risks.uncounted))
    if counts.groups is not None:
        found += counts.groups.findings
    return found


records = public(RecordsOptions, answer_records)
record_table = public(RecordTableOptions, answer_record_table)
