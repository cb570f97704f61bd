"""``mipaudit epsilon``: the report, and the curve beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mipaudit.commands.epsilon.run import answer_epsilon
from mipaudit.output.destination import Destination
from mipaudit.output.report_written import write_report

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.options import EpsilonOptions, EpsilonShown
    from mipaudit.commands.epsilon.report import EpsilonReport


def run_epsilon(asked: EpsilonOptions, shown: EpsilonShown) -> int:
    """Run the audit and write its report; return the exit code."""
    if shown.curve is None:
        return write_report(asked, shown, answer_epsilon)
    from mipaudit.commands.epsilon.pages.profile_file import ProfileFile

    inputs = asked.inputs()
    report_place = Destination.open(shown.output, inputs=inputs)
    profile = ProfileFile.open(shown.curve, report=report_place, inputs=inputs)

    def answer(asked: EpsilonOptions) -> EpsilonReport:
        report = answer_epsilon(asked)
        profile.write(report)
        return replace(report, profile=None)  # it has a file of its own

    return write_report(asked.but(curve=True), shown, answer)
