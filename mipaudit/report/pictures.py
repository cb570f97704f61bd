"""The rows of a table as a picture: intervals, amounts, a curve, or counts by bin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from textwrap import wrap
from typing import Any, Final, NamedTuple

from mipaudit.report.blocks import Picture, beyond
from mipaudit.report.drawing import (
    BLUE,
    CURVE,
    GREY,
    ORANGE,
    Plane,
    Points,
    Scale,
    drawn_plane,
    drawn_rows,
    line,
    put,
)
from mipaudit.report.layout import Column, Table, words_of
from mipaudit.report.messages.told import Fields, filled
from mipaudit.statements.printable_names import (
    quoted_name,
    safe_name,
    short_name,
    short_names,
    spaced,
)
from mipaudit.statements.rounding import (
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

_MOST_CURVES: Final = 2
_MOST_ROWS: Final = 24
_MANY_TIMES: Final = 20.0
_NAME: Final = 20  # letters in a line of a name
_LINES: Final = 3  # of a name
_CHOSEN: Final = "->"  # how a table marks it
_POWERS: Final = (-4.0, -3.0, -2.0, -1.0, 0.0)  # of ten: rates
_OPEN: Final = "A dashed band that ends in an arrow has no limit on that side."

_INK: Final = 'stroke="currentColor"'
_PALE: Final = f'stroke="{GREY}" stroke-opacity="0.45" stroke-width="6"'
_DASHED: Final = f'{_PALE} stroke-dasharray="5 3"'
# The edge of a bracket is where a limit is.
_BRACKET: Final = 'fill="none" stroke-width="3"'
_SHAPES: Final = (
    f'<path d="M6-7h-4.5v14h4.5" {_BRACKET} stroke="{ORANGE}"/>',
    '<circle r="3.5"/>',
    f'<path d="M-6-7h4.5v14h-4.5" {_BRACKET} stroke="{BLUE}"/>',
    f'<path d="M0-10v20" {_INK} stroke-width="2.5"/>',
)
_ONWARD: Final = f'<path d="M1-5l6 5-6 5" fill="none" {_INK} stroke-width="1.5"/>'
_BACK: Final = f'<path d="M-1-5l-6 5 6 5" fill="none" {_INK} stroke-width="1.5"/>'
_BAR: Final = f'<path d="M-6-6h12v12h-12z" fill="{ORANGE}"/>'
_UP: Final = f'<path d="M0-5l5 9h-10z" fill="{ORANGE}"/>'
_DOWN: Final = f'<path d="M0 5l5-9h-10z" fill="{BLUE}"/>'
_SEEN: Final = f'stroke="{GREY}" stroke-width="2"'
_SURE: Final = f'stroke="{ORANGE}" stroke-width="2"'
_REACH: Final = f'stroke="{BLUE}" stroke-width="2"'
_CHANCE: Final = f'stroke="{GREY}" stroke-dasharray="5 4"'
_OTHERS: Final = f'fill="none" {_INK} stroke-width="2.5"'
_LINE: Final = '<path d="M-9 0h18" {}/>'


class Bar(NamedTuple):
    """A figure to be drawn beside its name; what is None is open.

    Attributes:
        name: of the row.
        lower: lower limit; of an amount None, as the upper one.
        value: best estimate, or the amount.
        upper: upper limit.
        allowed: the most that it may be, where that is not one line across all rows.
        text: of an amount, in words.
        chosen: whether it is, of those beside it.
        lines: its name as the gutter has it; empty where no other name is like it.
    """

    name: str
    lower: float | None
    value: float | None
    upper: float | None
    allowed: float | None = None
    text: str = ""
    chosen: bool = False
    lines: tuple[str, ...] = ()


def pictured(table: Table, rows: Sequence[Any], report: Fields) -> Iterator[Picture]:
    """Yield the pictures of a table; none of one without rows.

    Args:
        table: of a layout, with a picture.
        rows: that it shows.
        report: whose table it is.
    """
    if not rows:
        return
    title = f"{filled(table.title, report).removesuffix('.')}."
    match table.picture:
        case "intervals":
            start, limit = (None, None) if table.axis is None else map(report.get, table.axis)
            by = limit if isinstance(limit, dict) else None
            yield intervals(
                _bars(table, rows, by or {}),
                what=table.of,
                caption=title,
                start=start or 0.0,
                limit=limit if by is None else None,
                allowed=table.allowed[1],
            )
        case "amounts":
            yield amounts(_bars(table, rows, {}), what=table.of, caption=title)
        case "roc":
            yield from (_roc(one) for one in rows[:_MOST_CURVES] if one.roc)
        case _:
            told = [one for one in rows if len(one.bins) > 1]  # else all records look alike
            yield from map(_bins, told[:_MOST_CURVES])


def _named(table: Table, rows: Sequence[Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name of each row by its columns of words, and how a gutter has it."""
    fields = [Fields(row, short=getattr(row, "score", ""), axis="") for row in rows]
    columns = [
        [safe_name(_headed(one, filled(one.text, values))) for values in fields]
        for one in table.columns[: words_of(table)]
    ]
    short = [_shortened(cells) for cells in columns]
    for cells in zip(*columns, strict=True):
        shown = [at for at, cell in enumerate(cells) if cell not in {"", _CHOSEN}]
        yield (
            ", ".join(cells[at] for at in shown),
            _lines(", ".join(short[at][cells[at]] for at in shown)),
        )


def _headed(column: Column, cell: str) -> str:
    """Return a cell that says what its numbers are."""
    alone = column.head and cell and not any(map(str.isalpha, cell))
    return f"{column.head} {cell}" if alone and cell != _CHOSEN else cell


def _shortened(texts: Sequence[str]) -> dict[str, str]:
    """Return texts as a gutter has them: what is too long is cut in its middle."""
    lines = {text: _lines(text) for text in texts}
    fits = {one: len(of) <= _LINES and all(map(_fits, of)) for one, of in lines.items()}
    return dict(zip(texts, texts, strict=True)) | short_names(x for x in texts if not fits[x])


def _lines(name: str) -> tuple[str, ...]:
    """Return a name in lines: its parts, together where there is room, or by words."""
    lines = [""]
    for part in name.split(", "):
        longer = f"{lines[-1]}, {part}" if lines[-1] else part
        if _fits(longer):
            lines[-1] = longer
        else:
            lines += wrap(part, _NAME, break_long_words=False, break_on_hyphens=False)
    return tuple(filter(None, lines))


def _fits(line: str) -> bool:
    return len(spaced(line)) <= _NAME


def _bars(table: Table, rows: Sequence[Any], limits: dict[str, float]) -> list[Bar]:
    """Return what is drawn of each row: its interval, or the amount in its last column."""
    field, last = table.allowed[0], table.columns[-1 - table.prose].text
    amount, found = last.strip("{}").partition(":")[0], []
    for row, (name, lines) in zip(rows, _named(table, rows), strict=True):
        if table.picture == "amounts":
            bar = Bar(name, None, getattr(row, amount), None, text=filled(last, Fields(row)))
        else:
            allowed = getattr(row, field) if field else limits.get(getattr(row, "quantity", ""))
            bar = Bar(name, row.lower, row.value, row.upper, allowed)
        found.append(bar._replace(chosen=getattr(row, "chosen", False), lines=lines))
    return found


def intervals(
    bars: Sequence[Bar],
    *,
    what: str,
    caption: str,
    start: float = 0.0,
    limit: float | None = None,
    allowed: str = "the limit",
) -> Picture:
    """Draw limits on one axis, a row each, with what is allowed.

    Args:
        bars: the most important first; no more are drawn than can be read.
        what: the axis shows.
        caption: below it.
        start: of the axis, where blind guessing is if it is above 0. Nothing is cut off: where a
            figure is below it, the axis goes on to the left.
        limit: across all rows.
        allowed: what that is called, or what a row alone is allowed.
    """
    shown, across, said, marked = bars[:_MOST_ROWS], "", [caption], None
    given = [x for one in shown for x in one[1:5] if x is not None]
    if limit is not None:
        most = number_text(limit)
        given.append(beyond(limit, start))  # with room for what is above it
        across += f" {allowed.capitalize()} is {most}."
        said.append(f"What lies to the right of the dashed line is above {allowed} of {most}.")
        marked = limit, f"{allowed.removeprefix('the ')} {most}"
    scale = Scale.over(given, start)
    below = scale.low < start
    if start > 0:
        across += f" Blind guessing {value_text(start)}."
        said.append(f"The grey line is what blind guessing has: {value_text(start)}.")
    if any(one.allowed is not None for one in shown):
        said.append(f"An upright bar is {allowed} of its row.")
    if any(one.upper is None or (below and one.lower is None) for one in shown):
        said.append(_OPEN)
    shapes = zip(_SHAPES, ("at least", "best estimate", "at most"), strict=False)
    used = zip(shapes, zip(*(one[1:5] for one in shown), strict=True), strict=False)
    span = f" on an axis from {number_text(scale.low)} to {number_text(scale.high)}"
    told = _told([f"{one.name}: {_limits_text(one, allowed)}" for one in bars])
    svg = drawn_rows(
        [(_gutter(one), "".join(_interval(one, scale, below=below))) for one in shown],
        scale,
        what=what,
        start=start,
        limit=marked,
        key=[one for one, figures in used if any(x is not None for x in figures)],
    )
    return Picture(svg, f"{what.capitalize()}{span}. {told}.{across}", " ".join(said))


def _interval(one: Bar, scale: Scale, *, below: bool) -> Iterator[str]:
    """Yield one interval; an end that is not known goes on beyond the axis.

    Args:
        one: interval.
        scale: its axis.
        below: whether there is anything left of blind guessing.
    """
    known = [scale.at(x) for x in one[1:4] if x is not None] or ["0%"]
    left = "0%" if one.lower is None and not below else known[0]
    yield line(left, known[-1], _PALE)
    if one.upper is None:
        yield line(known[-1], "100%", _DASHED) + put(_ONWARD, "100%")
    if one.lower is None and below:
        yield line("0%", left, _DASHED) + put(_BACK, "0%")
    for shape, value in zip(_SHAPES, one[1:5], strict=True):
        if value is not None:
            yield put(shape, scale.at(value))


def amounts(bars: Sequence[Bar], *, what: str, caption: str) -> Picture:
    """Draw figures without limits as bars, a row each: none is negative.

    Args:
        bars: the least first; no more are drawn than can be read. Some that are many times
            the least are cut, lest all others look alike.
        what: the axis shows.
        caption: below it.
    """
    shown = bars[:_MOST_ROWS]
    values = [one.value or 0.0 for one in shown]
    scale = Scale.over(one for one in values if one <= _MANY_TIMES * min(values))
    rows, said, texts = [], [caption], [one.text + ", chosen" * one.chosen for one in bars]
    for one, value, text in zip(shown, values, texts, strict=False):
        fill = f'fill="{ORANGE if one.chosen else BLUE}"'
        bar = f'<rect y="-6" width="{scale.at(value)}" height="12" {fill}/>'
        rows.append(((*_gutter(one), text), bar + put(_ONWARD, "100%") * (value > scale.high)))
    if any(one.chosen for one in shown):
        said.append("The orange bar is the one that was chosen.")
    if max(values) > scale.high:
        said.append("A bar that ends in an arrow is longer than the axis.")
    told = _told([f"{one.name}: {text}" for one, text in zip(bars, texts, strict=True)])
    svg = drawn_rows(rows, scale, what=what)
    return Picture(svg, f"{what.capitalize()}. {told}.", " ".join(said))


def _told(rows: Sequence[str]) -> str:
    """Return what the rows of a picture say, for those who do not see it."""
    rest = len(rows) - _MOST_ROWS
    return "; ".join(rows[:_MOST_ROWS]) + f"; and {rest} more, in the tables" * (rest > 0)


def _limits_text(one: Bar, allowed: str) -> str:
    """Return the limits in words, rounded outward, and what is allowed."""
    least = "" if one.lower is None else f"at least {lower_text(one.lower)}"
    most = "" if one.upper is None else f"at most {upper_text(one.upper)}"
    own = "" if one.allowed is None else f", {allowed} {number_text(one.allowed)}"
    return (", ".join(filter(None, (least, most))) or "no limit") + own


def _gutter(one: Bar) -> tuple[str, ...]:
    return one.lines or (short_name(one.name),)


def _roc(curves: Any) -> Picture:  # noqa: ANN401 - the curves of a score
    """Draw TPR against FPR on logarithmic axes, with the limits of each point.

    Between points an upper limit is that of the next, a lower one that of the last: TPR does
    not fall as FPR rises.
    """
    seen, lows = _logarithms(curves, "tpr"), _logarithms(curves, "lower")
    highs = _never_falling(_logarithms(curves, "upper"))
    # An axis of one power of ten would have no numbers between its ends.
    scales = [_decades(one) for one in zip((-2.0, -2.0), *seen, *lows, *highs, strict=True)]
    plane, even = Plane(*scales), max(one.low for one in scales)
    later = [(x, y) for (_, y), (x, _) in pairwise(lows)]
    sooner = [(x, y) for (x, _), (_, y) in pairwise(highs)]
    marks = [
        *plane.line([(even, even), (0.0, 0.0)], _CHANCE),
        *plane.line(seen, _SEEN),
        *plane.line(_stepped(lows, later), _SURE),
        *plane.line(_stepped(highs, sooner), _REACH),
        *plane.dots(lows, _UP),
        *plane.dots(highs, _DOWN),
    ]
    shapes = (_UP, _LINE.format(_SEEN), _DOWN, _LINE.format(_CHANCE))
    svg = drawn_plane(
        marks,
        plane,
        across="false alarms (false-positive rate, log scale)",
        up="members found (true-positive rate, log scale)",
        key=list(zip(shapes, ("at least", "observed", "at most", "chance"), strict=True)),
    )
    of = quoted_name(curves.score)
    said = "; ".join(
        f"at FPR {percent_text(p.fpr)} at least {percent_text(float(lower_text(p.lower)))}"
        for p in curves.roc
        if p.lower and math.log10(p.fpr) in _POWERS
    )
    return Picture(
        svg,
        alt=f"ROC of {of} with one threshold, on logarithmic axes. {said or 'No limit'}.",
        caption=f"{of}: how many members an attacker with one threshold finds, for how many false "
        "alarms (the ROC curve). Each limit holds at its own point, not for the whole line; the "
        "upper line is drawn so that it never falls.",
    )


def _logarithms(curves: Any, field: str) -> Points:  # noqa: ANN401 - likewise
    """Return the points of a field of a curve that have a place on logarithmic axes."""
    found = ((point.fpr, getattr(point, field)) for point in curves.roc)
    return [(math.log10(fpr), math.log10(tpr)) for fpr, tpr in found if tpr]


def _decades(powers: Sequence[float]) -> Scale:
    """Return an axis of logarithms, from a power of ten below all rates up to 1."""
    least = max(_POWERS[0], math.floor(min(powers)))
    ticks = ((one, percent_text(10.0**one)) for one in _POWERS if one >= least)
    return Scale(least, 0.0, tuple(ticks))


def _stepped(points: Points, corners: Points) -> Points:
    """Return points with the corner between each and its next."""
    return [one for pair in zip(points, corners, strict=False) for one in pair] + [*points[-1:]]


def _never_falling(points: Points) -> Points:
    """Return limits from above that do not fall: each holds by itself, also a wider one."""
    return [*accumulate(sorted(points), lambda last, one: (one[0], max(last[1], one[1])))]


def _bins(curves: Any) -> Picture:  # noqa: ANN401 - the curves of a score
    """Draw how members and holdout records spread from the lowest scores to the highest."""
    of, counts = quoted_name(curves.score), [(one.members, one.holdout) for one in curves.bins]
    members, holdout = (sum(one) or 1 for one in zip(*counts, strict=True))
    shares = [(inside / members, outside / holdout) for inside, outside in counts]
    scale = Scale.over((share for pair in shares for share in pair), spelled=percent_text)
    plane = Plane(Scale(0.0, len(shares), ()), scale)
    width, marks, outline = plane.across.at(0.9), [], []
    for at, (inside, outside) in enumerate(shares):
        y = scale.height(inside)
        size = f'width="{width}" height="{CURVE - y:.1f}" fill="{ORANGE}"'
        marks.append(f'<rect x="{plane.across.at(at + 0.05)}" y="{y}" {size}/>')
        outline += [(at, outside), (at + 1, outside)]
    marks += plane.line([(0, 0), *outline, (len(shares), 0)], _OTHERS)
    furthest = max(shares, key=lambda pair: abs(pair[0] - pair[1]))
    inside, outside = (percent_text(round(share, 3)) for share in furthest)
    svg = drawn_plane(
        marks,
        plane,
        across="scores from low to high, in bins of about equal size",
        up="share of the members, and of the holdout records",
        key=((_BAR, "members"), (_LINE.format(_OTHERS), "holdout")),
    )
    return Picture(
        svg,
        alt=f"Shares of members and of holdout records in {len(shares)} bins of {of}, from low to "
        f"high. Where they differ most: {inside} of the members and {outside} of the holdout.",
        caption=f"Scores {of} from low to high. Where the bars (members) and the line (holdout "
        "records) differ, membership shows. Small bins are merged.",
    )
