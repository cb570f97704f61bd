"""What a report of ``attribute`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import (
    AXIS,
    CHECK,
    LIMIT_NUMBER,
    LIMITS,
    SHORT_LIMITS,
    SIZES,
    STATUS,
    UNKEPT,
    WHY,
    Cases,
    Column,
    Layout,
    Table,
)

_CHECK: Final = (Column("limit on", "{quantity:status}"), STATUS, LIMIT_NUMBER, *CHECK)
_ZERO: Final = ("", "")

LAYOUT: Final = Layout(
    about=(
        "{design.attribute_column:quoted} ({design.n_values:count} "
        "{design.n_values:value|values}), guesses in {design.guess_column:quoted}, for "
        "{design.n_members:members} and {design.n_holdout:holdout}; {design.confidence:percent} "
        "confidence.[ Without the model, always guessing {commonest.name:quoted}, the commonest "
        "value, is right for {commonest.right_of_members:best} of members and "
        "{commonest.right_of_holdout:best} of holdout records.]"
    ),
    tables=(
        Table(
            "The limits of the policy, and what was found",
            "policy",
            (*_CHECK, WHY),
            prose=True,
            marked=UNKEPT,
        ),
        Table(
            "All values together",
            "figures",
            (Column("", "{quantity:quantity}"), AXIS, *SHORT_LIMITS),
            caption="[┃ is the limit{drawn:said}.]",
            legend="Attribute advantage: share right, members - holdout, same value.[ ┃: "
            "limit{drawn:said}.]",
            short=None,
            picture="intervals",
            of="advantage, or share of right guesses",
            axis=("", "marks"),
        ),
        Table("The limits of the policy", "limits", (*_CHECK,), short=None, whole=False),
        Table(
            "How much more often each value is guessed right for members",
            "by_value",
            (Column("value", "{group:short}[ ({selection})]"), AXIS, *SHORT_LIMITS),
            caption="How much more often each value is guessed right for members. The limits of "
            "all values hold together.",
            legend="Right guesses, members minus holdout. Confidence: for all values together.",
            short=None,
            whole=False,
            picture="intervals",
            of="how much more often members are guessed right",
            axis=_ZERO,
        ),
        Table(
            "Each value of the attribute",
            "by_value",
            (
                Column("value", "{group}[ ({selection} together)]"),
                *SIZES,
                Column("right", "{also.right_of_members.value:value}"),
                Column("of holdout", "{also.right_of_holdout.value:value}"),
                *LIMITS,
            ),
            beside="shares",
            note="right: share of the members with the value who were guessed right; of holdout: "
            "the same for holdout records; then the difference, with {design.confidence:percent} "
            "confidence for all values together.",
        ),
    ),
    terms=(
        (
            "attribute advantage",
            "how much more often members are guessed right, each value by its share",
        ),
        (
            "membership advantage",
            "how well a right guess reveals membership to somebody who knows the true value",
        ),
        ("right guesses about members", "share of the members whose attribute was guessed right"),
        (
            "right guesses about holdout",
            "the same for holdout records: what can be guessed about everybody",
        ),
    ),
    cases=(Cases("policy", "attribute", "{quantity:status} {limit:number}", "{reason}"),),
)
