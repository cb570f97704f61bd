"""``mipaudit render``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import TYPE_CHECKING, Annotated, Final

import typer

from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o

if TYPE_CHECKING:
    from mipaudit.commands.render.policy_of_report import ReportPolicy
    from mipaudit.statements.reports.kinds import AnyReport

HELP: Final = """Write a report in another form, or judge it by other limits, without the data.

REPORT is what any command wrote with -f json, or - for standard input. The exit code is
that of its verdict. With limits, a report of estimate is judged again by what it holds:
the limits given take the place of the old ones, a quantity that the report does not hold
is an error, and the report says how sure the new verdict is.

\b
Examples:
  mipaudit render report.json
      The report as a table.
  mipaudit render report.json -f html -o report.html
      A page for people; report.html.sha256 goes with it.
  mipaudit render report.json --max-advantage 0.05
      Would a stricter limit have been met? Exit 0: yes, 1: no, 3: it cannot tell.
  mipaudit render report.json --policy policy/mipaudit.toml
      By the limits and waivers of a policy file.
  mipaudit estimate scores.csv -f json | mipaudit render - -f markdown
"""


def render(  # noqa: PLR0913, PLR0917 - one parameter for each option
    report: Annotated[
        str,
        typer.Argument(metavar="REPORT", help="A report as JSON, or - for standard input."),
    ],
    max_advantage: o.MaxAdvantageOption = None,
    max_eta: o.MaxEtaOption = None,
    max_copies: o.MaxCopiesOption = None,
    max_tpr_at_fpr: o.MaxTprAtFprOption = None,
    max_metric: o.MaxMetricOption = None,
    against: o.AgainstOption = None,
    prior: Annotated[
        float | None,
        typer.Option(
            "--prior",
            metavar="P",
            help="The prior that the limits are meant for: an error if it is not the report's.",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="Judge by the limits of this policy file; none is looked for.",
        ),
    ] = None,
    format: c.FormatOption = "table",  # noqa: A002
    output: c.OutputOption = None,
    sha256: c.Sha256Option = True,  # noqa: FBT002
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
    exit_zero: o.ExitZeroOption = False,  # noqa: FBT002
) -> int:
    """Read the report, perhaps judge it again, and write it; return its exit code."""
    from mipaudit.commands.render.policy_of_report import report_policy
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note_written, tame_warnings
    from mipaudit.output.presentation import encode
    from mipaudit.output.report_exit import report_exit
    from mipaudit.reading.report_file import read_report

    tame_warnings(verbose=verbose)
    typed = {
        "max_advantage": max_advantage,
        "max_eta": max_eta,
        "max_copies": max_copies,
        "max_tpr_at_fpr": max_tpr_at_fpr,
        "max_metric": tuple(max_metric) if max_metric else None,
        "against": against,
        "prior": prior,
    }
    limits = report_policy(typed, policy)
    destination = Destination.open(output, inputs=(report, policy), sha256=sha256)
    found: AnyReport = read_report(report)
    # A file that says nothing of limits is an error, not a report as it was.
    if limits.values or policy is not None:
        found = _judged(found, limits)
    destination.write(encode(found, format, to_file=destination.path is not None))
    if destination.path is not None:
        note_written(found, quiet=quiet)
    return report_exit(found, exit_zero=exit_zero)


def _judged(report: "AnyReport", limits: "ReportPolicy") -> "AnyReport":
    from mipaudit.commands.render.policy_of_report import require_same_audit
    from mipaudit.commands.render.run import rejudge
    from mipaudit.options.texts.operating_limit import parse_operating_limit

    if report.command == "estimate":
        require_same_audit(report.provenance.settings, limits.audit)
    values = dict(limits.values)
    values["max_tpr_at_fpr"] = parse_operating_limit(values.get("max_tpr_at_fpr"))
    return rejudge(report, **values, settings=limits.settings)
