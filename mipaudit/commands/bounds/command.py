"""``mipaudit bounds``: the report, and the files with curves and a plot beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from mipaudit.commands.bounds.run import answer_bounds
from mipaudit.errors import UsageError
from mipaudit.output import exit_code
from mipaudit.output.destination import Destination
from mipaudit.output.presentation import present
from mipaudit.output.terminal import note

if TYPE_CHECKING:
    from mipaudit.commands.bounds.options import BoundsOptions, BoundsShown
    from mipaudit.commands.bounds.report import BoundsReport

_CURVE_FORMS: Final = (".csv", ".json")
_PLOT_FORMS: Final = (".png", ".pdf", ".svg")


def run_bounds(asked: BoundsOptions, shown: BoundsShown) -> int:
    """Translate, and write the answer; return the exit code."""
    destination = Destination.open(shown.output, sha256=shown.sha256)
    if shown.curve is None and shown.plot is None:
        report = answer_bounds(asked)
    else:
        files = CurveFiles.open(curve=shown.curve, plot=shown.plot, report=destination)
        report = answer_bounds(asked.but(curves=True))
        files.write(report)
    short = replace(report, curves=None)  # they have a file of their own
    present(short, shown.format, destination)
    if destination.path is not None:
        note("The report is written.", quiet=shown.quiet)
    return exit_code.OK


class CurveFiles(NamedTuple):
    """Checked places for the curves and the plot; None where not asked for."""

    curve: Destination | None
    curve_form: str
    plot: Destination | None
    plot_form: str

    @classmethod
    def open(cls, *, curve: str | None, plot: str | None, report: Destination) -> Self:
        """Check both before anything is computed.

        Args:
            curve: the file for the curves.
            plot: the file for the plot.
            report: where the report goes.

        Raises:
            UsageError: a suffix that stands for no form, or one file for two things.
            OutputError: a place that cannot be written to.
            MissingExtraError: a plot without the plotting library.
        """
        if plot is not None:
            from mipaudit.formats.drawing import require_plotting

            require_plotting()
        found = cls(
            curve=None if curve is None else Destination.open(curve, option="`curve`"),
            curve_form=_form(curve, "curve", _CURVE_FORMS),
            plot=None if plot is None else Destination.open(plot, option="`plot`"),
            plot_form=_form(plot, "plot", _PLOT_FORMS),
        )
        places = [place.path for place in (report, found.curve, found.plot) if place and place.path]
        if len(set(places)) < len(places):
            raise UsageError(
                "same_file",
                "The report, the curves and the plot need a file each.",
                hint="Name different files for `output`, `curve` and `plot`.",
            )
        return found

    def write(self, report: BoundsReport) -> None:
        """Write what was asked for; the report holds the curves if anything was."""
        if report.curves is None:
            return
        if self.curve is not None:
            from mipaudit.commands.bounds.curves import encode_curves

            self.curve.write(encode_curves(report.curves, self.curve_form))
        if self.plot is not None:
            from mipaudit.commands.bounds.plot import draw_bounds

            self.plot.write(draw_bounds(report, self.plot_form))


def _form(name: str | None, option: str, forms: tuple[str, ...]) -> str:
    if name is None:
        return ""
    suffix = PurePath(name).suffix.lower()
    if suffix not in forms:
        raise UsageError(option, f"`{option}` takes a file name that ends in {', '.join(forms)}.")
    return suffix.removeprefix(".")
