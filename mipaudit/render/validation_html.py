"""A validation report as one HTML file, without scripts or outside resources."""

from __future__ import annotations

from html import escape
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
from mipaudit.render.validation_markdown import DETAIL_LEGEND
from mipaudit.render.wording import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mipaudit.render.validation_contents import Table
    from mipaudit.report.validation import ValidationReport

_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: .15em .7em; text-align: right; border-bottom: 1px solid #ddd; }
th { border-bottom: 1px solid #666; vertical-align: bottom; }
.w { text-align: left; }
.short { font-weight: bold; color: #a00; }
.holds { color: #060; } .fails { color: #a00; }
div { overflow-x: auto; }
@media print {
  body { max-width: none; margin: 0; font-size: 10pt; }
  table { font-size: 7.5pt; } thead { display: table-header-group; }
  tr, h2, h3 { break-inside: avoid; } h2, h3 { break-after: avoid; } div { overflow: visible; }
  .short { text-decoration: underline; }
}
"""


def render_html(report: ValidationReport) -> str:
    """Return the report as an HTML page that can be mailed and printed."""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>mipaudit validate</title><style>{_STYLE}</style></head><body>",
            *_blocks(report),
            "</body></html>\n",
        ]
    )


def _blocks(report: ValidationReport) -> Iterator[str]:
    mood = "holds" if report.passed else "fails"
    yield f'<h1>mipaudit validate</h1><p class="{mood}"><b>{_safe(headline(report))}</b></p>'
    yield f"<p>{_safe(report.summary)}</p>"
    yield f"<p>{_safe(design_line(report))} With {_safe(versions_line(report))}.</p>"
    if report.failures:
        yield _table(failures_table(report.failures), "h2")
    yield _table(limits_table(report, ours=True), "h2")
    theirs = limits_table(report, ours=False)
    if theirs.rows:
        yield _table(theirs, "h2")
    yield _table(controls_table(report.controls), "h2")
    yield _list(f"{one.label}: {one.description}" for one in report.controls)
    yield _list(f"{term}: {text}." for term, text in LEGEND)
    yield _list(report.limitations)
    yield f"<h2>Cell by cell</h2><p>{_safe(DETAIL_LEGEND)}</p>"
    for table in detail_tables(report):
        yield _table(table, "h3")


def _table(table: Table, tag: str) -> str:
    head = _line(table.head, table.words, "th")
    body = "".join(_line(row, table.words, "td") for row in table.rows)
    return (
        f"<{tag}>{_safe(table.title)}</{tag}><div><table><thead>{head}</thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _line(cells: Iterable[str], words: int, tag: str) -> str:
    return f"<tr>{''.join(_cell(cell, i < words, tag) for i, cell in enumerate(cells))}</tr>"


def _cell(text: str, is_word: bool, tag: str) -> str:  # noqa: FBT001
    classes = ["w"] if is_word else ["short"] if SHORT_MARK in text else []
    attribute = f' class="{classes[0]}"' if classes else ""
    return f"<{tag}{attribute}>{_safe(text)}</{tag}>"


def _list(texts: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{_safe(text)}</li>' for text in texts)}</ul>"


def _safe(text: str) -> str:
    return escape(plain(text))
