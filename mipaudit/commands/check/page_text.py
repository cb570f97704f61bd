"""What ``check`` found, as a page of text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.rich_page import Page, add_findings, add_taken, number_table, words
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from rich.text import Text

    from mipaudit.commands.check.report import CheckReport, ColumnProfile

_BESIDE_NAMES: Final = 67  # characters of the other columns, where all is on one line
LEGEND: Final = (
    ("repeated", "values that many records share; they are treated on their own"),
    ("tied rows", "records that share their value with another record"),
)


def render_check(report: CheckReport, *, width: int | None, color: bool) -> str:
    """Return what was found in the input as text.

    Args:
        report: what was found.
        width: characters in a line; None is 100, and less than 72 counts as 72.
        color: whether to use terminal colours.
    """
    page = Page(width=width, color=color)
    page.line("The input can be audited.", style="bold")
    add_taken(page, report.design, report.provenance)
    page.heading("Score columns")
    headers = ["score", "treated as", "distinct", "repeated", "tied rows", "infinite"]
    # Where a name would be cut in two, what a column holds goes below how it is treated.
    longest = max(len(safe_name(column.score)) for column in report.columns)
    below = longest + _BESIDE_NAMES > (width or _BESIDE_NAMES)
    page.add(number_table(headers, [_row(column, below=below) for column in report.columns]))
    page.line("")
    page.pairs(LEGEND)
    if any(column.distinct is None for column in report.columns):
        page.pairs([("-        ", "not counted: there are too many rows")])
    add_findings(page, report.findings)
    return page.text()


def _row(column: ColumnProfile, *, below: bool) -> tuple[Text | str, ...]:
    treated = kind(column).replace(" ", "\n" if below else " ")
    counts = (column.distinct, column.atoms, column.tied_rows, column.infinite)
    return (words(safe_name(column.score)), words(treated), *map(count, counts))


def kind(column: ColumnProfile) -> str:
    """Return how a column is treated, and what it holds."""
    return f"{'discrete' if column.discrete else 'continuous'} ({column.kind})"


def count(number: int | None) -> str:
    """Return a count, or a dash where there were too many rows to count."""
    return "-" if number is None else count_text(number)
