"""What a report of ``check`` shows: as text for people, and as a document for every other form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import Bullets, Case, Document, Grid, Heading, Pairs
from mipaudit.formats.rich_page import Page, add_findings, add_taken, number_table, taken, words
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from mipaudit.commands.check.report import CheckReport, ColumnProfile
    from mipaudit.formats.document import Section

_FIT: Final = "The input can be audited."
_HEAD: Final = ("score", "treated as", "distinct", "repeated", "tied rows", "infinite")
_BESIDE_NAMES: Final = 67  # characters of the other columns, where all is on one line
_LEGEND: Final = (
    ("repeated", "values that many records share; they are treated on their own"),
    ("tied rows", "records that share their value with another record"),
)


def check_document(report: CheckReport) -> Document:
    """Return the report as a document."""
    return Document(
        title="mipaudit check",
        headline=_FIT,
        mood="plain",
        summary="",
        sections=tuple(_sections(report)),
        cases=(Case(group="check", name="input", status="passed", text=_FIT),),
        created=report.provenance.created,
    )


def _sections(report: CheckReport) -> Iterator[Section]:
    pairs = tuple(taken(report.design, report.provenance))
    yield (Heading(text="What was taken"), Pairs(pairs=pairs))
    yield (
        Heading(text="Score columns"),
        Grid(
            caption="What each score column holds",
            head=_HEAD,
            rows=tuple(
                (
                    safe_name(one.score),
                    _kind(one),
                    *map(_count, (one.distinct, one.atoms, one.tied_rows, one.infinite)),
                )
                for one in report.columns
            ),
            words=2,
        ),
        Pairs(pairs=_LEGEND),
    )
    if report.findings:
        found = tuple(f"{one.text} [{one.code}]" for one in report.findings)
        yield (Heading(text="Worth knowing about the input"), Bullets(texts=found))


def render_check(report: CheckReport, *, width: int | None, color: bool) -> str:
    """Return what was found in the input as text.

    Args:
        report: what was found.
        width: characters in a line; None is 100, and less than 72 counts as 72.
        color: whether to use terminal colours.
    """
    page = Page(width=width, color=color)
    page.line(_FIT, style="bold")
    add_taken(page, report.design, report.provenance)
    page.heading("Score columns")
    # Where a name would be cut in two, what a column holds goes below how it is treated.
    longest = max(len(safe_name(column.score)) for column in report.columns)
    below = longest + _BESIDE_NAMES > (width or _BESIDE_NAMES)
    page.add(number_table(_HEAD, [_row(column, below=below) for column in report.columns]))
    page.line("")
    page.pairs(_LEGEND)
    if any(column.distinct is None for column in report.columns):
        page.pairs([("-        ", "not counted: there are too many rows")])
    add_findings(page, report.findings)
    return page.text()


def _row(column: ColumnProfile, *, below: bool) -> tuple[Text | str, ...]:
    treated = _kind(column).replace(" ", "\n" if below else " ")
    counts = (column.distinct, column.atoms, column.tied_rows, column.infinite)
    return (words(safe_name(column.score)), words(treated), *map(_count, counts))


def _kind(column: ColumnProfile) -> str:
    """Return how a column is treated, and what it holds."""
    return f"{'discrete' if column.discrete else 'continuous'} ({column.kind})"


def _count(number: int | None) -> str:
    """Return a count, or a dash where there were too many rows to count."""
    return "-" if number is None else count_text(number)
