"""``mipaudit bounds``: the report, and the files with curves and a plot beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.bounds.run import answer_bounds
from mipaudit.output import exit_code
from mipaudit.output.beside import Asked, files_beside
from mipaudit.output.destination import Destination
from mipaudit.output.presentation import present
from mipaudit.output.terminal import note

if TYPE_CHECKING:
    from mipaudit.commands.bounds.options import BoundsOptions, BoundsShown

_CURVE_FORMS: Final = (".csv", ".json")
_PLOT_FORMS: Final = (".png", ".pdf", ".svg")


def run_bounds(asked: BoundsOptions, shown: BoundsShown) -> int:
    """Translate, and write the answer; return the exit code."""
    destination = Destination.open(shown.output, sha256=shown.sha256)
    if shown.plot is not None:
        from mipaudit.formats.drawing import require_plotting

        require_plotting()
    files = files_beside(
        [
            Asked("curve", "curves", _CURVE_FORMS, shown.curve),
            Asked("plot", "plot", _PLOT_FORMS, shown.plot),
        ],
        report=destination,
    )
    report = answer_bounds(asked.but(curves=True) if files else asked)
    if report.curves is not None and "curve" in files:
        from mipaudit.commands.bounds.curves import encode_curves

        place, form = files["curve"]
        place.write(encode_curves(report.curves, form))
    if report.curves is not None and "plot" in files:
        from mipaudit.commands.bounds.plot import draw_bounds

        place, form = files["plot"]
        place.write(draw_bounds(report, form))
    short = replace(report, curves=None)  # they have a file of their own
    present(short, shown, destination)
    if destination.path is not None:
        note("The report is written.", quiet=shown.quiet)
    return exit_code.OK
