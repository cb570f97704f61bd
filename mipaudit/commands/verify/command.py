"""``mipaudit verify``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Final

import typer

from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o

HELP: Final = """Compute a report again from its scores, and say whether it is the same.

The settings are those that the report records. Every number must be the same, or within
1e-9; so must every word, and the sha256 and rows of the input. Other versions of
mipaudit and its libraries are told. Exit code 0: it agrees, 1: it differs, 2: it cannot
be computed again, and why.

\b
Examples:
  mipaudit verify report.json --input scores.parquet
  mipaudit verify report.json --members in.csv --holdout out.csv
  mipaudit verify compared.json --input v1.parquet --input v2.parquet
      A report of compare, of several inputs, in the same order and by the same names.
  mipaudit verify query.json --members m.csv --holdout h.csv --synthetic s.csv
      A report of query: every score again, by its sha256.
  mipaudit verify bounds.json
      Reports that were made without scores: bounds, noise, epsilon from counts.
"""


def verify(  # noqa: PLR0913, PLR0917 - one parameter for each option
    report: Annotated[
        str,
        typer.Argument(metavar="REPORT", help="A report as JSON, or - for standard input."),
    ],
    input: Annotated[  # noqa: A002
        list[str] | None,
        typer.Option(
            "--input",
            metavar="SCORES",
            help="What was audited; repeat for compare, as PATH or NAME=PATH.",
            show_default=False,
        ),
    ] = None,
    members: o.MembersOption = None,
    holdout: o.HoldoutOption = None,
    claimed_curve: Annotated[
        str | None,
        typer.Option(
            "--claimed-curve", metavar="FILE", help="The claimed ROC of a report of epsilon."
        ),
    ] = None,
    synthetic: Annotated[
        str | None,
        typer.Option(
            "--synthetic", metavar="FILE", help="The released records of a report of query."
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference", metavar="FILE", help="The reference records of a report of query."
        ),
    ] = None,
    jobs: o.JobsOption = None,
    format: c.FormatOption = "table",  # noqa: A002
    output: c.OutputOption = None,
    sha256: c.Sha256Option = True,  # noqa: FBT002
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
    exit_zero: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--exit-zero", help="Exit 0 also when the report differs.")
    ] = False,
) -> int:
    """Compute the report again and write what agrees; return the exit code."""
    from mipaudit.cli.spare_imports import spare_imports
    from mipaudit.commands.verify import run as api
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note, tame_warnings
    from mipaudit.output.presentation import encode
    from mipaudit.output.progress import progress_bar
    from mipaudit.output.report_exit import report_exit

    tame_warnings(verbose=verbose)
    spare_imports()
    given = tuple(input or ())
    paths = (*given, *(one.partition("=")[2] for one in given if "=" in one))
    destination = Destination.open(
        output,
        inputs=(report, *paths, members, holdout, claimed_curve, synthetic, reference),
        sha256=sha256,
    )
    with progress_bar(quiet=quiet) as progress:
        found = api.verify(
            report,
            input=given,
            members=members,
            holdout=holdout,
            claimed_curve=claimed_curve,
            synthetic=synthetic,
            reference=reference,
            jobs=jobs,
            progress=progress,
        )
    destination.write(encode(found, format, to_file=destination.path is not None))
    if destination.path is not None:
        note(f"{found.summary} The report is written.", quiet=quiet)
    return report_exit(found, exit_zero=exit_zero)
