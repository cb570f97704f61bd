"""The pictures of a comparison of reports: what changed, and from what to what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.document import quoted
from mipaudit.formats.drawing import Interval, intervals, marks_of
from mipaudit.statements.policy import against_phrase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.compare.reports.report import Change, ReportComparison, ReportedFigure
    from mipaudit.formats.document import Picture


def compare_reports_pictures(report: ReportComparison) -> Iterator[Picture]:
    """Yield the changes in the class that the policy is about, and the limits they follow from."""
    against = report.design.against
    changes = [
        one
        for one in report.changes
        if one.quantity == "advantage" and one.attackers == against and one.metric is None
    ]
    if not changes:
        return
    limits = {(one.score, one.report): one.limit for one in report.policy}
    yield intervals(
        [
            Interval(
                _name(report, one),
                one.lower,
                one.value,
                one.upper,
                limits.get((one.score, one.report)),
            )
            for one in changes
        ],
        name="changes",
        what="change of the advantage",
        caption=f"Right of 0 the new report leaks more, {against_phrase(against)}.",
        ends=(-1.0, 1.0),
    )
    yield intervals(
        [
            _stored(f"{quoted(one.score)} in {quoted(name)}", figure)
            for one in changes
            for name, figure in ((one.versus, one.old), (one.report, one.new))
        ],
        name="stored",
        what="advantage",
        caption=f"The limits that the changes follow from, {against_phrase(against)}.",
        ends=(report.design.trivial, 1.0),
        marks=marks_of((), report.design.trivial),
    )


def _name(report: ReportComparison, one: Change) -> str:
    several = len(report.design.reports) > 2  # noqa: PLR2004 - an old and a new one
    return f"{quoted(one.score)} in {quoted(one.report)}" if several else quoted(one.score)


def _stored(name: str, one: ReportedFigure) -> Interval:
    return Interval(name, one.lower, one.value, one.upper)
