"""Two reports value by value: how many there are, and which differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

TOLERANCE: Final = 1e-9
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One value of a report and of the other.

    Attributes:
        place: where, as ``estimates[3].lower``.
        status: ``equal``, ``near`` (numbers within the tolerance), ``differs``, ``added`` (the
            other has a field that the report lacks) or ``unknown`` (the other way round).
        gap: between two numbers that are not equal.
    """

    place: str
    status: str
    gap: float | None = None

    @property
    def wrong(self) -> bool:
        """Tell whether the report says what the other does not."""
        return self.status in {"differs", "unknown"}


def pairs(report: Any, other: Any, place: str) -> Iterator[Pair]:  # noqa: ANN401 - parsed JSON
    """Yield every value of two parsed JSON documents, leaf by leaf.

    An empty list or object is a leaf. A field of one document alone is one pair.
    """
    if report is _ABSENT or other is _ABSENT:
        yield Pair(place=place, status="added" if report is _ABSENT else "unknown")
    elif isinstance(report, dict) and isinstance(other, dict) and (report or other):
        for name in dict.fromkeys((*report, *other)):
            yield from pairs(report.get(name, _ABSENT), other.get(name, _ABSENT), f"{place}.{name}")
    elif isinstance(report, list) and isinstance(other, list) and (report or other):
        for at in range(max(len(report), len(other))):
            # A row more or less is no field that a later version added.
            if at >= min(len(report), len(other)):
                yield Pair(place=f"{place}[{at}]", status="differs")
            else:
                yield from pairs(report[at], other[at], f"{place}[{at}]")
    else:
        yield _leaf(report, other, place)


def _leaf(report: Any, other: Any, place: str) -> Pair:  # noqa: ANN401
    if _is_number(report) and _is_number(other):
        if report == other:
            return Pair(place=place, status="equal")
        near = math.isclose(report, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        # A count is a count: 20,000 records are not 20,001.
        near = near and not (isinstance(report, int) and isinstance(other, int))
        return Pair(place=place, status="near" if near else "differs", gap=abs(report - other))
    same = type(report) is type(other) and report == other
    return Pair(place=place, status="equal" if same else "differs")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
