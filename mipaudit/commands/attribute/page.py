"""What a report of ``attribute`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.attribute.words import QUANTITIES
from mipaudit.formats.document import Document, Grid, Note, Paragraph, best, limits
from mipaudit.formats.policy_blocks import stated_document
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    percent_text,
)

if TYPE_CHECKING:
    from mipaudit.commands.attribute.report import AttributeReport
    from mipaudit.formats.document import Section

_SUBJECTS: Final[dict[str, str]] = {str(name): text for name, text in QUANTITIES.items()}
_HEAD: Final = ("at least", "best estimate", "at most")


def attribute_document(report: AttributeReport) -> Document:
    """Return the report as a document."""
    return stated_document(report, _SUBJECTS, (_figures(report), _values(report)))


def _figures(report: AttributeReport) -> Section:
    text = (
        f"All values together ({percent_text(report.design.confidence)} confidence for each row)."
    )
    grid = Grid(
        caption=text,
        head=("quantity", *_HEAD),
        rows=tuple((QUANTITIES[one.quantity], *limits(one, "-")) for one in report.figures),
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
                best(one.right_members),
                best(one.right_holdout),
                *limits(one, "-"),
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
