"""The files that ``reproduce`` writes: plot, data and comparison, all or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.cli.destination import Destination, write_together
from mipaudit.cli.notes import note
from mipaudit.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mipaudit.report.reproduction import ReproducedFigure


def write_figure(
    figure: ReproducedFigure,
    folder: Path,
    form: str,
    inputs: Iterable[str | None],
    *,
    quiet: bool,
) -> None:
    """Write the files of a figure; without matplotlib all but the plot, and a hint.

    Args:
        figure: what came out.
        folder: is there.
        form: of the plot, ``png`` or ``svg``.
        inputs: files that must not be overwritten.
        quiet: no hint.

    Raises:
        OutputError: a file cannot be written.
        UsageError: a file would take the place of an input.
    """
    from mipaudit.render.reproduction_document import reproduction_csv, reproduction_markdown

    data, plot = f"{figure.id}.csv", f"{figure.id}.{form}"
    drawn = _drawn(figure, form, quiet=quiet)
    shown = None if drawn is None else plot
    parts = {
        data: reproduction_csv(figure).encode(),
        f"{figure.id}.md": reproduction_markdown(figure, shown, data=data).encode(),
    }
    if drawn is not None:
        parts[plot] = drawn
    read = tuple(inputs)
    write_together(
        [
            (Destination.open(str(folder / name), inputs=read), content)
            for name, content in parts.items()
        ]
    )


def _drawn(figure: ReproducedFigure, form: str, *, quiet: bool) -> bytes | None:
    from mipaudit.render.reproduction_plot import draw_reproduction

    try:
        return draw_reproduction(figure, form)
    except MissingExtraError as error:
        note(f"No plot: {error}", quiet=quiet)
        return None
