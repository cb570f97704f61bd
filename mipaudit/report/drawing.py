"""Intervals drawn: as text in a narrow column, and as one SVG element for a page.

Equal reports have equal drawings, by matplotlib in a style of our own, and quietly; it is loaded
when a page is drawn.
Intervals stand in rows, each under its name, so that a phone shows them whole.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self

from mipaudit.report.blocks import Picture, closed, spaced
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    class Limited(Protocol):
        """A figure with its limits."""

        @property
        def value(self) -> float | None:
            """Best estimate."""

        @property
        def lower(self) -> float | None:
            """Lower limit."""

        @property
        def upper(self) -> float | None:
            """Upper limit."""


NARROW: Final = 12  # characters of a drawn interval
_ROUNDING: Final = 1e-9
_LONGEST_NAME: Final = 18
_BEFORE: Final = 4  # characters shown before the first in which names differ
_STEPS: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
# After Okabe and Ito, whom the colour-blind follow; shapes say the same. Each is seen on paper and
# on the page in the dark, where black is the ink of the text around it.
BLUE: Final = "#0072B2"  # at most
ORANGE: Final = "#D55E00"  # at least
GREEN: Final = "#009E73"  # what a claim allows
BLACK: Final = "#000000"  # what the policy allows
GREY: Final = "#767676"
PALE: Final = "#76767640"  # lets what is below it through, light or dark
WIDTH: Final = 4.4  # inches: what a phone shows whole, and can be read there
_ROW: Final = 0.42
_AROUND: Final = 1.1
_LETTERS: Final = 10.5  # points
_LONGEST: Final = 48  # letters of a name above its bar
_MOST_ROWS: Final = 24
_MANY_TIMES: Final = 20.0
_ARROWS: Final = (
    "An arrow to the right says at least, one to the left at most; the dot is the best estimate."
)
_INK: Final = "color: var(--ink, #000000)"
_PAPER: Final = "fill: var(--paper, #ffffff)"
_ALLOWED: Final[dict[str, Any]] = {
    "marker": "|",
    "markersize": 17,
    "markeredgewidth": 2,
    "linestyle": "none",
    "clip_on": False,
}
_MARKS: Final = {"policy": (BLACK, "--"), "claim": (GREEN, ":"), "guess": (GREY, "-")}


class Interval(NamedTuple):
    """A figure with its limits, under its name; what is None is open.

    ``allowed`` is the most that it may be, where that is not one line across all rows.
    """

    name: str
    lower: float | None
    value: float | None
    upper: float | None
    allowed: float | None = None


class Amount(NamedTuple):
    """A figure without limits, under its name; ``chosen`` of those beside it."""

    name: str
    value: float
    text: str
    chosen: bool = False


class Mark(NamedTuple):
    """A place on the axis: what the ``policy`` or a ``claim`` allows, or blind ``guess``ing."""

    at: float
    text: str
    kind: str = "policy"


def marks_of(limits: Iterable[float], baseline: float = 0.0) -> list[Mark]:
    """Return marks of what a policy allows, each limit once, and of blind guessing if above 0."""
    found = [Mark(limit, f"the limit {number_text(limit)}") for limit in dict.fromkeys(limits)]
    if baseline > 0:
        found.append(Mark(baseline, f"blind guessing {value_text(baseline)}", "guess"))
    return found


@contextmanager
def own_style() -> Iterator[None]:
    """Draw in the style that the picture was laid out for, not in the user's own."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"font.size": 9.0, "svg.hashsalt": "mipaudit"})
        yield


@contextmanager
def quiet_plotting() -> Iterator[None]:
    """Keep matplotlib's remarks about its caches off the screen."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
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
    with quiet_plotting(), own_style():
        import matplotlib as mpl
        from matplotlib.figure import Figure

        # Text stays text: smaller, searchable, and in the reader's own font. A name is no formula.
        style: dict[Any, Any] = {
            "svg.fonttype": "none",
            "svg.hashsalt": name,
            "text.parse_math": False,
        }
        mpl.rcParams.update({**style, "font.size": _LETTERS})
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
            fontsize=_LETTERS - 1,
        )


def intervals(
    rows: Sequence[Interval],
    *,
    name: str,
    what: str,
    caption: str,
    ends: tuple[float, float | None] = (0.0, 1.0),
    marks: Sequence[Mark] = (),
    allowed: str = "the limit",
) -> Picture:
    """Draw limits on one axis, a row each, with what is allowed.

    Args:
        rows: the most important first; no more are drawn than can be read.
        name: of the picture, short.
        what: the axis shows.
        caption: below it.
        ends: of the axis; None for one that all limits fit.
        marks: lines across all rows.
        allowed: what is said of that which a row alone is allowed.
    """
    shown = rows[:_MOST_ROWS]
    floor = ends[0]
    given = [x for one in shown for x in one[1:] if x is not None]
    lines = [one for one in shown if one.allowed is not None]
    end = ends[1] if ends[1] is not None else max([*given, *(m.at for m in marks), floor + 1e-9])

    def draw(axes: Axes) -> None:
        axes.set_xlim(floor, end if ends[1] is not None else floor + (end - floor) * 1.05)
        for place, one in enumerate(reversed(shown)):
            _bar(axes, place, one)
        axes.set_yticks([])
        axes.set_ylim(-0.5, len(shown) - 0.1)
        for mark in marks:
            color, dashes = _MARKS[mark.kind]
            axes.axvline(mark.at, color=color, linestyle=dashes, label=mark.text)
        if lines:
            axes.plot([], [], color=BLACK, label=allowed, **{**_ALLOWED, "clip_on": True})
        if floor < 0:
            axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_xlabel(what)
        axes.spines["left"].set_visible(False)
        legend_above(axes)

    said = "; ".join(
        f"{one.name}: {limits_text(one)}"
        + (f", {allowed} {number_text(one.allowed)}" if one.allowed is not None else "")
        for one in shown
    )
    across = "".join(f" {_mark_words(one)}." for one in marks)
    span = f"on an axis from {value_text(floor)} to {number_text(float(f'{end:.3g}'))}"
    return drawn(
        draw,
        name=name,
        height=_AROUND + _ROW * len(shown),
        alt=f"{what[0].upper()}{what[1:]} {span}. {said}{_more(rows)}.{across}",
        caption=f"{caption} {_ARROWS}",
    )


def amounts(rows: Sequence[Amount], *, name: str, what: str, caption: str) -> Picture:
    """Draw figures without limits as bars, a row each: none is negative.

    Args:
        rows: the least first; no more are drawn than can be read. Some that are many times
            the least are cut, lest all others look alike.
        name: of the picture, short.
        what: the axis shows.
        caption: below it.
    """
    shown = rows[:_MOST_ROWS]
    end = max(one.value for one in shown if one.value <= _MANY_TIMES * shown[0].value) or 1.0

    def draw(axes: Axes) -> None:
        for place, one in enumerate(reversed(shown)):
            color, hatch = (ORANGE, "") if one.chosen else (BLUE, "///")
            axes.barh(
                place, one.value, 0.28, color=color, hatch=hatch, edgecolor="white", linewidth=0
            )
            beyond = " →" if one.value > end else ""
            _named(axes, place, f"{safe_name(one.name, longest=_LONGEST)}: {one.text}{beyond}")
        axes.set_yticks([])
        axes.set_ylim(-0.5, len(shown) - 0.1)
        axes.set_xlim(0, end * 1.02)
        axes.set_xlabel(what)
        axes.spines["left"].set_visible(False)

    said = "; ".join(f"{one.name}: {one.text}{', chosen' * one.chosen}" for one in shown)
    return drawn(
        draw,
        name=name,
        height=_AROUND + _ROW * len(shown),
        alt=f"{what[0].upper()}{what[1:]}. {said}{_more(rows)}.",
        caption=caption,
    )


def spread(
    bins: Sequence[tuple[int, int]], *, name: str, of: str, axis: str, caption: str
) -> Picture:
    """Draw how members and holdout records spread over bins.

    Args:
        bins: members and holdout records in each, from left to right.
        name: of the picture, short.
        of: what is binned, for those who do not see it.
        axis: what it runs along.
        caption: below it.
    """
    members, holdout = (sum(one) or 1 for one in zip(*bins, strict=True))
    shares = [(inside / members, outside / holdout) for inside, outside in bins]

    def draw(axes: Axes) -> None:
        left, right = ([x + by for x in range(len(shares))] for by in (-0.2, 0.2))
        striped: dict[str, Any] = {"hatch": "///", "edgecolor": "white", "linewidth": 0}
        axes.bar(left, [one for one, _ in shares], 0.4, color=ORANGE, label="members")
        axes.bar(right, [one for _, one in shares], 0.4, color=BLUE, label="holdout", **striped)
        axes.set_xticks([])
        axes.set_xlabel(axis)
        axes.set_ylabel("share of the class")
        legend_above(axes)

    furthest = max(shares, key=lambda pair: abs(pair[0] - pair[1]), default=(0.0, 0.0))
    inside, outside = (percent_text(round(share, 3)) for share in furthest)
    return drawn(
        draw,
        name=name,
        height=2.8,
        alt=f"Shares of members and of holdout records in {len(shares)} bins of {of}. Where they "
        f"differ most: {inside} of the members and {outside} of the holdout.",
        caption=caption,
    )


def limits_text(one: Interval) -> str:
    """Return the limits in words, rounded outward."""
    parts = []
    if one.lower is not None:
        parts.append(f"at least {lower_text(one.lower)}")
    if one.upper is not None:
        parts.append(f"at most {upper_text(one.upper)}")
    return ", ".join(parts) or "no limit"


def _more(rows: Sequence[object]) -> str:
    """Say how many rows are not drawn."""
    rest = len(rows) - _MOST_ROWS
    return f"; and {rest} more, in the tables" if rest > 0 else ""


def _mark_words(mark: Mark) -> str:
    if mark.kind == "policy":
        return f"The limit is {number_text(mark.at)}"
    return mark.text[0].upper() + mark.text[1:]


def _bar(axes: Axes, place: int, one: Interval) -> None:
    """Draw one interval; an end that is not known reaches the end of the axis."""
    left, right = axes.get_xlim()
    low = left if one.lower is None else one.lower
    high = right if one.upper is None else one.upper
    axes.plot([low, high], [place] * 2, color=PALE, lw=5, solid_capstyle="butt")
    style: dict[str, Any] = {"linestyle": "none", "markersize": 8, "clip_on": False}
    if one.lower is not None:
        axes.plot([one.lower], [place], marker=">", color=ORANGE, **style)
    if one.upper is not None:
        axes.plot([one.upper], [place], marker="<", color=BLUE, **style)
    if one.value is not None:
        axes.plot([one.value], [place], marker="o", color=GREY, **{**style, "markersize": 4})
    if one.allowed is not None:
        axes.plot([one.allowed], [place], color=BLACK, **_ALLOWED)
    _named(axes, place, safe_name(one.name, longest=_LONGEST))


def _named(axes: Axes, place: int, name: str) -> None:
    """Write the name of a row above it."""
    axes.annotate(
        name,
        (0, place),
        xycoords=("axes fraction", "data"),
        xytext=(0, 7),
        textcoords="offset points",
        fontsize=_LETTERS - 1,
        bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5},  # over the lines of the policy
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


class Axis(NamedTuple):
    """On what intervals of a column are drawn.

    Attributes:
        start: below which nothing is drawn: 0, or what blind guessing has.
        end: beyond which nothing is; the same where blind guessing has all there is.
        width: in characters, at least 3.
    """

    start: float
    end: float
    width: int = NARROW

    @classmethod
    def over(
        cls,
        intervals: Iterable[Limited],
        marks: Iterable[float] = (),
        *,
        start: float = 0.0,
        width: int = NARROW,
    ) -> Self:
        """Return the axis whose end is round, and beyond which no limit lies.

        Args:
            intervals: what is drawn; without a limit, up to the best estimate.
            marks: what else must fit.
            start: where it begins.
            width: in characters.
        """
        ends = [one.upper if one.upper is not None else (one.value or 0.0) for one in intervals]
        length = max((*ends, *marks), default=start) - start
        # What is left of rounding is no length.
        if length <= _ROUNDING:
            return cls(start, 1.0, width)
        power = 10.0 ** math.floor(math.log10(length))
        step = next(step * power for step in _STEPS if step * power >= length * (1 - _ROUNDING))
        # Beside blind guessing there are advantages alone, which end at 1.
        return cls(start, min(1.0, start + step) if start else step, width)

    @property
    def head(self) -> str:
        """Return the head of drawn intervals: ``0·····0.4``."""
        left, right = (number_text(float(f"{one:.6g}")) for one in (self.start, self.end))
        return left + "·" * max(1, self.width - len(left) - len(right)) + right

    def drawn(self, one: Limited, mark: float | None = None) -> str:
        """Return an interval as a line: ``···├──●───┤···``.

        Args:
            one: the limits and the best estimate; an end that is not known is open, and one below
                the start an arrow. What surely lies below it has no place; where nothing is known
                nothing is drawn.
            mark: a limit of the policy, drawn where the interval leaves room.
        """
        if one.lower is None and one.value is None and one.upper is None:
            return ""
        if one.upper is not None and one.upper < self.start:
            return f"← below {number_text(self.start)}".ljust(self.width)
        line = ["·"] * self.width
        left = self._place(one.lower or 0.0)
        right = self.width - 1 if one.upper is None else self._place(one.upper)
        line[left : right + 1] = "─" * (right + 1 - left)
        line[right] = "→" if one.upper is None else "┤"
        line[left] = "←" if (one.lower or 0.0) < self.start - _ROUNDING else "├"
        if mark is not None:
            line[self._place(mark)] = "┃"
        if one.value is not None and one.value >= self.start - _ROUNDING:
            line[self._place(one.value)] = "●"
        return "".join(line)

    def _place(self, value: float) -> int:
        # At a prior next to 0 or 1 blind guessing has all there is, and the axis no length.
        share = (value - self.start) / max(self.end - self.start, _ROUNDING)
        return min(self.width - 1, max(0, round(share * (self.width - 1))))


def short_name(name: str) -> str:
    """Return a name for a narrow column, its middle left out where it is long."""
    shown = spaced(safe_name(name))
    if len(shown) <= _LONGEST_NAME:
        return closed(shown)
    half = _LONGEST_NAME // 2
    return closed(f"{shown[:half]}…{shown[len(shown) - half + 1 :]}")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return names for a narrow column, no two the same: alike ones by where they differ."""
    shown = {name: short_name(name) for name in names}
    groups: dict[str, list[str]] = {}
    for name, short in shown.items():
        groups.setdefault(short, []).append(name)
    for alike in groups.values():
        if len(alike) > 1:
            taken: set[str] = set()
            safe = [safe_name(name) for name in alike]
            signs = enumerate(zip(*safe, strict=False))
            same = next((at for at, these in signs if len(set(these)) > 1), 0)
            start = max(0, same - _BEFORE)
            for at, (name, whole) in enumerate(zip(alike, safe, strict=True)):
                part = whole[start : start + _LONGEST_NAME - 2]
                rest = "…" if len(whole) > start + len(part) else ""
                shown[name] = f"{'…' if start else ''}{part}{rest}"
                if shown[name] in taken:
                    shown[name] = f"{part[: _LONGEST_NAME - 6]}…~{at + 1}"
                taken.add(shown[name])
    return shown
