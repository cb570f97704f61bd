"""What the queries of models may be asked: files of outputs, and where the scores go."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Literal

from mipaudit.options.declare import Options, choice
from mipaudit.options.game import Recorded
from mipaudit.options.values import column_list, path_of, require

_EXAMPLE: Final = (
    "For example: mipaudit query losses --logits logits.npy --labels labels.npy --membership "
    "member.npy -o scores.parquet"
)
Values = Literal["phi", "probability", "loss"]
Variance = Literal["fixed", "per-record"]


def _name(given: object) -> str | None:
    return given if given is None or isinstance(given, str) else "in memory"


# A file, or an array, with one row for each record.
outputs_file: Any = partial(
    choice, read=path_of, told=_name, is_input=True, in_python="Or an array, in the same order."
)


class _Model(Options):
    logits: Any = outputs_file(
        "The model's raw outputs (before softmax turns them into probabilities).",
        in_python="A .npy, .npz, CSV or Parquet file, or an array (n, c): of all records, or of "
        "the members where a holdout is given.",
    )
    probabilities: Any = outputs_file("The model's probability of each class.")
    labels: Any = outputs_file("The true class of each record.")
    membership: Any = outputs_file("1 for members, 0 for holdout records.")
    holdout_logits: Any = outputs_file("Like `logits`, for holdout records in a file of their own.")
    holdout_probabilities: Any = outputs_file(
        "Like `probabilities`, for holdout records in a file of their own."
    )
    holdout_labels: Any = outputs_file("The true class of each holdout record.")

    reference_logits: Any = outputs_file("Logits of a reference model, for the same records.")
    reference_probabilities: Any = outputs_file("Like `reference_logits`, but probabilities.")
    holdout_reference_logits: Any = outputs_file(
        "Like `reference_logits`, for holdout records in a file of their own."
    )
    holdout_reference_probabilities: Any = outputs_file(
        "Like `reference_probabilities`, for holdout records in a file of their own."
    )

    scores: Sequence[str] = choice(
        "The scores to write: loss, conf_true, conf_max, entropy, mod_entropy, margin, phi, "
        "correct, loss_calibrated (needs a reference model). Default: all but phi.",
        default=(),
        metavar="NAME,NAME",
        read=column_list,
    )


class LossesOptions(_Model, Recorded):
    """The outputs of a model, and the scores to make of them."""

    HELP = """Make scores from a model's probabilities, or from its logits (raw outputs).

Writes several scores for every record, such as the loss. mipaudit help model-outputs explains each
score. With a reference model, trained on other records, there is one more score: the loss minus
that of the reference model.

A file is .npy, .npz, CSV or Parquet. The outputs have a row for each record and a column for each
class. A label says which class is true: 0 means the first class column, 1 the second. The same file
may hold labels and membership: as columns label and member, or as arrays labels and member.

\b
Examples:
  mipaudit query losses --logits model.npz -o model_scores.parquet
      model.npz holds three arrays: logits, labels and member.
  mipaudit query losses --logits m.npy --labels y.npy --membership in.npy -o model_scores.csv
      Logits, labels and membership, each in a file of its own.
  mipaudit query losses --logits m.npz --holdout-logits h.npz -o model_scores.csv
      Members are in one archive, holdout records in another, each with logits and labels.
  mipaudit query losses --probabilities outputs.csv --scores loss,entropy -o model_scores.csv
      The table has columns member and label, and one for each class. Writes two scores.
"""

    def outputs(self, whose: str = "") -> tuple[Any, Any]:
        """Return the logits and the probabilities of those that a prefix names."""
        return getattr(self, f"{whose}logits"), getattr(self, f"{whose}probabilities")

    @property
    def has_holdout(self) -> bool:
        """Tell whether the holdout's outputs stand in a file of their own."""
        return bool(self._given("holdout_"))

    @property
    def has_reference(self) -> bool:
        """Tell whether there is a reference model, at least for members."""
        return bool(self._given("reference_"))

    def check(self) -> None:
        """Refuse outputs that are given twice, not at all, or without those beside them."""
        super().check()
        given, first = self._given, "the members" if self.has_holdout else "the records"
        require(
            not (self.has_holdout and self.membership is not None),
            "two_memberships",
            "If the holdout has its own files, the other files are all members.",
            "Leave `membership` out.",
        )
        neither = f"Give `logits` or `probabilities` of {first}."
        require(bool(given("")), "outputs", neither, _EXAMPLE)
        for prefix, what in (
            ("", first),
            ("holdout_", "the holdout"),
            ("reference_", "the reference model"),
            ("holdout_reference_", "the reference model"),
        ):
            text = f"Give `{prefix}logits` or `{prefix}probabilities` of {what}, not both."
            require(len(given(prefix)) < 2, "outputs", text, _EXAMPLE)  # noqa: PLR2004
        for prefix in ("", "reference_"):
            kinds = given(prefix) | given(f"holdout_{prefix}")
            require(
                len(kinds) < 2,  # noqa: PLR2004
                "two_kinds",
                "Logits are given for members and probabilities for holdout, or the reverse.",
                "Give the same for both: different rounding would reveal membership.",
            )
        alone = self.holdout_labels is not None or given("holdout_reference_")
        require(
            self.has_holdout or not alone,
            "no_holdout",
            "Labels or a reference are given for the holdout, but not its outputs.",
            "Add `holdout_logits` or `holdout_probabilities`.",
        )

    def _given(self, whose: str) -> set[int]:
        """Return which are given of those that a prefix names: 0 for logits, else 1."""
        return {at for at, one in enumerate(self.outputs(whose)) if one is not None}


class _Shadow(Options, kw_only=False):
    shadow: Any = outputs_file(
        "Confidences of the shadow models.",
        in_python="A .npy, .npz, CSV or Parquet file, or an array, of shape (models, records) or "
        "(records, models). An .npz may hold all inputs: shadow, inclusion, target, member.",
    )


class _Lira(Options):
    inclusion: Any = outputs_file("1 where a model was trained with a record, else 0.")
    target: Any = outputs_file("Confidences of your model.")
    membership: Any = outputs_file("Whether your model was trained with each record.")
    values: Values = choice("How the files state confidences.", default="phi")
    variance: Variance = choice(
        "How far confidences vary: one figure for all records (fixed), or one for each, which "
        "needs many shadow models (per-record).",
        default="fixed",
    )
    rows: Literal["models", "records"] | None = choice(
        "Whether a row of `shadow` is for a model or a record. Needed if both are equally many."
    )


class LiraOptions(_Shadow, _Lira, Recorded):
    """What shadow models and the target say of records."""

    HELP = """Make the likelihood-ratio score (LiRA) from shadow models.

Shadow models are models like yours (the target), trained on random parts of the records. A model's
confidence in a record is a number, phi = log(p / (1-p)), where p is the probability that the model
gives to the record's true class. The score lira_online compares the target's confidence with those
of two groups of shadow models: trained with the record, and without it. The score lira_offline uses
only the second group (Carlini et al., 2022). Then run mipaudit estimate.

A file is .npy, .npz, CSV or Parquet. The files of --shadow and --inclusion have a number for each
model and record. With --values, files may state p itself or the loss instead of phi.

\b
Examples:
  mipaudit query lira --shadow shadows.npz -o lira.parquet
      shadows.npz holds four arrays: shadow, inclusion, target and member.
  mipaudit query lira --shadow phi.npy --inclusion coins.npy --target target.csv -o lira.csv
      The target's table has columns member and phi.
  mipaudit query lira --shadow p.npz --values probability -o lira.csv
      The archive states probabilities of the true class, not phi.
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
