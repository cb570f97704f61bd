"""From any report to the forms that people and servers read; what draws others is not loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, assert_never

from mipaudit.errors import UsageError
from mipaudit.report.messages.told import every_entry, told, unfilled
from mipaudit.report.text import MORE, MORE_IN_PYTHON, few_lines, one_line, screenful, whole_text
from mipaudit.report.walk import walk_of
from mipaudit.statements.printable_names import plain

if TYPE_CHECKING:
    from mipaudit.model.message import Message
    from mipaudit.report.blocks import Picture
    from mipaudit.statements.any_report import AnyReport

Form = Literal["csv", "markdown", "html", "junit"]
HEIGHT: Final = 24  # lines of the smallest window that terminals open with


def report_as(report: AnyReport, form: Form, *, full: bool = False) -> str:
    """Return the report in a form that people or servers read; programs read its JSON.

    Args:
        report: of any command.
        form: of them.
        full: whether a page shows all of it open, as an annex.
    """
    if form == "csv":
        from mipaudit.report.codec import report_csv

        return report_csv(report)
    from mipaudit.report.markup import report_junit, report_page, whole_markdown

    walk = walk_of(report)
    match form:
        case "markdown":
            return whole_markdown(walk.title, walk.answer, walk.about, walk.sections())
        case "html":
            return report_page(walk, full=full)
        case "junit":
            return report_junit(walk)
        case _:
            assert_never(form)


def answer_of(report: AnyReport, *, warned: bool = True) -> str:
    """Return the answer in a line, with what can make it untrue unless that is said elsewhere."""
    walk = walk_of(report)
    return plain(" ".join([walk.answer, *(walk.warnings if warned else ())]))


def answer_line(report: AnyReport) -> tuple[str, tuple[str, ...]]:
    """Return the answer in at most 120 characters, and beside it what can make it untrue."""
    walk = walk_of(report)
    return one_line(walk), tuple(map(plain, walk.warnings))


def explanations() -> dict[str, str]:
    """Return by each code its sentence, without values, and what to do about it.

    Parts in brackets are said where they apply.
    """
    return {
        code: "\n  ".join(
            [
                code,
                unfilled(entry.sentence),
                *filter(None, [entry.unsaid]),
                *(f"Next: {do}. See mipaudit help {at}." for do, at in filter(None, [entry.next])),
            ]
        )
        for code, entry in every_entry().items()
    }


def finding_line(finding: Message) -> str:
    """Return a finding that no report has, in a line."""
    return f"{finding.code}: {plain(told(finding))}"


def brief_report(
    report: AnyReport,
    *,
    width: int,
    height: int | None = HEIGHT,
    color: bool = False,
    python: bool = False,
) -> str:
    """Return the answer of a report in a screenful, for a terminal.

    Args:
        report: of any command.
        width: characters in a line, where tables allow; prose is up to 100 wide.
        height: lines; None: as many as it takes.
        color: whether to use terminal colours.
        python: whether what else there is is said as Python's callers write it.
    """
    more = MORE_IN_PYTHON if python else MORE
    return screenful(walk_of(report), width=width, height=height, color=color, more=more)


def report_text(report: AnyReport, *, width: int, color: bool = False) -> str:
    """Return all of the report as text for a terminal.

    Args:
        report: of any command.
        width: characters in a line, where tables allow; prose is up to 100 wide.
        color: whether to use terminal colours.
    """
    walk = walk_of(report)
    sections = walk.sections("text")
    return whole_text(walk.answer, walk.about, sections, width=width, mood=walk.mood, color=color)


def report_repr(report: AnyReport) -> str:
    """Return what Python's prompt shows: the answer in five lines."""
    return few_lines(walk_of(report))


def report_html(report: AnyReport) -> str:
    """Return what a notebook shows: the answer, its picture, and the rest folded."""
    from mipaudit.report.markup import notebook_html

    return notebook_html(walk_of(report))


def key_picture(report: AnyReport) -> Picture:
    """Return the picture that shows the answer of a report.

    Raises:
        UsageError: there is none of that kind of report, or of what was found.
    """
    found = next(walk_of(report).pictures(), None)
    if found is None:
        raise UsageError(
            "no_picture",
            f"This report of {report.command} has no picture.",
            "Its figures are in .to_pandas().",
        )
    return found
