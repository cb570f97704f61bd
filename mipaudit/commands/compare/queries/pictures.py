"""The pictures of a report of ``compare``: what each query leaks, and by how much they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.brief import short_names
from mipaudit.formats.document import quoted
from mipaudit.formats.drawing import Interval, intervals, marks_of
from mipaudit.statements.policy import against_phrase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mipaudit.commands.compare.queries.report import CompareReport
    from mipaudit.formats.document import Picture
    from mipaudit.statements.estimate import Estimate


def compare_pictures(report: CompareReport) -> Iterator[Picture]:
    """Yield the differences in the class of the ranking, and the advantages in it."""
    against = report.design.against
    names = short_names(one.score for one in report.advantages)
    differences = [
        Interval(f"{_name(one.score, names)} less {_name(one.versus or '', names)}", *_limits(one))
        for one in report.differences
        if one.attackers == against
    ]
    if differences:
        yield intervals(
            differences,
            name="differences",
            what="difference of advantage",
            caption=f"Right of 0 the first leaks more, {against_phrase(against)}.",
            ends=(-1.0, 1.0),
            marks=marks_of(one.limit for one in report.policy),
        )
    advantages = [
        Interval(quoted(one.score), *_limits(one))
        for one in report.advantages
        if one.attackers == against
    ]
    if advantages:
        yield intervals(
            advantages,
            name="advantages",
            what="advantage",
            caption=f"Each query, {against_phrase(against)}.",
            ends=(report.design.trivial, 1.0),
            marks=marks_of((), report.design.trivial),
        )


def _name(score: str, names: Mapping[str, str]) -> str:
    """Return a name that leaves room for another one beside it."""
    return f'"{names.get(score, score)}"'


def _limits(one: Estimate) -> tuple[float | None, float | None, float | None]:
    return one.lower, one.value, one.upper
