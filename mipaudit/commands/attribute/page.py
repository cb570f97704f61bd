"""What a report of ``attribute`` shows, in tables and in words."""

from collections.abc import Mapping, Sequence
from typing import Final

from mipaudit.commands.attribute.report import (
    AttributeDesign,
    AttributeFigure,
    AttributeQuantity,
    AttributeReport,
    AttributeValue,
    CommonestValue,
)
from mipaudit.formats.brief import (
    NO_VERDICT,
    Axis,
    Brief,
    Interval,
    blind_guessing,
    short_name,
    short_names,
)
from mipaudit.formats.document import (
    AT_LEAST,
    AT_MOST,
    Document,
    Grid,
    Note,
    Paragraph,
    Section,
    best,
    limits,
)
from mipaudit.formats.policy.blocks import stated_document
from mipaudit.formats.policy.judged import judged_brief
from mipaudit.report.verdict_sentence import judged
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    percent_text,
    upper_text,
    value_text,
)

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
_SHORT: Final[Mapping[AttributeQuantity, str]] = {
    "attribute_advantage": "better of members",
    "membership_advantage": "tells membership",
    "right_of_members": "right of members",
    "right_of_holdout": "right of holdout",
}
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
        _without_model(report.commonest),
        _attribute(by["attribute_advantage"], percent_text(design.confidence)),
        _membership(by["membership_advantage"], design),
        _one_value(report.by_value),
        judged(verdict),
        _OTHERS if verdict.status == "met" else "",
        "Only these guesses were tested.",
    ]
    return " ".join(part for part in parts if part)


def _without_model(one: CommonestValue | None) -> str:
    if one is None:
        return ""
    return (
        f"Without the model, always saying '{safe_name(one.name)}', the commonest value, is right "
        f"for {value_text(one.right_of_members)} of the members and "
        f"{value_text(one.right_of_holdout)} of the others."
    )


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
    always = _always(report.commonest)
    grid = Grid(
        caption=text,
        head=("quantity", *_HEAD),
        rows=(
            *((QUANTITIES[one.quantity], *limits(one, "-")) for one in report.figures),
            *((f"{what} without the model", "-", value_text(right), "-") for what, right in always),
        ),
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


def attribute_brief(report: AttributeReport) -> Brief:
    """Return how much better the attribute is guessed of members, in all and of each value."""
    found, leaks = _found(report)
    design = report.design
    values = len(report.by_value)
    brief = Brief(
        answer=f"{found} {NO_VERDICT}",
        mood="bad" if leaks else "plain",
        about=f"'{safe_name(design.attribute_column)}' ({count_text(design.n_values)} values), "
        f"guessed by '{safe_name(design.guess_column)}' of {count_text(design.n_members)} members "
        f"and {count_text(design.n_holdout)} holdout records; {percent_text(design.confidence)} "
        "confidence.",
        tables=(_drawn(report), *([_drawn_values(report)] if values else [])),
    )
    return judged_brief(report, brief, alone=True)


def _found(report: AttributeReport) -> tuple[str, bool]:
    """Return what is shown of these guesses, and whether they tell members apart."""
    by = {one.quantity: one for one in report.figures}
    gain, membership = by["attribute_advantage"], by["membership_advantage"]
    name = f"'{safe_name(report.design.attribute_column)}'"
    if gain.lower is not None and gain.lower > 0:
        return f"{name} is guessed better of members, by at least {lower_text(gain.lower)}.", True
    if (membership.lower or 0.0) > report.design.baseline:
        return (
            "Whether the guess is right gives membership away: an advantage of at least "
            f"{lower_text(membership.lower or 0.0)}{blind_guessing(report.design.baseline)}."
        ), True
    if gain.upper is not None and gain.upper < 0:
        least = lower_text(-gain.upper)
        return f"{name} is guessed worse of members, by at least {least}: they differ.", True
    for value in report.by_value:
        if value.lower is not None and value.upper is not None and value.lower * value.upper > 0:
            better = value.lower > 0
            least = lower_text(value.lower if better else -value.upper)
            return (
                f"'{safe_name(value.name)}' is guessed {'better' if better else 'worse'} of "
                f"members, by at least {least}."
            ), True
    if gain.lower is None or gain.upper is None:
        return f"Nothing is known: no value of {name} is in both classes.", False
    return (
        f"{name} is not shown to be guessed better of members: by at most "
        f"{upper_text(gain.upper)}, with these guesses."
    ), False


def _always(one: CommonestValue | None) -> tuple[tuple[str, float], ...]:
    """Return how often who always says the commonest value is right, by class."""
    if one is None:
        return ()
    return ("right of members", one.right_of_members), ("right of holdout", one.right_of_holdout)


def _drawn(report: AttributeReport) -> Grid:
    marks = {one.subject: one.limit for one in report.policy}
    always = _always(report.commonest)
    axis = Axis.over(report.figures, [*marks.values(), *(right for _, right in always)])
    said = ""
    if report.commonest is not None:
        said = f"No model: always '{short_name(report.commonest.name)}', the commonest value."
    return Grid(
        caption=" ".join(filter(None, ["┃ is the limit." if marks else "", said])),
        head=("", axis.head, AT_LEAST, "best", AT_MOST),
        rows=tuple(
            (
                _SHORT[one.quantity],
                axis.drawn(one, marks.get(one.quantity)) if one.value is not None else "not known",
                *limits(one, "-"),
            )
            for one in report.figures
        )
        + tuple(
            (
                f"{what}, no model",
                axis.drawn(Interval(right, right, right)),
                *("-", value_text(right), "-"),
            )
            for what, right in always
        ),
        words=2,
    )


def _drawn_values(report: AttributeReport) -> Grid:
    axis = Axis.over([one for one in report.by_value if one.value is not None])
    names = short_names(one.name for one in report.by_value)
    return Grid(
        caption="How much better each value is guessed of members, limits for all together.",
        head=("value", axis.head, AT_LEAST, "best", AT_MOST),
        rows=tuple(
            (
                names[one.name],
                axis.drawn(one) if one.value is not None else "not known",
                *limits(one, "-"),
            )
            for one in report.by_value
        ),
        words=2,
    )
