"""What ``mipaudit query lira`` may be asked."""

from typing import Annotated, Any, Literal

from mipaudit.commands.query.model.options import outputs_file
from mipaudit.options.declare import Option, Options
from mipaudit.options.groups.recorded import Recorded
from mipaudit.options.plain_values import require

Values = Literal["phi", "probability", "loss"]
Variance = Literal["fixed", "per-record"]


class _Shadow(Options, kw_only=False):
    shadow: Annotated[
        Any,
        outputs_file(
            "--shadow",
            "Confidences of the shadow models.",
            "A .npy, .npz, CSV or Parquet file, or an array, of shape (models, records) or "
            "(records, models). An .npz archive may hold all inputs: shadow, inclusion, target, "
            "member.",
        ),
    ] = None


class _Lira(Options):
    inclusion: Annotated[
        Any,
        outputs_file(
            "--inclusion",
            "Which model was trained with which record, 0 or 1.",
            "Of the same shape.",
        ),
    ] = None
    target: Annotated[
        Any,
        outputs_file("--target", "Confidences of the target model.", "Of shape (records,)."),
    ] = None
    membership: Annotated[
        Any,
        outputs_file(
            "--membership",
            "Whether the target was trained with each record.",
            "Of shape (records,).",
        ),
    ] = None
    values: Annotated[
        Values, Option("--values", "What the confidences are: phi is log(p / (1-p)).")
    ] = "phi"
    variance: Annotated[
        Variance, Option("--variance", "One for all records, or each record's own.")
    ] = "fixed"
    rows: Annotated[
        Literal["models", "records"] | None,
        Option("--rows", "What a row of SHADOW is, where its shape leaves it open."),
    ] = None


class LiraOptions(_Shadow, _Lira, Recorded):
    """What shadow models and the target say of records."""

    HELP = """Make the likelihood-ratio score of shadow models.

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

    def check(self) -> None:
        """Require the shadow models."""
        super().check()
        require(
            self.shadow is not None,
            "shadow",
            "The confidences of shadow models are needed.",
            "For example: mipaudit query lira --shadow shadows.npz -o scores.parquet",
        )
