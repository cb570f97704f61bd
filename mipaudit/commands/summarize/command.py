"""``mipaudit summarize``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Final

import typer

from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o
from mipaudit.output import exit_code

HELP: Final = """Count scores into a small file that adds up with those of other parts.

A summary holds counts, and no record's score. mipaudit estimate reads any number of
them together: from parts that were counted at different times, on different machines,
or at sites that may not see each other's data. For the counts to add up, every part is
counted by the same cells: each site first says where its scores lie (--cuts-only), and
then counts by the cuts of all sites (--cuts).

\b
Examples:
  mipaudit summarize scores.parquet -o scores.summary
      All of one input; then: mipaudit estimate scores.summary
  mipaudit summarize a.csv --cuts-only -o a.cuts
      What site a tells the others: round cut points and counts of 10 records or more.
  mipaudit summarize b.csv --first-row 1e10 --cuts-only -o b.cuts
      Site b's rows stand elsewhere in the whole: positions must not overlap.
  mipaudit summarize a.csv --cuts a.cuts --cuts b.cuts -o a.summary
      Site a counts by the cuts of both; b likewise, with its --first-row. Then:
      mipaudit estimate a.summary b.summary
  mipaudit summarize large.parquet --min-cell 10 -o large.summary
      For a secure room: no count in the file is of fewer than 10 records.
"""

_OUTPUT_HINT: Final = "For example: -o part.summary, or -o - for standard output."


def summarize(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    scores: o.PartsArguments = None,
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
    cuts: Annotated[
        list[str] | None,
        typer.Option(
            "--cuts",
            metavar="FILE",
            help="Count by the cells of these cuts; repeat, with those of every site.",
            show_default=False,
        ),
    ] = None,
    cuts_only: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option("--cuts-only", help="Write where the scores lie, and no counts."),
    ] = False,
    first_row: Annotated[
        float | None,
        typer.Option(
            "--first-row",
            metavar="N",
            help="Position of the first row in the whole, from 0. Default: 0.",
            show_default=False,
        ),
    ] = None,
    min_cell: Annotated[
        int | None,
        typer.Option(
            "--min-cell",
            metavar="N",
            help="Fewest records of any count in the file. Default: no such bound.",
            show_default=False,
        ),
    ] = None,
    prior: c.PriorOption = 0.5,
    discrete: o.DiscreteOption = False,  # noqa: FBT002
    seed: o.AuditSeedOption = None,
    hash_inputs: o.HashInputsOption = False,  # noqa: FBT002
    jobs: o.JobsOption = None,
    engine: o.EngineOption = "auto",
    scheduler: o.SchedulerOption = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write. Needed."),
    ] = None,
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
) -> int:
    """Count and write the summary; return the exit code."""
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.commands.summarize import run as api
    from mipaudit.options.plain_values import require, whole_number
    from mipaudit.options.seed_text import parse_seed
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note, tame_warnings
    from mipaudit.output.progress import progress_bar

    tame_warnings(verbose=verbose)
    require(output is not None, "no_output", "Say where to write the summary.", _OUTPUT_HINT)
    destination = Destination.open(
        output, inputs=(*(scores or ()), *(cuts or ()), members, holdout)
    )
    with progress_bar(quiet=quiet) as progress:
        file = api.summarize(
            tuple(scores) if scores else None,
            members=members,
            holdout=holdout,
            score_columns=tuple(score_columns or ()),
            member_column=member_column,
            member_value=member_value,
            where=where,
            unit_column=unit_column,
            unit_rows=unit_rows,
            rows_are=rows_are,
            key_column=key_column,
            nan=nan,
            cuts=tuple(cuts or ()),
            cuts_only=cuts_only,
            first_row=None if first_row is None else whole_number("first_row", first_row),
            min_cell=min_cell,
            prior=prior,
            discrete=discrete,
            seed=parse_seed(seed),
            hash_inputs=hash_inputs,
            jobs=jobs,
            engine=engine,
            scheduler=scheduler,
            progress=progress,
            settings=settings_of(context),
        )
    data = file.to_bytes()
    destination.write(data)
    note(file.headline(len(data)), quiet=quiet)
    return exit_code.OK
