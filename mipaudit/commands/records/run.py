"""``mipaudit records``: the risk of every record."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mipaudit.commands.records.options import RecordsOptions, RecordTableOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from mipaudit.commands.records.cells import TopRecords
    from mipaudit.commands.records.counts import RecordCounts
    from mipaudit.commands.records.options import RecordsShown
    from mipaudit.commands.records.report import RecordsReport
    from mipaudit.commands.records.risk import RecordRisks
    from mipaudit.reading.source.source import ScoreSource

    Chunks = Iterator[Mapping[str, NDArray[Any]]]
    Sink = Callable[[Chunks, Sequence[str]], None]


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
    """Return what the score gives away of every record, and write it row for row.

    The risk of a record is |f_p| of the cell of its score, an average over the cell's
    records, with limits that hold for all cells together. The input is read twice, and once
    more if records are written or named.

    Raises:
        UsageError: a setting is wrong, or there are several scores.
        InputError: the input cannot be audited as it is.
        OutputError: the records cannot be written.
    """
    from mipaudit.commands.records.cells import REPEATING
    from mipaudit.reading.rows.output import record_file, write_rows

    form = asked.form
    if form is None:
        return _answer(asked, sink=None)
    with record_file(asked.output, inputs=asked.inputs()) as file:

        def write(chunks: Chunks, columns: Sequence[str]) -> None:
            write_rows(
                file,
                chunks,
                form,
                columns=columns,
                repeating=REPEATING,
                quoted=asked.key_column is not None,
                inert=asked.safe_csv,
            )

        return _answer(asked, sink=write)


def answer_record_table(asked: RecordTableOptions) -> RecordTable:
    """Return every record's risk as an Arrow table, with the report of `records`.

    Raises:
        UsageError: a setting is wrong, or there are several scores.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.reading.rows.output import table_of

    tables: list[pa.Table] = []

    def keep(chunks: Chunks, columns: Sequence[str]) -> None:
        tables.append(table_of(chunks, columns=columns))

    report = _answer(asked, sink=keep)
    return RecordTable(table=tables[0], report=report)


def run_records(asked: RecordsOptions, shown: RecordsShown) -> int:
    """Write a row for each record into a file, and show the report; return the exit code."""
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note
    from mipaudit.output.presentation import encode
    from mipaudit.output.progress import progress_bar
    from mipaudit.output.report_exit import report_exit

    report_place = Destination.open(None)
    rows = None
    if asked.output is not None:
        rows = Destination.open(asked.output, inputs=asked.inputs(), private=True)
    with (
        progress_bar(quiet=shown.quiet) as progress,
        nullcontext() if rows is None else rows.stream() as file,
    ):
        report = answer_records(asked.but(output=file, output_format=asked.form, progress=progress))
    report_place.write(encode(report, shown.format, to_file=False))
    if rows is not None:
        note("The records are written.", quiet=shown.quiet)
    return report_exit(report, exit_zero=shown.exit_zero)


records = public(RecordsOptions, answer_records)
record_table = public(RecordTableOptions, answer_record_table)


def _answer(asked: RecordTableOptions, *, sink: Sink | None) -> RecordsReport:
    from mipaudit.commands.records.answer import records_report
    from mipaudit.commands.records.cells import top_records
    from mipaudit.commands.records.counts import count_records, record_meter
    from mipaudit.counting.large_seed import settle_seed
    from mipaudit.counting.retried_reading import read_input
    from mipaudit.engine.workers import Workers, engine_of
    from mipaudit.reading.source.request import read_request
    from mipaudit.statements.provenance import provenance

    def run(source: ScoreSource) -> RecordsReport:
        passes = 3 if sink is not None or asked.top else 2
        meter = record_meter(source, passes, asked.progress)
        seed = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        counts = count_records(source, asked, workers=workers, meter=meter)
        risks = counts.risks(asked, asked.confidence)
        top = top_records(risks, asked.top, counts.cells.seed)
        written = _write(source, asked.key_column, counts, risks, top, sink, meter)
        source.check_unchanged()
        return records_report(
            source,
            asked,
            counts,
            risks,
            top=top,
            written=written,
            provenance=provenance(
                seed=seed,
                inputs=source.inputs(hash_all=asked.hash_inputs),
                settings=asked.recorded(),
                seeds=counts.seeds(),
                unused_columns=source.unused,
            ),
        )

    request = read_request(
        asked,
        seed=asked.chosen_seed,
        group_columns=asked.by,
        named=sink is not None and asked.key_column is not None,
    )
    with Workers(engine_of(asked, asked.on_bad_part)) as workers:
        return read_input((asked.data, asked.members, asked.holdout), request, workers, run)


def _write(
    source: ScoreSource,
    key_column: str | None,
    counts: RecordCounts,
    risks: RecordRisks,
    top: TopRecords,
    sink: Sink | None,
    meter: Callable[[int], None] | None,
) -> int | None:
    """Read the rows once more where they are written or named; return how many are written."""
    from mipaudit.commands.records.cells import cell_columns, columns_with, record_chunks
    from mipaudit.commands.records.counts import unnamed
    from mipaudit.reading.bytes.bad_parts import BadPartsError

    columns = columns_with(key_column)
    key = None if sink is None or key_column is None else columns[1]
    chunks = record_chunks(
        unnamed(source.partitions()) if key is None else source.partitions(),
        counts.cells,
        {} if sink is None else cell_columns(risks),
        key=key,
        top=top,
        meter=meter,
    )
    try:
        if sink is not None:
            sink(chunks, columns)
        else:
            # What is drawn depends on every row.
            while top.wanted and next(chunks, None) is not None:
                pass
    except BadPartsError as bad:
        # The passes that counted could read it, and rows may be written already.
        raise bad.plain() from None
    return None if sink is None else counts.n_members + counts.n_holdout
