"""``mipaudit simulate``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Any, Final, Literal

import typer

from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o
from mipaudit.output import exit_code

HELP: Final = """Draw a score file of which the truth is known.

Every scenario is a law of scores with closed forms: what the best attacker can reach,
the AUC, the TPR at low FPR, and epsilon where a mechanism makes the scores. Audit the
file and compare: this is how to check mipaudit, or any other tool, on your own machine.

\b
Examples:
  mipaudit simulate --list
      All scenarios. Names in capitals stand for numbers: laplace-EPS is laplace-2.5.
  mipaudit simulate laplace-1 -o scores.parquet
      1,000 members and 1,000 holdout records; the truth is printed, and written to
      scores.parquet.truth.json.
  mipaudit simulate leaked-atoms --n-members 50000 --n-holdout 50000 -o scores.csv.gz
  mipaudit simulate laplace-1 -q | mipaudit estimate -
  mipaudit simulate izzo-prop9-14 -o splits.csv
      Random splits, for mipaudit noise --from splits.csv.
"""


def _optional(name: str, help: str) -> Any:  # noqa: A002, ANN401 - typer says so too
    return typer.Option(name, metavar="N", help=help, show_default=False)


def simulate(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    scenario: Annotated[
        str | None,
        typer.Argument(metavar="SCENARIO", help="Its name, from --list.", show_default=False),
    ] = None,
    show_list: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--list", help="Show all scenarios.")
    ] = False,
    truth_only: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--truth-only", help="Say what is true, and draw nothing.")
    ] = False,
    n_members: Annotated[int | None, _optional("--n-members", "Members. Default: 1000.")] = None,
    n_holdout: Annotated[
        int | None, _optional("--n-holdout", "Holdout records. Default: 1000.")
    ] = None,
    n_canaries: Annotated[
        int | None, _optional("--n-canaries", "Canaries, in one run. Default: 1000.")
    ] = None,
    n_splits: Annotated[int | None, _optional("--n-splits", "Random splits. Default: 256.")] = None,
    prior: c.PriorOption = 0.5,
    order: Annotated[
        Literal["shuffled", "sorted", "members-first"],
        typer.Option("--order", help="Of the rows; sorted is by score."),
    ] = "shuffled",
    seed: o.SeedOption = 0,
    format: c.FormatOption = "table",  # noqa: A002
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the scores there (.csv, .csv.gz, .parquet), and FILE.truth.json beside "
            "it. Default: CSV to standard output, the truth to stderr.",
        ),
    ] = None,
    sha256: c.Sha256Option = True,  # noqa: FBT002
    quiet: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("-q", "--quiet", help="No notes, and no truth on stderr.")
    ] = False,
    verbose: c.VerboseOption = False,  # noqa: FBT002
) -> int:
    """Draw the file and say what is true of it; return the exit code."""
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.commands.simulate import run as api
    from mipaudit.commands.simulate.files import write_report, write_simulated
    from mipaudit.options.plain_values import require
    from mipaudit.output.notes import tame_warnings

    tame_warnings(verbose=verbose)
    require(
        (scenario is None) == show_list,
        "scenario",
        "Give the name of one scenario, or --list.",
        "For example: mipaudit simulate laplace-1 -o scores.parquet",
    )
    if scenario is None:
        write_report(api.list_scenarios(), format, output, sha256=sha256)
        return exit_code.OK
    planned = api.simulation(
        scenario,
        n_members=n_members,
        n_holdout=n_holdout,
        n_canaries=n_canaries,
        n_splits=n_splits,
        prior=prior,
        seed=seed,
        order=order,
        settings=settings_of(context),
    )
    if truth_only:
        write_report(planned.truth, format, output, sha256=sha256)
    else:
        write_simulated(planned, output, format=format, quiet=quiet)
    return exit_code.OK
