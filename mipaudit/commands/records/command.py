"""``mipaudit records``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Any, Final, Literal

import typer

from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o
from mipaudit.output.exit_code import verdict_exit

HELP: Final = """Say how exposed every record is.

The risk of a record is how far its score moves an attacker's guess about its
membership: 0 where the score says nothing, 1 where it settles it. The score is cut
into cells; each cell's risk has limits that hold for all cells together.

\b
Examples:
  mipaudit records scores.parquet -o risks.parquet
      A row for each record, in the order of the input; the report is printed.
  mipaudit records scores.csv --key-col patient -o risks.csv --top 20
      With the records' own names in the file, and the 20 most exposed rows printed.
  mipaudit records scores.parquet --by sex,race
      How much leaks of each group, and which groups differ from the rest.
  mipaudit records scores.parquet --tau 0.8 --fdr 0.01
      The records whose cell has a risk above 0.8, at most 1% of the cells wrongly.
  mipaudit records scores.parquet --max-risk 0.5
      A policy: exit 0 if no cell's risk is above 0.5, 1 if one is, 3 if it is open.
"""


def _option(name: str, help: str, metavar: str = "N") -> Any:  # noqa: A002, ANN401 - typer says so too
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


def records(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    scores: o.ScoresArgument = None,
    members: o.MembersOption = None,
    holdout: o.HoldoutOption = None,
    score_columns: o.ScoreColumnOption = None,
    member_column: o.MemberColumnOption = None,
    member_value: o.MemberValueOption = None,
    where: o.WhereOption = None,
    unit_column: o.UnitColumnOption = None,
    unit_rows: o.UnitRowsOption = None,
    rows_are: o.RowsAreOption = None,
    key_column: o.KeyColumnOption = None,
    nan: o.NanOption = "error",
    prior: c.PriorOption = 0.5,
    confidence: c.ConfidenceOption = 0.95,
    discrete: o.DiscreteOption = False,  # noqa: FBT002
    cells: Annotated[
        int | None, _option("--cells", "About how many cells. Default: what the rows bear.")
    ] = None,
    min_cell: Annotated[
        int,
        typer.Option(
            "--min-cell", metavar="N", help="Fewest records of a cell or a group that is shown."
        ),
    ] = 10,
    tau: Annotated[
        float, typer.Option("--tau", metavar="X", help="List cells with a risk above X.")
    ] = 0.5,
    fdr: Annotated[
        float,
        typer.Option("--fdr", metavar="Q", help="False-discovery rate of the list, over cells."),
    ] = 0.05,
    top: Annotated[
        int, typer.Option("--top", metavar="N", help="Name the N most exposed records by row.")
    ] = 0,
    by: Annotated[
        str | None,
        _option("--by", "Tell groups apart by these columns.", "COL,COL"),
    ] = None,
    small_groups: Annotated[
        Literal["merge", "refuse"],
        typer.Option("--small-groups", help="Of fewer than --min-cell of a class."),
    ] = "merge",
    member_population: Annotated[
        int | None,
        _option("--member-population", "The members are a sample of N training records."),
    ] = None,
    max_risk: Annotated[
        float | None, _option("--max-risk", "Policy: the largest risk is at most X.", "X")
    ] = None,
    on_inconclusive: o.OnInconclusiveOption = "review",
    on_bad_part: o.OnBadPartOption = "error",
    seed: o.AuditSeedOption = None,
    hash_inputs: o.HashInputsOption = False,  # noqa: FBT002
    jobs: o.JobsOption = None,
    engine: o.EngineOption = "auto",
    scheduler: o.SchedulerOption = None,
    format: c.FormatOption = "table",  # noqa: A002
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write a row for each record there (.csv, .csv.gz, .parquet), all or nothing.",
        ),
    ] = None,
    safe_csv: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option(
            "--safe-csv",
            help="Put an apostrophe before keys in CSV that a spreadsheet would run.",
        ),
    ] = False,
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
    exit_zero: o.ExitZeroOption = False,  # noqa: FBT002
) -> int:
    """Run the audit, write the records and the report; return the exit code."""
    from contextlib import nullcontext

    from mipaudit.cli.settings.configured_command import listed_policy
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.cli.spare_imports import spare_imports
    from mipaudit.commands.records import run as api
    from mipaudit.options.seed_text import parse_seed
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note, tame_warnings
    from mipaudit.output.presentation import encode
    from mipaudit.output.progress import progress_bar
    from mipaudit.reading.rows.record_file import record_format

    tame_warnings(verbose=verbose)
    spare_imports()
    form = record_format(output, None)
    shown = Destination.open(None)
    rows = None
    if output is not None:
        rows = Destination.open(output, inputs=(scores, members, holdout), private=True)
    with (
        progress_bar(quiet=quiet) as progress,
        nullcontext() if rows is None else rows.stream() as file,
    ):
        report = api.records(
            scores,
            members=members,
            holdout=holdout,
            output=file,
            output_format=form,
            safe_csv=safe_csv,
            score_columns=tuple(score_columns or ()),
            member_column=member_column,
            member_value=member_value,
            where=where,
            unit_column=unit_column,
            unit_rows=unit_rows,
            rows_are=rows_are,
            key_column=key_column,
            nan=nan,
            prior=prior,
            confidence=confidence,
            discrete=discrete,
            cells=cells,
            min_cell=min_cell,
            tau=tau,
            fdr=fdr,
            top=top,
            by=tuple(name.strip() for name in by.split(",")) if by else (),
            small_groups=small_groups,
            member_population=member_population,
            max_risk=max_risk,
            on_inconclusive=on_inconclusive,
            **listed_policy(context),
            seed=parse_seed(seed),
            hash_inputs=hash_inputs,
            jobs=jobs,
            engine=engine,
            scheduler=scheduler,
            on_bad_part=on_bad_part,
            progress=progress,
            settings=settings_of(context),
        )
    shown.write(encode(report, format, to_file=False))
    if rows is not None:
        note("The records are written.", quiet=quiet)
    return verdict_exit(report.verdict, exit_zero=exit_zero)
