"""The pictures of a validation: how often limits were right, beside what they promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.drawing import Interval, intervals
from mipaudit.maths.binomial import clopper_pearson_upper

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mipaudit.formats.document import Picture
    from mipaudit.validation.report import ControlOutcome, CoverageRow, ValidationReport


def validation_pictures(report: ValidationReport) -> Iterator[Picture]:
    """Yield every limit where it did worst, and the methods that must be caught.

    A limit falls short where its coverage is surely below what it promises, in view of
    everything that was tested.
    """
    alpha = report.design.level / max(report.design.tests, 1)
    worst: dict[tuple[str, str], CoverageRow] = {}
    for row in sorted(report.rows, key=lambda one: (not one.falls_short, one.p_value)):
        if row.source == "mipaudit":
            worst.setdefault((row.label, row.side), row)
    if worst:
        yield intervals(
            [_limit(row, alpha) for row in worst.values()],
            name="coverage",
            what="how often the limit was right",
            caption="Each limit where it did worst. One that stays left of what it promises, "
            "arrow and all, falls short.",
            ends=(_floor(worst.values()), 1.0),
            allowed="promised",
        )
    if report.controls:
        yield intervals(
            [_control(one, report.design.level) for one in report.controls],
            name="controls",
            what="how often the method was right",
            caption="Methods that are known to be invalid: all must stay left of their promise.",
            allowed="promised",
        )


def _floor(rows: Iterable[CoverageRow]) -> float:
    """Return where an axis begins: at a tenth below the least of what is drawn."""
    return max(0.0, int(10 * min(row.coverage for row in rows) - 1) / 10)


def _limit(row: CoverageRow, alpha: float) -> Interval:
    most = _most(row.replications - row.misses, row.replications, alpha)
    short = " (falls short)" * row.falls_short
    return Interval(f"{row.label}, {row.side}{short}", None, row.coverage, most, row.nominal)


def _control(one: ControlOutcome, alpha: float) -> Interval:
    right = one.replications - one.misses
    most = _most(right, one.replications, alpha)
    name = f"{one.label}{'' if one.caught else ' (not caught)'}"
    return Interval(name, None, right / one.replications, most, one.nominal)


def _most(right: int, files: int, alpha: float) -> float:
    return float(clopper_pearson_upper(right, files, alpha))
