"""``mipaudit shift``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Final

import typer

from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o
from mipaudit.output.exit_code import verdict_exit

HELP: Final = """Say whether members and holdout can be told apart without the model.

Two tables of records, with their features as columns. If the classes differ by
themselves, an advantage that is measured on a model may be no fault of the model.
The report names the columns that differ, and counts records and persons that are in
both classes; mipaudit estimate --blind holds only what goes beyond them against a model.

\b
Examples:
  mipaudit shift members.csv holdout.csv
      Columns are taken by name; types are found.
  mipaudit shift members.csv holdout.csv --id-col patient --ignore visit
      One row per patient and class; patients in both classes are counted.
  mipaudit shift members.csv holdout.csv --max-blind 0.3
      A policy: exit 0 if they are shown to be that much alike, 1 if not, 3 if it is open.
  mipaudit shift members.csv holdout.csv -f json -o shift.json
      For mipaudit estimate SCORES --blind shift.json.
"""

_MEMBERS: Final = (
    "The members' records: a CSV (also .gz, .zst) or Parquet file, a directory or glob of parts, "
    "or - for standard input."
)


def shift(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    members: Annotated[str, typer.Argument(metavar="MEMBERS", help=_MEMBERS, show_default=False)],
    holdout: Annotated[
        str,
        typer.Argument(
            metavar="HOLDOUT", help="The holdout's records, likewise.", show_default=False
        ),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="COL,COL",
            help="Compare these. Default: all but ids.",
            show_default=False,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            metavar="COL,COL",
            help="Leave these out.",
            show_default=False,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id-col",
            metavar="NAME",
            help="The person behind a row; one row per person and class is kept.",
            show_default=False,
        ),
    ] = None,
    confidence: c.ConfidenceOption = 0.95,
    strict: o.StrictOption = False,  # noqa: FBT002
    max_blind: Annotated[
        float | None,
        typer.Option("--max-blind", metavar="X", help="Policy: the blind advantage is at most X."),
    ] = None,
    seed: o.AuditSeedOption = None,
    hash_inputs: o.HashInputsOption = False,  # noqa: FBT002
    jobs: o.JobsOption = None,
    format: c.FormatOption = "table",  # noqa: A002
    output: c.OutputOption = None,
    sha256: c.Sha256Option = True,  # noqa: FBT002
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
    exit_zero: o.ExitZeroOption = False,  # noqa: FBT002
) -> int:
    """Compare the tables and write the report; return the exit code."""
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.commands.shift import run as api
    from mipaudit.options.seed_text import parse_seed
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note, tame_warnings
    from mipaudit.output.presentation import encode
    from mipaudit.output.progress import progress_bar

    tame_warnings(verbose=verbose)
    destination = Destination.open(output, inputs=(members, holdout), sha256=sha256)
    with progress_bar(quiet=quiet) as progress:
        report = api.shift(
            members,
            holdout,
            columns=tuple(columns or ()),
            ignore=tuple(ignore or ()),
            id_column=id_column,
            confidence=confidence,
            strict=strict,
            max_blind=max_blind,
            seed=parse_seed(seed),
            hash_inputs=hash_inputs,
            jobs=jobs,
            progress=progress,
            settings=settings_of(context),
        )
    destination.write(encode(report, format, to_file=destination.path is not None))
    if destination.path is not None:
        note("The report is written.", quiet=quiet)
    return verdict_exit(report.verdict, exit_zero=exit_zero)
