"""The score file that a query writes, and its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import UsageError
from mipaudit.output.destination import Destination
from mipaudit.output.notes import note
from mipaudit.output.presentation import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.commands.query.model.answer import ModelQuery
    from mipaudit.options.common_options import Format


def write_scores(
    make: Callable[[], ModelQuery],
    output: str | None,
    *,
    inputs: Sequence[str | None],
    format: Format,  # noqa: A002
    quiet: bool,
) -> None:
    """Make the scores, write them, and show the report.

    To a file, with the report on standard output; or CSV to standard output, with the report
    on stderr.

    Raises:
        UsageError: a file name that stands for no form, or that is an input.
        OutputError: the file cannot be written.
    """
    if output is None or output == "-":
        scores, made = Destination.open(None), make()
        with scores.stream() as file:
            made.write(file, "csv")
        note(encode(made.report, format, to_file=True).decode().rstrip("\n"), quiet=quiet)
        return
    from mipaudit.reading.rows.output import row_format

    form = row_format(output)
    if form is None:
        raise UsageError(
            "output",
            "The scores go to a file that ends in .csv, .csv.gz or .parquet.",
            hint="For example: -o scores.parquet. The report itself goes to standard output.",
        )
    scores, shown = Destination.open(output, inputs=inputs, private=True), Destination.open(None)
    made = make()
    with scores.stream() as file:
        made.write(file, form)
    shown.write(encode(made.report, format, to_file=False))
    note("The scores are written.", quiet=quiet)
