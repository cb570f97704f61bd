"""The score file that a query of models writes, and its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from mipaudit.output import exit_code
from mipaudit.output.destination import Destination
from mipaudit.output.notes import note
from mipaudit.output.presentation import encode
from mipaudit.reading.rows.output import record_format

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.commands.query.model.answer import ModelQuery
    from mipaudit.commands.query.model.options import ScoresShown
    from mipaudit.options.declare import Options

AskedT = TypeVar("AskedT", bound="Options")


def write_scores(asked: AskedT, shown: ScoresShown, answer: Callable[[AskedT], ModelQuery]) -> int:
    """Make the scores, write them, and show the report; return the exit code.

    To a file, with the report on standard output; or CSV to standard output, with the report
    on stderr.

    Raises:
        UsageError: a file name that stands for no form, or that is an input.
        OutputError: the file cannot be written.
    """
    if shown.output is None or shown.output == "-":
        scores, made = Destination.open(None), answer(asked)
        with scores.stream() as file:
            made.write(file, "csv")
        text = encode(made.report, shown.format, to_file=True).decode().rstrip("\n")
        note(text, quiet=shown.quiet)
        return exit_code.OK
    form = record_format(shown.output, None, what="scores", example="scores")
    assert form is not None  # noqa: S101 - there is a file
    scores = Destination.open(shown.output, inputs=asked.inputs(), private=True)
    report = Destination.open(None)
    made = answer(asked)
    with scores.stream() as file:
        made.write(file, form)
    report.write(encode(made.report, shown.format, to_file=False))
    note("The scores are written.", quiet=shown.quiet)
    return exit_code.OK
