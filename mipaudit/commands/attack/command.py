"""``mipaudit attack``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Any, Final

import typer

from mipaudit.cli.exit.status import verdict_exit
from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o

HELP: Final = """Say what the named attacks of the literature achieve.

Each published attack on the score, with limits that hold, beside the limits of the best
attacker who sees it: the bounded-loss attack, thresholds at the mean loss and at standard
errors (Yeom et al.), the top n (LOGAN) and the top half, the best threshold and one for
each class (Song and Mittal). And the generalization gap.

An attack that learns its threshold learns it from the burn-in, a part of the rows, and is
judged on the others. All scores are held in memory.

\b
Examples:
  mipaudit attack scores.parquet
      Every attack that applies to every score, and how far each is from the best.
  mipaudit attack scores.parquet --score-col loss --loss-bound 5
      The loss is at most 5, or counts as 5: the bounded-loss attack, and limits of the
      generalization gap.
  mipaudit attack residuals.csv --residuals
      Label less prediction: Gaussian thresholds with two standard errors and with one.
  mipaudit attack residuals.csv --residuals --sigma-members 1.2 --sigma-holdout 1.5
      With the standard errors as they were published: nothing is learned.
  mipaudit attack groups.parquet --score-col loss --by sex
      A threshold for each class, and what it achieves within each.
  mipaudit attack scores.parquet --max-advantage 0.1
      A policy on these attacks: exit 0 if each is within, 1 if one of them, or the best
      attacker, is surely above, 3 if it is open. Met says nothing of the best attacker.
"""


def _option(name: str, help: str, metavar: str = "X") -> Any:  # noqa: A002, ANN401 - typer says so too
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


def attack(  # noqa: PLR0913, PLR0917 - one parameter for each option
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
    member_side: o.MemberSideOption = "auto",
    residuals: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--residuals", help="The scores are residuals: attack their size.")
    ] = False,
    loss_bound: Annotated[
        float | None, _option("--loss-bound", "The loss is at most X; above it counts as X.")
    ] = None,
    mean_loss: Annotated[
        float | None, _option("--mean-loss", "The mean loss of the members, as published.")
    ] = None,
    sigma_members: Annotated[
        float | None, _option("--sigma-members", "Standard error on members, as published.")
    ] = None,
    sigma_holdout: Annotated[
        float | None, _option("--sigma-holdout", "Standard error on others, as published.")
    ] = None,
    by: Annotated[
        str | None,
        _option("--by", "Give each value of these columns a threshold of its own.", "COL,COL"),
    ] = None,
    min_cell: Annotated[
        int,
        typer.Option(
            "--min-cell", metavar="N", help="Fewest records of a class, or behind a mean, shown."
        ),
    ] = 10,
    max_advantage: o.MaxAdvantageOption = None,
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
    """Run the attacks and write the report; return the exit code."""
    from mipaudit.cli.output.destination import Destination
    from mipaudit.cli.output.notes import note_written, tame_warnings
    from mipaudit.cli.output.presentation import encode
    from mipaudit.cli.output.progress import progress_bar
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.commands.attack import run as api
    from mipaudit.options.seed_text import parse_seed

    tame_warnings(verbose=verbose)
    destination = Destination.open(output, inputs=(scores, members, holdout), sha256=sha256)
    with progress_bar(quiet=quiet) as progress:
        report = api.attack(
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
            prior=prior,
            confidence=confidence,
            member_side=member_side,
            residuals=residuals,
            loss_bound=loss_bound,
            mean_loss=mean_loss,
            sigma_members=sigma_members,
            sigma_holdout=sigma_holdout,
            by=tuple(name.strip() for name in by.split(",")) if by else (),
            min_cell=min_cell,
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
