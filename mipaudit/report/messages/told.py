"""A message as a sentence, and any text with places as it is read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from mipaudit.maths.advantage import baseline
from mipaudit.model.message import Message
from mipaudit.report.messages import words
from mipaudit.statements import rounding
from mipaudit.statements.printable_names import (
    first_names,
    quoted_name,
    safe_name,
    safe_text,
    short_name,
)

# What answers before it has loaded much comes first, then what most answers say.
_FIRST: Final = ("noise", "epsilon", "limitations", "verdicts", "estimate", "input")
_PLACE: Final = re.compile(r"\{([\w.]+)(?::([^}]+))?\}")
_PART: Final = re.compile(r"\[([^\[\]]*)\]")
_PHRASE: Final = re.compile(r"\{([A-Z_]+)\}")
# How a sentence begins that is more than one: serious, of a mood, or of no screenful.
_MARKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "!": {"serious": True},
    **{mark: {"mood": mood} for mark, mood in (("+", "good"), ("-", "bad"), ("?", "open"))},
    "~": {"short": False},
}
_FEW: Final = 12
_LEAST_ROUGH: Final = 0.0001
# Of values, those that are names.
_NAMES: Final = frozenset(
    (
        *("score", "query", "report", "group", "attribute", "name", "person"),
        *("more", "less", "versus"),
    )
)
_LONGEST: Final = 10_000
_UNLESS: Final = "unless"
_ABSENT: Final = object()
_UNSAID: Final = {"said": "", _UNLESS: ""}  # of forms that show no value


Mood = Literal["good", "bad", "open", "plain"]


class Entry(NamedTuple):
    """A sentence with places for the values of its message.

    A place is ``{name}`` or ``{name:form}``: `report.messages.told` has the forms; ``{n:row|rows}``
    is the first word where ``n`` is 1 or true, else the second. A part in brackets is left out
    where one of its places has no value. What stands between places is prose as a reader sees it.
    The key of an entry is the code, with ``.case`` where a code has several.

    Attributes:
        sentence: without a full stop where it is a part of others.
        serious: the answer may be untrue because of such a finding, so that no view leaves it out.
        mood: how an answer is shown.
        next: what to do about it, in words, and the page that tells more.
        unsaid: what an answer does not say.
        short: whether a remark is worth a line of a screenful.
        last: whether it gives way before what is worth knowing of the input.
    """

    sentence: str
    serious: bool = False
    mood: Mood = "plain"
    next: tuple[str, str] | None = None
    unsaid: str = ""
    short: bool = True
    last: bool = False


# Entries by code; what is a sentence and nothing else is written as it is.
Texts: TypeAlias = dict[str, Entry | str]


def entries(
    texts: Mapping[str, Entry | str],
    phrases: Mapping[str, str] = MappingProxyType({}),
    following: tuple[str, str] | None = None,
) -> dict[str, Entry]:
    """Return the entries of a subject.

    Args:
        texts: those, each with a mark where it is serious (``! ``, as on the screen), where it is
            good, bad or open news (``+ ``, ``- ``, ``? ``), or not for a screenful (``~ ``).
        phrases: what several sentences say alike, by the names in capitals that stand for it.
        following: what to do next, of those that are sentences and nothing else.
    """

    def whole(text: str) -> str:
        return _PHRASE.sub(lambda found: whole(phrases[found[1]]), text)

    made: dict[str, Entry] = {}
    for code, one in texts.items():
        entry = one if isinstance(one, Entry) else Entry(one, next=following)
        mark, _, sentence = entry.sentence.partition(" ")
        marked = _MARKS.get(mark, {})
        made[code] = entry._replace(
            sentence=whole(sentence if marked else entry.sentence), **marked
        )
    return made


class Values(Protocol):
    """What the places of a text name."""

    def get(self, name: str, /) -> Any:  # noqa: ANN401 - whatever a report holds
        """Return a value; None where there is none of that name."""


class Fields:
    """The fields of a report or of a row as values of a text.

    ``outer.inner`` is a field of one within it, ``rows.0`` the first of several.

    Args:
        whole: the report, or the row.
        conclusion: a module whose functions of the report are fields of it, too.
        beside: values that are no field of it.
    """

    def __init__(self, whole: object, conclusion: object = None, **beside: object) -> None:
        self._whole, self._conclusion, self._beside = whole, conclusion, beside

    def beside(self, **more: object) -> Fields:
        """Return the same with further values."""
        return Fields(self._whole, self._conclusion, **self._beside, **more)

    def get(self, name: str, /) -> Any:  # noqa: ANN401 - whatever a report holds
        """Return a field; None where it, or the one that it is of, is not there."""
        first, *rest = name.split(".")
        if first not in self._beside:
            # Asked for once: the answer of a report is computed where it is asked for.
            found = getattr(self._whole, first, _ABSENT)
            if found is _ABSENT:
                concluded = getattr(self._conclusion, first, None)
                found = None if concluded is None else concluded(self._whole)
            self._beside[first] = found
        value: Any = self._beside[first]
        for part in rest:
            if part.isdecimal():
                value = next(iter((value or ())[int(part) :]), None)
            elif isinstance(value, Message | Mapping):
                value = value.get(part)
            else:
                value = getattr(value, part, None)
        return value


def told(message: Message) -> str:
    """Return the sentence of a message, names from the data made safe.

    Raises:
        KeyError: the code has no entry.
        TypeError: a value that its sentence names is missing, or of another type than is shown.
    """
    where = message.get("where")
    # Which file or report a finding is about, where it was gathered from several.
    about = "" if where is None else f"{_shown(str(where))}: "
    return about + filled(entry_of(message).sentence, message.values)


def names_in(message: Message) -> Iterator[str]:
    """Yield the names in a message and in those within it."""
    for name, one in message.values.items():
        if isinstance(one, Message):
            yield from names_in(one)
        elif name in _NAMES and isinstance(one, str):
            yield one


def briefly(message: Message, names: Mapping[str, str]) -> Message:
    """Return a message in fewer words where it has such, as those within.

    Args:
        message: of any code.
        names: short ones, no two the same; names that are not among them are cut in the middle.
    """
    values = {
        name: briefly(one, names)
        if isinstance(one, Message)
        else names.get(one, short_name(one))
        if name in _NAMES and isinstance(one, str)
        else one
        for name, one in message.values.items()
    }
    of = next(one for one in _subjects() if message.code in one)
    brief = {"case": "line"} if f"{message.code}.line" in of else {}
    return replace(message, values={**values, **brief})


def is_serious(finding: Message) -> bool:
    """Tell whether the answer may be untrue because of a finding."""
    return entry_of(finding).serious


def entry_of(message: Message) -> Entry:
    """Return the entry of a message's code.

    Raises:
        KeyError: there is none.
    """
    case = message.get("case")
    if case == "untold":
        cases = (one for entries in _subjects() for one in entries.items())
        grave = any(one.serious for key, one in cases if key.partition(".")[0] == message.code)
        return _entry("untold")._replace(serious=grave)
    return _entry(message.code if case is None else f"{message.code}.{case}")


def _subjects() -> Iterator[Mapping[str, Entry]]:
    """Yield the entries of each module beside this one."""
    yield from map(_entries, _FIRST)
    # Not by pathlib, which commands that only compute do not load.
    names = {name.removesuffix(".py") for name in os.listdir(os.path.dirname(__file__))}  # noqa: PTH120, PTH208
    yield from map(_entries, sorted(names.difference(_FIRST)))


def _entries(name: str) -> Mapping[str, Entry]:
    if name.startswith("_"):
        return {}
    found: Mapping[str, Entry] = getattr(
        import_module(f"mipaudit.report.messages.{name}"), "ENTRIES", {}
    )
    return found


@cache
def _entry(code: str) -> Entry:
    for entries in _subjects():
        if code in entries:
            return entries[code]
    raise KeyError(code)


def every_entry() -> dict[str, Entry]:
    """Return the entries of all subjects by their codes."""
    return {code: one for entries in _subjects() for code, one in entries.items()}


def unfilled(text: str) -> str:
    """Return a text with its places in angle brackets, and several of what may be one or more."""

    def place(found: re.Match[str]) -> str:
        _, choice, of_several = (found[2] or "").partition("|")
        return of_several if choice else _UNSAID.get(found[2], f"<{found[1]}>")

    return _PLACE.sub(place, text)


def filled(text: str, values: Values) -> str:
    """Return a text with its places filled.

    A place is ``{name}`` or ``{name:form}``. What stands in brackets is left out where one of its
    places has no value, or one that is false or counts nothing; ``{name:said}`` and
    ``{name:unless}`` say that alone, and its opposite.
    """

    def part(found: re.Match[str]) -> str:
        places = _PLACE.finditer(found[1])
        shown = all(_is_nothing(values.get(one[1])) == (one[2] == _UNLESS) for one in places)
        return found[1] if shown else ""

    def place(found: re.Match[str]) -> str:
        value = values.get(found[1])
        if found[2] in _UNSAID:
            return ""
        if isinstance(value, Message):
            return told(value)
        form = found[2] or "name"
        first, choice, other = form.partition("|")
        if choice:
            return first if value == 1 else other
        if form in _BESIDE:
            return _BESIDE[form](value, values)
        if form in _FORMS:
            return _FORMS[form](value)
        return words.WORDS[form].get(value) or safe_name(value)

    return _PLACE.sub(place, _PART.sub(part, text))


def is_figure(text: str) -> bool:
    """Tell whether a text shows figures, and no other value."""
    forms = {place[2] or "name" for place in _PLACE.finditer(text)} - {*_UNSAID}
    return bool(forms) and forms <= _FIGURES


def _is_nothing(value: object) -> bool:
    # A limit of 0.0 is one.
    return value is None or value in ("", ()) or (isinstance(value, int) and not value)


def _quantity(quantity: str, values: Values) -> str:
    """Name a quantity of a row."""
    return words.named_quantity(quantity, values.get("metric"), values.get("fpr"))


def _checked(quantity: str, values: Values) -> str:
    """Name what a check is about, without its limit."""
    return _quantity(quantity, values) + words.named_where(values.get("prior"), values.get("group"))


def _limited(limit: float, values: Values) -> str:
    """Name what a check limits, and to what."""
    fpr = values.get("fpr")
    if fpr is not None:
        return f"TPR {rounding.number_text(limit)} at FPR {rounding.percent_text(fpr)}"
    named = _quantity(values.get("quantity"), values)
    where = words.named_where(values.get("prior"), values.get("group"))
    return f"{named} {rounding.number_text(limit)}{where}"


def _known(_: object, values: Values) -> str:
    """Say what limits there are, each that is known; a class of attackers follows the upper one."""
    lower, upper, against = (values.get(name) for name in ("lower", "upper", "against"))
    least = "" if lower is None else f" at least {rounding.lower_text(lower)}"
    whom = "" if against is None else f" {words.against_phrase(against)}"
    most = "" if upper is None else f" at most {rounding.upper_text(upper)}{whom}"
    limits = " and".join(part for part in (least, most) if part)
    return f" is{limits}" if limits else ""


def _marks(values: Values) -> list[float]:
    """Return the advantages that right guesses are compared with: a limit, and blind guessing."""
    return [*_limit(values), baseline(values.get("prior"))]


def _limit(values: Values) -> list[float]:
    """Return the limit that is compared with, if there is one."""
    limit = values.get("limit")
    return [] if limit is None else [limit]


def _state(_: object, values: Values) -> str:
    """Return the status of a check in words, and whether a waiver bears on it."""
    if values.get("waived") is not None:
        return "WAIVED"
    ended = ", waiver expired" if values.get("expired") is not None else ""
    return f"{_words(values.get('status')).upper()}{ended}"


def _bound(missing: str, form: Callable[[float], str]) -> Callable[[float | None, Values], str]:
    """Return a form of limits, with a word for none; of copies, which are counted, as they are."""

    def bound(limit: float | None, values: Values) -> str:
        if limit is None:
            return missing
        counted = values.get("quantity") == "copies"
        return rounding.count_text(int(limit)) if counted else form(limit)

    return bound


def _or(missing: str, form: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a form with a word for what is not there."""
    return lambda value: missing if value is None else form(value)


def _each(form: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a form of several values."""
    return lambda values: ", ".join(map(form, values))


def _of_classes(size: tuple[int, int]) -> str:
    """Return how many records there are; of classes that are not as large, how many of each."""
    members, holdout = size
    if abs(members - holdout) <= 1:
        return rounding.count_text(members + holdout)
    return f"{rounding.count_text(members)}+{rounding.count_text(holdout)}"


def _short(attackers: Any) -> str:  # noqa: ANN401 - a class of attackers
    """Return a class for a narrow column: ``one threshold``."""
    return words.class_words(attackers).removeprefix("attackers with ")


def _whose(attackers: str) -> str:
    """Return a class of attackers, or the one that guesses from what is named."""
    if attackers == "any":
        return "any attacker"
    return _short(attackers) if attackers in words.CLASSES else f"guessing from {_shown(attackers)}"


def _shown(text: str) -> str:
    return safe_text(text, longest=_LONGEST)


def _in_hundred(share: str) -> str:
    return rounding.percent_text(float(share)).removesuffix("%")


def _words(code: str) -> str:
    return safe_name(code).replace("_", " ")


# How a value is shown by itself; `words.WORDS` has those that stand for a word each.
_FORMS: Final[Mapping[str, Callable[[Any], str]]] = {
    "name": safe_name,
    "quoted": quoted_name,
    "names": lambda value: first_names([*map(safe_name, value)], _FEW),
    # A list or a line whose names are safe already; of one that is not there, nothing.
    "text": _shown,
    "after": lambda value: f" {_shown(value)}" if value else "",
    "bracketed": lambda value: f" ({_shown(value)})" if value else "",
    "of": _or("", lambda value: f" of {quoted_name(value)}"),
    "part": _or("", told),
    "chance": partial(rounding.upper_figure, digits=2),
    "two_digits": "{:.2g}".format,
    "thousandths": "{:.3f}".format,
    "columns": lambda value: "Column" if value == 1 else f"{int(value)} columns",
    "limits": lambda value: "one limit" if value == 1 else f"{int(value)} limits",
    "number": rounding.number_text,
    "count": lambda value: rounding.count_text(int(value)),
    "members": lambda value: f"{rounding.count_text(value)} member{'s' * (value != 1)}",
    "holdout": lambda value: f"{rounding.count_text(value)} holdout record{'s' * (value != 1)}",
    "percent": rounding.percent_text,
    "least": rounding.lower_text,
    "most": rounding.upper_text,
    "best": rounding.value_text,
    "figure": rounding.lower_figure,
    "class": words.against_phrase,
    "whom": _or("", lambda value: f" {words.against_phrase(value)}"),
    "attackers": _short,
    "attacker": lambda value: words.WORDS["attack"].get(value) or _short(value),
    "status": _words,
    "part_status": lambda value: value.upper() if value == "differs" else value,
    "kept": lambda value: "are met, or accepted by a waiver" if value else "are met",
    "capital": str.capitalize,
    "sure": lambda value: rounding.lower_text(value).rstrip("0"),
    "rough": lambda value: f"about {value:.1g}" if value >= _LEAST_ROUGH else "less than 0.0001",
    "multiple": _or("beyond floats", partial(rounding.upper_figure, digits=6)),
    "exact": partial(rounding.upper_figure, digits=12),
    "points": lambda value: f"{100 * value:+.1f}",
    "hundred_least": lambda value: _in_hundred(rounding.lower_text(value)),
    "hundred_most": lambda value: _in_hundred(rounding.upper_text(value)),
    "p_value": rounding.p_text,
    "of_kind": lambda value: words.named_quantity(value, None, None),
    "of_whom": lambda value: "any attacker" if value == "any" else "a named kind",
    "wrong": lambda value: rounding.number_text(float(f"{100 * (1 - value):.6g}")),
    # Of cells: a dash, or a word, where there is no figure.
    "value": _or("-", rounding.value_text),
    "counted_most": _or("none", rounding.count_text),
    "counted": _or("-", rounding.count_text),
    "size": _or("unknown", lambda size: f"{size / 2**30:.1f} GiB"),
    "most_figure": _or("-", rounding.upper_figure),
    "least_figure": _or("-", rounding.lower_figure),
    "span": _or("-", lambda value: rounding.span_text(*value)),
    "span_percent": _or("-", lambda value: rounding.span_text(*value, percent=True)),
    # Of right guesses in 100.
    "blind_guesser": words.blind_guesser,
    "more": words.more_right_exactly,
    "best_guessers": words.guessers,
    "cleverer": partial(words.of_others, before=". O"),
    "beyond": partial(words.of_others, before="; o"),
    "kind": words.simple_kind,
    "scale": words.scale_words,
    "guessed": words.guess_words,
    # Of laws whose truth is known, and of reports over time.
    "six_digits": "{:.6g}".format,
    "rounded": lambda value: rounding.number_text(round(value, 6)),
    "share": lambda value: rounding.percent_text(round(value, 6)),
    "rough_share": lambda value: rounding.number_text(round(value, 4)),
    "counts": _each(rounding.count_text),
    "numbers": _each(rounding.number_text),
    "each_least": _each(rounding.lower_text),
    "each_value": _each(_or("-", rounding.value_text)),
    "sizes": _each(_of_classes),
    "whose": _whose,
    "day": lambda value: value[:10],
    "verdict": lambda value: words.NO_VERDICT.get(value) or _words(value).upper(),
}
# How it is shown by what stands beside it.
_BESIDE: Final[Mapping[str, Callable[[Any, Values], str]]] = {
    "quantity": _quantity,
    "checked": _checked,
    "limited": _limited,
    "known": _known,
    "state": _state,
    "lower": _bound("-", rounding.lower_text),
    "upper": _bound("unknown", rounding.upper_text),
    "above": lambda value, values: rounding.above_text(value, values.get("limit")),
    "within": lambda value, values: rounding.within_text(value, values.get("limit")),
    "short": lambda value, values: (values.get("names") or {}).get(value) or safe_name(value),
    "drawn": lambda value, values: words.WORDS["drawing"][value].format(values.get("runs")),
    "right_least": lambda value, values: words.right_at_least(value, _marks(values)),
    "right_most": lambda value, values: words.right_at_most(value, _marks(values)),
    "compared": lambda value, values: words.compared(value, values.get("limit")),
    "more_least": lambda value, values: words.more_right_at_least(value, _limit(values)),
    "more_most": lambda value, values: words.more_right_at_most(max(0.0, value), _limit(values)),
}
# Those of figures.
_FIGURES: Final = frozenset(
    (
        *("lower", "value", "upper", "number", "count", "counted", "counted_most", "percent"),
        *("least", "most", "best", "figure", "least_figure", "most_figure", "multiple", "points"),
        *("p_value", "rounded", "six_digits", "two_digits", "sizes", "each_least", "each_value"),
        *("span", "span_percent", "hundred_least", "hundred_most"),
    )
)
FORMS: Final = frozenset((*_FORMS, *_BESIDE, *words.WORDS))
