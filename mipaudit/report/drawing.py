"""Intervals drawn: as text in a narrow column, and as one SVG element for a page.

Equal reports have equal drawings, by matplotlib in a style of our own, and quietly; it is loaded
when a page is drawn.
Intervals stand in rows, each under its name, so that a phone shows them whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self

from mipaudit.report.blocks import Picture, closed, spaced
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.rounding import number_text

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
BLACK: Final = "#000000"  # what the policy allows
GREY: Final = "#767676"
WIDTH: Final = 4.4  # inches: what a phone shows whole, and can be read there
LETTERS: Final = 10.5  # points
_INK: Final = "color: var(--ink, #000000)"
_PAPER: Final = "fill: var(--paper, #ffffff)"


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
    import logging

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
        mpl.rcParams.update({**style, "font.size": LETTERS})
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
