"""What ``mipaudit reproduce`` may be asked, and the function of that name."""

from collections.abc import Sequence
from typing import Annotated, Literal

import mipaudit
from mipaudit.options.declare import Choice, Free, Options, but
from mipaudit.options.groups.recorded import FixedSeed
from mipaudit.options.groups.shown import ListOption, OutputOption, Said
from mipaudit.options.groups.working import Followed
from mipaudit.options.texts import file_path


def _complete(incomplete: str) -> list[str]:
    names = ["all", *(row[0] for row in mipaudit.list_reproductions())]
    return [name for name in names if name.startswith(incomplete)]


class _Figures(Options, kw_only=False):
    figures: Annotated[
        Sequence[str], Free("[FIGURE]...", "Ids, or all. Default: list them.", complete=_complete)
    ] = ()


class _Figure(Options, kw_only=False):
    figure: Annotated[str, Free("FIGURE", "Its id; `list_reproductions` has them all.")]


class _Form(Options):
    quick: Annotated[bool, Free("--quick", "A smaller form, of seconds.")] = False
    adult: Annotated[
        str | None,
        Choice(
            "--adult",
            "The Adult data.",
            metavar="FILE",
            read=file_path,
            is_input=True,
            in_python="For the figures that need it.",
        ),
    ] = None
    compas: Annotated[
        str | None,
        Choice(
            "--compas",
            "The COMPAS data.",
            metavar="FILE",
            read=file_path,
            is_input=True,
            in_python="For the figures that need it.",
        ),
    ] = None


class FigureOptions(_Figure, _Form, FixedSeed, Followed):
    """One figure, and the file that it may need."""


class ReproduceOptions(_Figures, _Form, FixedSeed):
    """Figures, and the files that they may need."""

    HELP = """Compute figures of the five papers anew.

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


class ReproduceShown(Said):
    """Where the figures go, and in which form."""

    show_list: Annotated[ListOption, but("Show all figures.")] = False
    output: Annotated[
        OutputOption[str | None],
        but("Write the files there; made if there is none. Default: only print.", metavar="DIR"),
    ] = None
    picture: Annotated[Literal["png", "svg"], Free("--picture", "Form of the plots.")] = "png"
