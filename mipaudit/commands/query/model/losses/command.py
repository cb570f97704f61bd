"""``mipaudit query losses``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Any, Final

import typer

from mipaudit.options import common_options as c
from mipaudit.output import exit_code

HELP: Final = """Make scores of what a model says of records.

Loss, confidence, entropy, modified entropy (Song and Mittal), margin and correctness of
every record, from a model's logits or probabilities and the true classes; the loss less
that of a reference model, if there is one. The file goes to estimate, attack, records.

A file is .npy, .npz, CSV or Parquet, with one row for each record and one column for each
class. Labels are classes from 0. Labels and membership may be columns (label, member) or
arrays (labels, member) of the same file.

\b
Examples:
  mipaudit query losses --logits model.npz -o model_scores.parquet
      An archive with logits, labels and member.
  mipaudit query losses --logits m.npy --labels y.npy --membership in.npy -o model_scores.csv
      Each in a file of its own.
  mipaudit query losses --logits m.npz --holdout-logits h.npz -o model_scores.csv
      Members and holdout records in archives of their own, with logits and labels.
  mipaudit query losses --probabilities outputs.csv --scores loss,entropy -o model_scores.csv
      A table with columns member, label and one for each class; two scores.
  mipaudit query losses --logits model.npz --reference-logits reference.npy -o model_scores.csv
      With the loss that a reference model has not.
"""


def _file(name: str, help: str) -> Any:  # noqa: A002, ANN401 - typer says so too
    return typer.Option(name, metavar="FILE", help=help, show_default=False)


def query_losses(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    logits: Annotated[str | None, _file("--logits", "Outputs before softmax.")] = None,
    probabilities: Annotated[str | None, _file("--probabilities", "Outputs after softmax.")] = None,
    labels: Annotated[str | None, _file("--labels", "The true class of each record.")] = None,
    membership: Annotated[
        str | None, _file("--membership", "1 for members, 0 for holdout records.")
    ] = None,
    holdout_logits: Annotated[
        str | None, _file("--holdout-logits", "The holdout's, in a file of its own.")
    ] = None,
    holdout_probabilities: Annotated[
        str | None, _file("--holdout-probabilities", "The holdout's, in a file of its own.")
    ] = None,
    holdout_labels: Annotated[str | None, _file("--holdout-labels", "The holdout's.")] = None,
    reference_logits: Annotated[
        str | None, _file("--reference-logits", "Of a reference model, for the same records.")
    ] = None,
    reference_probabilities: Annotated[
        str | None, _file("--reference-probabilities", "In place of its logits.")
    ] = None,
    holdout_reference_logits: Annotated[
        str | None, _file("--holdout-reference-logits", "The same for the holdout.")
    ] = None,
    holdout_reference_probabilities: Annotated[
        str | None, _file("--holdout-reference-probabilities", "The same for the holdout.")
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            "--scores",
            metavar="NAME,NAME",
            help="Which: loss, conf_true, conf_max, entropy, mod_entropy, margin, phi, correct, "
            "loss_calibrated. Default: all but phi.",
            show_default=False,
        ),
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
    from mipaudit.commands.query.model.losses import run as api
    from mipaudit.commands.query.model.written_scores import write_scores
    from mipaudit.output.notes import tame_warnings

    tame_warnings(verbose=verbose)
    files = {
        "logits": logits,
        "probabilities": probabilities,
        "labels": labels,
        "membership": membership,
        "holdout_logits": holdout_logits,
        "holdout_probabilities": holdout_probabilities,
        "holdout_labels": holdout_labels,
        "reference_logits": reference_logits,
        "reference_probabilities": reference_probabilities,
        "holdout_reference_logits": holdout_reference_logits,
        "holdout_reference_probabilities": holdout_reference_probabilities,
    }
    names = tuple(name.strip() for name in scores.split(",")) if scores else ()
    write_scores(
        lambda: api.query_losses(**files, scores=names, settings=settings_of(context)),
        output,
        inputs=(*files.values(),),
        format=format,
        quiet=quiet,
    )
    return exit_code.OK
