"""Which column says who is a member, and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mipaudit.errors import InputError
from mipaudit.reading.bytes.bad_parts import named_fault
from mipaudit.reading.columns.membership import (
    CANDIDATES,
    Label,
    MemberRule,
    distinct_labels,
    rule_from_labels,
    rule_from_value,
)
from mipaudit.reading.columns.score_selection import shown_names
from mipaudit.reading.rows.left_out import empty_class_error, label_error

if TYPE_CHECKING:
    from mipaudit.reading.source.part import Part
    from mipaudit.reading.source.request import ReadRequest

_BOOLEANS: Final = frozenset({0.0, 1.0})
_COUNTED: Final = 1000


def member_rule(
    parts: Sequence[Part], candidates: Sequence[str], request: ReadRequest, *, required: bool
) -> MemberRule | None:
    """Return how the parts tell members from holdout.

    Args:
        parts: loaded parts that are read in the same way.
        candidates: the columns that may say it.
        request: names the column or the member's label, if the user did.
        required: an error when no column says it; None otherwise.

    Raises:
        InputError: ``no_member_column``, ``ambiguous_membership``,
            ``unknown_labels``, ``many_labels`` or ``empty_class``.
    """
    present = [name for name in candidates if all(_has(part, name) for part in parts)]
    if not present:
        if required:
            raise no_member_column(parts)
        return None
    if request.member_value is not None:
        if len(present) > 1:
            raise _ambiguous(present)
        return rule_from_value(present[0], request.member_value)
    surveys = {name: _survey(parts, name, enough=2) for name in present}
    rules = [rule for name in present if (rule := _rule(name, surveys[name])) is not None]
    if len(rules) > 1:
        raise _ambiguous([rule.column for rule in rules])
    if not rules:
        raise label_error(present[0], len(_survey(parts, present[0], enough=_COUNTED)))
    if required and len(surveys[rules[0].column]) == 1:
        raise empty_class_error(members=not rules[0].members)
    return rules[0]


def _has(part: Part, name: str) -> bool:
    return any(field.name == name for field in part.fields)


def _rule(name: str, labels: set[Label]) -> MemberRule | None:
    if not labels:
        # Every row is null: the first pass says so, with their number.
        return MemberRule(column=name, members=frozenset({1.0}), holdout=frozenset({0.0}))
    return rule_from_labels(name, labels)


def _survey(parts: Sequence[Part], name: str, *, enough: int) -> set[Label]:
    """Return the labels in column ``name``, in row order until there are ``enough``."""
    kinds = {field.kind for part in parts for field in part.fields if field.name == name}
    if kinds == {"bool"}:
        return set(_BOOLEANS)
    labels: set[Label] = set()
    for part in parts:
        for piece in part.pieces():
            try:
                for chunk in piece.chunks((name,), 0):
                    labels |= distinct_labels(chunk.columns[name])
                    if len(labels) >= enough:
                        return labels
            except InputError as error:
                raise named_fault(error, part.name) from None
    return labels


def _ambiguous(names: Sequence[str]) -> InputError:
    return InputError(
        "ambiguous_membership",
        f"Several columns may say who is a member: {shown_names(names)}.",
        hint="Choose one with --member-col.",
    )


def no_member_column(parts: Sequence[Part]) -> InputError:
    """Return the error for an input in which no column says who is a member."""
    names = [field.name for field in parts[0].fields]
    single = len(names) == 1 and parts[0].blob is not None
    hint = (
        "There is a single column: CSV cells are separated by comma, semicolon, tab or bar."
        if single
        else "Name it with --member-col, or give the classes as --members and --holdout."
    )
    return InputError(
        "no_member_column",
        f"No membership column ({', '.join(CANDIDATES)}) among: "
        f"{shown_names(names, parts[0].fields)}.",
        hint=hint,
    )
