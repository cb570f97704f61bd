"""``mipaudit query losses``: scores of what a model says of records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.commands.query.model.losses.options import LossesOptions
from mipaudit.errors import InputError
from mipaudit.options.plain_values import require
from mipaudit.options.public import public

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.query.model.answer import ModelQuery
    from mipaudit.commands.query.model.answers import AnswerFiles, ModelAnswers

_CALIBRATED: Final = "loss_calibrated"
_UNLABELLED: Final = frozenset({"conf_max", "entropy"})
_DEFAULT: Final = (
    "loss",
    "conf_true",
    "conf_max",
    "entropy",
    "mod_entropy",
    "margin",
    "correct",
)
_MEANING: Final = (
    "loss less the reference model's loss on the same record (Watson et al. 2022); low for members"
)
_BOTH: Final = (
    "Mark members with 1 and holdout records with 0, or give the holdout in a file of its own, "
    "with `holdout_logits` or `holdout_probabilities`."
)
_SAME_RECORD: Final = (
    "The reference model must not have been trained on the audited records, and its outputs must "
    "be of the same records in the same order."
)
_SHARED: Final = (
    "Several scores of one model share the error when they are audited together: name the ones "
    "that matter with --score-col. conf_true is a function of the loss and tells no more."
)
_AS_ANSWERED: Final = (
    "The scores are of one model as it answered. Members and holdout records must be alike but "
    "for membership, or a score shows how they differ."
)


def answer_query_losses(asked: LossesOptions) -> ModelQuery:
    """Return the loss, confidence, entropy and their kin of every record.

    One row for each record and one column for each class; a single column is the second of
    two classes. Labels and membership may be in the same table (columns ``label`` and
    ``member``) or archive (arrays ``labels`` and ``member``) as the outputs.

    Raises:
        UsageError: the outputs are given twice or not at all, or no such score.
        InputError: an input cannot be read, or does not fit the others.
    """
    from mipaudit.commands.query.model.answer import model_query, require_both_classes
    from mipaudit.commands.query.model.answers import read_both
    from mipaudit.commands.query.model.loss_scores import SCORES, model_scores
    from mipaudit.statements.provenance import provenance

    wanted = _wanted(asked.scores, [*SCORES], reference=asked.has_reference)
    whole = read_both(_sets(asked), need_labels=not _UNLABELLED.issuperset(wanted))
    require_both_classes(whole.member, _BOTH)
    made = model_scores(whole.log_p, _labels_or_none(whole))
    columns: dict[str, tuple[str, NDArray[Any]]] = {
        name: (meaning, made[name]) for name, meaning in SCORES.items() if name in wanted
    }
    limitations = [_SHARED, _AS_ANSWERED] if len(wanted) > 1 else [_AS_ANSWERED]
    if _CALIBRATED in wanted:
        columns[_CALIBRATED] = (_MEANING, _calibrated(made["loss"], whole))
        limitations.append(_SAME_RECORD)
    others: dict[str, NDArray[Any]] = {"member": whole.member}
    if whole.labels is not None:
        others["label"] = whole.labels.astype(np.int64)
    return model_query(
        "query losses",
        columns,
        others,
        classes=int(whole.log_p.shape[1]),
        findings=whole.findings,
        limitations=limitations,
        provenance=provenance(seed=None, inputs=whole.inputs, settings=asked.recorded()),
    )


def _sets(asked: LossesOptions) -> tuple[AnswerFiles, ...]:
    """Return the files of all records, or those of members and those of the holdout."""
    from mipaudit.commands.query.model.answers import AnswerFiles

    first = AnswerFiles(
        name="members" if asked.has_holdout else "outputs",
        logits=asked.logits,
        probabilities=asked.probabilities,
        labels=asked.labels,
        reference_logits=asked.reference_logits,
        reference_probabilities=asked.reference_probabilities,
        membership=asked.membership,
        inside=True if asked.has_holdout else None,
    )
    if not asked.has_holdout:
        return (first,)
    second = AnswerFiles(
        name="holdout",
        logits=asked.holdout_logits,
        probabilities=asked.holdout_probabilities,
        labels=asked.holdout_labels,
        reference_logits=asked.holdout_reference_logits,
        reference_probabilities=asked.holdout_reference_probabilities,
        inside=False,
    )
    return first, second


def _labels_or_none(whole: ModelAnswers) -> NDArray[np.intp]:
    """Return the labels; class 0 of all where only scores that need none are wanted."""
    if whole.labels is not None:
        return whole.labels
    return np.zeros(whole.member.size, dtype=np.intp)


def _wanted(scores: Sequence[str], known: Sequence[str], *, reference: bool) -> tuple[str, ...]:
    every = [*known, *([_CALIBRATED] if reference else [])]
    chosen = tuple(dict.fromkeys(scores)) or (*_DEFAULT, *([_CALIBRATED] if reference else []))
    for name in chosen:
        hint = "It needs `reference_logits`." if name == _CALIBRATED else None
        require(name in every, "scores", f"The scores that can be made: {', '.join(every)}.", hint)
    return chosen


def _calibrated(loss: NDArray[Any], whole: ModelAnswers) -> NDArray[np.float64]:
    assert whole.reference is not None  # noqa: S101 - the caller looked
    with np.errstate(invalid="ignore"):
        found = np.asarray(loss + whole.reference, dtype=np.float64)
    undefined = int(np.count_nonzero(np.isnan(found)))
    if undefined:
        raise InputError(
            "infinite_losses",
            f"In {undefined:,} rows both models rule the true class out: infinity less infinity.",
            hint="Give logits, of which no loss is infinite.",
        )
    return found


query_losses = public(LossesOptions, answer_query_losses)
