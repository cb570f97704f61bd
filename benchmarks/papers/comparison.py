"""What a paper says beside what came out: as tables, as a picture, and on the page."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "reference" / "reproductions.md"
_INSIDE: Final = 4  # curves whose legend stands inside the axes
_FIGURES: Final = "<!-- figures of: benchmarks/papers {} -->\n"
_END: Final = "<!-- end of figures -->"


class Claim(NamedTuple):
    """What the paper says, what came out, and whether the two agree."""

    says: str
    found: str
    agrees: Literal["yes", "partly", "**no**"]


class Check(NamedTuple):
    """A number that must come out between two others, and why."""

    name: str
    found: float
    between: tuple[float, float]
    why: str

    @property
    def passed(self) -> bool:
        """Tell whether the number is within its limits."""
        return self.between[0] <= self.found <= self.between[1]


class Curve(NamedTuple):
    """A line (``-``, ``--`` or ``:``), points (``o``), or bars of the panel's groups."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: str = "-"
    error: Sequence[float] | None = None


def curve_of_means(label: str, x: Sequence[float], means: Sequence[tuple[float, float]]) -> Curve:
    """Return a curve with one standard error on each side."""
    return Curve(label, x, [mean for mean, _ in means], error=[error for _, error in means])


class Panel(NamedTuple):
    """One picture of a figure; with groups its curves are bars."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    log: str = ""
    groups: Sequence[str] = ()


class Made:
    """A figure, computed anew: its pictures, claims and checks."""

    def __init__(self, panels: Sequence[Panel], *rows: Claim | Check) -> None:
        self.panels = panels
        self.claims = [row for row in rows if isinstance(row, Claim)]
        self.checks = [row for row in rows if isinstance(row, Check)]


def tables(made: Made) -> str:
    """Return both tables of a figure as Markdown."""
    checks = []
    for check in made.checks:
        low, high = (f"{limit:.5g}" for limit in check.between)
        must = f"at most {high}" if low == "-inf" else f"{low} to {high}"
        mark = "holds" if check.passed else "**FAILS**"
        checks.append((check.name, f"{check.found:.5g}", must, check.why, mark))
    return (
        _table(("the paper says", "here", "borne out"), made.claims)
        + "\n\nWhat must come out:\n\n"
        + _table(("number", "found", "must be", "because", ""), checks)
        + "\n"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def on_page(page: str, figure: str, text: str) -> str:
    """Return the page with these tables of a figure."""
    start = re.escape(_FIGURES.format(figure))
    found, times = re.subn(
        f"(?s)({start}).*?({_END})", lambda match: f"{match[1]}\n{text}\n{match[2]}", page
    )
    if times != 1:
        raise ValueError(f"{PAGE.name}: the place of {figure} is there {times} times")
    return found


def draw(made: Made, figure: str) -> None:
    """Write the picture of a figure that the page shows."""
    panels = made.panels
    width = max(6.4, 4.6 * len(panels))
    below = any(len(panel.curves) > _INSIDE for panel in panels)
    drawn = Figure(figsize=(width, 3.8 + 0.6 * below), dpi=75, layout="constrained")
    for axes, panel in zip(drawn.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw(axes, panel)
    picture = PAGE.parent / "reproductions" / f"{figure}.png"
    plain = BytesIO()
    drawn.savefig(plain, format="png")
    # A palette: a third of the size, and no difference to be seen.
    Image.open(plain).convert("RGB").quantize(256).save(picture, optimize=True)


def _draw(axes: Axes, panel: Panel) -> None:
    axes.set(xlabel=panel.x, ylabel=panel.y)
    axes.set_title(panel.title, fontsize=9)
    width = 0.8 / len(panel.curves)
    for place, (label, x, y, style, error) in enumerate(panel.curves):
        if panel.groups:
            shift = (place - (len(panel.curves) - 1) / 2) * width
            axes.bar([at + shift for at in x], list(y), width=width, label=label)
            continue
        (line,) = axes.plot(x, y, style, label=label, markersize=4)
        if error is not None:
            low, high = np.array(y) - error, np.array(y) + error
            axes.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    if panel.groups:
        axes.set_xticks(range(len(panel.groups)), panel.groups)
    if panel.log:
        axes.set(**{f"{panel.log}scale": "log"})
    axes.grid(visible=True, alpha=0.3)
    if len(panel.curves) > _INSIDE:
        axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    elif len(panel.curves) > 1:
        axes.legend(fontsize=7)
