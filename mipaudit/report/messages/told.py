"""A message as a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from mipaudit.model.message import Message
from mipaudit.report.messages import (
    checks,
    findings_input,
    findings_noise,
    findings_records,
    findings_reports,
    findings_scores,
    verdicts,
)
from mipaudit.statements.policy import against_phrase, named_quantity, named_where
from mipaudit.statements.text.printable_names import quoted_name, safe_name, safe_text
from mipaudit.statements.text.rounding import (
    above_text,
    count_text,
    lower_figure,
    lower_text,
    number_text,
    percent_text,
    upper_figure,
    upper_text,
    value_text,
    within_text,
)

if TYPE_CHECKING:
    from mipaudit.report.messages.entry import Entry

_ENTRIES: Final = {
    **checks.ENTRIES,
    **verdicts.ENTRIES,
    **findings_input.ENTRIES,
    **findings_scores.ENTRIES,
    **findings_noise.ENTRIES,
    **findings_records.ENTRIES,
    **findings_reports.ENTRIES,
}
_PLACE: Final = re.compile(r"\{(\w+)(?::([^}]+))?\}")
_LONGEST: Final = 10_000
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
        form = place[2] or "name"
        if isinstance(value, Message):
            return told(value)
        one, choice, other = form.partition("|")
        if choice:
            return one if value == 1 else other
        return _FORMS[form](value, values)

    return f"{_about(values)}{_PLACE.sub(shown, _entry(message).sentence)}"


def is_serious(finding: Message) -> bool:
    """Tell whether the answer may be untrue because of a finding."""
    return _entry(finding).serious


def _entry(message: Message) -> Entry:
    case = message.values.get("case")
    if case == "untold":
        every = (one for key, one in _ENTRIES.items() if key.partition(".")[0] == message.code)
        return _ENTRIES["untold"]._replace(serious=any(one.serious for one in every))
    return _ENTRIES[message.code if case is None else f"{message.code}.{case}"]


def _about(values: Values) -> str:
    """Say which file or report a finding is about, where it was gathered from several."""
    found = values.get("where")
    return "" if found is None else f"{_shown(found)}: "


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


def _shown(text: str) -> str:
    return safe_text(text, longest=_LONGEST)


_CLASS_RECORDS: Final = {"members": "members", "holdout": "holdout records"}
_STATISTICS: Final = {"min": "minimum", "max": "maximum"}
_FORMS: Final[Mapping[str, Callable[[Any, Values], str]]] = {
    "name": lambda value, _: safe_name(value),
    "quoted": lambda value, _: quoted_name(value),
    # A list or a line whose names are safe already; of one that is not there, nothing.
    "shown": lambda value, _: _shown(value),
    "after": lambda value, _: f" {_shown(value)}" if value else "",
    "bracketed": lambda value, _: f" ({_shown(value)})" if value else "",
    "of": lambda value, _: "" if value is None else f" of {quoted_name(value)}",
    "part": lambda value, _: "" if value is None else told(value),
    "number": lambda value, _: number_text(value),
    "count": lambda value, _: count_text(int(value)),
    "least": lambda value, _: lower_text(value),
    "most": lambda value, _: upper_text(value),
    "value": lambda value, _: value_text(value),
    "percent": lambda value, _: percent_text(value),
    "chance": lambda value, _: upper_figure(value, digits=2),
    "two_digits": lambda value, _: f"{value:.2g}",
    "thousandths": lambda value, _: f"{value:.3f}",
    "columns": lambda value, _: "Column" if value == 1 else f"{int(value)} columns",
    "statistic": lambda value, _: _STATISTICS.get(value) or safe_name(value),
    "class_records": lambda value, _: _CLASS_RECORDS[value],
    "figure": lambda value, _: lower_figure(value),
    "above": lambda value, values: above_text(value, values["limit"]),
    "within": lambda value, values: within_text(value, values["limit"]),
    "known": _known,
    "checked": _checked,
    "class": lambda value, _: against_phrase(value),
    "whom": lambda value, _: "" if value is None else f" {against_phrase(value)}",
    "status": lambda value, _: safe_name(value).replace("_", " "),
    "kept": lambda value, _: "are kept, or accepted by a waiver" if value else "are kept",
}
