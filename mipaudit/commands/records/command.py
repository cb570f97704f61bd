"""``mipaudit records``: a row for each record into a file, and the report shown."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from mipaudit.commands.records.run import answer_records
from mipaudit.output.destination import Destination
from mipaudit.output.notes import note
from mipaudit.output.presentation import encode
from mipaudit.output.progress import progress_bar
from mipaudit.output.report_exit import report_exit

if TYPE_CHECKING:
    from mipaudit.commands.records.options import RecordsOptions, RecordsShown


def run_records(asked: RecordsOptions, shown: RecordsShown) -> int:
    """Run the audit, write the records and the report; return the exit code."""
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
