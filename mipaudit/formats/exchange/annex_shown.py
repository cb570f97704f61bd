"""What the fields of a report show of a point of an annex, in sentences; none is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, is_dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from mipaudit.formats.document import AT_LEAST, AT_MOST, BEST_ESTIMATE, plain
from mipaudit.formats.exchange.stored import NONE, figures
from mipaudit.model.message import Message
from mipaudit.report.messages.told import told
from mipaudit.statements.estimate import VACUOUS
from mipaudit.statements.origin import plain_value, value_words
from mipaudit.statements.reports.kinds import kind_of

if TYPE_CHECKING:
    from mipaudit.formats.exchange.annex_points import Shows
    from mipaudit.formats.exchange.annex_reports import Beside
    from mipaudit.formats.exchange.stored import Figure

# Of epsilon: what would hold if the records of one model were trials of their own.
_HYPOTHETICAL: Final = ("validity", "if-exchangeable")
_MISSING: Final = {
    AT_LEAST: "no lower limit",
    BEST_ESTIMATE: "no best estimate",
    AT_MOST: "no upper limit",
}


def shown_of(one: Shows, report: Beside) -> tuple[list[str], list[str]]:
    """Return what a field of a report says, each with its place, and figures without a number.

    The score that leaks most for sure comes first.
    """
    place = f"{report.stored.file.name}, {one.field}"
    if report.other:
        place += f"; {report.other}"
    found = report.stored.report
    if not (one.quantity and one.field in {part.field for part in kind_of(one.command).figures}):
        return [f"{text} [{place}]" for text in _values(found, one.field)], []
    rows = _leading([part for part in figures(found, one.field) if part.of == one.quantity])
    return (
        [f"{_figure(part)} [{place}]" for part in rows if not _unshown(part)],
        [f"{_unshown(part)}: {_figure(part)} [{place}]" for part in rows if _unshown(part)],
    )


def where(one: Shows) -> str:
    """Return which field, and which quantity of it."""
    return one.field + (f" of {one.quantity}" if one.quantity else "")


def _is_number(text: str | None) -> bool:
    return text not in {None, NONE, VACUOUS}


def _unshown(figure: Figure) -> str:
    """Return why a figure shows nothing, or nothing."""
    if _HYPOTHETICAL in figure.labels:
        return "NOT EVALUABLE, since it certifies nothing"
    numbers = (figure.lower, figure.value, figure.upper)
    return "" if any(_is_number(text) for text in numbers) else "NOT EVALUABLE"


def _leading(found: Sequence[Figure]) -> list[Figure]:
    """Return the figures of the score that leaks most for sure, then those of the others."""
    best: dict[str, float] = {}
    for one in found:
        score = dict(one.labels).get("score", "")
        lower = float(one.lower) if one.lower not in {None, NONE} else -1.0
        best[score] = max(best.get(score, -1.0), lower)
    return sorted(found, key=lambda one: -best[dict(one.labels).get("score", "")])


def _figure(one: Figure) -> str:
    about = f" ({one.about})" if one.about else ""
    if one.lower is None:
        return f"{one.of}{about}: {one.value}"
    numbers = ((AT_LEAST, one.lower), (BEST_ESTIMATE, one.value), (AT_MOST, one.upper))
    known = [f"{word} {text}" for word, text in numbers if _is_number(text)]
    missing: dict[str | None, list[str]] = {}
    for (word, text), reason in zip(numbers, one.reasons, strict=True):
        if not _is_number(text):
            missing.setdefault(reason, []).append(_MISSING[word])
    unknown = [
        ", ".join(words) + (f" ({plain(reason)})" if reason else "")
        for reason, words in missing.items()
    ]
    return f"{one.of}{about}: " + ", ".join((*known, *unknown))


def _values(report: Any, field: str) -> Iterator[str]:  # noqa: ANN401 - of any kind
    """Yield what a field holds that is no figure; nothing where it is empty."""
    found = reduce(lambda one, name: getattr(one, name, None), field.split("."), report)
    for one in found if isinstance(found, tuple) else (found,):
        if isinstance(one, Message):
            yield f"{field}: {plain(told(one))}"
        elif one is not None:
            value = plain_value(asdict(one) if is_dataclass(one) else one)  # type: ignore[arg-type]
            yield f"{field}: {plain(value_words(value))}"
