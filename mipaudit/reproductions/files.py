"""The files that ``reproduce`` writes: plot, data and comparison, all or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import MissingExtraError
from mipaudit.output.destination import Destination, write_together
from mipaudit.output.notes import note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from mipaudit.reproductions.report import ReproducedFigure


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


def write_figure(
    figure: ReproducedFigure, places: Mapping[str, Destination], form: str, *, quiet: bool
) -> None:
    """Write the files of a figure; without matplotlib all but the plot, and a hint.

    Args:
        figure: what came out.
        places: from :func:`open_places`.
        form: of the plot.
        quiet: no hint.

    Raises:
        OutputError: a file cannot be written.
    """
    from mipaudit.reproductions.page import reproduction_csv, reproduction_markdown

    data, plot = f"{figure.id}.csv", f"{figure.id}.{form}"
    drawn = _drawn(figure, form, quiet=quiet)
    shown = None if drawn is None else plot
    parts = {
        data: reproduction_csv(figure).encode(),
        f"{figure.id}.md": reproduction_markdown(figure, shown, data=data).encode(),
    }
    if drawn is not None:
        parts[plot] = drawn
    write_together([(places[name], content) for name, content in parts.items()])


def _drawn(figure: ReproducedFigure, form: str, *, quiet: bool) -> bytes | None:
    from mipaudit.reproductions.plot import draw_reproduction

    try:
        return draw_reproduction(figure, form)
    except MissingExtraError as error:
        note(f"No plot: {error}", quiet=quiet)
        return None
