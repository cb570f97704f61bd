"""What ``mipaudit render`` may be asked."""

from typing import Annotated

from mipaudit.options.declare import Option, Options, but
from mipaudit.options.groups.game import ConfidenceOption, PriorOption
from mipaudit.options.groups.judging import ScorePolicy
from mipaudit.options.groups.recorded import Recorded, StoredReport
from mipaudit.options.groups.shown import ExitZero, Shown


class _MeantFor(Options):
    prior: Annotated[
        PriorOption[float | None],
        but("The prior that the limits are meant for: an error if it is not the report's."),
    ] = None
    confidence: Annotated[
        ConfidenceOption[float | None],
        but("That the limits are meant for; more than the report's is an error.", flag=None),
    ] = None


class RejudgeOptions(StoredReport, ScorePolicy, _MeantFor, Recorded):
    """A report, and other limits for it."""

    HELP = """Write a report in another form, or judge it by other limits, without the data.

REPORT is what any command wrote as .json or .html, or - for standard input. The exit code is
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


class RenderShown(Shown, ExitZero):
    """How the report is shown, and the file of its limits."""

    policy: Annotated[
        str | None,
        Option(
            "--policy",
            "Judge by the limits of this policy file; none is looked for.",
            metavar="FILE",
            recorded=False,
        ),
    ] = None
