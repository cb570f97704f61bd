"""A report as the bytes that are written, in the form asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from mipaudit.output.terminal import table_width, use_color

if TYPE_CHECKING:
    from mipaudit.options.groups.shown import Format
    from mipaudit.output.destination import Destination
    from mipaudit.statements.reports.kinds import AnyReport

# What the tables draw with, where the terminal's character set lacks it.
_PLAIN: Final = {ord("─"): "-"}


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
