"""``mipaudit query lira``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Any, Final, Literal

import typer

from mipaudit.options import common_options as c
from mipaudit.output import exit_code

HELP: Final = """Make the likelihood-ratio score of shadow models.

Shadow models were trained on random parts of the records. For each record, what the target
model says is compared with what models trained with the record say and what models trained
without it say (online), or with the latter alone (offline): the attack LiRA (Carlini et al.
2022). The file goes to estimate, attack, records.

A file is .npy, .npz, CSV or Parquet. SHADOW has one confidence in the true class for each
model and record; INCLUSION, of the same shape, 1 where the model was trained with it.

\b
Examples:
  mipaudit query lira --shadow shadows.npz -o lira.parquet
      An archive with shadow, inclusion, target and member.
  mipaudit query lira --shadow phi.npy --inclusion coins.npy --target target.csv -o lira.csv
      The target's table has columns member and phi.
  mipaudit query lira --shadow p.npz --values probability -o lira.csv
      The archive has p of the true class, in place of phi = log(p / (1-p)).
  mipaudit query lira --shadow shadows.npz --variance per-record -o lira.csv
      Each record has a variance of its own: for many shadow models.
"""


def _file(name: str, help: str) -> Any:  # noqa: A002, ANN401 - typer says so too
    return typer.Option(name, metavar="FILE", help=help, show_default=False)


def query_lira(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    shadow: Annotated[str | None, _file("--shadow", "Confidences of the shadow models.")] = None,
    inclusion: Annotated[
        str | None, _file("--inclusion", "Which model was trained with which record, 0 or 1.")
    ] = None,
    target: Annotated[str | None, _file("--target", "Confidences of the target model.")] = None,
    membership: Annotated[
        str | None, _file("--membership", "Whether the target was trained with each record.")
    ] = None,
    values: Annotated[
        Literal["phi", "probability", "loss"],
        typer.Option("--values", help="What the confidences are: phi is log(p / (1-p))."),
    ] = "phi",
    variance: Annotated[
        Literal["fixed", "per-record"],
        typer.Option("--variance", help="One for all records, or each record's own."),
    ] = "fixed",
    rows: Annotated[
        Literal["models", "records"] | None,
        typer.Option("--rows", help="What a row of SHADOW is, where its shape leaves it open."),
    ] = None,
    format: c.FormatOption = "table",  # noqa: A002
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the scores there (.csv, .csv.gz, .parquet), all or nothing. Default: CSV "
            "to standard output, the report to stderr.",
        ),
    ] = None,
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
) -> int:
    """Make the scores and write them; return the exit code."""
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.commands.query.model.lira import run as api
    from mipaudit.commands.query.model.written_scores import write_scores
    from mipaudit.output.notes import tame_warnings

    tame_warnings(verbose=verbose)
    write_scores(
        lambda: api.query_lira(
            shadow,
            inclusion=inclusion,
            target=target,
            membership=membership,
            values=values,
            variance=variance,
            rows=rows,
            settings=settings_of(context),
        ),
        output,
        inputs=(shadow, inclusion, target, membership),
        format=format,
        quiet=quiet,
    )
    return exit_code.OK
