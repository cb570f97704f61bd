"""``mipaudit bounds``: the report, and the curves behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mipaudit.commands.bounds.run import answer_bounds
from mipaudit.output import exit_code
from mipaudit.output.destination import Destination
from mipaudit.output.notes import note
from mipaudit.output.presentation import encode

if TYPE_CHECKING:
    from mipaudit.commands.bounds.options import BoundsOptions, BoundsShown


def run_bounds(asked: BoundsOptions, shown: BoundsShown) -> int:
    """Translate, and write the answer; return the exit code."""
    destination = Destination.open(shown.output, sha256=shown.sha256)
    if shown.curve is None and shown.plot is None:
        report = answer_bounds(asked)
    else:
        from mipaudit.commands.bounds.pages.curve_files import CurveFiles

        files = CurveFiles.open(curve=shown.curve, plot=shown.plot, report=destination)
        report = answer_bounds(asked.but(curves=True))
        files.write(report)
    short = replace(report, curves=None)  # they have a file of their own
    destination.write(encode(short, shown.format, to_file=destination.path is not None))
    if destination.path is not None:
        note("The report is written.", quiet=shown.quiet)
    return exit_code.OK
