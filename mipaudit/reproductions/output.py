"""A reproduced figure as text, as a picture, and as the files of ``reproduce``, all or none."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO, StringIO
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from mipaudit.formats.drawing import own_style, quiet_plotting
from mipaudit.output.destination import Destination, write_together

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from mipaudit.reproductions.report import Check, Curve, Panel, ReproducedFigure

_BORNE_OUT: Final = {"yes": "yes", "partly": "partly", "no": "**no**"}
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


def reproduction_markdown(
    figure: ReproducedFigure, picture: str | None, *, heading: str = "#", data: str | None = None
) -> str:
    """Return the comparison of a figure as Markdown.

    Args:
        figure: what came out.
        picture: name of the picture's file; None for none.
        heading: of the title.
        data: name of the data's file; None does not mention it.
    """
    outcome = figure.outcome
    parts = [
        f"{heading} `{figure.id}`: {figure.title}",
        f"{figure.source}. {figure.shows}",
        f"The paper concludes: {figure.claim}",
    ]
    if picture is not None:
        parts.append(f"![{figure.title}]({picture})")
    if data is not None:
        parts.append(f"The data of the curves: [{data}]({data}).")
    if figure.quick:
        parts.append("This is the smaller form (`--quick`): its numbers are rough.")
    parts.append(
        _table(
            ("the paper says", "here", "borne out"),
            [(claim.says, claim.found, _BORNE_OUT[claim.agrees]) for claim in outcome.claims],
        )
    )
    parts += _listed("Where the paper needs correction:", outcome.errata)
    parts += _listed("What is different here:", outcome.differences)
    parts.append("What must come out:")
    parts.append(
        _table(
            ("number", "found", "must be", "because", ""),
            [
                (check.name, _text(check.found), _range(check), check.why, _mark(check))
                for check in outcome.checks
            ],
        )
    )
    parts.append(f"Seed {figure.seed}.")
    return "\n\n".join(parts) + "\n"


def reproduction_csv(figure: ReproducedFigure) -> str:
    """Return the data of all curves, one row for each point."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["panel", "curve", "x", "y", "low", "high"])
    for panel in figure.outcome.panels:
        writer.writerows(_rows(panel))
    return file.getvalue()


def reproduction_line(figure: ReproducedFigure) -> str:
    """Return one line: the id, and whether its checks hold."""
    failed = [check.name for check in figure.outcome.checks if not check.passed]
    if not failed:
        return f"{figure.id}: all {len(figure.outcome.checks)} checks hold."
    return f"{figure.id}: FAILED: " + "; ".join(failed) + "."


def _rows(panel: Panel) -> Iterator[tuple[str, ...]]:
    for curve in panel.curves:
        low, high = (
            [""] * len(curve.y) if side is None else [repr(float(value)) for value in side]
            for side in (curve.low, curve.high)
        )
        for place, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
            where = panel.groups[int(x)] if panel.groups else repr(float(x))
            value = repr(float(y)) if math.isfinite(y) else ""
            yield panel.title, curve.label, where, value, low[place], high[place]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _listed(title: str, items: tuple[str, ...]) -> list[str]:
    return [title, "\n".join(f"- {item}" for item in items)] if items else []


def _text(value: float) -> str:
    return f"{value:.5g}"


def _range(check: Check) -> str:
    if math.isinf(check.low):
        return f"at most {_text(check.high)}"
    if math.isinf(check.high):
        return f"at least {_text(check.low)}"
    return f"{_text(check.low)} to {_text(check.high)}"


def _mark(check: Check) -> str:
    return "holds" if check.passed else "**FAILS**"


def draw_reproduction(figure: ReproducedFigure, form: str) -> bytes:
    """Return the picture as the bytes of a file, the same for equal figures.

    Args:
        figure: what came out.
        form: ``png`` or ``svg``.
    """
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


def open_places(
    folder: Path, figures: Iterable[str], form: str, inputs: Iterable[str | None]
) -> dict[str, Destination]:
    """Check, before anything is computed, that every file can be written.

    Args:
        folder: is there.
        figures: ids.
        form: of the plots, ``png`` or ``svg``.
        inputs: files that must not be overwritten.

    Returns:
        The places, by the files' names.

    Raises:
        OutputError: a file cannot be written.
        UsageError: a file would take the place of an input.
    """
    read = tuple(inputs)
    names = [f"{figure}.{end}" for figure in figures for end in ("csv", "md", form)]
    return {name: Destination.open(str(folder / name), inputs=read) for name in names}


def write_figure(figure: ReproducedFigure, places: Mapping[str, Destination], form: str) -> None:
    """Write the files of a figure.

    Args:
        figure: what came out.
        places: from :func:`open_places`.
        form: of the plot.

    Raises:
        OutputError: a file cannot be written.
    """
    data, plot = f"{figure.id}.csv", f"{figure.id}.{form}"
    parts = {
        data: reproduction_csv(figure).encode(),
        f"{figure.id}.md": reproduction_markdown(figure, plot, data=data).encode(),
        plot: draw_reproduction(figure, form),
    }
    write_together([(places[name], content) for name, content in parts.items()])
