"""Reports, and scores, made and written where they were asked for, in the form asked for."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from mipaudit.errors import UsageError, as_typed
from mipaudit.options.shown import form_of
from mipaudit.output.destination import Destination
from mipaudit.output.exit_code import OK, report_exit
from mipaudit.output.terminal import (
    note,
    note_written,
    progress_bar,
    table_width,
    use_color,
    window_height,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mipaudit.options.declare import Options
    from mipaudit.options.shown import Form, Format, ScoresShown
    from mipaudit.options.shown import Shown as ReportShown
    from mipaudit.report.blocks import Picture
    from mipaudit.statements.any_report import AnyReport


# What the tables draw with, where the terminal's character set lacks it.
_PLAIN: Final = {ord(drawn): plain for drawn, plain in zip("─├┤→●┃·…", "-[]>o|.~", strict=True)}
Length = Literal["full", "brief", "line"]
AskedT = TypeVar("AskedT", bound="Options")


def present(
    report: AnyReport,
    shown: Form,
    place: Destination,
    *,
    beside_data: bool = False,
    make: Callable[[AnyReport], str] | None = None,
) -> None:
    """Write the report to its place, in the form asked for, or that its file's ending says.

    A file has all of it; a terminal the answer, unless all was asked for. What was declared
    of the report is part of it from here on. Who asked for a line and for a file has both.

    Args:
        report: what was found.
        shown: how it is shown.
        place: where it goes.
        beside_data: whether standard output has what the command makes, and room for nothing else.
        make: makes the form, where it is none of those of all reports.

    Raises:
        OutputError: the system refused.
    """
    path = place.path
    # By the name that was typed: a link may lead to any other.
    form = shown.format or form_of(place.name) or "table"
    found = _declared(report, shown)
    line = getattr(shown, "quiet", False) and not beside_data and place.leaves_stdout
    # Before anything is written, also what `note_written` says: of a report by others it may fail.
    said = b"" if path is None else encode(found, "table", to_file=False, length="line")
    alone = getattr(shown, "quiet", False) and (path is not None or form == "table") and not make
    if alone and not beside_data:
        from mipaudit.report.forms import answer_line

        for warning in answer_line(found)[1]:
            note(f"! {warning}", quiet=False)
    if make is not None:
        place.write(make(found).encode())
    else:
        length = _length(shown, path)
        place.write(encode(found, form, to_file=path is not None, length=length, annex=shown.full))
    if line:
        Destination.open(None).write(said)


def deliver(
    report: AnyReport,
    shown: Form,
    place: Destination,
    *others: tuple[str, Destination],
    beside_data: bool = False,
    make: Callable[[AnyReport], str] | None = None,
) -> int:
    """Write the report to its place, say on stderr what is where, and return the exit code.

    Args:
        report: what was found.
        shown: how it is shown.
        place: where it goes.
        others: what else was written, for people, and where.
        beside_data: as of `present`.
        make: likewise.

    Raises:
        OutputError: the system refused.
    """
    present(report, shown, place, beside_data=beside_data, make=make)
    note_written(report, place, *others, quiet=getattr(shown, "quiet", False))
    return report_exit(report, exit_zero=getattr(shown, "exit_zero", False))


def _declared(report: AnyReport, shown: Form) -> AnyReport:
    """Return the report with what was declared of it; what was not stays as it was."""
    said = shown.declaration()
    if not said:
        return report
    from dataclasses import replace

    from mipaudit.statements.provenance import Declaration

    before = report.provenance.declared or Declaration()
    declared = replace(report.provenance, declared=replace(before, **said))
    found: AnyReport = replace(report, provenance=declared)
    return found


def save(report: AnyReport, path: str | os.PathLike[str]) -> None:
    """Write all of a report to a file, as ``-o`` does: its ending says the form.

    Raises:
        UsageError: no form has that ending.
        OutputError: the file cannot be written.
    """
    from mipaudit.options.shown import Shown as Asked

    try:
        asked = Asked(output=os.fspath(path))
    except UsageError as error:
        # Its hint is for who can name a form beside the file.
        raise error.worded(error.message.replace(as_typed("`output`"), "path="), None) from None
    present(report, asked, Destination.open(asked.output, option="path="))


def save_picture(picture: Picture, path: str | os.PathLike[str]) -> None:
    """Write a drawing to a file.

    Raises:
        UsageError: its name does not end in .svg.
        OutputError: it cannot be written.
    """
    name = os.fspath(path)
    if not name.lower().endswith(".svg"):
        raise UsageError("picture_form", "path= must end in .svg.", "A browser can print it.")
    Destination.open(name, option="path=").write(f"{picture.svg}\n".encode())


def show(report: AnyReport, *, full: bool) -> None:
    """Print a report for who works in Python: its answer in a screenful, or all of it."""
    length: Length = "full" if full else "brief"
    shown = encode(report, "table", to_file=False, length=length, python=True)
    sys.stdout.write(shown.decode(sys.stdout.encoding or "utf-8"))


def _length(shown: Form, path: Path | None) -> Length:
    if path is not None or shown.full:
        return "full"
    return "line" if getattr(shown, "quiet", False) else "brief"


def encode(
    report: AnyReport,
    format: Format,  # noqa: A002 - the option
    *,
    to_file: bool,
    length: Length = "full",
    python: bool = False,
    annex: bool = False,
) -> bytes:
    """Return the report in the form asked for.

    Args:
        report: what was found.
        format: ``table`` and ``html`` are for people, ``markdown`` for job summaries, ``json``
            and ``csv`` for programs, ``junit`` for servers that run pipelines.
        to_file: whether it goes to a file: UTF-8, no colour, fixed width.
        length: of a table: all of it, the answer in a screenful, or in a line.
        python: whether the answer says what else there is as Python's callers write it.
        annex: whether a page shows all of it open.
    """
    if format == "json":
        from mipaudit.report.codec import to_json

        return to_json(report)
    from mipaudit.report import forms

    if format != "table":
        return forms.report_as(report, format, full=annex).encode()
    width, color = table_width(to_file=to_file), use_color(to_file=to_file)
    if length == "line":
        text = f"{forms.answer_line(report)[0]}\n"
    elif length == "full":
        text = forms.report_text(report, width=width, color=color)
    else:
        height = window_height(python=python)
        text = forms.brief_report(report, width=width, height=height, color=color, python=python)
    charset = "utf-8" if to_file else (sys.stdout.encoding or "utf-8")
    try:
        return text.encode(charset)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(charset, errors="backslashreplace")


def write_report(
    asked: AskedT,
    shown: ReportShown,
    answer: Callable[[AskedT], AnyReport],
    *others: tuple[str, Destination],
) -> int:
    """Write the report that answers; return the exit code.

    Args:
        asked: what was asked.
        shown: in which form, and where.
        answer: makes the report.
        others: what else it writes, for people, and where.

    Raises:
        OutputError: the place cannot be written to, before anything is read.
    """
    destination = Destination.open(shown.output, inputs=asked.inputs(), sha256=shown.sha256)
    with progress_bar(quiet=shown.quiet) as progress:
        report = answer(asked.but(progress=progress) if hasattr(asked, "progress") else asked)
    return deliver(report, shown, destination, *others)


def write_scores(
    asked: AskedT,
    shown: ScoresShown | ReportShown,
    answer: Callable[[AskedT], Any],
    *,
    beside: str = "",
) -> int:
    """Make scores, write them, and show the report on them; return the exit code.

    To a file, with the report on standard output; or CSV to standard output, with the report
    on stderr.

    Args:
        asked: what was asked.
        shown: where the scores go, and the form of the report.
        answer: makes them: it has a ``report``, and writes them by ``write(file, form)``.
        beside: what the name of a file beside theirs ends in, which holds the report as JSON:
            of scores that belong to nobody. Both files are there in the end, or neither.

    Raises:
        UsageError: a file name that stands for no form, or that is an input.
        OutputError: a file cannot be written.
    """
    from mipaudit.output.destination import report_beside
    from mipaudit.output.rows import record_format

    output = None if shown.output == "-" else shown.output
    form = record_format(output, None, what="scores", example="scores") or "csv"
    scores = Destination.open(output, inputs=asked.inputs(), private=not beside)
    sidecar = Destination.open(f"{output}{beside}") if output is not None and beside else None
    place = report_beside(getattr(shown, "report", None), scores, inputs=asked.inputs())
    made = answer(asked)
    with scores.stream() as file:
        made.write(file, form)
        if sidecar is not None:
            sidecar.write(encode(made.report, "json", to_file=True))
    if output is None and place.path is None:
        text = encode(made.report, shown.format or "table", to_file=True).decode()
        note(text.rstrip("\n"), quiet=shown.quiet)
        return OK
    beside_them = () if sidecar is None else (("their truth", sidecar),)
    written = ("the scores", scores), *beside_them
    return deliver(made.report, shown, place, *written, beside_data=output is None)
