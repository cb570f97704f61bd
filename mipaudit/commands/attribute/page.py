"""What a report of ``attribute`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.attribute.words import QUANTITIES
from mipaudit.formats.document import Document, Grid, Note, Paragraph, bulleted
from mipaudit.formats.policy_blocks import (
    policy_mood,
    stated_cases,
    stated_headline,
    stated_section,
)
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    percent_text,
    upper_text,
    value_text,
)

if TYPE_CHECKING:
    from mipaudit.commands.attribute.report import AttributeFigure, AttributeReport, AttributeValue
    from mipaudit.formats.document import Section

_SUBJECTS: Final[dict[str, str]] = {str(name): text for name, text in QUANTITIES.items()}
_HEAD: Final = ("at least", "best estimate", "at most")


def attribute_document(report: AttributeReport) -> Document:
    """Return the report as a document."""
    sections = (
        stated_section(report.policy, _SUBJECTS),
        _figures(report),
        _values(report),
        bulleted("Findings", [f"{f.code}: {f.text}" for f in report.findings]),
        bulleted("Keep in mind", report.limitations),
    )
    return Document(
        title="mipaudit attribute",
        headline=stated_headline(report.policy, report.verdict, report.findings),
        mood=policy_mood(report.verdict),
        summary=report.summary,
        sections=tuple(section for section in sections if section),
        cases=tuple(stated_cases(report.policy, "attribute", _SUBJECTS)),
        created=report.provenance.created,
    )


def _figures(report: AttributeReport) -> Section:
    text = (
        f"All values together ({percent_text(report.design.confidence)} confidence for each row)."
    )
    grid = Grid(
        caption=text,
        head=("quantity", *_HEAD),
        rows=tuple((QUANTITIES[one.quantity], *_limits(one)) for one in report.figures),
        words=1,
    )
    return (Paragraph(text=text), grid)


def _values(report: AttributeReport) -> Section:
    grid = Grid(
        caption="Each value of the attribute",
        head=("value", "members", "holdout", "right", "of holdout", *_HEAD),
        rows=tuple(
            (
                safe_name(one.name),
                count_text(one.n_members),
                count_text(one.n_holdout),
                _number(one.right_members),
                _number(one.right_holdout),
                *_limits(one),
            )
            for one in report.by_value
        ),
        words=1,
    )
    sure = percent_text(report.design.confidence)
    note = (
        "right: share of the members with the value who were guessed right; of holdout: the same "
        f"of holdout records; then the difference, with {sure} confidence for all values together."
    )
    return (grid, Note(text=note))


def _limits(one: AttributeFigure | AttributeValue) -> tuple[str, str, str]:
    return (
        "-" if one.lower is None else lower_text(one.lower),
        _number(one.value),
        "-" if one.upper is None else upper_text(one.upper),
    )


def _number(value: float | None) -> str:
    return "-" if value is None else value_text(value)
