"""What is shown of a validation report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.validate.tables import (
    DETAIL_LEGEND,
    LEGEND,
    controls_table,
    design_line,
    detail_tables,
    failures_table,
    headline,
    limits_table,
    versions_line,
)
from mipaudit.formats.document import Bullets, Case, Document, Grid, Heading, Pairs, Paragraph
from mipaudit.statements.text.rounding import count_text, number_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.formats.document import Section, View
    from mipaudit.validation.report import CoverageRow, LimitSummary, ValidationReport

_MORE: Final = (
    "Every limit in every cell is in the other forms: -f markdown, html or json. With --resume "
    "FILE finished cells are kept, so that another form takes no time."
)


def validation_document(report: ValidationReport, view: View) -> Document:
    """Return the report as a document.

    Args:
        report: what was found.
        view: a terminal has what decides, in short; the others every limit in every cell.
    """
    return Document(
        title="mipaudit validate",
        headline=headline(report),
        mood="good" if report.passed else "bad",
        summary=report.summary,
        sections=tuple(_sections(report, in_full=view != "text")),
        cases=tuple(_cases(report)),
        created=report.provenance.created,
    )


def _sections(report: ValidationReport, *, in_full: bool) -> Iterator[Section]:
    yield (
        Paragraph(text=design_line(report)),
        Paragraph(text=f"With {versions_line(report)}."),
    )
    if report.failures:
        yield _titled(failures_table(report.failures))
    yield _titled(limits_table(report, ours=True))
    theirs = limits_table(report, ours=False)
    if theirs.rows:
        yield _titled(theirs)
    yield _titled(controls_table(report.controls))
    yield (Heading(text="How to read it"), Pairs(pairs=LEGEND))
    yield (Heading(text="Keep in mind"), Bullets(texts=report.limitations))
    if not in_full:
        yield (Paragraph(text=_MORE),)
        return
    described = tuple((one.label, one.description) for one in report.controls)
    yield (Heading(text="The methods that must be caught"), Pairs(pairs=described))
    yield (Heading(text="Cell by cell"), Paragraph(text=DETAIL_LEGEND))
    for table in detail_tables(report):
        yield (Heading(text=table.caption, level=3), table)


def _titled(table: Grid) -> Section:
    return (Heading(text=table.caption), table)


def _cases(report: ValidationReport) -> Iterator[Case]:
    for limit in report.limits:
        if limit.source == "mipaudit":
            yield _limit_case(limit, report.failures)
    for row in report.failures:
        if row.source != "mipaudit":
            yield Case(
                group=row.estimand,
                name=f"{row.label}, {row.side}, {row.scenario}",
                status="failed",
                text="a method that is known to be valid misses: the truths or the run are wrong",
            )
    for control in report.controls:
        yield Case(
            group="controls",
            name=control.label,
            status="passed" if control.caught else "failed",
            text=f"{count_text(control.misses)} misses in {count_text(control.replications)} files",
        )


def _limit_case(limit: LimitSummary, failures: tuple[CoverageRow, ...]) -> Case:
    broken = [
        row
        for row in failures
        if (row.label, row.side, row.n_members + row.n_holdout)
        == (limit.label, limit.side, limit.records)
    ]
    return Case(
        group=limit.estimand,
        name=f"{limit.label}, {limit.side}, {count_text(limit.records)} records",
        status="failed" if broken else "passed",
        text=f"least coverage {number_text(round(limit.least_coverage, 4))} of "
        f"{number_text(round(limit.nominal, 6))} promised, over {limit.cells} cells",
    )
