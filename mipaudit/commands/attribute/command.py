"""``mipaudit attribute``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Final

import typer

from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o
from mipaudit.output.exit_code import verdict_exit

HELP: Final = """Say how much better an attribute is guessed of members than of others.

An attacker guessed an attribute of each record, such as a diagnosis, with the help of the
release. Where the guesses are better for records of the training data than for others, the
release leaks of its members in particular: the attribute advantage (Yeom et al.). And
whether a guess is right then gives membership away, by at least as much as is shown.

GUESSES has one row per record: its attribute, the guess, and whether it is a member.

\b
Examples:
  mipaudit attribute guesses.csv
      With columns attribute, guess and member.
  mipaudit attribute guesses.csv --attribute-col race --guess-col guessed_race
      With columns of other names.
  mipaudit attribute guesses.csv --max-attribute-advantage 0.05
      A policy on these guesses: exit 0 if met, 1 if not, 3 if it is open. Met says nothing
      of those who guess better.
  mipaudit attribute guesses.csv -f json -o attribute.json
      A report for programs.
"""


def attribute(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    guesses: Annotated[
        str | None,
        typer.Argument(
            metavar="GUESSES",
            help="A CSV (also .gz, .zst) or Parquet file, a directory or glob of parts, "
            "or - for standard input.",
            show_default=False,
        ),
    ] = None,
    members: Annotated[
        str | None,
        typer.Option("--members", metavar="FILE", help="Guesses of members, with --holdout."),
    ] = None,
    holdout: Annotated[
        str | None,
        typer.Option("--holdout", metavar="FILE", help="Guesses of others, with --members."),
    ] = None,
    attribute_column: Annotated[
        str,
        typer.Option("--attribute-col", metavar="NAME", help="Holds the attribute as it is."),
    ] = "attribute",
    guess_column: Annotated[
        str,
        typer.Option("--guess-col", metavar="NAME", help="Holds what was guessed."),
    ] = "guess",
    member_column: o.MemberColumnOption = None,
    member_value: o.MemberValueOption = None,
    where: o.WhereOption = None,
    unit_column: o.UnitColumnOption = None,
    unit_rows: o.UnitRowsOption = None,
    rows_are: o.RowsAreOption = None,
    prior: c.PriorOption = 0.5,
    confidence: c.ConfidenceOption = 0.95,
    min_cell: Annotated[
        int,
        typer.Option(
            "--min-cell", metavar="N", help="Fewest members and holdout records of a value shown."
        ),
    ] = 10,
    max_attribute_advantage: Annotated[
        float | None,
        typer.Option(
            "--max-attribute-advantage",
            metavar="X",
            help="Policy: the attribute advantage of these guesses is at most X.",
        ),
    ] = None,
    max_advantage: Annotated[
        float | None,
        typer.Option(
            "--max-advantage",
            metavar="X",
            help="Policy: the membership advantage of these guesses is at most X.",
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
    """Count the guesses and write the report; return the exit code."""
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.commands.attribute import run as api
    from mipaudit.options.seed_text import parse_seed
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note_written, tame_warnings
    from mipaudit.output.presentation import encode
    from mipaudit.output.progress import progress_bar

    tame_warnings(verbose=verbose)
    destination = Destination.open(output, inputs=(guesses, members, holdout), sha256=sha256)
    with progress_bar(quiet=quiet) as progress:
        report = api.attribute(
            guesses,
            members=members,
            holdout=holdout,
            attribute_column=attribute_column,
            guess_column=guess_column,
            member_column=member_column,
            member_value=member_value,
            where=where,
            unit_column=unit_column,
            unit_rows=unit_rows,
            rows_are=rows_are,
            prior=prior,
            confidence=confidence,
            min_cell=min_cell,
            max_attribute_advantage=max_attribute_advantage,
            max_advantage=max_advantage,
            seed=parse_seed(seed),
            hash_inputs=hash_inputs,
            jobs=jobs,
            progress=progress,
            settings=settings_of(context),
        )
    destination.write(encode(report, format, to_file=destination.path is not None))
    if destination.path is not None:
        note_written(report, quiet=quiet)
    return verdict_exit(report.verdict, exit_zero=exit_zero)
