"""The rows of a table as a picture: intervals, amounts, a curve, or counts by bin.

Names stand in a gutter to the left of the axis, and the axes of all pictures end at one right
edge. Letters keep their size, and lengths are percentages: a wider page has longer axes, not
larger letters. Equal reports have equal drawings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate, pairwise
from textwrap import wrap
from typing import Any, Final, NamedTuple, Self

from mipaudit.report.blocks import Picture, beyond, short_names, spaced
from mipaudit.report.layout import Column, Table, words_of
from mipaudit.report.messages.told import Fields, filled
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.rounding import (
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

# After Okabe and Ito, whom the colour-blind follow; shapes say the same. Each is seen on paper and
# on the page in the dark, where black is the ink of the text around it.
BLUE: Final = "#0072B2"  # at most
ORANGE: Final = "#D55E00"  # at least
BLACK: Final = "#000000"  # what the policy allows
GREY: Final = "#767676"
_MOST_CURVES: Final = 2
_MOST_ROWS: Final = 24
_MANY_TIMES: Final = 20.0
_LOWEST_RATE: Final = 1e-4
_LOG_TICKS: Final = (-4.0, -3.0, -2.0, -1.0, 0.0)
_FEW: Final = 4  # steps of an axis; its numbers then stand apart on a phone
_MANY: Final = 25  # letters below an axis
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_ROUNDING: Final = 1e-9
_CHOSEN: Final = "->"  # how a table marks it

# In pixels of the page, which are points of a picture alone.
_WIDTH: Final = 640  # of a picture alone
_LETTERS: Final = 13
_LETTER: Final = 8  # the width of one, where a font is wide
_LINE: Final = 16  # from one line of letters to the next
_NAME: Final = 20  # letters in a line of a name
_LINES: Final = 3  # of a name
_GUTTER: Final = 146  # for names, and what is drawn left of an axis
_SIDE: Final = 56  # for the numbers of an axis that goes up
_RIGHT: Final = 18  # half of a last number stands there
_BETWEEN: Final = 10  # rows
_LATE: Final = 0.8  # along an axis, so that a text there ends at its mark
_FOOT: Final = 60  # from an axis to the key: its numbers, and what it shows
_CURVE: Final = 240  # the height of a curve

_INK: Final = 'stroke="currentColor"'
_PALE: Final = f'stroke="{GREY}" stroke-opacity="0.45" stroke-width="6"'
_DASHED: Final = f'{_PALE} stroke-dasharray="5 3"'
_ACROSS: Final = f'{_INK} stroke-width="1.5" stroke-dasharray="5 4"'
_FAINT: Final = f'stroke="{GREY}" stroke-opacity="0.35"'
_BRACKET: Final = 'fill="none" stroke-width="3"'
_LEAST: Final = f'<path d="M6-7h-4.5v14h4.5" {_BRACKET} stroke="{ORANGE}"/>'
_BEST: Final = '<circle r="3.5"/>'
_MOST: Final = f'<path d="M-6-7h4.5v14h-4.5" {_BRACKET} stroke="{BLUE}"/>'
_ALLOWED: Final = f'<path d="M0-10v20" {_INK} stroke-width="2.5"/>'
_SHAPES: Final = (_LEAST, _BEST, _MOST, _ALLOWED)
_ONWARD: Final = f'<path d="M1-5l6 5-6 5" fill="none" {_INK} stroke-width="1.5"/>'
_BACK: Final = f'<path d="M-1-5l-6 5 6 5" fill="none" {_INK} stroke-width="1.5"/>'
_UP: Final = f'<path d="M0-5l5 9h-10z" fill="{ORANGE}"/>'
_DOWN: Final = f'<path d="M0 5l5-9h-10z" fill="{BLUE}"/>'
_BAR: Final = f'<path d="M-6-6h12v12h-12z" fill="{ORANGE}"/>'
_SEEN: Final = f'stroke="{GREY}" stroke-width="2"'
_CHANCE: Final = f'stroke="{GREY}" stroke-dasharray="5 4"'
_SURE: Final = f'stroke="{ORANGE}" stroke-width="2"'
_OTHERS: Final = f'fill="none" {_INK} stroke-width="2.5"'
_REACH: Final = f'stroke="{BLUE}" stroke-width="2"'
_KEY: Final = "<path d='M-9 0h18' {}/>"
_CURVES: Final = (_UP, _KEY.format(_SEEN), _DOWN, _KEY.format(_CHANCE))
_OPEN: Final = "A dashed band that ends in an arrow has no limit on that side."

Key = Sequence[tuple[str, str]]  # what is drawn, and what it says


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


class Scale(NamedTuple):
    """An axis between round numbers.

    Attributes:
        low: at its left, or lower, end.
        high: at its other end.
        ticks: where numbers stand.
    """

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, values: Iterable[float], start: float = 0.0) -> Self:
        """Return the axis that is as wide as values need, with its start."""
        given = [start, *values]
        low, high = min(given), max(given)
        if high - low <= _ROUNDING:  # what is left of rounding is no length
            low, high = min(0.0, low), max(1.0, high)
        least = (high - low) / _FEW * (1 - _ROUNDING)
        power = 10.0 ** math.floor(math.log10(least))
        step = next(one * power for one in _STEPS if one * power >= least)
        first, last = math.floor(low / step + _ROUNDING), math.ceil(high / step - _ROUNDING)
        ticks = tuple(float(f"{at * step:.6g}") for at in range(first, last + 1))
        return cls(ticks[0], ticks[-1], ticks)

    def share(self, value: float) -> float:
        """Return how far along the axis a value is, from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def at(self, value: float) -> str:
        """Return the same as a length in a picture."""
        return f"{100 * self.share(value):.2f}%"


def pictured(table: Table, rows: Sequence[Any], report: Fields) -> Iterator[Picture]:
    """Yield the pictures of a table; none of one without rows.

    Args:
        table: of a layout, with a picture.
        rows: that it shows.
        report: whose table it is.
    """
    if not rows:
        return
    title = filled(table.title, report)
    match table.picture:
        case "intervals":
            start, limit = (None, None) if table.axis is None else map(report.get, table.axis)
            by = limit if isinstance(limit, dict) else None
            yield intervals(
                [*_intervals(table, rows, by or {})],
                what=table.of,
                caption=title,
                start=start or 0.0,
                limit=limit if by is None else None,
                allowed=table.allowed[1],
            )
        case "amounts":
            yield amounts([*_amounts(table, rows)], what=table.of, caption=title)
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
    fits = {
        text for text, these in lines.items() if len(these) <= _LINES and all(map(_fits, these))
    }
    return {text: text for text in fits} | short_names(text for text in texts if text not in fits)


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


def _intervals(table: Table, rows: Sequence[Any], limits: dict[str, float]) -> Iterator[Bar]:
    field = table.allowed[0]
    for row, (name, lines) in zip(rows, _named(table, rows), strict=True):
        allowed = getattr(row, field) if field else limits.get(getattr(row, "quantity", ""))
        yield Bar(name, row.lower, row.value, row.upper, allowed, lines=lines)


def _amounts(table: Table, rows: Sequence[Any]) -> Iterator[Bar]:
    last = table.columns[-1 - table.prose]
    field = last.text.strip("{}").partition(":")[0]
    for row, (name, lines) in zip(rows, _named(table, rows), strict=True):
        text, chosen = filled(last.text, Fields(row)), getattr(row, "chosen", False)
        yield Bar(name, None, getattr(row, field), None, None, text, chosen, lines)


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
    shown, across, said = bars[:_MOST_ROWS], "", [_ended(caption)]
    given = [x for one in shown for x in _figures(one) if x is not None]
    if limit is not None:  # with room for what is above it
        given.append(beyond(limit, start))
    scale = Scale.over(given, start)
    below = scale.low < start
    most = "" if limit is None else number_text(limit)
    if most:
        across += f" {_capital(allowed)} is {most}."
        said.append(f"What is right of the dashed line is above {allowed} of {most}.")
    if start > 0:
        across += f" Blind guessing {value_text(start)}."
        said.append(f"The grey line is what blind guessing has: {value_text(start)}.")
    if any(one.allowed is not None for one in shown):
        said.append(f"An upright bar is {allowed} of its row.")
    if any(one.upper is None or (below and one.lower is None) for one in shown):
        said.append(_OPEN)
    shapes = zip(_SHAPES, ("at least", "best estimate", "at most"), strict=False)
    used = zip(shapes, zip(*map(_figures, shown), strict=True), strict=False)
    span = f" on an axis from {number_text(scale.low)} to {number_text(scale.high)}"
    told = _told([f"{one.name}: {_limits_text(one, allowed)}" for one in bars])
    svg = _rows(
        [(_gutter(one), "".join(_interval(one, scale, below=below))) for one in shown],
        scale,
        what=what,
        start=start,
        limit=None if limit is None else (limit, f"{allowed.removeprefix('the ')} {most}"),
        key=[one for one, figures in used if any(x is not None for x in figures)],
    )
    return Picture(svg, f"{_capital(what)}{span}. {told}.{across}", " ".join(said))


def _interval(one: Bar, scale: Scale, *, below: bool) -> Iterator[str]:
    """Yield one interval; an end that is not known goes on beyond the axis.

    Args:
        one: interval.
        scale: its axis.
        below: whether there is anything left of blind guessing.
    """
    known = [scale.at(x) for x in _figures(one)[:3] if x is not None] or ["0%"]
    left = "0%" if one.lower is None and not below else known[0]
    yield _line(left, known[-1], _PALE)
    if one.upper is None:
        yield _line(known[-1], "100%", _DASHED) + _put(_ONWARD, "100%")
    if one.lower is None and below:
        yield _line("0%", left, _DASHED) + _put(_BACK, "0%")
    for shape, value in zip(_SHAPES, _figures(one), strict=True):
        if value is not None:
            yield _put(shape, scale.at(value))


def _figures(one: Bar) -> tuple[float | None, ...]:
    return one.lower, one.value, one.upper, one.allowed


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
    rows, said = [], [_ended(caption)]
    for one, value in zip(shown, values, strict=True):
        fill = f'fill="{ORANGE if one.chosen else BLUE}"'
        bar = f'<rect y="-6" width="{scale.at(value)}" height="12" {fill}/>'
        rows.append(
            (
                (*_gutter(one), one.text + ", chosen" * one.chosen),
                bar + _put(_ONWARD, "100%") * (value > scale.high),
            )
        )
    if any(one.chosen for one in shown):
        said.append("The orange bar is the one that was chosen.")
    if max(values) > scale.high:
        said.append("A bar that ends in an arrow is longer than the axis.")
    told = _told([f"{one.name}: {one.text}" + ", chosen" * one.chosen for one in bars])
    svg = _rows(rows, scale, what=what)
    return Picture(svg, f"{_capital(what)}. {told}.", " ".join(said))


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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _gutter(one: Bar) -> tuple[str, ...]:
    name = safe_name(one.name)
    return one.lines or _lines(_shortened([name])[name])


def _roc(curves: Any) -> Picture:  # noqa: ANN401 - the curves of a score
    """Draw TPR against FPR on logarithmic axes, with the limits of each point.

    Between points an upper limit is that of the next, a lower one that of the last: TPR does
    not fall as FPR rises.
    """
    seen = [(p.fpr, p.tpr) for p in curves.roc if p.tpr]
    lows = [(p.fpr, p.lower) for p in curves.roc if p.lower]
    highs = _never_falling([(p.fpr, p.upper) for p in curves.roc if p.upper])
    # An axis of one power of ten would have no numbers between its ends.
    across, up = map(_decades, zip((0.01, 0.01), *seen, *lows, *highs, strict=True))

    def line(points: Sequence[tuple[float, float]], style: str) -> Iterator[str]:
        places = ((across.at(math.log10(x)), _height(up, math.log10(y))) for x, y in points)
        for (left, low), (right, high) in pairwise(places):
            yield _line(left, right, style, low, high)

    def dots(points: Sequence[tuple[float, float]], shape: str) -> Iterator[str]:
        for x, y in points:
            yield _put(shape, across.at(math.log10(x)), _height(up, math.log10(y)))

    later = [(x, y) for (_, y), (x, _) in pairwise(lows)]
    sooner = [(x, y) for (x, _), (_, y) in pairwise(highs)]
    even = 10.0 ** max(across.low, up.low)
    of = quoted_name(curves.score)
    said = "; ".join(
        f"at FPR {percent_text(fpr)} at least {percent_text(float(lower_text(lower)))}"
        for fpr, lower in lows
        if math.log10(fpr) in _LOG_TICKS
    )
    marks = [
        *line([(even, even), (1.0, 1.0)], _CHANCE),
        *line(seen, _SEEN),
        *line(_stepped(lows, later), _SURE),
        *line(_stepped(highs, sooner), _REACH),
        *dots(lows, _UP),
        *dots(highs, _DOWN),
    ]
    svg = _plane(
        marks,
        [(across.at(tick), percent_text(10.0**tick)) for tick in across.ticks],
        [(_height(up, tick), percent_text(10.0**tick)) for tick in up.ticks],
        across="false alarms (false-positive rate, log scale)",
        up="members found (true-positive rate, log scale)",
        key=tuple(zip(_CURVES, ("at least", "observed", "at most", "chance"), strict=True)),
    )
    return Picture(
        svg,
        alt=f"ROC of {of} with one threshold, on logarithmic axes. {said or 'No limit'}.",
        caption=f"ROC of {of}: how many members an attacker with one threshold finds, for how "
        "many false alarms. Limits hold point by point; the upper line is drawn so that it "
        "never falls.",
    )


def _decades(rates: Sequence[float]) -> Scale:
    """Return an axis of logarithms, from a power of ten below all rates up to 1."""
    least = math.floor(math.log10(max(_LOWEST_RATE, min(rates))) + _ROUNDING)
    return Scale(least, 0.0, tuple(tick for tick in _LOG_TICKS if tick >= least))


def _stepped(
    points: Sequence[tuple[float, float]], corners: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return points with the corner between each and its next."""
    return [one for pair in zip(points, corners, strict=False) for one in pair] + [*points[-1:]]


def _never_falling(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return limits from above that do not fall: each holds by itself, also a wider one."""
    fprs, uppers = zip(*sorted(points), strict=True) if points else ((), ())
    return list(zip(fprs, accumulate(uppers, max), strict=True))


def _bins(curves: Any) -> Picture:  # noqa: ANN401 - the curves of a score
    """Draw how members and holdout records spread from the lowest scores to the highest."""
    of, counts = quoted_name(curves.score), [(one.members, one.holdout) for one in curves.bins]
    members, holdout = (sum(one) or 1 for one in zip(*counts, strict=True))
    shares = [(inside / members, outside / holdout) for inside, outside in counts]
    scale = Scale.over(share for pair in shares for share in pair)
    edges = [f"{100 * at / len(shares):.2f}%" for at in range(len(shares) + 1)]
    width, marks, last = f"{100 / len(shares) - 0.5:.2f}%", [], float(_CURVE)
    for (inside, _), left in zip(shares, edges, strict=False):
        y = _height(scale, inside)
        size = f'width="{width}" height="{_CURVE - y:.1f}"'
        marks.append(f'<rect x="{left}" y="{y}" {size} fill="{ORANGE}"/>')
    for (_, outside), (left, right) in zip(shares, pairwise(edges), strict=True):
        y = _height(scale, outside)
        marks += [_line(left, left, _OTHERS, last, y), _line(left, right, _OTHERS, y, y)]
        last = y
    furthest = max(shares, key=lambda pair: abs(pair[0] - pair[1]))
    inside, outside = (percent_text(round(share, 3)) for share in furthest)
    svg = _plane(
        marks,
        (),
        [(_height(scale, tick), percent_text(tick)) for tick in scale.ticks],
        across="scores from low to high, in bins of about equal size",
        up="share of the members, and of the holdout records",
        key=((_BAR, "members"), (_KEY.format(_OTHERS), "holdout")),
    )
    return Picture(
        svg,
        alt=f"Shares of members and of holdout records in {len(shares)} bins of {of}, from low to "
        f"high. Where they differ most: {inside} of the members and {outside} of the holdout.",
        caption=f"Scores {of} from low to high. Where the bars (members) and the line (holdout "
        "records) differ, membership shows. Small bins are merged.",
    )


def _height(scale: Scale, value: float) -> float:
    return round(_CURVE * (1 - scale.share(value)), 1)


# Marks are strings of SVG: of lines, rectangles and circles, whose lengths may be percentages.


def _line(left: str, right: str, style: str, low: float = 0, high: float = 0) -> str:
    return f'<line x1="{left}" x2="{right}" y1="{low}" y2="{high}" {style}/>'


def _put(shape: str, at: str | float, y: float = 0) -> str:
    """Return a shape at its place; a path has no percentages."""
    return f'<svg x="{at}" y="{y}" overflow="visible">{shape}</svg>'


def _text(text: str, at: str | float, y: float, anchor: str = "start") -> str:
    return f'<text x="{at}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _rows(
    rows: Sequence[tuple[Sequence[str], str]],
    scale: Scale,
    *,
    what: str,
    key: Key = (),
    start: float = 0.0,
    limit: tuple[float, str] | None = None,
) -> str:
    """Return a drawing with a row for each name, and with what stands across them."""
    ends = [*accumulate(_BETWEEN + _LINE * len(lines) for lines, _ in rows)]
    marks, beside, end = (
        [_line(scale.at(start), scale.at(start), _FAINT, 0, ends[-1])],
        [],
        ends[-1],
    )
    if limit is not None:
        at, anchor = scale.at(limit[0]), "end" if scale.share(limit[0]) > _LATE else "middle"
        marks += [_line(at, at, _ACROSS, -4, end), _text(limit[1], at, -9, anchor)]
    for (lines, drawn), below in zip(rows, ends, strict=True):
        first = below - _LINE * len(lines) + _BETWEEN - 2
        middle = below - (_BETWEEN + _LINE * len(lines)) / 2
        marks.append(f'<g transform="translate(0 {middle:g})">{drawn}</g>')
        beside += [_text(line, -_GUTTER, first + _LINE * at) for at, line in enumerate(lines)]
    texts = [number_text(tick) for tick in scale.ticks]
    # All numbers have their place on a phone, or every second one, with 0.
    every = 1 + (len(texts) * max(map(len, texts)) > _MANY)
    zero = texts.index("0") if "0" in texts else 0
    numbers = [
        (scale.at(tick), text if (at - zero) % every == 0 else "")
        for at, (tick, text) in enumerate(zip(scale.ticks, texts, strict=True))
    ]
    marks += _axis_below(numbers, what, end)
    top = 8 if limit is None else 26
    return _drawn(marks, beside, key, _GUTTER, top, end + _FOOT)


def _plane(
    marks: Sequence[str],
    numbers: Sequence[tuple[str, str]],
    beside: Sequence[tuple[float, str]],
    *,
    across: str,
    up: str,
    key: Key,
) -> str:
    """Return a drawing with an axis that goes up, beside the one below."""
    grid = [_line("0%", "100%", _FAINT, y, y) for y, _ in beside]
    names = [_text(up, -_SIDE, -14), *(_text(text, -8, y + 4, "end") for y, text in beside)]
    marks = [*grid, *marks, *_axis_below(numbers, across, _CURVE)]
    return _drawn(marks, names, key, _SIDE, 30, _CURVE + _FOOT - 18 * (not numbers))


def _axis_below(numbers: Sequence[tuple[str, str]], what: str, y: float) -> Iterator[str]:
    yield _line("0%", "100%", _INK, y, y)
    for at, text in numbers:
        yield _line(at, at, _INK, y, y + 5) + _text(text, at, y + 18, "middle")
    yield _text(what, "100%", y + (36 if numbers else 18), "end")


def _drawn(
    marks: Iterable[str], beside: Iterable[str], key: Key, left: int, top: int, bottom: float
) -> str:
    """Return a drawing.

    Args:
        marks: what has its place on an axis.
        beside: what has it left of the axis.
        key: what the shapes say.
        left: where the axis begins.
        top: how much is above it.
        bottom: where the key stands.
    """
    x, said = 9.0 - left, []
    for shape, text in key:
        said.append(_put(shape, f"{x:g}", bottom - 4) + _text(text, f"{x + 14:g}", bottom))
        x += 30 + _LETTER * len(text)
    height = bottom + (10 if key else -18)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{top + height:g}">'
        '<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<svg x="{left}" y="{top}" width="{_WIDTH - left - _RIGHT}" height="{height:g}" '
        f'overflow="visible" fill="currentColor" style="color: var(--ink, {BLACK})" '
        f'font-family="system-ui, sans-serif" font-size="{_LETTERS}">'
        f"{''.join((*beside, *said, *marks))}</svg></svg>"
    )
