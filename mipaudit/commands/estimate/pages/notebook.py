"""A report as HTML, for notebooks. Every name and text in it is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mipaudit.commands.estimate.pages.contents import Contents
from mipaudit.commands.estimate.pages.headline import headline
from mipaudit.commands.estimate.pages.sections import Footnotes, Row, Section, section
from mipaudit.formats.policy_blocks import check_state
from mipaudit.formats.wording import (
    AT_LEAST,
    AT_MOST,
    ATTACKERS,
    BEST_ESTIMATE,
    how_to_read,
    plain,
    quoted,
)
from mipaudit.statements.text.rounding import lower_text, upper_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mipaudit.commands.estimate.report import Report
    from mipaudit.statements.policy import PolicyCheck


def notebook_html(report: Report) -> str:
    """Return the report as an HTML fragment, without scripts or outside resources."""
    notes = Footnotes()
    contents = Contents.of(report)
    sections = [section(contents, score, notes) for score in contents.scores]
    terms = "; ".join(
        f"<b>{_safe(term)}</b>: {_safe(text)}" for term, text in how_to_read(report.design)
    )
    parts = [
        f"<p><b>{_safe(headline(report))}</b></p>",
        f"<p>{_safe(report.summary)}</p>",
        f"<p><small>{terms}</small></p>",
        *map(_section, sections),
        _list(f"[{number}] {text}" for number, text in enumerate(notes.texts, start=1)),
        _policy(report.policy),
        _list(finding.text for finding in report.findings),
        _list(report.limitations),
    ]
    return "<div>" + "\n".join(part for part in parts if part) + "</div>"


def _section(shown: Section) -> str:
    rows = []
    for group in shown.groups:
        rows.append(f'<tr><th colspan="4" style="text-align:left">{_safe(group.heading)}</th></tr>')
        rows += [_row(row) for row in group.rows]
    table = _table(["", AT_LEAST, BEST_ESTIMATE, AT_MOST], rows)
    return f"<h4>Score {_safe(quoted(shown.score))}</h4>{table}{_list(shown.remarks)}"


def _row(row: Row) -> str:
    return _cells([row.label, row.lower, row.value, row.upper])


def _policy(checks: Iterable[PolicyCheck]) -> str:
    rows = [
        _cells(
            [
                f"{check.quantity} of {quoted(check.score)}, {ATTACKERS[check.against]}",
                lower_text(check.lower) if check.lower is not None else "",
                upper_text(check.upper) if check.upper is not None else "",
                check_state(check),
            ]
        )
        for check in checks
    ]
    if not rows:
        return ""
    return f"<h4>Policy</h4>{_table(['', AT_LEAST, AT_MOST, 'status'], rows)}"


def _table(headers: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(f"<th>{_safe(header)}</th>" for header in headers)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cells(texts: Iterable[str]) -> str:
    first, *others = texts
    cells = f'<td style="text-align:left">{_safe(first)}</td>'
    return f"<tr>{cells}{''.join(f'<td>{_safe(text)}</td>' for text in others)}</tr>"


def _list(texts: Iterable[str]) -> str:
    items = "".join(f"<li><small>{_safe(text)}</small></li>" for text in texts)
    return f'<ul style="list-style:none">{items}</ul>' if items else ""


def _safe(text: str) -> str:
    return escape(plain(text))
