"""``mipaudit reproduce``: its files, or the comparisons in print."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mipaudit.errors import MipauditError, OutputError
from mipaudit.output import exit_code
from mipaudit.output.destination import Destination
from mipaudit.output.terminal import note, progress_bar
from mipaudit.reproductions.options import FigureOptions
from mipaudit.reproductions.output import (
    open_places,
    reproduction_line,
    reproduction_markdown,
    write_figure,
)
from mipaudit.reproductions.run import (
    answer_reproduce,
    list_reproductions,
    reproducible,
    require_files,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.reproductions.options import ReproduceOptions, ReproduceShown


def run_reproduce(asked: ReproduceOptions, shown: ReproduceShown) -> int:
    """Compute the figures and write them; return the exit code."""
    if shown.show_list or not asked.figures:
        _print(_listing(list_reproductions()))
        return exit_code.OK
    adult, compas = asked.adult, asked.compas
    everything = reproducible(adult=adult is not None, compas=compas is not None)
    chosen = _chosen(asked.figures, everything)
    require_files(chosen, adult=adult, compas=compas)
    places = None
    if shown.output is not None:
        places = open_places(_folder(shown.output), chosen, shown.picture, asked.inputs())
    passed = True
    for place, name in enumerate(chosen):
        with _finished(place), progress_bar(quiet=shown.quiet, doing=name) as progress:
            figure = answer_reproduce(
                FigureOptions(
                    name,
                    quick=asked.quick,
                    adult=adult,
                    compas=compas,
                    seed=asked.seed,
                    progress=progress,
                )
            )
        passed = passed and figure.passed
        if places is None:
            _print(reproduction_markdown(figure, None))
        else:
            write_figure(figure, places, shown.picture)
            note(reproduction_line(figure), quiet=shown.quiet)
    if not passed:
        note("Some numbers did not come out: see above.", quiet=shown.quiet)
    return exit_code.OK if passed else exit_code.NOT_MET


@contextmanager
def _finished(figures: int) -> Iterator[None]:
    """Say, when control-C ends the run, that finished figures are not lost."""
    try:
        yield
    except KeyboardInterrupt:
        if not figures:
            raise
        interrupted = MipauditError(
            "interrupted",
            f"Interrupted; the figures that were finished before, {figures}, are whole.",
            hint="Run the command again with the ids of the others.",
        )
        interrupted.exit_code = exit_code.INTERRUPTED
        raise interrupted from None


def _chosen(figures: Sequence[str], everything: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ids, each once; ``all`` stands for those that can be computed."""
    names = [name for given in figures for name in (everything if given == "all" else (given,))]
    return tuple(dict.fromkeys(names))


def _listing(rows: tuple[tuple[str, str, str], ...]) -> str:
    wide, wider = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "".join(f"{name:{wide}}  {title:{wider}}  {source}\n" for name, title, source in rows)


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError):
        raise OutputError(
            "unwritable_output",
            "The folder for `output` cannot be made.",
            hint="Choose another folder, in a place that may be written to.",
        ) from None
    return folder


def _print(text: str) -> None:
    Destination.open(None).write((text.rstrip("\n") + "\n").encode())
