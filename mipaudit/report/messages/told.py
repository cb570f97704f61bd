"""A message as a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from mipaudit.model.message import Message
from mipaudit.report.messages import checks, verdicts
from mipaudit.statements.policy import against_phrase, named_quantity, named_where
from mipaudit.statements.text.printable_names import quoted_name, safe_name
from mipaudit.statements.text.rounding import (
    above_text,
    count_text,
    lower_figure,
    lower_text,
    number_text,
    upper_text,
    within_text,
)

_ENTRIES: Final = {**checks.ENTRIES, **verdicts.ENTRIES}
_PLACE: Final = re.compile(r"\{(\w+)(?::(\w+))?\}")
Values = Mapping[str, Any]


def told(message: Message) -> str:
    """Return the sentence of a message, names from the data made safe.

    Raises:
        KeyError: the code has no entry.
        TypeError: a value that its sentence names is missing, or of another type than is shown.
    """
    values = message.values

    def shown(place: re.Match[str]) -> str:
        value = values.get(place[1])
        if isinstance(value, Message):
            return told(value)
        return _FORMS[place[2] or "name"](value, values)

    return _PLACE.sub(shown, _ENTRIES[message.code].sentence)


def _checked(quantity: str, values: Values) -> str:
    """Name what a check is about, without its limit."""
    named = named_quantity(quantity, values.get("metric"), values.get("fpr"))
    return named + named_where(values.get("prior"), values.get("group"))


def _known(_: object, values: Values) -> str:
    """Say what limits there are, each that is known; a class of attackers follows the upper one."""
    lower, upper, against = (values.get(name) for name in ("lower", "upper", "against"))
    least = "" if lower is None else f" is at least {lower_text(lower)}"
    whom = "" if against is None else f" {against_phrase(against)}"
    most = "" if upper is None else f" is at most {upper_text(upper)}{whom}"
    return " and".join(part for part in (least, most) if part)


_FORMS: Final[Mapping[str, Callable[[Any, Values], str]]] = {
    "name": lambda value, _: safe_name(value),
    "quoted": lambda value, _: quoted_name(value),
    "number": lambda value, _: number_text(value),
    "count": lambda value, _: count_text(int(value)),
    "least": lambda value, _: lower_text(value),
    "most": lambda value, _: upper_text(value),
    "figure": lambda value, _: lower_figure(value),
    "above": lambda value, values: above_text(value, values["limit"]),
    "within": lambda value, values: within_text(value, values["limit"]),
    "known": _known,
    "checked": _checked,
    "class": lambda value, _: against_phrase(value),
    "whom": lambda value, _: "" if value is None else f" {against_phrase(value)}",
    "status": lambda value, _: str(value).replace("_", " "),
    "kept": lambda value, _: "are kept, or accepted by a waiver" if value else "are kept",
}
