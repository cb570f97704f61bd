"""What a model said of members and holdout records, read from files and arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.api.checking import require
from mipaudit.audit.finding import Finding
from mipaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.report.origin import InputFile
    from mipaudit.tables.coordinates import Coordinates
    from mipaudit.tables.model_outputs import ArrayFile

_LOGITS: Final = ("logits", "outputs", "scores")
_PROBABILITIES: Final = ("probabilities", "probs", "predictions", "confidences")
# Sums of float32 or rounded probabilities stray from 1.
_SUM_TOLERANCE: Final = 1e-2
# A softmax or a mean of votes may leave [0, 1] by rounding.
_ROUNDING: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelAnswers:
    """The outputs of one set of files, or of all.

    Attributes:
        log_p: log probabilities, shape (n, c).
        labels: true classes, shape (n,); None where none were given and none are needed.
        reference: the reference model's log p of the true class, shape (n,), or None.
        member: shape (n,).
        inputs: the files.
        findings: what was taken, where a table left it open, and what looks wrong.
    """

    log_p: NDArray[np.float64]
    labels: NDArray[np.intp] | None
    reference: NDArray[np.float64] | None
    member: NDArray[np.bool_]
    inputs: tuple[InputFile, ...]
    findings: tuple[Finding, ...]


def read_answers(
    outputs: tuple[Any, Any],
    labels: Any,  # noqa: ANN401 - a path or an array
    reference: tuple[Any, Any],
    *,
    name: str,
    membership: Any,  # noqa: ANN401
    inside: bool | None,
    need_labels: bool,
) -> ModelAnswers:
    """Read one set of files.

    Args:
        outputs: logits and probabilities, of which one is given.
        labels: the true classes; None where they are in the file of the outputs.
        reference: logits and probabilities of a reference model, of which one may be given.
        name: what messages call the set.
        membership: which records are members; None where it is in the file of the outputs.
        inside: the membership of all records, or None where they differ.
        need_labels: whether some score needs the true classes.

    Raises:
        UsageError: ``outputs``: given twice or not at all.
        InputError: an input cannot be read, or does not fit the others.
    """
    from mipaudit.api.model_query import opened, require_rows

    _require_one(outputs, f"the {name}")
    file = _opened_one(outputs, f"the {name}")
    log_p, findings = _log_p(file, logits=outputs[0] is not None)
    rows = log_p.shape[0]
    label_file = opened(labels, "the labels") or file
    truth = _labels(label_file, log_p.shape[1], alone=labels is not None, need=need_labels)
    if truth is not None:
        require_rows(truth.size, rows, label_file.name)
        findings += _unseen(truth, log_p.shape[1], name)
    member_file = opened(membership, "the membership") or _teller(file, label_file)
    if inside is None:
        member = member_file.member(alone=membership is not None)
        require_rows(member.size, rows, member_file.name)
    else:
        member = np.full(rows, inside)
    compared, reference_file = None, None
    if any(one is not None for one in reference):
        _require_one(reference, "the reference model")
        reference_file = _opened_one(reference, "the reference model")
        answers, _ = _log_p(reference_file, logits=reference[0] is not None)
        require_rows(answers.shape[0], rows, reference_file.name)
        compared = _of_true_class(answers, log_p, truth, reference_file.name)
    files = [one for one in (file, label_file, member_file, reference_file) if one is not None]
    distinct = list({id(one): one for one in files}.values())
    inputs = tuple(one.describe(rows) for one in distinct)
    for one in distinct:
        one.close()
    return ModelAnswers(
        log_p=log_p,
        labels=truth,
        reference=compared,
        member=member,
        inputs=inputs,
        findings=findings,
    )


def together(sides: Sequence[ModelAnswers]) -> ModelAnswers:
    """Return the answers of members and holdout records as one.

    Raises:
        InputError: ``classes_differ``, ``no_reference`` or ``no_labels``: one set has what the
            other has not.
    """
    if len({one.log_p.shape[1] for one in sides}) > 1:
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
    labels = [one.labels for one in sides if one.labels is not None]
    if labels and len(labels) < len(sides):
        raise InputError(
            "no_labels",
            "Labels are given for members or for the holdout alone.",
            hint="Give --labels and --holdout-labels.",
        )
    return ModelAnswers(
        log_p=np.concatenate([one.log_p for one in sides]),
        labels=np.concatenate(labels) if labels else None,
        reference=np.concatenate(references) if references else None,
        member=np.concatenate([one.member for one in sides]),
        inputs=tuple(file for one in sides for file in one.inputs),
        findings=tuple(dict.fromkeys(found for one in sides for found in one.findings)),
    )


def _teller(file: ArrayFile, label_file: ArrayFile) -> ArrayFile:
    """Return the file that says who is a member, where none was given for that."""
    from mipaudit.tables.membership import CANDIDATES

    return label_file if label_file.has(CANDIDATES) and not file.has(CANDIDATES) else file


def _require_one(outputs: tuple[Any, Any], what: str) -> None:
    count = sum(one is not None for one in outputs)
    require(
        count == 1,
        "outputs",
        f"Of {what}, give logits or probabilities" + (", not both." if count else "."),
        "For example: mipaudit query losses --logits logits.npy --labels labels.npy "
        "--membership member.npy -o scores.parquet",
    )


def _opened_one(outputs: tuple[Any, Any], name: str) -> ArrayFile:
    from mipaudit.api.model_query import opened

    file = opened(next(one for one in outputs if one is not None), name)
    assert file is not None  # noqa: S101 - one is given
    return file


def _log_p(file: ArrayFile, *, logits: bool) -> tuple[NDArray[np.float64], tuple[Finding, ...]]:
    """Return log probabilities of each class, shape (n, c), and what was taken for them."""
    from mipaudit.queries.model_losses import binary_logits, log_probabilities
    from mipaudit.tables.membership import CANDIDATES
    from mipaudit.tables.model_outputs import LABELS

    _refuse_other_kind(file, logits=logits)
    found = file.coordinates(_LOGITS if logits else _PROBABILITIES, reserved=(*LABELS, *CANDIDATES))
    values, findings = found.values, _taken(found, file.name)
    if not logits:
        return _log_of(values, file.name), findings
    if _sum_to_one(values):
        raise InputError(
            "look_like_probabilities",
            f"{file.name}: every row has numbers from 0 to 1 that add up to 1, as probabilities "
            "do and logits do not.",
            hint="Give them with --probabilities.",
        )
    if values.shape[1] == 1 and _within_0_and_1(values):
        text = (
            f"{file.name}: every number is from 0 to 1. If they are probabilities, give them with "
            "--probabilities: as logits they make false scores."
        )
        findings += (Finding(code="look_like_probabilities", text=text),)
    return log_probabilities(binary_logits(values) if values.shape[1] == 1 else values), findings


def _refuse_other_kind(file: ArrayFile, *, logits: bool) -> None:
    if file.sheet is not None:
        return
    wanted, other = (_LOGITS, _PROBABILITIES) if logits else (_PROBABILITIES, _LOGITS)
    if file.has(other) and not file.has(wanted):
        given, instead = ("logits", "probabilities") if logits else ("probabilities", "logits")
        raise InputError(
            "other_outputs",
            f"{file.name}: it holds {instead} and is given as {given}.",
            hint=f"Use --{instead}.",
        )


def _taken(found: Coordinates, name: str) -> tuple[Finding, ...]:
    """Return which columns of a table the classes are."""
    from mipaudit.tables.selection import shown_names

    if not found.columns:
        return ()
    text = f"{name}: the classes are, from 0 on, the columns {shown_names(found.columns)}."
    if found.skipped:
        text += f" Passed over: {shown_names(found.skipped)}."
    return (Finding(code="columns_taken", text=text),)


def _unseen(labels: NDArray[np.intp], classes: int, name: str) -> tuple[Finding, ...]:
    unseen = classes - np.unique(labels).size
    if not unseen:
        return ()
    text = (
        f"Of the {classes} classes {unseen:,} are no record's label ({name}): look whether every "
        "column is a class."
    )
    return (Finding(code="unseen_classes", text=text),)


def _within_0_and_1(values: NDArray[np.float64]) -> bool:
    return bool(((values >= 0) & (values <= 1)).all())


def _sum_to_one(values: NDArray[np.float64]) -> bool:
    several = values.shape[1] > 1 and _within_0_and_1(values)
    return several and bool((np.abs(values.sum(axis=1) - 1) <= _SUM_TOLERANCE).all())


def _log_of(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return the logarithms of probabilities, scaled to add up to 1."""
    outside = ((values < -_ROUNDING) | (values > 1 + _ROUNDING)).any(axis=1)
    values = np.clip(values, 0.0, 1.0)
    if values.shape[1] == 1:
        values = np.concatenate([1 - values, values], axis=1)
    total = values.sum(axis=1)
    wrong = np.flatnonzero(outside | (np.abs(total - 1) > _SUM_TOLERANCE))
    if wrong.size:
        raise InputError(
            "no_probabilities",
            f"{name}: {wrong.size:,} rows are no probabilities that add up to 1, first in "
            f"row {wrong[0] + 1}.",
            hint="If these are outputs before softmax, use --logits.",
        )
    with np.errstate(divide="ignore"):
        log_p = np.log(values)
    # Rounded probabilities do not quite add up to 1.
    return np.asarray(log_p - np.log(total)[:, None])


def _labels(file: ArrayFile, classes: int, *, alone: bool, need: bool) -> NDArray[np.intp] | None:
    from mipaudit.tables.model_outputs import LABELS
    from mipaudit.tables.output_faults import LABEL_HINT

    if not (alone or need or file.has(LABELS)):
        return None
    values = file.vector(LABELS, "labels", alone=alone)
    wrong = np.flatnonzero((values != np.floor(values)) | (values < 0) | (values >= classes))
    if wrong.size:
        raise InputError(
            "bad_labels",
            f"{file.name}: {wrong.size:,} labels are no class from 0 to {classes - 1}, first in "
            f"row {wrong[0] + 1}.",
            hint=LABEL_HINT,
        )
    return values.astype(np.intp)


def _of_true_class(
    reference: NDArray[np.float64],
    log_p: NDArray[np.float64],
    labels: NDArray[np.intp] | None,
    name: str,
) -> NDArray[np.float64]:
    """Return the reference's log p of the true class, shape (n,)."""
    if reference.shape[1] != log_p.shape[1]:
        raise InputError(
            "classes_differ",
            f"{name}: {reference.shape[1]} classes, where the model has {log_p.shape[1]}.",
        )
    if np.array_equal(reference, log_p):
        raise InputError(
            "reference_is_model",
            f"{name}: the reference model says exactly what the model says of every record.",
            hint="Give the outputs of another model, not trained on the audited records.",
        )
    assert labels is not None  # noqa: S101 - whoever gives a reference wants the loss
    return np.asarray(reference[np.arange(labels.size), labels])
