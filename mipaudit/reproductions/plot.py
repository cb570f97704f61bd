"""The picture of a reproduced figure."""

from __future__ import annotations

import math
from io import BytesIO
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from mipaudit.formats.drawing import own_style, quiet_plotting, require_plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mipaudit.reproductions.report import Curve, Panel, ReproducedFigure

_WIDTH: Final = 4.6  # inches for each panel
_LEAST_WIDTH: Final = 6.4
_TITLE_LETTERS: Final = 12  # of the title, in an inch
_HEIGHT: Final = 3.8
_LEGEND_HEIGHT: Final = 0.6  # more, for a legend below
_MOST_INSIDE: Final = 4  # curves of which the legend stands inside the axes
_DPI: Final = 75
_COLOURS: Final = 256
_DECADE: Final = 10.0
_STYLES: Final[dict[str, str]] = {"line": "-", "dashed": "--", "dotted": ":"}
_METADATA: Final[dict[str, dict[str, None]]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}


def draw_reproduction(figure: ReproducedFigure, form: str) -> bytes:
    """Return the picture as the bytes of a file, the same for equal figures.

    Args:
        figure: what came out.
        form: ``png`` or ``svg``.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require_plotting()
    from matplotlib.figure import Figure

    panels = figure.outcome.panels
    picture = BytesIO()
    with quiet_plotting(), own_style():
        width = max(_LEAST_WIDTH, _WIDTH * len(panels))
        below = any(len(panel.curves) > _MOST_INSIDE for panel in panels)
        height = _HEIGHT + _LEGEND_HEIGHT * below
        drawn = Figure(figsize=(width, height), dpi=_DPI, layout="constrained")
        title = fill(f"{figure.source}: {figure.title}", round(_TITLE_LETTERS * width))
        drawn.suptitle(title, fontsize=10)
        for axes, panel in zip(
            drawn.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
        ):
            _draw(axes, panel)
        drawn.savefig(picture, format=form, metadata=_METADATA[form])
        return _in_few_colours(picture) if form == "png" else picture.getvalue()


def _in_few_colours(picture: BytesIO) -> bytes:
    """Return a PNG with a palette: a third of the size, and no difference to be seen."""
    from PIL import Image

    smaller = BytesIO()
    with Image.open(picture) as image:
        image.convert("RGB").quantize(_COLOURS).save(smaller, format="png", optimize=True)
    return smaller.getvalue()


def _draw(axes: Axes, panel: Panel) -> None:
    bars = [curve for curve in panel.curves if curve.style == "bars"]
    for curve in panel.curves:
        if curve.style == "bars":
            width = 0.8 / len(bars)
            shift = (bars.index(curve) - (len(bars) - 1) / 2) * width
            axes.bar([x + shift for x in curve.x], list(curve.y), width=width, label=curve.label)
        else:
            _line(axes, curve)
    axes.set_title(panel.title, fontsize=9)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    if panel.groups:
        axes.set_xticks(range(len(panel.groups)), panel.groups)
    if panel.log_x:
        axes.set_xscale("log")
        _plain_ticks(axes, panel)
    if panel.log_y:
        axes.set_yscale("log")
    axes.grid(visible=True, alpha=0.3)
    if len(panel.curves) > _MOST_INSIDE:
        axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    elif len(panel.curves) > 1:
        axes.legend(fontsize=7)


def _plain_ticks(axes: Axes, panel: Panel) -> None:
    """Write 2, 3, 4 where powers of ten would leave a short axis without numbers."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    places = [x for curve in panel.curves for x in curve.x if x > 0]
    if places and max(places) < _DECADE * min(places):
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axes.xaxis.set_minor_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    else:
        axes.xaxis.set_minor_formatter(NullFormatter())


def _line(axes: Axes, curve: Curve) -> None:
    finite = [place for place, y in enumerate(curve.y) if math.isfinite(y)]
    x, y = ([values[place] for place in finite] for values in (curve.x, curve.y))
    style: dict[str, Any] = {"label": curve.label}
    if curve.style == "points":
        axes.plot(x, y, "o", markersize=4, **style)
        return
    (line,) = axes.plot(x, y, _STYLES[curve.style], **style)
    if curve.low is not None and curve.high is not None:
        low, high = ([side[place] for place in finite] for side in (curve.low, curve.high))
        axes.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
