"""A validation report in markdown: the whole table, limit by limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.render.validation_contents import (
    LEGEND,
    SHORT_MARK,
    controls_table,
    design_line,
    detail_tables,
    failures_table,
    headline,
    limits_table,
    versions_line,
)
from mipaudit.render.wording import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.render.validation_contents import Table
    from mipaudit.report.validation import ValidationReport

DETAIL_LEGEND: Final = (
    "Coverage, and in brackets the median gap, by records per file and prior. Where two numbers of "
    f"records are added, the first are members. A mark ({SHORT_MARK}) says: less than promised."
)


def render_markdown(report: ValidationReport) -> str:
    """Return the report as markdown, with every limit in every cell."""
    return "\n".join(_blocks(report))


def _blocks(report: ValidationReport) -> Iterator[str]:
    yield f"**{_safe(headline(report))}**\n"
    yield f"{_safe(report.summary)}\n"
    yield f"{_safe(design_line(report))} With {_safe(versions_line(report))}.\n"
    if report.failures:
        yield _table(failures_table(report.failures), level=3)
    yield _table(limits_table(report, ours=True), level=3)
    theirs = limits_table(report, ours=False)
    if theirs.rows:
        yield _table(theirs, level=3)
    yield _table(controls_table(report.controls), level=3)
    yield "".join(f"- *{one.label}*: {_safe(one.description)}\n" for one in report.controls)
    yield "".join(f"- *{term}*: {text}.\n" for term, text in LEGEND)
    yield "".join(f"- {_safe(text)}\n" for text in report.limitations)
    yield f"### Cell by cell\n\n{DETAIL_LEGEND}\n"
    for table in detail_tables(report):
        yield _table(table, level=4)


def _table(table: Table, *, level: int) -> str:
    rule = ["---"] * table.words + ["--:"] * (len(table.head) - table.words)
    lines = [table.head, rule, *table.rows]
    body = "\n".join(f"| {' | '.join(map(_safe, line))} |" for line in lines)
    return f"{'#' * level} {_safe(table.title)}\n\n{body}\n"


def _safe(text: str) -> str:
    """Return text that is markdown for itself, in a cell too."""
    return plain(text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
