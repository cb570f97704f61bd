"""What forms that others define are made of: a report, the digest of its file, its figures.

Such a form names the report that it was made of by its sha256: a reader who has both can check one
by the other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.errors import UsageError
from mipaudit.model.message import Message
from mipaudit.report.codec import table_rows
from mipaudit.report.messages.told import told
from mipaudit.report.messages.words import class_words
from mipaudit.report.origin import bare_name
from mipaudit.report.walk import Walk, walk_of
from mipaudit.statements import rounding
from mipaudit.statements.kinds import Kind, kind_of
from mipaudit.statements.printable_names import first_names, plain, safe_name
from mipaudit.statements.verdict import stale_waiver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.report.blocks import Case
    from mipaudit.statements.any_report import AnyReport
    from mipaudit.statements.provenance import InputFile

NONE: Final = "none"
AT_LEAST: Final = "at least"
BEST_ESTIMATE: Final = "best estimate"
AT_MOST: Final = "at most"
_SAID: Final = 2  # inputs that are named
_LONGEST_NAME: Final = 200
# What tells figures of one quantity apart, in the order in which it is said.
_LABELS: Final = (
    *("score", "attackers", "adversary", "metric", "fpr", "group", "versus", "report", "name"),
    *("game", "prior", "role", "calibration", "mechanism", "adjacency", "delta", "rests_on"),
)
# Where a method or what it assumes is part of the answer, and not of how it was found.
_OF_EPSILON: Final = ("score", "method", "validity", "sides")
_LIMITLESS: Final = "not-an-interval"  # an estimator that others publish: biased, without limits
_P_VALUE: Final = "any_difference"
_IN_FULL: Final = 12  # digits
_WORDS: Final = {
    "score": "score '{}'",
    **dict.fromkeys(("game", "method", "validity"), "{}"),
    "fpr": "at FPR {}",
    **{name: f"at {name} {{}}" for name in ("delta", "prior", "baseline")},
}


class File(NamedTuple):
    """A file, by its name without a folder, and its sha256."""

    name: str
    sha256: str


class Stored(NamedTuple):
    """A report as it is stored.

    Attributes:
        report: what the file holds.
        file: that it is in; of a report in memory, the one that it would be as JSON.
        subjects: the files that it speaks of, of a form that names them.
    """

    report: AnyReport
    file: File
    subjects: tuple[File, ...] = ()

    @property
    def walk(self) -> Walk:
        """Return the walk along the report."""
        return walk_of(self.report)

    @property
    def read(self) -> str:
        """Return the names of what was read; of what reads nothing, the command."""
        names = [input_name(one) for one in self.report.provenance.inputs]
        return first_names(names, _SAID) or self.report.command

    @property
    def called(self) -> str:
        """Return what is released, as it was declared; else what was read."""
        declared = self.report.provenance.declared
        stated = (declared.release or declared.title) if declared else None
        return printable(stated) if stated else self.read


class Figure(NamedTuple):
    """A figure in words, limits rounded outward as everywhere.

    Attributes:
        of: the quantity.
        labels: what tells it apart, by name: the score, the class of attackers.
        value: best estimate, or what is known; None where nothing is.
        lower: at least this much, or ``none``; None of what is known.
        upper: at most this much, ``none`` or ``vacuous``; None of what is known.
        confidence: of the limits.
        reasons: why there is no lower limit, no value, no upper limit, where the report says it.
    """

    of: str
    labels: tuple[tuple[str, str], ...]
    value: str | None = None
    lower: str | None = None
    upper: str | None = None
    confidence: float | None = None
    reasons: tuple[str | None, ...] = (None, None, None)

    @property
    def columns(self) -> tuple[tuple[str, str | None], ...]:
        """Return at least, the best estimate, or without a name what is known, and at most."""
        known = self.lower is None
        value = ("" if known else BEST_ESTIMATE, self.value)
        return (AT_LEAST, self.lower), value, (AT_MOST, self.upper)

    @property
    def numbers(self) -> tuple[tuple[str, float], ...]:
        """Return the columns that have a number."""
        return tuple((name, float(text)) for name, text in self.columns if text and is_number(text))

    @property
    def about(self) -> str:
        """Return for whom and of what the figure is, and how sure its limits are."""
        words = [_said(name, text) for name, text in self.labels]
        if self.confidence is not None:
            words.append(f"{rounding.percent_text(self.confidence)} confidence")
        return ", ".join(words)


def figures(report: AnyReport, field: str | None = None) -> tuple[Figure, ...]:
    """Return the figures of a report of any kind, those with limits and those that are known.

    Args:
        report: of any command.
        field: the one that they are in; None for all.
    """
    sure = getattr(getattr(report, "design", None), "confidence", None)
    kind = kind_of(report.command)
    return tuple(
        figure
        for part in kind.figures
        if field in {None, part}
        for row in table_rows(report, part)
        for figure in (
            _known(kind, row)
            if kind.at_most or kind.exact
            else _limited(kind.of[1] if part == kind.of[0] else "{}", row, sure)
        )
    )


def is_number(text: str | None) -> bool:
    """Tell whether a limit or a value is a number, and not that there is none."""
    return text is not None and text[-1].isdigit()


def case_name(case: Case) -> str:
    """Return what a case is about, and what was to be shown."""
    return f"{plain(case.group)}: {plain(case.name)}"


def sha256_of(one: InputFile) -> str | None:
    """Return the sha256 of an input, None where the report has none that may be one."""
    return one.sha256 if re.fullmatch(r"[0-9a-f]{64}", one.sha256 or "") else None


def require_standing(report: AnyReport) -> None:
    """Refuse a verdict that a waiver bore and bears no longer: none would be reached now."""
    found = stale_waiver(report)
    if found is not None:
        raise UsageError(
            "stale_waiver",
            told(found),
            "Audit the scores again, or judge the report again by today's policy.",
        )


def input_name(one: InputFile) -> str:
    """Return what an input is called without its folder, which may name a person or a machine."""
    return printable(bare_name(one.name))


def printable(name: str) -> str:
    """Return a name from a report, on which nothing can act that shows it."""
    return safe_name(name, longest=_LONGEST_NAME)


def _limited(of: str, row: Any, sure: float | None) -> Iterator[Figure]:  # noqa: ANN401
    """Yield the estimate of a row between its limits, if it may have any."""
    quantity = getattr(row, "quantity", "")
    if getattr(row, "validity", "") == _LIMITLESS or quantity == _P_VALUE:
        return
    value = getattr(row, "value", None)
    upper = getattr(row, "upper", None)
    reasons = (getattr(row, f"{one}_reason", None) for one in ("lower", "value", "upper"))
    yield Figure(
        of=of.format(quantity),
        labels=tuple(_labels(row)),
        value=None if value is None else rounding.value_text(value),
        lower=NONE if row.lower is None else rounding.lower_text(row.lower),
        upper=getattr(row, "unlimited", NONE) if upper is None else rounding.upper_text(upper),
        confidence=getattr(row, "confidence", sure),
        reasons=tuple(told(one) if isinstance(one, Message) else one for one in reasons),
    )


def _known(kind: Kind, row: Any) -> Iterator[Figure]:  # noqa: ANN401
    """Yield what a row knows, in full, and what it allows at most."""
    labels = tuple(_labels(row))
    for name in (*kind.at_most, *kind.exact):
        of = row.quantity if name == "value" else name
        # Of several the column has one figure for each FPR, or for each share of members.
        at = "fpr" if name == "tpr_at_fpr" else "baseline"
        found = getattr(row, name, None)
        some = found if isinstance(found, dict) else {None: found}
        for key, number in some.items():
            where = labels if key is None else (*labels, (at, key))
            if number is not None and name in kind.at_most:
                yield Figure(of, where, lower=NONE, upper=rounding.upper_text(number))
            elif number is not None:
                yield Figure(of, where, value=rounding.upper_figure(number, digits=_IN_FULL))


def _labels(row: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Yield what tells a row apart from others, by name."""
    for name in _OF_EPSILON if hasattr(row, "mu_lower") else _LABELS:
        found = getattr(row, name, None)
        if found not in {None, ""}:
            yield name, rounding.number_text(found) if isinstance(found, float) else str(found)


def _said(name: str, text: str) -> str:
    if name == "attackers":
        return class_words(text)  # type: ignore[arg-type] # a class, as the report has it
    return _WORDS.get(name, f"{name.replace('_', ' ')} {{}}").format(safe_name(text))
