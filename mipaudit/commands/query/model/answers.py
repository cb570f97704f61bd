"""What a model said of members and holdout records, read from files and arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mipaudit.commands.query.model.answer import require_rows
from mipaudit.commands.query.model.output_faults import LABEL_HINT
from mipaudit.commands.query.model.outputs import LABELS, ArrayFile, arrays_of, opened
from mipaudit.commands.query.model.probabilities import read_log_probabilities
from mipaudit.errors import InputError
from mipaudit.reading.bytes.storage_precision import Precision, coarsest
from mipaudit.reading.columns.membership import CANDIDATES
from mipaudit.statements.estimate import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.statements.origin import InputFile

    Precisions = tuple[Precision | None, Precision | None]


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
        classes: names of the columns of a table, in the order of ``log_p``; none of an array.
        precision: of the outputs as they were stored.
        reference_precision: of the reference model's; None where there is none.
    """

    log_p: NDArray[np.float64]
    classes: tuple[str, ...]
    labels: NDArray[np.intp] | None
    reference: NDArray[np.float64] | None
    member: NDArray[np.bool_]
    inputs: tuple[InputFile, ...]
    findings: tuple[Finding, ...]
    precision: Precision
    reference_precision: Precision | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerFiles:
    """One set of files, or of arrays.

    Attributes:
        name: what messages call the set.
        logits: outputs before softmax, or None.
        probabilities: outputs after softmax where there are no logits.
        labels: the true classes; None where they are in the file of the outputs.
        reference_logits: outputs of a reference model, or None.
        reference_probabilities: likewise; both are None where there is none.
        membership: which records are members; None where it is in the file of the outputs.
        inside: the membership of all records, or None where they differ.
    """

    name: str
    logits: Any
    probabilities: Any
    labels: Any
    reference_logits: Any
    reference_probabilities: Any
    membership: Any = None
    inside: bool | None = None


def read_answers(
    files: AnswerFiles, *, need_labels: bool, precisions: Precisions = (None, None)
) -> ModelAnswers:
    """Read one set of files.

    Args:
        files: the set.
        need_labels: whether some score needs the true classes.
        precisions: that outputs and reference are rounded to; None for as they are.

    Raises:
        InputError: an input cannot be read, or does not fit the others.
    """
    given = (files.logits, files.probabilities)
    file = _opened_one(given, f"the {files.name}")
    log_p, classes, findings, stored = read_log_probabilities(
        file, logits=files.logits is not None, precision=precisions[0]
    )
    rows = log_p.shape[0]
    label_file = opened(files.labels, "the labels") or file
    truth, sorted_words = _labels(
        label_file, log_p.shape[1], classes, alone=files.labels is not None, need=need_labels
    )
    findings += sorted_words
    if truth is not None:
        require_rows(truth.size, rows, label_file.name)
        findings += _unseen(truth, log_p.shape[1], files.name)
    member_file = opened(files.membership, "the membership") or _teller(file, label_file)
    if files.inside is None:
        member = member_file.member(alone=files.membership is not None)
        require_rows(member.size, rows, member_file.name)
    else:
        _refuse_others(file, inside=files.inside)
        member = np.full(rows, files.inside)
    compared, reference_file, reference_stored = None, None, None
    reference = (files.reference_logits, files.reference_probabilities)
    if any(one is not None for one in reference):
        reference_file = _opened_one(reference, "the reference model")
        answers, names, _, reference_stored = read_log_probabilities(
            reference_file, logits=reference[0] is not None, precision=precisions[1]
        )
        _require_same_classes((classes, names), reference_file.name)
        require_rows(answers.shape[0], rows, reference_file.name)
        compared = _of_true_class(answers, log_p, truth, reference_file.name)
    read = [one for one in (file, label_file, member_file, reference_file) if one is not None]
    distinct = list({id(one): one for one in read}.values())
    inputs = tuple(one.describe(rows) for one in distinct)
    for one in distinct:
        one.close()
    return ModelAnswers(
        log_p=log_p,
        classes=classes,
        labels=truth,
        reference=compared,
        member=member,
        inputs=inputs,
        findings=findings,
        precision=stored,
        reference_precision=reference_stored,
    )


def read_both(sets: Sequence[AnswerFiles], *, need_labels: bool) -> ModelAnswers:
    """Return the answers of all sets of files as one, all numbers of one precision.

    Files of different precision put scores on different grids, and the storage would tell
    who is a member: such files are read again, and rounded alike.

    Args:
        sets: of files, one or two.
        need_labels: whether some score needs the true classes.

    Raises:
        InputError: as `together`.
    """
    sides = [read_answers(one, need_labels=need_labels) for one in sets]
    found = {one.precision for one in sides}
    references = {one.reference_precision for one in sides if one.reference_precision is not None}
    if max(len(found), len(references)) < 2:  # noqa: PLR2004
        return together(sides)
    wanted = coarsest(found), coarsest(references) if references else None
    whole = together(
        [read_answers(one, need_labels=need_labels, precisions=wanted) for one in sets]
    )
    text = (
        "Outputs for members and for the holdout are stored in different precision: all were "
        "rounded alike, or the storage would tell records apart."
    )
    return replace(whole, findings=(*whole.findings, Finding(code="rounded_outputs", text=text)))


def together(sides: Sequence[ModelAnswers]) -> ModelAnswers:
    """Return the answers of members and holdout records as one.

    Raises:
        InputError: ``classes_differ``, ``no_reference`` or ``no_labels``: one set has what the
            other has not; ``same_outputs``: both are the same.
    """
    if len({one.log_p.shape[1] for one in sides}) > 1:
        raise InputError(
            "classes_differ", "Members and holdout records have outputs for different classes."
        )
    _require_same_classes([one.classes for one in sides], "The holdout's outputs")
    if len(sides) > 1 and np.array_equal(sides[0].log_p, sides[1].log_p):
        raise InputError(
            "same_outputs",
            "Members and holdout records have the same outputs, row for row.",
            hint="Was one file given for both?",
        )
    references = [one.reference for one in sides if one.reference is not None]
    if references and len(references) < len(sides):
        raise InputError(
            "no_reference",
            "A reference model is given for members or for the holdout alone.",
            hint="Give `reference_logits` and `holdout_reference_logits`.",
        )
    labels = [one.labels for one in sides if one.labels is not None]
    if labels and len(labels) < len(sides):
        raise InputError(
            "no_labels",
            "Labels are given for members or for the holdout alone.",
            hint="Give `labels` and `holdout_labels`.",
        )
    return ModelAnswers(
        log_p=np.concatenate([one.log_p for one in sides]),
        classes=sides[0].classes,
        labels=np.concatenate(labels) if labels else None,
        reference=np.concatenate(references) if references else None,
        member=np.concatenate([one.member for one in sides]),
        inputs=tuple(file for one in sides for file in one.inputs),
        findings=tuple(dict.fromkeys(found for one in sides for found in one.findings)),
        precision=sides[0].precision,
        reference_precision=sides[0].reference_precision,
    )


def _teller(file: ArrayFile, label_file: ArrayFile) -> ArrayFile:
    """Return the file that says who is a member, where none was given for that."""
    return label_file if label_file.has(CANDIDATES) and not file.has(CANDIDATES) else file


def _refuse_others(file: ArrayFile, *, inside: bool) -> None:
    """Refuse a file of members, or of the holdout, that says otherwise of some rows."""
    if not file.has(CANDIDATES, dimensions=1):
        return
    try:
        told = file.member(alone=False)
    except InputError:
        # A column of that name with other words says nothing of membership.
        return
    others = int(np.count_nonzero(told != inside))
    if others:
        kind, whose = ("holdout records", "members") if inside else ("members", "the holdout")
        raise InputError(
            "contradicted_membership",
            f"{file.name}: it is given as outputs of {whose}, and says itself that {others:,} rows "
            f"are {kind}.",
            hint="Give one file with all records and its membership, or one of each kind.",
        )


def _require_same_classes(names: Sequence[tuple[str, ...]], name: str) -> None:
    """Require that tables have the same columns in the same order; arrays have no names."""
    if len({one for one in names if one}) > 1:
        raise InputError(
            "classes_differ",
            f"{name}: the columns of the classes have other names, or stand in another order.",
            hint="Column number c has to be the same class in every table.",
        )


def _opened_one(given: tuple[Any, Any], name: str) -> ArrayFile:
    return arrays_of(next(one for one in given if one is not None), name)


def _unseen(labels: NDArray[np.intp], classes: int, name: str) -> tuple[Finding, ...]:
    unseen = classes - np.unique(labels).size
    if not unseen:
        return ()
    text = (
        f"Of the {classes} classes {unseen:,} are no record's label ({name}): look whether every "
        "column is a class."
    )
    return (Finding(code="unseen_classes", text=text),)


def _labels(
    file: ArrayFile, classes: int, names: tuple[str, ...], *, alone: bool, need: bool
) -> tuple[NDArray[np.intp] | None, tuple[Finding, ...]]:
    """Return the class of each record, and what was taken of labels that are words."""
    if not (alone or need or file.has(LABELS)):
        return None, ()
    words = file.words(LABELS, alone=alone)
    if words is not None:
        return _classes_of(words, classes, names, file.name)
    values = file.vector(LABELS, "labels", alone=alone)
    wrong = np.flatnonzero((values != np.floor(values)) | (values < 0) | (values >= classes))
    if wrong.size:
        raise InputError(
            "bad_labels",
            f"{file.name}: labels that are no class from 0 to {classes - 1}: {wrong.size:,}, the "
            f"first in row {wrong[0] + 1}.",
            hint=LABEL_HINT,
        )
    return values.astype(np.intp), ()


def _classes_of(
    words: NDArray[np.str_], classes: int, names: tuple[str, ...], name: str
) -> tuple[NDArray[np.intp], tuple[Finding, ...]]:
    """Return the classes of labels that are words.

    A word is the column by its name; otherwise the classes are the words in order, as
    scikit-learn's ``classes_`` are, of which none may be absent.
    """
    known, codes = np.unique(words, return_inverse=True)
    if "" not in known and set(known.tolist()) <= set(names):
        places = np.array([names.index(word) for word in known.tolist()], dtype=np.intp)
        return places[codes.reshape(-1)], ()
    if "" in known or known.size != classes:
        raise InputError(
            "bad_labels",
            f"{name}: {known.size} different labels that are words, where the outputs have "
            f"{classes} classes.",
            hint="Name the columns of the outputs after the classes, or number the classes.",
        )
    text = (
        f"{name}: the labels are words. The classes of the outputs are taken to be in the order "
        "of the alphabet, as scikit-learn has them."
    )
    return codes.reshape(-1).astype(np.intp), (Finding(code="labels_sorted", text=text),)


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
