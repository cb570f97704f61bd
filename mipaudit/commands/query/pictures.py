"""The pictures of reports on queries: where members and holdout records stand on each score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import quoted
from mipaudit.formats.drawing import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.commands.query.report import ModelQueryReport, QueryReport
    from mipaudit.evidence.scores.curves import ScoreCurves
    from mipaudit.formats.document import Picture

_MOST: Final = 3
_DISTANCES: Final = frozenset({"nn", "kth"})
_FAR: Final = "distance to released records, near to far"
_LOW: Final = "scores from low to high"
_WHERE: Final = {"low": "left", "high": "right"}


def query_pictures(report: QueryReport) -> Iterator[Picture]:
    """Yield the distances to released records, and the other scores, the first ones asked for."""
    kinds = {one.score: one.query for one in report.scores}
    yield from _drawn(report.curves, {name for name, kind in kinds.items() if kind in _DISTANCES})


def model_query_pictures(report: ModelQueryReport) -> Iterator[Picture]:
    """Yield the scores that were made, the first ones."""
    yield from _drawn(report.curves, frozenset())


def _drawn(
    curves: Sequence[ScoreCurves], distances: frozenset[str] | set[str]
) -> Iterator[Picture]:
    told = [one for one in curves if len(one.bins) > 1]  # else all records look alike
    for number, one in enumerate(told[:_MOST], start=1):
        far = one.score in distances
        name, along = quoted(one.score), _FAR if far else _LOW
        yield spread(
            [(each.members, each.holdout) for each in one.bins],
            name=f"bins{number}",
            of=f"{name} ({along})",
            axis=along,
            caption=f"{name}, {along}, in bins of about equal size: where members and holdout "
            f"records differ, membership shows{_expected(one)}. How sure that is, is not said "
            "here.",
        )


def _expected(one: ScoreCurves) -> str:
    return f"; members are expected on the {_WHERE[one.side]}" if one.side else ""
