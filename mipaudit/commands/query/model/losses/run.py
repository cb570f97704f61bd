"""``mipaudit query losses``: scores of what a model says of records."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.options.plain_values import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.query.model.answer import ModelQuery
    from mipaudit.commands.query.model.answers import ModelAnswers
    from mipaudit.statements.provenance.origin import Setting

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
    "with --holdout-logits or --holdout-probabilities."
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


def query_losses(  # noqa: PLR0913 - one keyword for each option of the command
    *,
    logits: Any = None,  # noqa: ANN401 - a path or an array
    probabilities: Any = None,  # noqa: ANN401
    labels: Any = None,  # noqa: ANN401
    membership: Any = None,  # noqa: ANN401
    holdout_logits: Any = None,  # noqa: ANN401
    holdout_probabilities: Any = None,  # noqa: ANN401
    holdout_labels: Any = None,  # noqa: ANN401
    reference_logits: Any = None,  # noqa: ANN401
    reference_probabilities: Any = None,  # noqa: ANN401
    holdout_reference_logits: Any = None,  # noqa: ANN401
    holdout_reference_probabilities: Any = None,  # noqa: ANN401
    scores: Sequence[str] = (),
    settings: tuple[Setting, ...] | None = None,
) -> ModelQuery:
    """Return the loss, confidence, entropy and their kin of every record.

    One row for each record and one column for each class; a single column is the second of
    two classes. Labels and membership may be in the same table (columns ``label`` and
    ``member``) or archive (arrays ``labels`` and ``member``) as the outputs.

    Args:
        logits: a .npy, .npz, CSV or Parquet file, or an array (n, c): outputs before softmax,
            of all records, or of the members where a holdout is given.
        probabilities: in place of logits.
        labels: classes from 0, shape (n,).
        membership: 1 for members, shape (n,), where there is no holdout of its own.
        holdout_logits: outputs for holdout records, in files of their own.
        holdout_probabilities: in place of ``holdout_logits``.
        holdout_labels: their classes.
        reference_logits: outputs of a reference model for the same records, shape (n, c).
        reference_probabilities: in place of ``reference_logits``.
        holdout_reference_logits: likewise of the holdout.
        holdout_reference_probabilities: likewise.
        scores: which to make; by default all but ``phi``, and ``loss_calibrated`` where there
            is a reference model.
        settings: recorded in the provenance; None records the arguments that are no data.

    Raises:
        UsageError: the outputs are given twice or not at all, or no such score.
        InputError: an input cannot be read, or does not fit the others.
    """
    from mipaudit.commands.query.model.answer import model_query, require_both_classes
    from mipaudit.commands.query.model.answers import read_answers, read_both
    from mipaudit.commands.query.model.loss_scores import SCORES, model_scores
    from mipaudit.statements.provenance.provenance import provenance, settings_from

    if settings is None:
        settings = settings_from({"scores": tuple(scores)}, source="api")
    two = holdout_logits is not None or holdout_probabilities is not None
    require(
        not (two and membership is not None),
        "two_memberships",
        "With a holdout in files of its own, the other files are of members.",
        "Leave --membership out.",
    )
    _require_one_kind((logits, probabilities), (holdout_logits, holdout_probabilities))
    reference = (reference_logits, reference_probabilities)
    _require_one_kind(reference, (holdout_reference_logits, holdout_reference_probabilities))
    wanted = _wanted(scores, [*SCORES], reference=any(one is not None for one in reference))
    need_labels = not _UNLABELLED.issuperset(wanted)
    read = [
        partial(
            read_answers,
            outputs=(logits, probabilities),
            labels=labels,
            reference=reference,
            name="members" if two else "outputs",
            membership=membership,
            inside=True if two else None,
            need_labels=need_labels,
        )
    ]
    if two:
        second = partial(
            read_answers,
            outputs=(holdout_logits, holdout_probabilities),
            labels=holdout_labels,
            reference=(holdout_reference_logits, holdout_reference_probabilities),
            name="holdout",
            membership=None,
            inside=False,
            need_labels=need_labels,
        )
        read.append(second)
    else:
        given = (holdout_labels, holdout_reference_logits, holdout_reference_probabilities)
        require(
            all(one is None for one in given),
            "no_holdout",
            "There are labels or a reference of a holdout without its outputs.",
            "Add --holdout-logits or --holdout-probabilities.",
        )
    whole = read_both(read)
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
        provenance=provenance(seed=None, inputs=whole.inputs, settings=settings),
    )


def _require_one_kind(members: tuple[Any, Any], holdout: tuple[Any, Any]) -> None:
    """Require logits of both classes, or probabilities of both."""
    crossed = [members[at] is not None and holdout[1 - at] is not None for at in (0, 1)]
    require(
        not any(crossed) or all(crossed),
        "two_kinds",
        "Logits are given for one class and probabilities for the other.",
        "Give the same of both: each rounds in its own way, and that would tell them apart.",
    )


def _labels_or_none(whole: ModelAnswers) -> NDArray[np.intp]:
    """Return the labels; class 0 of all where only scores that need none are wanted."""
    if whole.labels is not None:
        return whole.labels
    return np.zeros(whole.member.size, dtype=np.intp)


def _wanted(scores: Sequence[str], known: Sequence[str], *, reference: bool) -> tuple[str, ...]:
    every = [*known, *([_CALIBRATED] if reference else [])]
    chosen = tuple(dict.fromkeys(scores)) or (*_DEFAULT, *([_CALIBRATED] if reference else []))
    for name in chosen:
        hint = "It needs --reference-logits." if name == _CALIBRATED else None
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
