"""The rows of a table as a picture: intervals, amounts, a curve, or counts by bin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from mipaudit.report.drawing import (
    BLUE,
    GREY,
    ORANGE,
    Amount,
    Interval,
    amounts,
    drawn,
    intervals,
    marks_of,
    spread,
)
from mipaudit.report.messages.told import Fields, filled
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.statements.text.rounding import lower_text, percent_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mipaudit.report.blocks import Picture
    from mipaudit.report.layout import Table

_MOST_CURVES: Final = 2
_LOWEST_RATE: Final = 1e-4
_TICKS: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def pictured(
    table: Table, rows: Sequence[Any], report: Fields, *, number: int
) -> Iterator[Picture]:
    """Yield the pictures of a table; none of one without rows.

    Args:
        table: of a layout, with a picture.
        rows: that it shows.
        report: whose table it is.
        number: tells its pictures from others of the page.
    """
    if not rows:
        return
    title, name = filled(table.title, report), f"{table.picture}{number}"
    match table.picture:
        case "intervals":
            yield _intervals(table, rows, report, name, title)
        case "amounts":
            yield amounts(
                [_amount(table, one) for one in rows], name=name, what=table.of, caption=title
            )
        case "roc":
            for at, one in enumerate(rows[:_MOST_CURVES]):
                if one.roc:
                    yield _roc(one, f"{name}-{at}")
        case _:
            told = [one for one in rows if len(one.bins) > 1]  # else all records look alike
            for at, one in enumerate(told[:_MOST_CURVES]):
                yield _bins(one, f"{name}-{at}")


def _named(table: Table, row: Any) -> str:  # noqa: ANN401 - of any table
    """Name a row by its columns of words."""
    values = Fields(row, short=getattr(row, "score", ""), axis="")
    words = (filled(one.text, values) for one in table.columns[: table.words])
    return ", ".join(filter(None, words))


def _intervals(table: Table, rows: Sequence[Any], report: Fields, name: str, title: str) -> Picture:
    start, limit = (None, None) if table.axis is None else map(report.get, table.axis)
    field, allowed = table.allowed
    by = limit if isinstance(limit, dict) else {}
    shown = [
        Interval(
            *(_named(table, one), one.lower, one.value, one.upper),
            allowed=getattr(one, field) if field else by.get(getattr(one, "quantity", None)),
        )
        for one in rows
    ]
    # Nothing is cut off: where a figure is below the start, the axis begins a tenth below it.
    given = [x for one in shown for x in one[1:4] if x is not None]
    least = min(given, default=0.0)
    floor = start or 0.0
    if least < floor:
        floor = max(-1.0, math.floor(10 * least) / 10)
    return intervals(
        shown,
        name=name,
        what=table.of,
        caption=title,
        ends=(floor, 1.0 if max(given, default=0.0) <= 1 else None),
        marks=marks_of(() if by is limit or limit is None else (limit,), start or 0.0),
        allowed=allowed,
    )


def _amount(table: Table, row: Any) -> Amount:  # noqa: ANN401 - of any table
    last = table.columns[-1 - table.prose]
    field = last.text.strip("{}").partition(":")[0]
    text = filled(last.text, Fields(row))
    return Amount(_named(table, row), getattr(row, field), text, getattr(row, "chosen", False))


def _roc(curves: Any, name: str) -> Picture:  # noqa: ANN401 - the curves of a score
    """Draw TPR against FPR on logarithmic axes, with the limits of each point.

    Between points an upper limit is that of the next, a lower one that of the last: TPR does
    not fall as FPR rises.
    """
    shown = [(p.fpr, p.tpr) for p in curves.roc if p.tpr]
    lows = [(p.fpr, p.lower) for p in curves.roc if p.lower]
    highs = _never_falling([(p.fpr, p.upper) for p in curves.roc if p.upper])
    lines: tuple[tuple[Sequence[tuple[float, float]], str, dict[str, Any]], ...] = (
        (shown, "observed", {"color": GREY}),
        (lows, "at least", {"color": ORANGE, "marker": "^", "drawstyle": "steps-post"}),
        (highs, "at most", {"color": BLUE, "marker": "v", "drawstyle": "steps-pre"}),
    )

    def draw(axes: Axes) -> None:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.plot([_LOWEST_RATE, 1], [_LOWEST_RATE, 1], color=GREY, linestyle="--", label="chance")
        for points, label, style in lines:
            fprs, tprs = zip(*points, strict=True) if points else ((), ())
            axes.plot(fprs, tprs, label=label, **style)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(_TICKS, labels=[percent_text(tick) for tick in _TICKS])
            axis.set_ticks([], minor=True)
        axes.set_xlim(_LOWEST_RATE, 1)
        axes.set_ylim(_LOWEST_RATE, 1)
        axes.set_xlabel("false-positive rate (log scale)")
        axes.set_ylabel("true-positive rate (log scale)")
        axes.legend(loc="lower right", frameon=False)

    of = quoted_name(curves.score)
    said = "; ".join(
        f"at FPR {percent_text(fpr)} at least {percent_text(float(lower_text(lower)))}"
        for fpr, lower in lows
        if fpr in _TICKS
    )
    return drawn(
        draw,
        name=name,
        height=4.2,
        alt=f"ROC of {of} with one threshold, on logarithmic axes. {said or 'No limit'}.",
        caption=f"ROC of {of}: how many members an attacker with one threshold finds, for how "
        "many false alarms. Each limit holds for its own point; an upper one that would fall "
        "is drawn as high as the one before.",
    )


def _never_falling(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return limits from above that do not fall: each holds by itself, also a wider one."""
    fprs, uppers = zip(*sorted(points), strict=True) if points else ((), ())
    return list(zip(fprs, accumulate(uppers, max), strict=True))


def _bins(curves: Any, name: str) -> Picture:  # noqa: ANN401 - the curves of a score
    """Draw how members and holdout records spread from the lowest scores to the highest."""
    of = quoted_name(curves.score)
    return spread(
        [(one.members, one.holdout) for one in curves.bins],
        name=name,
        of=f"{of}, from low to high",
        axis="scores from low to high, in bins of about equal size",
        caption=f"{of} from low to high: where members and holdout records differ, membership "
        "shows. Small bins are merged.",
    )
