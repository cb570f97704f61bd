"""``mipaudit query``: the score file, and the report on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.query.run import query_tables
from mipaudit.errors import UsageError
from mipaudit.output import exit_code
from mipaudit.output.destination import Destination
from mipaudit.output.notes import note
from mipaudit.output.presentation import present
from mipaudit.output.progress import progress_bar

if TYPE_CHECKING:
    from mipaudit.commands.query.options import QueryOptions, QueryShown


def run_query(asked: QueryOptions, shown: QueryShown) -> int:
    """Score the records, write the score file and the report; return the exit code.

    Raises:
        UsageError: it is not said where the scores go.
        OutputError: a place cannot be written to, before anything is read.
    """
    form = asked.form
    if form is None:
        raise UsageError(
            "output", "Say where the scores go.", hint="For example: -o scores.parquet"
        )
    place = Destination.open(None)
    scores = Destination.open(asked.output, inputs=asked.inputs(), private=True)
    with (
        progress_bar(quiet=shown.quiet, doing="comparing", estimate=True) as progress,
        scores.stream() as file,
    ):
        answer = query_tables(asked.but(progress=progress))
        answer.write(file, form)
    present(answer.report, shown.format, place)
    note("The scores are written.", quiet=shown.quiet)
    return exit_code.OK
