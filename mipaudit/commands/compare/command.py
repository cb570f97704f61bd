"""``mipaudit compare``."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

from mipaudit.options import common_options as c  # noqa: TC001 - typer reads it
from mipaudit.options import shared_options as o  # noqa: TC001
from mipaudit.output.exit_code import verdict_status

HELP: Final = """Say which of several queries leaks most, and by how much.

Every query's advantage, the differences with limits that hold jointly over all pairs, a
ranking with what is certain about it, the largest of them chosen honestly, and what two
scores tell together. A difference is for a named class of attackers.

Given JSON reports of estimate instead of scores: what changed from the first to the
others, by the limits that they hold.

\b
Examples:
  mipaudit compare scores.parquet
      Every score column is a query, asked about the same rows.
  mipaudit compare scores.parquet --score-col loss --score-col lira_online
      These two.
  mipaudit compare old=v1.parquet new=v2.parquet --key-col record_id
      Two files of the same records, matched by key, under names of their own.
  mipaudit compare a.csv b.csv --independent
      Two files of different records.
  mipaudit compare old=v1.parquet new=v2.parquet --baseline old --max-increase 0.02
      A policy: exit 0 if new leaks at most 0.02 more than old, 1 if it leaks more,
      3 if nobody can tell yet.
  mipaudit compare old.json new.json --max-increase 0.05
      Two reports of estimate: exit 0 if no score leaks more than 0.05 more in the new
      one, 1 if one does, 3 if their limits leave it open. To compare the score files
      is more precise.
  mipaudit compare scores.parquet --against bins-16 -f json -o compare.json
      Another class of attackers, and a report for programs.
"""


def compare(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    scores: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCORES...",
            help="Score files, directories, globs or -, or reports of estimate (.json), each as "
            "PATH or NAME=PATH.",
            show_default=False,
        ),
    ] = None,
    members: o.MembersOption = None,
    holdout: o.HoldoutOption = None,
    score_columns: o.ScoreColumnOption = None,
    member_column: o.MemberColumnOption = None,
    member_value: o.MemberValueOption = None,
    where: o.WhereOption = None,
    unit_column: o.UnitColumnOption = None,
    unit_rows: o.UnitRowsOption = None,
    rows_are: o.RowsAreOption = None,
    key_column: Annotated[
        str | None,
        typer.Option(
            "--key-col",
            metavar="NAME",
            help="Identifies a record; the rows of several files are matched by it.",
        ),
    ] = None,
    nan: o.NanOption = "error",
    prior: c.PriorOption = 0.5,
    confidence: c.ConfidenceOption = 0.95,
    discrete: o.DiscreteOption = False,  # noqa: FBT002
    independent: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--independent", help="The files hold different records.")
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="NAME",
            help="Compare all others with this query, not every pair; of reports, the old one.",
        ),
    ] = None,
    max_increase: Annotated[
        float | None,
        typer.Option(
            "--max-increase",
            metavar="X",
            help="Policy: no query, or no score of a new report, leaks more than the baseline by "
            "more than X.",
        ),
    ] = None,
    against: Annotated[
        Literal[
            "any", "thresholds", "intervals-1", "intervals-4", "bins-16", "product-grid", "learned"
        ]
        | None,
        typer.Option(
            "--against",
            help="The attackers of the ranking and the policy. Default: any where every score is "
            "discrete, else thresholds. The last two are for reports on scores of several numbers.",
            show_default=False,
        ),
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
    """Run the comparison and write its report; return the exit code."""
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.cli.spare_imports import spare_imports
    from mipaudit.commands.compare import run as api
    from mipaudit.options.seed_text import parse_seed
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note_written, tame_warnings
    from mipaudit.output.presentation import encode
    from mipaudit.output.progress import progress_bar

    tame_warnings(verbose=verbose)
    spare_imports()
    given = tuple(scores or ())
    paths = (*given, *(one.partition("=")[2] for one in given if "=" in one), members, holdout)
    destination = Destination.open(output, inputs=paths, sha256=sha256)
    with progress_bar(quiet=quiet) as progress:
        report = api.compare(
            *given,
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
            prior=prior,
            confidence=confidence,
            discrete=discrete,
            independent=independent,
            baseline=baseline,
            max_increase=max_increase,
            against=against,
            seed=parse_seed(seed),
            hash_inputs=hash_inputs,
            jobs=jobs,
            progress=progress,
            settings=settings_of(context),
        )
    destination.write(encode(report, format, to_file=destination.path is not None))
    if destination.path is not None:
        note_written(report, quiet=quiet)
    return verdict_status(report.verdict.status, exit_zero=exit_zero)
