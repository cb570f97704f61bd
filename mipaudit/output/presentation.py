"""Reports, and scores, made and written where they were asked for, in the form asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol, TypeVar

from mipaudit.output.destination import Destination
from mipaudit.output.exit_code import OK, report_exit
from mipaudit.output.progress import progress_bar
from mipaudit.output.terminal import note, note_written, table_width, use_color

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.options.declare import Options
    from mipaudit.options.groups.shown import Format, ScoresShown, Shown
    from mipaudit.reading.rows.output import RowFormat
    from mipaudit.statements.reports.kinds import AnyReport


# What the tables draw with, where the terminal's character set lacks it.
_PLAIN: Final = {ord("─"): "-"}
AskedT = TypeVar("AskedT", bound="Options")


class Scores(Protocol):
    """Scores that were made, or that are made as they are written."""

    @property
    def report(self) -> AnyReport:
        """What they are."""
        ...

    def write(self, file: BinaryIO, form: RowFormat) -> None:
        """Write the score file."""
        ...


def present(report: AnyReport, format: Format, place: Destination) -> None:  # noqa: A002
    """Write the report to its place, in the form asked for.

    Raises:
        OutputError: the system refused.
    """
    place.write(encode(report, format, to_file=place.path is not None))


def encode(report: AnyReport, format: Format, *, to_file: bool) -> bytes:  # noqa: A002
    """Return the report in the form asked for.

    Args:
        report: what was found.
        format: ``table`` and ``html`` are for people, ``markdown`` for job summaries, ``json``
            and ``csv`` for programs, ``junit`` for servers that run pipelines.
        to_file: whether it goes to a file: UTF-8, no colour, fixed width.
    """
    if format == "json":
        from mipaudit.statements.reports.codec import to_json

        return to_json(report)
    if format != "table":
        from mipaudit.formats.documents import report_as

        return report_as(report, format).encode()
    from mipaudit.formats.documents import report_text

    text = report_text(report, width=table_width(to_file=to_file), color=use_color(to_file=to_file))
    charset = "utf-8" if to_file else (sys.stdout.encoding or "utf-8")
    try:
        return text.encode(charset)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(charset, errors="backslashreplace")


def write_report(asked: AskedT, shown: Shown, answer: Callable[[AskedT], AnyReport]) -> int:
    """Write the report that answers; return the exit code.

    Args:
        asked: what was asked.
        shown: in which form, and where.
        answer: makes the report.

    Raises:
        OutputError: the place cannot be written to, before anything is read.
    """
    destination = Destination.open(shown.output, inputs=asked.inputs(), sha256=shown.sha256)
    with progress_bar(quiet=shown.quiet) as progress:
        report = answer(asked.but(progress=progress) if hasattr(asked, "progress") else asked)
    present(report, shown.format, destination)
    if destination.path is not None:
        note_written(report, quiet=shown.quiet)
    return report_exit(report, exit_zero=getattr(shown, "exit_zero", False))


def write_scores(
    asked: AskedT,
    shown: ScoresShown | Shown,
    answer: Callable[[AskedT], Scores],
    *,
    beside: str = "",
) -> int:
    """Make scores, write them, and show the report on them; return the exit code.

    To a file, with the report on standard output; or CSV to standard output, with the report
    on stderr.

    Args:
        asked: what was asked.
        shown: where the scores go, and the form of the report.
        answer: makes them.
        beside: what the name of a file beside theirs ends in, which holds the report as JSON:
            of scores that belong to nobody. Both files are there in the end, or neither.

    Raises:
        UsageError: a file name that stands for no form, or that is an input.
        OutputError: a file cannot be written.
    """
    from mipaudit.reading.rows.output import record_format

    output = None if shown.output == "-" else shown.output
    form = record_format(output, None, what="scores", example="scores") or "csv"
    scores = Destination.open(output, inputs=asked.inputs(), private=not beside)
    sidecar = Destination.open(f"{output}{beside}") if output is not None and beside else None
    place = Destination.open(None)
    made = answer(asked)
    with scores.stream() as file:
        made.write(file, form)
        if sidecar is not None:
            sidecar.write(encode(made.report, "json", to_file=True))
    if output is None:
        text = encode(made.report, shown.format, to_file=True).decode()
        note(text.rstrip("\n"), quiet=shown.quiet)
        return OK
    present(made.report, shown.format, place)
    end = "." if sidecar is None else ", and their truth beside them."
    note(f"The scores are written{end}", quiet=shown.quiet)
    return OK
