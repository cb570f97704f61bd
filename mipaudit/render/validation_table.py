"""A validation report in plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.render.plain import columns, paragraph
from mipaudit.render.validation_contents import (
    LEGEND,
    controls_table,
    design_line,
    failures_table,
    headline,
    limits_table,
    versions_line,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.render.validation_contents import Table
    from mipaudit.report.validation import ValidationReport

_MORE: Final = (
    "Every limit in every cell is in the other forms: -f markdown, html or json. With --resume "
    "FILE finished cells are kept, so that another form takes no time."
)


def render_validation(report: ValidationReport, *, width: int) -> str:
    """Return the report as text for people, prose up to ``width`` characters wide."""
    return "\n".join(_sections(report, width))


def _sections(report: ValidationReport, width: int) -> Iterator[str]:
    yield paragraph(headline(report), width=width)
    yield paragraph(report.summary, width=width)
    yield paragraph(design_line(report), width=width) + paragraph(
        f"With {versions_line(report)}.", width=width
    )
    if report.failures:
        yield _table(failures_table(report.failures))
    yield _table(limits_table(report, ours=True))
    theirs = limits_table(report, ours=False)
    if theirs.rows:
        yield _table(theirs)
    yield _table(controls_table(report.controls))
    yield "How to read it\n" + "".join(
        paragraph(f"{term}: {text}", width=width, indent="    ", first="  ")
        for term, text in LEGEND
    )
    yield "Keep in mind\n" + "".join(
        paragraph(text, width=width, indent="    ", first="  - ") for text in report.limitations
    )
    yield paragraph(_MORE, width=width)


def _table(table: Table) -> str:
    numbers = len(table.head) - table.words
    return f"{table.title}\n" + columns(table.rows, header=table.head, numbers=numbers)
