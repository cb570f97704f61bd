"""``mipaudit records``: the risk of every record."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipaudit.commands.records.options import RecordsOptions, RecordTableOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.commands.records.answer import Chunks
    from mipaudit.commands.records.options import RecordsShown
    from mipaudit.commands.records.report import RecordsReport


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
    from mipaudit.commands.records.answer import answer_with
    from mipaudit.output.destination import row_file
    from mipaudit.output.rows import write_rows

    form = asked.form
    if form is None:
        return answer_with(asked, sink=None)
    with row_file(asked.output, inputs=asked.inputs()) as file:

        def write(chunks: Chunks, columns: Sequence[str]) -> None:
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

        return answer_with(asked, sink=write)


def answer_record_table(asked: RecordTableOptions) -> RecordTable:
    """Return every record's risk as an Arrow table, with the report of `records`.

    Raises:
        UsageError: a setting is wrong, or there are several scores.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.commands.records.answer import answer_with
    from mipaudit.output.rows import table_of

    tables: list[pa.Table] = []

    def keep(chunks: Chunks, columns: Sequence[str]) -> None:
        tables.append(table_of(chunks, columns=columns))

    report = answer_with(asked, sink=keep)
    return RecordTable(table=tables[0], report=report)


def run_records(asked: RecordsOptions, shown: RecordsShown) -> int:
    """Write a row for each record into a file, and show the report; return the exit code."""
    from mipaudit.output.destination import Destination, report_beside
    from mipaudit.output.exit_code import report_exit
    from mipaudit.output.presentation import present
    from mipaudit.output.terminal import note_written, progress_bar

    rows = None
    if asked.output is not None:
        rows = Destination.open(asked.output, inputs=asked.inputs(), private=True)
    report_place = report_beside(shown.report, rows, inputs=asked.inputs())
    with (
        progress_bar(quiet=shown.quiet) as progress,
        nullcontext() if rows is None else rows.stream() as file,
    ):
        report = answer_records(asked.but(output=file, output_format=asked.form, progress=progress))
    present(report, shown, report_place, beside_data=rows is not None and rows.path is None)
    files = () if rows is None else (("the records", rows),)
    note_written(report, report_place, *files, quiet=shown.quiet)
    return report_exit(report, exit_zero=shown.exit_zero)


records = public(RecordsOptions, answer_records)
record_table = public(RecordTableOptions, answer_record_table)
