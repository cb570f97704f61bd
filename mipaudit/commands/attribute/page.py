"""What a report of ``attribute`` shows, in tables and in words."""

from collections.abc import Mapping, Sequence
from typing import Final

from mipaudit.commands.attribute.report import (
    AttributeDesign,
    AttributeFigure,
    AttributeQuantity,
    AttributeReport,
    AttributeValue,
)
from mipaudit.formats.document import Document, Grid, Note, Paragraph, Section, best, limits
from mipaudit.formats.policy_blocks import stated_document
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    percent_text,
    upper_text,
    value_text,
)
from mipaudit.statements.verdict import judged

QUANTITIES: Final = {
    "attribute_advantage": "attribute advantage",
    "membership_advantage": "membership, called when the guess is right",
    "right_of_members": "share of members guessed right",
    "right_of_holdout": "share of holdout records guessed right",
}
SUBJECTS: Final[Mapping[AttributeQuantity, str]] = {
    "attribute_advantage": "attribute advantage of these guesses",
    "membership_advantage": "membership advantage of these guesses",
}
_THESE: Final = (
    "The figures concern these guesses. Another attacker may guess better; that these gain "
    "nothing from membership shows nothing about others."
)
_BETTER: Final = (
    "The attribute advantage is how much better members are guessed than others, not how well: "
    "what the release tells of everybody alike is in the shares of right guesses."
)
_SHARES: Final = (
    "The attribute advantage weighs each value by its share among all records of the input."
)
_REDUCTION: Final = (
    "The membership advantage is that of an attacker who knows the attribute and has the guess. "
    "Its lower limit is one for the best such attacker; its upper limit is for this one alone."
)
_ALIKE: Final = (
    "Members and holdout records are taken to be independent draws, and alike but for "
    "membership; the guesses must not have been made with the knowledge of who is a member."
)
_MELDED: Final = (
    "Each pair of limits holds by itself; those of the single values hold together. They are "
    "melded Clopper-Pearson limits: approximate, with their measured coverage in the "
    "documentation."
)
_OTHERS: Final = "That says nothing of an attacker who guesses better."
ATTRIBUTE_LIMITATIONS: Final = (_THESE, _BETTER, _SHARES, _REDUCTION, _ALIKE, _MELDED)
_HEAD: Final = ("at least", "best estimate", "at most")


def attribute_summary(report: AttributeReport) -> str:
    """Return how much better members are guessed, and what that says of membership."""
    design, verdict = report.design, report.verdict
    by = {one.quantity: one for one in report.figures}
    parts = [
        (
            f"The attribute '{safe_name(design.attribute_column)}' was guessed of "
            f"{design.n_members:,} members and {design.n_holdout:,} holdout records, right for "
            f"{best(by['right_of_members'].value)} of the members and "
            f"{best(by['right_of_holdout'].value)} of the others."
        ),
        _attribute(by["attribute_advantage"], percent_text(design.confidence)),
        _membership(by["membership_advantage"], design),
        _one_value(report.by_value),
        judged(verdict),
        _OTHERS if verdict.status == "met" else "",
        "Only these guesses were tested.",
    ]
    return " ".join(part for part in parts if part)


def _attribute(one: AttributeFigure, sure: str) -> str:
    if one.value is None or one.lower is None or one.upper is None:
        return "No value of it is in both classes, so there is no attribute advantage."
    return (
        f"Members are guessed right more often by {value_text(one.value)} "
        f"(attribute advantage; {sure} confidence: from {lower_text(one.lower)} to "
        f"{upper_text(one.upper)})."
    )


def _membership(one: AttributeFigure, design: AttributeDesign) -> str:
    assert one.lower is not None  # noqa: S101 - both classes have records
    if one.lower <= design.baseline:
        return "Whether the guess is right is not shown to tell anything about membership."
    return (
        "Whether the guess is right gives membership away: an attacker who knows the attribute has "
        f"an advantage of at least {lower_text(one.lower)} (blind guessing "
        f"{value_text(design.baseline)})."
    )


def _one_value(values: Sequence[AttributeValue]) -> str:
    found = [(one.name, one.lower) for one in values if one.lower is not None and one.lower > 0]
    if not found:
        return ""
    name, lower = found[0]
    more = f" ({len(found) - 1} more such values)" if len(found) > 1 else ""
    return (
        f"Of the single values, '{safe_name(name)}' is guessed right more often of members "
        f"by at least {lower_text(lower)}{more}."
    )


def attribute_document(report: AttributeReport) -> Document:
    """Return the report as a document."""
    return stated_document(report, QUANTITIES, (_figures(report), _values(report)))


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
