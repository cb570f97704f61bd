"""A report as a page of text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.estimate.blind_words import blind_line
from mipaudit.commands.estimate.pages.contents import Contents
from mipaudit.commands.estimate.pages.headline import claim_status, headline
from mipaudit.commands.estimate.pages.sections import (
    Footnotes,
    Section,
    judged_on,
    lower_word,
    methods,
    section,
    upper_word,
    value_word,
)
from mipaudit.formats.blocks.judgement import add_claims, add_policy
from mipaudit.formats.rich_page import Page, add_findings, add_taken, number_table, words
from mipaudit.formats.wording import AT_LEAST, AT_MOST, BEST_ESTIMATE, STYLES, how_to_read, quoted
from mipaudit.statements.text.rounding import count_text, number_text

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from mipaudit.commands.estimate.report import Report
    from mipaudit.evidence.judgement.blind import Blind

_MOST_REASONS: Final = 5
_MOST_SCORES: Final = 12  # more are not all shown in full: nobody would read the page
_STRONGEST: Final = 5


def render_table(report: Report, *, width: int | None, color: bool) -> str:
    """Return the report as text.

    Args:
        report: what was found.
        width: characters in a line; None is 100, and less than 72 counts as 72, so
            that no number is ever cut.
        color: whether to use terminal colours.

    Returns:
        Lines without blanks at their ends; the last one ends too. No name or text
        from the report can steer the terminal.
    """
    page = Page(width=width, color=color)
    contents = Contents.of(report)
    _add_verdict(page, report)
    page.line(report.summary)
    add_taken(page, report.design, report.provenance, _settings(contents, report.blind))
    _add_scores(page, report, contents)
    add_claims(page, report.claims)
    add_policy(page, report.policy)
    add_findings(page, report.findings)
    if report.limitations:
        page.heading("What this does not say")
        page.bullets(report.limitations)
    return page.text()


def _add_verdict(page: Page, report: Report) -> None:
    status: str = report.verdict.status
    if status == "no_policy":
        if not report.claims:
            return
        status = claim_status(report)
    page.line(headline(report), style=STYLES.get(status, "bold"))
    reasons = report.verdict.reasons
    page.bullets(reasons[:_MOST_REASONS])
    if len(reasons) > _MOST_REASONS:
        page.bullets([f"and {count_text(len(reasons) - _MOST_REASONS)} more, below"])
    page.line("")


def _settings(contents: Contents, blind: Blind | None) -> list[tuple[str, str]]:
    prior = number_text(contents.design.prior)
    settings = [("prior", f"{prior}: how likely a challenged record is a member")]
    if blind is not None:
        settings.append(("records alone", blind_line(blind)))
    judged = contents.judged
    return [*settings, ("judged on", judged_on(*judged))] if judged is not None else settings


def _add_scores(page: Page, report: Report, contents: Contents) -> None:
    scores = contents.scores
    notes = Footnotes()
    page.heading("How to read the figures")
    page.pairs(how_to_read(report.design))
    if len(scores) > 1:
        page.heading("Every score, the strongest first: advantage")
        page.add(_overview(contents, notes))
    if len(scores) > _MOST_SCORES:
        page.line("")
        page.line(
            f"The strongest {_STRONGEST} of {count_text(len(scores))} scores follow in full; "
            "the rest is in the report for programs (-f json)."
        )
        scores = scores[:_STRONGEST]
    for score in scores:
        _add_section(page, section(contents, score, notes))
    page.line("")
    shown = methods(report)
    marks = [(f"[{number}]", text) for number, text in enumerate(notes.texts, start=1)]
    page.pairs([*marks, *zip(["methods", *[""] * len(shown)], shown, strict=False)])


def _overview(contents: Contents, notes: Footnotes) -> Table:
    headers = ["score", AT_LEAST, BEST_ESTIMATE, "at most, one threshold", "AUC"]
    rows = []
    for score in contents.scores:
        main = contents.advantage(score)
        cut = contents.advantage(score, "thresholds")
        auc = contents.auc(score)
        rows.append(
            (
                words(quoted(score)),
                lower_word(main, notes) if main else "",
                value_word(main, notes) if main else "",
                upper_word(cut, notes) if cut else "",
                value_word(auc, notes) if auc else "",
            )
        )
    return number_table(headers, rows)


def _add_section(page: Page, shown: Section) -> None:
    page.heading(f"Score {quoted(shown.score)}")
    rows: list[tuple[Text, str, str, str]] = []
    for group in shown.groups:
        rows.append((words(group.heading, style="italic"), "", "", ""))
        rows += [(words(f"  {r.label}"), r.lower, r.value, r.upper) for r in group.rows]
    page.add(number_table(["", AT_LEAST, BEST_ESTIMATE, AT_MOST], rows))
    page.pairs(("", remark) for remark in shown.remarks)
