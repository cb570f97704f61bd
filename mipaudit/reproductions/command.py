"""``mipaudit reproduce``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from mipaudit.errors import MipauditError, OutputError
from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o
from mipaudit.output import exit_code

HELP: Final = """Compute figures of the five papers anew.

For each figure: a plot, its data as CSV, and a short comparison of what the paper says
with what came out, also where the paper is wrong. Data are simulated, models are small;
three figures take a file of yours. Exit code 0: all numbers that must come out do; 1: not.

\b
Examples:
  mipaudit reproduce --list
      The figures and what they are about.
  mipaudit reproduce izzo-fig1 -o figures
      figures/izzo-fig1.png, .csv and .md; without -o the comparison is printed.
  mipaudit reproduce humphries-fig1 lecture-thm2 --quick -o figures
      A smaller form, of seconds.
  mipaudit reproduce all -o figures
      All that need no file: minutes.
  mipaudit reproduce humphries-fig2 --adult adult.data --quick -o figures
      On the Adult data of the UCI machine learning repository.
"""


def _complete(incomplete: str) -> list[str]:
    from mipaudit.reproductions.run import list_reproductions

    names = ["all", *(row[0] for row in list_reproductions())]
    return [name for name in names if name.startswith(incomplete)]


def reproduce(  # noqa: PLR0913, PLR0917 - one parameter for each option
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FIGURE]...",
            help="Ids, or all. Default: list them.",
            show_default=False,
            autocompletion=_complete,
        ),
    ] = None,
    show_list: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--list", help="Show all figures.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write the files there; made if there is none. Default: only print.",
            show_default=False,
        ),
    ] = None,
    picture: Annotated[
        Literal["png", "svg"], typer.Option("--picture", help="Form of the plots.")
    ] = "png",
    quick: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--quick", help="A smaller form, of seconds.")
    ] = False,
    adult: Annotated[
        str | None,
        typer.Option("--adult", metavar="FILE", help="The Adult data.", show_default=False),
    ] = None,
    compas: Annotated[
        str | None,
        typer.Option("--compas", metavar="FILE", help="The COMPAS data.", show_default=False),
    ] = None,
    seed: o.SeedOption = 0,
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
) -> int:
    """Compute the figures and write them; return the exit code."""
    from mipaudit.output.notes import note, tame_warnings
    from mipaudit.output.progress import progress_bar
    from mipaudit.reproductions import run as api
    from mipaudit.reproductions.output import (
        open_places,
        reproduction_line,
        reproduction_markdown,
        write_figure,
    )

    tame_warnings(verbose=verbose)
    if show_list or not figures:
        _print(_listing(api.list_reproductions()))
        return exit_code.OK
    chosen = _chosen(figures, api.reproducible(adult=adult is not None, compas=compas is not None))
    api.require_files(chosen, adult=adult, compas=compas)
    places = None
    if output is not None:
        places = open_places(_folder(output), chosen, picture, (adult, compas))
    passed = True
    for place, name in enumerate(chosen):
        with _finished(place), progress_bar(quiet=quiet, doing=name) as progress:
            figure = api.reproduce(
                name, quick=quick, adult=adult, compas=compas, seed=seed, progress=progress
            )
        passed = passed and figure.passed
        if places is None:
            _print(reproduction_markdown(figure, None))
        else:
            write_figure(figure, places, picture, quiet=quiet)
            note(reproduction_line(figure), quiet=quiet)
    if not passed:
        note("Some numbers did not come out: see above.", quiet=quiet)
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


def _chosen(figures: list[str], everything: tuple[str, ...]) -> tuple[str, ...]:
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
            "The folder for -o cannot be made.",
            hint="Choose another folder, in a place that may be written to.",
        ) from None
    return folder


def _print(text: str) -> None:
    from mipaudit.output.destination import Destination

    Destination.open(None).write((text.rstrip("\n") + "\n").encode())
