"""``mipaudit render``: a report in another form, or judged by other limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.render.policy_of_report import limits_for, require_same_audit
from mipaudit.output.destination import Destination
from mipaudit.output.notes import note_written
from mipaudit.output.presentation import encode
from mipaudit.output.report_exit import report_exit
from mipaudit.reading.report_file import read_report

if TYPE_CHECKING:
    from mipaudit.commands.render.options import RejudgeOptions, RenderShown


def run_render(asked: RejudgeOptions, shown: RenderShown) -> int:
    """Read the report, perhaps judge it again, and write it; return its exit code."""
    limits, audit = limits_for(asked, shown.policy)
    destination = Destination.open(
        shown.output, inputs=(*asked.inputs(), shown.policy), sha256=shown.sha256
    )
    found = read_report(asked.report)
    if limits.settings:
        from mipaudit.commands.render.run import answer_rejudge

        if found.command == "estimate":
            require_same_audit(found.provenance.settings, audit)
        found = answer_rejudge(limits.but(report=found))
    destination.write(encode(found, shown.format, to_file=destination.path is not None))
    if destination.path is not None:
        note_written(found, quiet=shown.quiet)
    return report_exit(found, exit_zero=shown.exit_zero)
