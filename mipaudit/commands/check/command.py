"""``mipaudit check``."""

from __future__ import annotations

from typing import Final

import typer  # noqa: TC002 - typer reads the annotations when it runs

from mipaudit.options import common_options as c  # noqa: TC001 - typer reads it
from mipaudit.options import shared_options as o  # noqa: TC001 - typer reads it when it runs
from mipaudit.output import exit_code

HELP: Final = """Say what is in a score file, and whether it can be audited.

Prints the columns that an audit would take, the rows per class, ties and repeated
values, and anything worth knowing before an audit. Exit code 0: it can be audited;
2: it cannot, and why. No value from the data is ever printed.

\b
Examples:
  mipaudit check scores.parquet
  mipaudit check --members in.csv --holdout out.csv
  mipaudit check scores.csv --score-col loss --where 'model = 3' -f json
"""


def check(  # noqa: PLR0913, PLR0917 - one parameter for each option
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
    on_bad_part: o.OnBadPartOption = "error",
    seed: o.AuditSeedOption = None,
    hash_inputs: o.HashInputsOption = False,  # noqa: FBT002
    jobs: o.JobsOption = None,
    engine: o.EngineOption = "auto",
    scheduler: o.SchedulerOption = None,
    format: c.FormatOption = "table",  # noqa: A002
    output: c.OutputOption = None,
    sha256: c.Sha256Option = True,  # noqa: FBT002
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
) -> int:
    """Check the input and write what was found; return the exit code."""
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.cli.spare_imports import spare_imports
    from mipaudit.commands.check import run as api
    from mipaudit.options.seed_text import parse_seed
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import tame_warnings
    from mipaudit.output.presentation import encode
    from mipaudit.output.progress import progress_bar

    tame_warnings(verbose=verbose)
    spare_imports()
    destination = Destination.open(output, inputs=(scores, members, holdout), sha256=sha256)
    with progress_bar(quiet=quiet) as progress:
        report = api.check(
            scores,
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
            seed=parse_seed(seed),
            hash_inputs=hash_inputs,
            jobs=jobs,
            engine=engine,
            scheduler=scheduler,
            on_bad_part=on_bad_part,
            progress=progress,
            settings=settings_of(context),
        )
    destination.write(encode(report, format, to_file=destination.path is not None))
    return exit_code.OK
