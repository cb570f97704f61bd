"""What a report of ``check`` shows in every form but the terminal's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.check.page_text import LEGEND, count, kind
from mipaudit.formats.document import Bullets, Case, Document, Grid, Heading, Pairs
from mipaudit.formats.rich_page import taken
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.check.report import CheckReport
    from mipaudit.formats.document import Section


def check_document(report: CheckReport) -> Document:
    """Return the report as a document."""
    fit = "The input can be audited."
    return Document(
        title="mipaudit check",
        headline=fit,
        mood="plain",
        summary="",
        sections=tuple(_sections(report)),
        cases=(Case(group="check", name="input", status="passed", text=fit),),
        created=report.provenance.created,
    )


def _sections(report: CheckReport) -> Iterator[Section]:
    pairs = tuple(taken(report.design, report.provenance))
    yield (Heading(text="What was taken"), Pairs(pairs=pairs))
    yield (
        Heading(text="Score columns"),
        Grid(
            caption="What each score column holds",
            head=("score", "treated as", "distinct", "repeated", "tied rows", "infinite"),
            rows=tuple(
                (
                    safe_name(one.score),
                    kind(one),
                    *map(count, (one.distinct, one.atoms, one.tied_rows, one.infinite)),
                )
                for one in report.columns
            ),
            words=2,
        ),
        Pairs(pairs=LEGEND),
    )
    if report.findings:
        found = tuple(f"{one.text} [{one.code}]" for one in report.findings)
        yield (Heading(text="Worth knowing about the input"), Bullets(texts=found))
