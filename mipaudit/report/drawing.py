"""Drawings of rows and of curves as SVG, whose axes are as long as a page has room for.

Names stand in a gutter to the left of the axis, and the axes of all drawings end at one right
edge. Letters keep their size, and lengths are percentages: a wider page has longer axes, not
larger letters. Equal drawings are equal texts.

A mark is a text of SVG: a line, or a shape at its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate, pairwise
from typing import Final, NamedTuple, Self

from mipaudit.statements.printable_names import spaced
from mipaudit.statements.rounding import number_text

# After Okabe and Ito, whom the colour-blind follow; shapes say the same. Each is seen on paper and
# on the page in the dark, where black is the ink of the text around it.
BLUE: Final = "#0072B2"  # at most
ORANGE: Final = "#D55E00"  # at least
BLACK: Final = "#000000"  # what the policy allows
GREY: Final = "#767676"
# Pixels of the page.
WIDTH: Final = 640  # of a drawing alone
GUTTER: Final = 158  # for names, and for what is drawn left of an axis
CURVE: Final = 240  # the height of a curve
_LETTERS: Final = 13
_LETTER: Final = 8  # the width of one, where a font is wide
_SMALL: Final = 7.4  # the width of most
_CAPITAL: Final = 13  # of a wide one
_ROOM: Final = 150  # for a line of a name
_LINE: Final = 16  # from one line of letters to the next
_BETWEEN: Final = 10  # rows
_SIDE: Final = 56  # for the numbers of an axis that goes up
_RIGHT: Final = 18  # half of a last number stands there
_FOOT: Final = 60  # from an axis to the key: its numbers, and what it shows
_LATE: Final = 0.8  # along an axis, so that a text there ends at its mark
_MANY: Final = 25  # letters below an axis
_FEW: Final = 4  # steps of an axis; its numbers then stand apart on a phone
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_ROUNDING: Final = 1e-9
_INK: Final = 'stroke="currentColor"'
_ACROSS: Final = f'{_INK} stroke-width="1.5" stroke-dasharray="5 4"'
_FAINT: Final = f'stroke="{GREY}" stroke-opacity="0.35"'

Key = Sequence[tuple[str, str]]  # shapes, and what each says
Points = Sequence[tuple[float, float]]


class Scale(NamedTuple):
    """An axis between round numbers.

    Attributes:
        low: at its left, or lower, end.
        high: at its other end.
        ticks: where numbers stand, and how they are spelled.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    @classmethod
    def over(
        cls,
        values: Iterable[float],
        start: float = 0.0,
        spelled: Callable[[float], str] = number_text,
    ) -> Self:
        """Return the axis that is as wide as values need.

        Args:
            values: what is drawn.
            start: is on the axis, too.
            spelled: how its numbers are; every second one, with 0, where a phone has no room.
        """
        given = [start, *values]
        low, high = min(given), max(given)
        if high - low <= _ROUNDING:  # what is left of rounding is no length
            low, high = min(0.0, low), max(1.0, high)
        least = (high - low) / _FEW * (1 - _ROUNDING)
        power = 10.0 ** math.floor(math.log10(least))
        step = next(one * power for one in _STEPS if one * power >= least)
        first, last = math.floor(low / step + _ROUNDING), math.ceil(high / step - _ROUNDING)
        ticks = {at: float(f"{at * step:.6g}") for at in range(first, last + 1)}
        every = 1 + (sum(len(spelled(one)) for one in ticks.values()) > _MANY)
        texts = {at: spelled(one) if at % every == 0 else "" for at, one in ticks.items()}
        return cls(ticks[first], ticks[last], tuple((ticks[at], texts[at]) for at in ticks))

    def share(self, value: float) -> float:
        """Return how far along the axis a value is, from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def at(self, value: float) -> str:
        """Return where a value is from left to right, of any width."""
        return f"{100 * self.share(value):.2f}%"

    def height(self, value: float) -> float:
        """Return where a value is from the top of a curve down."""
        return round(CURVE * (1 - self.share(value)), 1)


class Plane(NamedTuple):
    """Two axes, one across and one up."""

    across: Scale
    up: Scale

    def line(self, points: Points, style: str) -> Iterator[str]:
        """Yield the line through points."""
        for (left, low), (right, high) in pairwise(points):
            ends = self.across.at(left), self.across.at(right)
            yield line(*ends, style, self.up.height(low), self.up.height(high))

    def dots(self, points: Points, shape: str) -> Iterator[str]:
        """Yield a shape at each point."""
        for x, y in points:
            yield put(shape, self.across.at(x), self.up.height(y))


def line(left: str, right: str, style: str, low: float = 0, high: float = 0) -> str:
    """Return a line from left to right."""
    return f'<line x1="{left}" x2="{right}" y1="{low}" y2="{high}" {style}/>'


def put(shape: str, at: str, y: float = 0) -> str:
    """Return a shape at its place; a path has no percentages."""
    return f'<svg x="{at}" y="{y}" overflow="visible">{shape}</svg>'


def _text(text: str, at: str | float, y: float, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{at}" y="{y}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _name(text: str, y: float) -> str:
    """Return a line of a name, pressed together where its letters are too wide for the gutter."""
    wide = sum(_CAPITAL if one.isupper() or spaced(one) != one else _SMALL for one in text)
    pressed = f' textLength="{_ROOM}" lengthAdjust="spacingAndGlyphs"' if wide > _ROOM else ""
    return _text(text, -GUTTER, y, more=pressed)


def drawn_rows(
    rows: Sequence[tuple[Sequence[str], str]],
    scale: Scale,
    *,
    what: str,
    key: Key = (),
    start: float = 0.0,
    limit: tuple[float, str] | None = None,
) -> str:
    """Return the drawing of rows one below the other.

    Args:
        rows: the lines of the name of each, and its marks.
        scale: the axis of all.
        what: the axis shows.
        key: of the shapes.
        start: where a line goes down all rows.
        limit: where a dashed one does, and what is said of it.
    """
    ends = [*accumulate(_BETWEEN + _LINE * len(lines) for lines, _ in rows)]
    beside, marks = [], [line(scale.at(start), scale.at(start), _FAINT, 0, ends[-1])]
    if limit is not None:
        at, anchor = scale.at(limit[0]), "end" if scale.share(limit[0]) > _LATE else "middle"
        marks += [line(at, at, _ACROSS, -4, ends[-1]), _text(limit[1], at, -9, anchor)]
    for (lines, drawn), end in zip(rows, ends, strict=True):
        middle = end - (_BETWEEN + _LINE * len(lines)) / 2
        marks.append(f'<g transform="translate(0 {middle:g})">{drawn}</g>')
        first = end - _LINE * len(lines) + _BETWEEN - 2
        beside += [_name(text, first + _LINE * at) for at, text in enumerate(lines)]
    marks += _axis_below(scale, what, ends[-1])
    return _drawn(beside + marks, key, GUTTER, 8 if limit is None else 26, ends[-1])


def drawn_plane(marks: Iterable[str], plane: Plane, *, across: str, up: str, key: Key) -> str:
    """Return the drawing of a curve.

    Args:
        marks: on the plane.
        plane: of the curve.
        across: what the axis below shows.
        up: what the other one shows.
        key: of the shapes.
    """
    grid = [_text(up, -_SIDE, -14)]
    for tick, text in plane.up.ticks:
        y = plane.up.height(tick)
        grid += [line("0%", "100%", _FAINT, y, y), _text(text, -8, y + 4, "end")]
    below = _axis_below(plane.across, across, CURVE)
    return _drawn([*grid, *marks, *below], key, _SIDE, 30, CURVE)


def _axis_below(scale: Scale, what: str, y: float) -> Iterator[str]:
    yield line("0%", "100%", _INK, y, y)
    for tick, text in scale.ticks:
        at = scale.at(tick)
        yield line(at, at, _INK, y, y + 5) + _text(text, at, y + 18, "middle")
    yield _text(what, "100%", y + (36 if scale.ticks else 18), "end")


def _drawn(marks: Iterable[str], key: Key, left: int, top: int, end: float) -> str:
    """Return a drawing.

    Args:
        marks: on an axis, or left of it.
        key: of the shapes.
        left: where the axis begins.
        top: how much is above it.
        end: where the axis is.
    """
    x, y, said = 9.0 - left, end + _FOOT, []
    for shape, text in key:
        said.append(put(shape, f"{x:g}", y - 4) + _text(text, f"{x + 14:g}", y))
        x += 30 + _LETTER * len(text)
    height = y + (10 if key else -18)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top + height:g}">'
        '<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<svg x="{left}" y="{top}" width="{WIDTH - left - _RIGHT}" height="{height:g}" '
        f'overflow="visible" fill="currentColor" style="color: var(--ink, {BLACK})" '
        f'font-family="system-ui, sans-serif" font-size="{_LETTERS}">'
        f"{''.join((*marks, *said))}</svg></svg>"
    )
