"""A message as a sentence, and any text with places as it is read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from mipaudit.model.message import Message
from mipaudit.report.messages import words
from mipaudit.report.messages.words import (
    CLASSES,
    against_phrase,
    class_words,
    named_quantity,
    named_where,
)
from mipaudit.statements.printable_names import quoted_name, safe_name, safe_text
from mipaudit.statements.rounding import (
    above_text,
    count_text,
    lower_figure,
    lower_text,
    number_text,
    p_text,
    percent_text,
    span_text,
    upper_figure,
    upper_text,
    value_text,
    within_text,
)

# What answers before it has loaded much comes first, then what most answers say.
_FIRST: Final = ("noise", "epsilon", "verdicts", "estimate", "input", "limitations")
_PLACE: Final = re.compile(r"\{([\w.]+)(?::([^}]+))?\}")
_PART: Final = re.compile(r"\[([^\[\]]*)\]")
_PHRASE: Final = re.compile(r"\{([A-Z_]+)\}")
_MARK: Final = "! "
_FEW: Final = 12
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
        texts: those, with the mark of the screen, ``! ``, where a sentence is serious.
        phrases: what several sentences say alike, by the names in capitals that stand for it.
        following: what to do next, of those that are sentences and nothing else.
    """

    def whole(text: str) -> str:
        return _PHRASE.sub(lambda found: whole(phrases[found[1]]), text)

    made: dict[str, Entry] = {}
    for code, one in texts.items():
        entry = one if isinstance(one, Entry) else Entry(one, next=following)
        sentence, serious = entry.sentence.removeprefix(_MARK), entry.sentence.startswith(_MARK)
        made[code] = entry._replace(sentence=whole(sentence), serious=serious)
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
        return _entry("untold")._replace(serious=any(one.serious for one in _cases(message.code)))
    return _entry(message.code if case is None else f"{message.code}.{case}")


def _cases(code: str) -> Iterator[Entry]:
    """Yield the entries of a code."""
    for entries in _subjects():
        yield from (one for key, one in entries.items() if key.partition(".")[0] == code)


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


def explained(code: str) -> str | None:
    """Return the sentence of a code, its places in angle brackets, and what to do about it.

    Parts in brackets are said where they apply. None: there is no such code.
    """

    def place(found: re.Match[str]) -> str:
        return _UNSAID.get(found[2], f"<{found[1]}>")

    try:
        entry = _entry(code)
    except KeyError:
        return None
    lines = [code, f"  {_PLACE.sub(place, entry.sentence)}"]
    lines += [f"  {entry.unsaid}"] if entry.unsaid else []
    lines += [f"  Next: {entry.next[0]}: mipaudit help {entry.next[1]}."] if entry.next else []
    return "\n".join(lines)


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
        return _FORMS[form](value, values)

    return _PLACE.sub(place, _PART.sub(part, text))


def _is_nothing(value: object) -> bool:
    # A limit of 0.0 is one.
    return value is None or value in ("", ()) or (isinstance(value, int) and not value)


def _checked(quantity: str, values: Values) -> str:
    """Name what a check is about, without its limit."""
    named = named_quantity(quantity, values.get("metric"), values.get("fpr"))
    return named + named_where(values.get("prior"), values.get("group"))


def _limited(limit: float, values: Values) -> str:
    """Name what a check limits, and to what."""
    fpr = values.get("fpr")
    if fpr is not None:
        return f"TPR {number_text(limit)} at FPR {percent_text(fpr)}"
    named = named_quantity(values.get("quantity"), values.get("metric"), None)
    where = named_where(values.get("prior"), values.get("group"))
    return f"{named} {number_text(limit)}{where}"


def _known(_: object, values: Values) -> str:
    """Say what limits there are, each that is known; a class of attackers follows the upper one."""
    lower, upper, against = (values.get(name) for name in ("lower", "upper", "against"))
    least = "" if lower is None else f" is at least {lower_text(lower)}"
    whom = "" if against is None else f" {against_phrase(against)}"
    most = "" if upper is None else f" is at most {upper_text(upper)}{whom}"
    return " and".join(part for part in (least, most) if part)


def _marks(values: Values) -> list[float]:
    """Return the advantages that right guesses are compared with: a limit, and blind guessing."""
    return [*_limit(values), abs(2 * values.get("prior") - 1)]


def _limit(values: Values) -> list[float]:
    """Return the limit that is compared with, if there is one."""
    limit = values.get("limit")
    return [] if limit is None else [limit]


def _state(_: object, values: Values) -> str:
    """Return the status of a check in words, and whether a waiver bears on it."""
    if values.get("waived") is not None:
        return STATUS["waived"]
    ended = ", waiver expired" if values.get("expired") is not None else ""
    return f"{STATUS[values.get('status')]}{ended}"


def _quantity(quantity: str, values: Values) -> str:
    """Name a quantity of a row."""
    return named_quantity(quantity, values.get("metric"), values.get("fpr"))


def _names(names: tuple[str, ...], _: Values) -> str:
    more = len(names) - _FEW
    shown = ", ".join(safe_name(name) for name in names[:_FEW])
    return f"{shown} and {count_text(more)} more" if more > 0 else shown


def _bound(upper: float | None, values: Values) -> str:
    """Return an upper limit; of copies, which are counted, as it is."""
    if upper is None:
        return "none"
    return count_text(int(upper)) if values.get("quantity") == "copies" else upper_text(upper)


def _floor(lower: float | None, values: Values) -> str:
    """Return a lower limit likewise."""
    if lower is None:
        return "-"
    return count_text(int(lower)) if values.get("quantity") == "copies" else lower_text(lower)


def _or(missing: str, form: Callable[[Any], str]) -> Callable[[Any, Values], str]:
    """Return a form with a word for what is not there."""
    return lambda value, _: missing if value is None else form(value)


def _each(form: Callable[[Any], str]) -> Callable[[Any, Values], str]:
    """Return a form of several values."""
    return lambda values, _: ", ".join(map(form, values))


def _of_classes(size: tuple[int, int]) -> str:
    """Return how many records there are; of classes that are not as large, how many of each."""
    members, holdout = size
    if abs(members - holdout) <= 1:
        return count_text(members + holdout)
    return f"{count_text(members)}+{count_text(holdout)}"


def _whose(attackers: str, _: Values) -> str:
    """Return a class of attackers, or the one that guesses from what is named."""
    if attackers == "any":
        return "any attacker"
    known = attackers in CLASSES
    return _short(attackers) if known else f"guessing from {_shown(attackers)}"


def _shown(text: str) -> str:
    return safe_text(text, longest=_LONGEST)


# How the number of tuned runs came about: a condition of their guarantee.
_DRAWN: Final = {
    "fixed": "{}, chosen: all count as published",
    "poisson": "{} on average, Poisson",
    "geometric": "{} on average, geometric",
    "logarithmic": "{} on average, logarithmic",
}
_CLASS_RECORDS: Final = {"members": "members", "holdout": "holdout records"}
_STATISTICS: Final = {"min": "minimum", "max": "maximum"}
# Attackers of the literature, and ways to a limit of epsilon, in words.
_ATTACKS: Final = {
    "bounded-loss": "bounded loss",
    "mean": "mean threshold",
    "gaussian": "Gaussian residuals",
    "one-standard-error": "one standard error",
    "top-n": "top n",
    "top-half": "top half",
    "best-threshold": "best threshold",
    "per-class": "class thresholds",
}
_WAYS: Final = {
    "gdp": "if Gaussian",
    "one-run": "guesses of one run",
    "one-run gdp": "the same, if Gaussian",
    "advantage": "from the advantage",
    "clopper-pearson": "Clopper-Pearson",
    "jeffreys": "Jeffreys",
}
# What the limits of a group's difference leave no doubt of.
_DIFFERS: Final = {"increase": "higher", "decrease": "lower", "open": "not shown"}
# What attackers of the literature learn, or are told.
_KNOWS: Final = {
    "bounded-loss": "the bound of the loss",
    "mean": "the mean score of members",
    "gaussian": "the standard errors of members and of holdout records",
    "one-standard-error": "the standard error of members",
    "top-n": "the score above which the members' share of all records lies",
    "top-half": "the median of all scores",
    "best-threshold": "the threshold that does best",
    "per-class": "the threshold that does best in each class",
}
STATUS: Final = {
    "met": "MET",
    "waived": "WAIVED",
    "not_met": "NOT MET",
    "inconclusive": "INCONCLUSIVE",
    "contradicted": "CONTRADICTED",
    "consistent": "CONSISTENT",
    "vacuous": "VACUOUS",
    "not_comparable": "NOT COMPARABLE",
}
_TRUE_OF: Final = {
    "blind_advantage": "advantage without the score (blind)",
    "baseline": "  of guessing without looking (baseline)",
    "excess": "  above that (excess)",
    "eta": "accuracy above guessing (eta)",
    "auc": "AUC",
    "mu": "mu of Gaussian differential privacy",
    "tpr": "TPR",
    "tpr_at_fpr": "TPR",
    "fpr": "FPR",
    "tpr_minus_fpr": "TPR - FPR",
    "sigma_1": "sigma_1 (mean distance from the median)",
    "sigma_2": "sigma_2 (standard deviation)",
    "sensitivity": "sensitivity (largest move when a record is exchanged)",
    "swap_distance": "swap distance (mean move), of the record with the largest",
    "swap_distance_average": "swap distance, of the average record",
}
_CHANGED: Final = {
    "limits": "the limits",
    "against": "the class of attackers",
    "prior": "the prior",
    "confidence": "the confidence",
    "scores": "the scores",
    "mipaudit": "the version of mipaudit",
}
_VERDICTS: Final = {**STATUS, "no_policy": "no limit", "none": "no verdict"}
_FORMS: Final[Mapping[str, Callable[[Any, Values], str]]] = {
    "name": lambda value, _: safe_name(value),
    "quoted": lambda value, _: quoted_name(value),
    "names": _names,
    # A list or a line whose names are safe already; of one that is not there, nothing.
    "text": lambda value, _: _shown(value),
    "after": lambda value, _: f" {_shown(value)}" if value else "",
    "bracketed": lambda value, _: f" ({_shown(value)})" if value else "",
    "of": lambda value, _: "" if value is None else f" of {quoted_name(value)}",
    "part": lambda value, _: "" if value is None else told(value),
    "chance": lambda value, _: upper_figure(value, digits=2),
    "two_digits": lambda value, _: f"{value:.2g}",
    "thousandths": lambda value, _: f"{value:.3f}",
    "columns": lambda value, _: "Column" if value == 1 else f"{int(value)} columns",
    "limits": lambda value, _: "one limit" if value == 1 else f"{int(value)} limits",
    "others": lambda value, _: "named like scores" if value == "named" else safe_name(value),
    "statistic": lambda value, _: _STATISTICS.get(value) or safe_name(value),
    "class_records": lambda value, _: _CLASS_RECORDS[value],
    "number": lambda value, _: number_text(value),
    "count": lambda value, _: count_text(int(value)),
    "members": lambda value, _: f"{count_text(value)} {'member' if value == 1 else 'members'}",
    "holdout": lambda value, _: f"{count_text(value)} holdout record{'s' * (value != 1)}",
    "percent": lambda value, _: percent_text(value),
    "least": lambda value, _: lower_text(value),
    "most": lambda value, _: upper_text(value),
    "best": lambda value, _: value_text(value),
    "figure": lambda value, _: lower_figure(value),
    "above": lambda value, values: above_text(value, values.get("limit")),
    "within": lambda value, values: within_text(value, values.get("limit")),
    "known": _known,
    "checked": _checked,
    "limited": _limited,
    "state": _state,
    "class": lambda value, _: against_phrase(value),
    "whom": lambda value, _: "" if value is None else f" {against_phrase(value)}",
    "attackers": lambda value, _: _short(value),
    "attacker": lambda value, _: _ATTACKS.get(value) or _short(value),
    "way": lambda value, _: _WAYS.get(value) or safe_name(value),
    "knows": lambda value, _: _KNOWS[value],
    "differs": lambda value, _: _DIFFERS[value],
    "change": lambda value, _: "not shown" if value == "open" else value,
    "status": lambda value, _: safe_name(value).replace("_", " "),
    "part_status": lambda value, _: value.upper() if value == "differs" else value,
    "kept": lambda value, _: "are kept, or accepted by a waiver" if value else "are kept",
    "capital": lambda value, _: value.capitalize(),
    "sure": lambda value, _: lower_text(value).rstrip("0"),
    "rough": lambda value, _: f"{value:.1g}",
    "multiple": _or("beyond floats", partial(upper_figure, digits=6)),
    "exact": lambda value, _: upper_figure(value, digits=12),
    "quantity": _quantity,
    "short": lambda value, values: (values.get("names") or {}).get(value) or safe_name(value),
    "points": lambda value, _: f"{100 * value:+.1f}",
    "p_value": lambda value, _: p_text(value),
    "of_kind": lambda value, _: named_quantity(value, None, None),
    # Of cells: a dash, or a word, where there is no figure.
    "lower": _floor,
    "value": _or("-", value_text),
    "upper": _bound,
    "counted_most": _or("none", count_text),
    "drawn": lambda value, values: _DRAWN[value].format(values.get("runs")),
    "of_whom": lambda value, _: "any attacker" if value == "any" else "a named kind",
    "wrong": lambda value, _: number_text(float(f"{100 * (1 - value):.6g}")),
    "counted": _or("-", count_text),
    "size": _or("unknown", lambda size: f"{size / 2**30:.1f} GiB"),
    "most_figure": _or("-", upper_figure),
    "least_figure": _or("-", lower_figure),
    "span": lambda value, _: "-" if value is None else span_text(*value),
    "span_percent": lambda value, _: "-" if value is None else span_text(*value, percent=True),
    # Of right guesses in 100.
    "right_least": lambda value, values: words.right_at_least(value, _marks(values)),
    "right_most": lambda value, values: words.right_at_most(value, _marks(values)),
    "compared": lambda value, values: words.compared(value, values.get("limit")),
    "blind_guesser": lambda value, _: words.blind_guesser(value),
    "more_least": lambda value, values: words.more_right_at_least(value, _limit(values)),
    "more_most": lambda value, values: words.more_right_at_most(max(0.0, value), _limit(values)),
    "more": lambda value, _: words.more_right_exactly(value),
    "best_guessers": lambda value, _: words.guessers(value),
    "cleverer": lambda value, _: words.of_cleverer(value),
    "kind": lambda value, _: words.simple_kind(value),
    "scale": lambda value, _: words.scale_words(value),
    # Of laws whose truth is known, and of reports over time.
    "six_digits": lambda value, _: f"{value:.6g}",
    "rounded": lambda value, _: number_text(round(value, 6)),
    "share": lambda value, _: percent_text(round(value, 6)),
    "rough_share": lambda value, _: number_text(round(value, 4)),
    "true_of": lambda value, _: _TRUE_OF.get(value) or safe_name(value),
    "counts": _each(count_text),
    "numbers": _each(number_text),
    "each_least": _each(lower_text),
    "each_value": _each(lambda value: "-" if value is None else value_text(value)),
    "sizes": _each(_of_classes),
    "whose": _whose,
    "day": lambda value, _: value[:10],
    "verdict": lambda value, _: _VERDICTS[value or "none"],
    "changed": lambda value, _: _CHANGED[value],
    "guessed": lambda value, _: words.guess_words(value),
}


def _short(attackers: Any) -> str:  # noqa: ANN401 - a class of attackers
    """Return a class for a narrow column: ``one threshold``."""
    return class_words(attackers).removeprefix("attackers with ")
