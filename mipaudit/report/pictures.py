"""The rows of a table as a picture: intervals, amounts, a curve, or counts by bin.

Rows stand one below the other, each under its name, so that a phone shows them whole. Equal
reports have equal drawings, by matplotlib in a style of our own, and quietly; it is loaded when
a page is drawn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.report.blocks import Picture
from mipaudit.report.layout import Table, words_of
from mipaudit.report.messages.told import Fields, filled
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.rounding import (
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MOST_CURVES: Final = 2
_MOST_ROWS: Final = 24
_MANY_TIMES: Final = 20.0
_ROW: Final = 0.42  # inches
_AROUND: Final = 1.1
_LONGEST: Final = 48  # letters of a name above its bar
_LOWEST_RATE: Final = 1e-4
_TICKS: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_PALE: Final = "#76767640"  # lets what is below it through, light or dark
# How what is allowed is marked.
_ALLOWED: Final[dict[str, Any]] = {
    "marker": "|",
    "markersize": 17,
    "markeredgewidth": 2,
    "linestyle": "none",
}
_ARROWS: Final = (
    "An arrow to the right says at least, one to the left at most; the dot is the best estimate."
)


class Bar(NamedTuple):
    """A figure to be drawn under its name; what is None is open.

    Attributes:
        name: of the row.
        lower: lower limit; of an amount None, as the upper one.
        value: best estimate, or the amount.
        upper: upper limit.
        allowed: the most that it may be, where that is not one line across all rows.
        text: of an amount, in words.
        chosen: whether it is, of those beside it.
    """

    name: str
    lower: float | None
    value: float | None
    upper: float | None
    allowed: float | None = None
    text: str = ""
    chosen: bool = False


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
            start, limit = (None, None) if table.axis is None else map(report.get, table.axis)
            by = limit if isinstance(limit, dict) else None
            yield intervals(
                [_interval(table, one, by or {}) for one in rows],
                name=name,
                what=table.of,
                caption=title,
                start=start or 0.0,
                limit=limit if by is None else None,
                allowed=table.allowed[1],
            )
        case "amounts":
            bars = [_amount(table, one) for one in rows]
            yield amounts(bars, name=name, what=table.of, caption=title)
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
    words = (filled(one.text, values) for one in table.columns[: words_of(table)])
    return ", ".join(filter(None, words))


def _interval(table: Table, row: Any, limits: dict[str, float]) -> Bar:  # noqa: ANN401 - likewise
    field = table.allowed[0]
    allowed = getattr(row, field) if field else limits.get(getattr(row, "quantity", ""))
    return Bar(_named(table, row), row.lower, row.value, row.upper, allowed)


def _amount(table: Table, row: Any) -> Bar:  # noqa: ANN401 - likewise
    last = table.columns[-1 - table.prose]
    value = getattr(row, last.text.strip("{}").partition(":")[0])
    text, chosen = filled(last.text, Fields(row)), getattr(row, "chosen", False)
    return Bar(_named(table, row), None, value, None, text=text, chosen=chosen)


def intervals(
    bars: Sequence[Bar],
    *,
    name: str,
    what: str,
    caption: str,
    start: float = 0.0,
    limit: float | None = None,
    allowed: str = "the limit",
) -> Picture:
    """Draw limits on one axis, a row each, with what is allowed.

    Args:
        bars: the most important first; no more are drawn than can be read.
        name: of the picture, short.
        what: the axis shows.
        caption: below it.
        start: of the axis, where blind guessing is if it is above 0. Nothing is cut off: where a
            figure is below it, the axis begins a tenth below that.
        limit: across all rows.
        allowed: what is said of that which a row alone is allowed.
    """
    given = [x for one in bars for x in one[1:4] if x is not None]
    least, most = min(given, default=0.0), max(given, default=0.0)
    floor = start if least >= start else max(-1.0, math.floor(10 * least) / 10)
    end = 1.0 if most <= 1 else max(most, limit or 0.0)
    shown, across, marks = bars[:_MOST_ROWS], "", []
    if limit is not None:
        across += f" The limit is {number_text(limit)}."
        marks.append((limit, f"the limit {number_text(limit)}", BLACK, "--"))
    if start > 0:
        across += f" Blind guessing {value_text(start)}."
        marks.append((start, f"blind guessing {value_text(start)}", GREY, "-"))

    def draw(axes: Axes) -> None:
        axes.set_xlim(floor, end if end <= 1 else floor + (end - floor) * 1.05)
        for at, text, color, dashes in marks:
            axes.axvline(at, color=color, linestyle=dashes, label=text)
        if any(one.allowed is not None for one in bars):
            axes.plot([], [], color=BLACK, label=allowed, clip_on=True, **_ALLOWED)
        if floor < 0:
            axes.axvline(0, color=GREY, linewidth=0.8)
        for place, one in enumerate(reversed(shown)):
            _draw_interval(axes, place, one)
            _draw_name(axes, place, one.name)
        _end_rows(axes, len(shown), what)

    span = f" on an axis from {value_text(floor)} to {number_text(float(f'{end:.3g}'))}"
    told = _told([f"{one.name}: {_limits_text(one, allowed)}" for one in bars])
    return drawn(
        draw,
        name=name,
        height=_AROUND + _ROW * len(shown),
        alt=f"{what[0].upper()}{what[1:]}{span}. {told}.{across}",
        caption=f"{caption} {_ARROWS}",
    )


def amounts(bars: Sequence[Bar], *, name: str, what: str, caption: str) -> Picture:
    """Draw figures without limits as bars, a row each: none is negative.

    Args:
        bars: the least first; no more are drawn than can be read. Some that are many times
            the least are cut, lest all others look alike.
        name: of the picture, short.
        what: the axis shows.
        caption: below it.
    """
    shown = bars[:_MOST_ROWS]
    values = [one.value or 0.0 for one in shown]
    end = max(one for one in values if one <= _MANY_TIMES * values[0]) or 1.0

    def draw(axes: Axes) -> None:
        axes.set_xlim(0, end * 1.02)
        for place, one in enumerate(reversed(shown)):
            value, color = one.value or 0.0, ORANGE if one.chosen else BLUE
            style: dict[str, Any] = {"hatch": "" if one.chosen else "///", "edgecolor": "white"}
            axes.barh(place, value, 0.28, color=color, linewidth=0, **style)
            label = f"{one.name}: {one.text}" + " →" * (value > end)
            _draw_name(axes, place, label, longest=_LONGEST + len(one.text))
        _end_rows(axes, len(shown), what)

    said = _told([f"{one.name}: {one.text}" + ", chosen" * one.chosen for one in bars])
    return drawn(
        draw,
        name=name,
        height=_AROUND + _ROW * len(shown),
        alt=f"{what[0].upper()}{what[1:]}. {said}.",
        caption=caption,
    )


def _told(rows: Sequence[str]) -> str:
    """Return what the rows of a picture say, for those who do not see it."""
    rest = len(rows) - _MOST_ROWS
    return "; ".join(rows[:_MOST_ROWS]) + f"; and {rest} more, in the tables" * (rest > 0)


def _draw_name(axes: Axes, place: int, label: str, longest: int = _LONGEST) -> None:
    """Write the name of a row above it, over the lines of the policy."""
    axes.annotate(
        safe_name(label, longest=longest),
        (0, place),
        xycoords=("axes fraction", "data"),
        xytext=(0, 7),
        textcoords="offset points",
        fontsize=LETTERS - 1,
        bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5},
    )


def _end_rows(axes: Axes, rows: int, what: str) -> None:
    """Leave room for rows, say what their axis shows and what stands across them."""
    axes.set_yticks([])
    axes.set_ylim(-0.5, rows - 0.1)
    axes.set_xlabel(what)
    axes.spines["left"].set_visible(False)
    legend_above(axes)


def _draw_interval(axes: Axes, place: int, one: Bar) -> None:
    """Draw one interval; an end that is not known reaches the end of the axis."""
    left, right = axes.get_xlim()
    ends = [left if one.lower is None else one.lower, right if one.upper is None else one.upper]
    axes.plot(ends, [place] * 2, color=_PALE, lw=5, solid_capstyle="butt")
    for at, marker, color, size in (
        (one.lower, ">", ORANGE, 8),
        (one.upper, "<", BLUE, 8),
        (one.value, "o", GREY, 4),
    ):
        if at is not None:
            style: dict[str, Any] = {"marker": marker, "markersize": size, "linestyle": "none"}
            axes.plot([at], [place], color=color, clip_on=False, **style)
    if one.allowed is not None:
        axes.plot([one.allowed], [place], color=BLACK, clip_on=False, **_ALLOWED)


def _limits_text(one: Bar, allowed: str) -> str:
    """Return the limits in words, rounded outward, and what is allowed."""
    least = "" if one.lower is None else f"at least {lower_text(one.lower)}"
    most = "" if one.upper is None else f"at most {upper_text(one.upper)}"
    own = "" if one.allowed is None else f", {allowed} {number_text(one.allowed)}"
    return (", ".join(filter(None, (least, most))) or "no limit") + own


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
    of, counts = quoted_name(curves.score), [(one.members, one.holdout) for one in curves.bins]
    members, holdout = (sum(one) or 1 for one in zip(*counts, strict=True))
    shares = [(inside / members, outside / holdout) for inside, outside in counts]

    def draw(axes: Axes) -> None:
        left, right = ([x + by for x in range(len(shares))] for by in (-0.2, 0.2))
        striped: dict[str, Any] = {"hatch": "///", "edgecolor": "white", "linewidth": 0}
        axes.bar(left, [one for one, _ in shares], 0.4, color=ORANGE, label="members")
        axes.bar(right, [one for _, one in shares], 0.4, color=BLUE, label="holdout", **striped)
        axes.set_xticks([])
        axes.set_xlabel("scores from low to high, in bins of about equal size")
        axes.set_ylabel("share of the class")
        legend_above(axes)

    furthest = max(shares, key=lambda pair: abs(pair[0] - pair[1]))
    inside, outside = (percent_text(round(share, 3)) for share in furthest)
    return drawn(
        draw,
        name=name,
        height=2.8,
        alt=f"Shares of members and of holdout records in {len(shares)} bins of {of}, from low to "
        f"high. Where they differ most: {inside} of the members and {outside} of the holdout.",
        caption=f"{of} from low to high: where members and holdout records differ, membership "
        "shows. Small bins are merged.",
    )


# After Okabe and Ito, whom the colour-blind follow; shapes say the same. Each is seen on paper and
# on the page in the dark, where black is the ink of the text around it.
BLUE: Final = "#0072B2"  # at most
ORANGE: Final = "#D55E00"  # at least
BLACK: Final = "#000000"  # what the policy allows
GREY: Final = "#767676"
WIDTH: Final = 4.4  # inches: what a phone shows whole, and can be read there
LETTERS: Final = 10.5  # points
_INK: Final = "color: var(--ink, #000000)"
_PAPER: Final = "fill: var(--paper, #ffffff)"


@contextmanager
def own_style(**more: Any) -> Iterator[None]:  # noqa: ANN401 - settings of matplotlib
    """Draw in the style that the picture was laid out for, not in the user's own, and quietly.

    Args:
        more: settings of the picture.
    """
    import logging

    # Of its caches matplotlib says more than anybody asked.
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        import matplotlib as mpl

        with mpl.rc_context():
            mpl.rcdefaults()
            style: dict[Any, Any] = {"font.size": 9.0, "svg.hashsalt": "mipaudit", **more}
            mpl.rcParams.update(style)
            yield
    finally:
        logger.setLevel(level)


def drawn(
    draw: Callable[[Axes], None], *, name: str, height: float, alt: str, caption: str
) -> Picture:
    """Return a picture.

    Args:
        draw: draws on empty axes.
        name: tells the picture from the others of a page: short, letters and digits.
        height: in inches.
        alt: the same in words.
        caption: stands below it.
    """
    text = StringIO()
    # Text stays text: smaller, searchable, and in the reader's own font. A name is no formula.
    texts = {"svg.fonttype": "none", "text.parse_math": False, "font.size": LETTERS}
    with own_style(**texts, **{"svg.hashsalt": name}):
        from matplotlib.figure import Figure

        figure: Figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return Picture(svg=_element(text.getvalue(), name), alt=alt, caption=caption)


def legend_above(axes: Axes) -> None:
    """Say above the axes what the lines are: below, they can be anywhere."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=2,
            frameon=False,
            fontsize=LETTERS - 1,
        )


def _element(svg: str, name: str) -> str:
    """Return the ``svg`` element alone, with ids that no other picture of a page has."""
    start = svg.index("<svg")
    found = re.sub(r"<metadata>.*?</metadata>", "", svg[start:], flags=re.DOTALL)
    for pattern in (r'\bid="', r'href="#', r"url\(#"):
        found = re.sub(f"({pattern})", rf"\g<1>{name}-", found)
    # What stands on the page has its paper and its ink; alone it is black on white.
    found = found.replace("#000000", "currentColor")
    found = found.replace('style="fill: #ffffff"', f'fill="#ffffff" style="{_PAPER}"')
    found = found.replace("<svg ", f'<svg fill="currentColor" style="{_INK}" ', 1)
    return re.sub(r"\n\s*", "\n", found).strip()
