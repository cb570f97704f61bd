"""``mipaudit query losses``: scores of what a model says of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.api.checking import require
from mipaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.api.model_query import ModelQuery
    from mipaudit.report.origin import InputFile, Setting
    from mipaudit.tables.model_outputs import ArrayFile

_LOGITS: Final = ("logits", "outputs", "scores")
_PROBABILITIES: Final = ("probabilities", "probs", "predictions", "confidences")
_CALIBRATED: Final = "loss_calibrated"
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
# Sums of float32 or rounded probabilities stray from 1.
_SUM_TOLERANCE: Final = 1e-2
_SAME_RECORD: Final = (
    "The reference model must not have been trained on the audited records, and its outputs must "
    "be of the same records in the same order."
)
_SHARED: Final = (
    "Several scores of one model share the error when they are audited together: name the ones "
    "that matter with --score-col. conf_true is a function of the loss and has its advantage."
)
_AS_ANSWERED: Final = (
    "The scores are of one model as it answered. Members and holdout records must be alike but "
    "for membership, or a score shows how they differ."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Side:
    """The outputs of one set of files."""

    log_p: NDArray[np.float64]
    labels: NDArray[np.intp]
    reference: NDArray[np.float64] | None
    member: NDArray[np.bool_]
    inputs: tuple[InputFile, ...]


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
    from mipaudit.api.model_query import model_query, require_both_classes
    from mipaudit.queries.model_losses import SCORES, model_scores
    from mipaudit.report.provenance import provenance, settings_from

    if settings is None:
        settings = settings_from({"scores": tuple(scores)}, source="api")
    two = holdout_logits is not None or holdout_probabilities is not None
    require(
        not (two and membership is not None),
        "two_memberships",
        "With a holdout in files of its own, the other files are of members.",
        "Leave --membership out.",
    )
    first = _side(
        (logits, probabilities),
        labels,
        (reference_logits, reference_probabilities),
        name="members" if two else "outputs",
        membership=membership,
        inside=True if two else None,
    )
    sides = [first]
    if two:
        second = _side(
            (holdout_logits, holdout_probabilities),
            holdout_labels,
            (holdout_reference_logits, holdout_reference_probabilities),
            name="holdout",
            membership=None,
            inside=False,
        )
        sides.append(second)
    else:
        given = (holdout_labels, holdout_reference_logits, holdout_reference_probabilities)
        require(
            all(one is None for one in given),
            "no_holdout",
            "There are labels or a reference of a holdout without its outputs.",
            "Add --holdout-logits or --holdout-probabilities.",
        )
    whole = _together(sides)
    require_both_classes(whole.member)
    wanted = _wanted(scores, [*SCORES], reference=whole.reference is not None)
    made = model_scores(whole.log_p, whole.labels)
    columns: dict[str, tuple[str, NDArray[Any]]] = {
        name: (meaning, made[name]) for name, meaning in SCORES.items() if name in wanted
    }
    limitations = [_SHARED, _AS_ANSWERED]
    if whole.reference is not None and _CALIBRATED in wanted:
        columns[_CALIBRATED] = (_MEANING, _calibrated(made["loss"], whole))
        limitations.append(_SAME_RECORD)
    return model_query(
        "query losses",
        columns,
        {"member": whole.member, "label": whole.labels.astype(np.int64)},
        classes=int(whole.log_p.shape[1]),
        findings=(),
        limitations=limitations,
        provenance=provenance(seed=None, inputs=whole.inputs, settings=settings),
    )


def _wanted(scores: Sequence[str], known: Sequence[str], *, reference: bool) -> tuple[str, ...]:
    every = [*known, *([_CALIBRATED] if reference else [])]
    chosen = tuple(dict.fromkeys(scores)) or (*_DEFAULT, *([_CALIBRATED] if reference else []))
    for name in chosen:
        hint = "It needs --reference-logits." if name == _CALIBRATED else None
        require(name in every, "scores", f"The scores that can be made: {', '.join(every)}.", hint)
    return chosen


def _side(
    outputs: tuple[Any, Any],
    labels: Any,  # noqa: ANN401 - a path or an array
    reference: tuple[Any, Any],
    *,
    name: str,
    membership: Any,  # noqa: ANN401
    inside: bool | None,
) -> _Side:
    """Read one set of files; ``inside`` says the membership of all its records."""
    from mipaudit.api.model_query import opened, require_rows
    from mipaudit.tables.membership import CANDIDATES
    from mipaudit.tables.model_outputs import LABELS

    _require_one(outputs, f"the {name}")
    file = opened(next(one for one in outputs if one is not None), f"the {name}")
    assert file is not None  # noqa: S101 - one is given
    reserved = (*LABELS, *CANDIDATES)
    log_p = _log_p(file, reserved, logits=outputs[0] is not None)
    rows = log_p.shape[0]
    files = [file]
    label_file = opened(labels, "the labels") or file
    truth = _labels(label_file, log_p.shape[1])
    require_rows(truth.size, rows, label_file.name)
    member_file = opened(membership, "the membership") or file
    if inside is None:
        member = member_file.member()
        require_rows(member.size, rows, member_file.name)
    else:
        member = np.full(rows, inside)
    compared = None
    reference_file = None
    if any(one is not None for one in reference):
        _require_one(reference, "the reference model")
        reference_file = opened(
            next(one for one in reference if one is not None), "the reference model"
        )
        assert reference_file is not None  # noqa: S101 - one is given
        compared = _log_p(reference_file, reserved, logits=reference[0] is not None)
        require_rows(compared.shape[0], rows, reference_file.name)
        if compared.shape[1] != log_p.shape[1]:
            raise InputError(
                "classes_differ",
                f"{reference_file.name}: {compared.shape[1]} classes, where the model has "
                f"{log_p.shape[1]}.",
            )
        compared = compared[np.arange(rows), truth]
    files += [one for one in (label_file, member_file, reference_file) if one is not None]
    distinct = list({id(one): one for one in files}.values())
    inputs = tuple(one.describe(rows) for one in distinct)
    for one in distinct:
        one.close()
    return _Side(log_p=log_p, labels=truth, reference=compared, member=member, inputs=inputs)


def _require_one(outputs: tuple[Any, Any], what: str) -> None:
    count = sum(one is not None for one in outputs)
    require(
        count == 1,
        "outputs",
        f"Of {what}, give logits or probabilities" + (", not both." if count else "."),
        "For example: mipaudit query losses --logits logits.npy --labels labels.npy "
        "--membership member.npy -o scores.parquet",
    )


def _log_p(file: ArrayFile, reserved: Sequence[str], *, logits: bool) -> NDArray[np.float64]:
    from mipaudit.queries.model_losses import binary_logits, log_probabilities

    values = file.matrix(_LOGITS if logits else _PROBABILITIES, reserved=reserved)
    if logits:
        return log_probabilities(binary_logits(values) if values.shape[1] == 1 else values)
    if values.shape[1] == 1:
        values = np.concatenate([1 - values, values], axis=1)
    outside = ((values < 0) | (values > 1)).any(axis=1)
    strayed = np.abs(values.sum(axis=1) - 1) > _SUM_TOLERANCE
    wrong = np.flatnonzero(outside | strayed)
    if wrong.size:
        raise InputError(
            "no_probabilities",
            f"{file.name}: {wrong.size:,} rows are no probabilities that add up to 1, first in "
            f"row {wrong[0] + 1}.",
            hint="If these are outputs before softmax, use --logits.",
        )
    with np.errstate(divide="ignore"):
        log_p = np.log(values)
    # Rounded probabilities do not quite add up to 1.
    return np.asarray(log_p - np.log(values.sum(axis=1))[:, None])


def _labels(file: ArrayFile, classes: int) -> NDArray[np.intp]:
    from mipaudit.tables.model_outputs import LABELS

    values = file.vector(LABELS, "labels")
    wrong = np.flatnonzero((values != np.floor(values)) | (values < 0) | (values >= classes))
    if wrong.size:
        raise InputError(
            "bad_labels",
            f"{file.name}: {wrong.size:,} labels are no class from 0 to {classes - 1}, first in "
            f"row {wrong[0] + 1}.",
            hint="Number the classes in the order of the outputs, from 0.",
        )
    return values.astype(np.intp)


def _together(sides: Sequence[_Side]) -> _Side:
    classes = {one.log_p.shape[1] for one in sides}
    if len(classes) > 1:
        raise InputError(
            "classes_differ", "Members and holdout records have outputs for different classes."
        )
    references = [one.reference for one in sides if one.reference is not None]
    if references and len(references) < len(sides):
        raise InputError(
            "no_reference",
            "A reference model is given for members or for the holdout alone.",
            hint="Give --reference-logits and --holdout-reference-logits.",
        )
    return _Side(
        log_p=np.concatenate([one.log_p for one in sides]),
        labels=np.concatenate([one.labels for one in sides]),
        reference=np.concatenate(references) if references else None,
        member=np.concatenate([one.member for one in sides]),
        inputs=tuple(file for one in sides for file in one.inputs),
    )


def _calibrated(loss: NDArray[Any], whole: _Side) -> NDArray[np.float64]:
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
