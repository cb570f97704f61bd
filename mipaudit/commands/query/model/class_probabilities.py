"""What a model said of members and holdout records: log probabilities of its classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.model import array_files
from mipaudit.commands.query.model.answer import require_rows
from mipaudit.commands.query.model.array_files import LABEL_HINT, described, find, opened
from mipaudit.commands.query.model.options import LossesOptions
from mipaudit.data.columns.words import CANDIDATES, shown_names
from mipaudit.data.model_outputs import LABELS, ROUNDING, add_up, stems, sum_tolerance, within
from mipaudit.data.records.storage_precision import Precision, coarsest, precision_of, rounded_to
from mipaudit.data.tables.coordinates import Coordinates
from mipaudit.data.tables.table import Whole, open_whole
from mipaudit.errors import InputError
from mipaudit.model.message import Finding
from mipaudit.statements.sources import InputFile

Floats = NDArray[np.float64]
_LOGITS: Final = ("logits", "outputs", "scores")
_PROBABILITIES: Final = ("probabilities", "probs", "predictions", "confidences")
# What the options of each set of files begin with.
_SIDES: Final = {"outputs": "", "members": "", "holdout": "holdout_"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelAnswers:
    """The outputs for one class of records, or for all.

    Attributes:
        log_p: log probabilities, shape (n, c).
        classes: names of the columns of a table, in the order of ``log_p``; none of an array.
        labels: true classes, shape (n,); None where none were given and none are needed.
        reference: the reference model's log p of the true class, shape (n,), or None.
        member: shape (n,).
        inputs: the files.
        findings: what was taken, where a table left it open, and what looks wrong.
    """

    log_p: Floats
    classes: tuple[str, ...]
    labels: NDArray[np.intp] | None
    reference: Floats | None
    member: NDArray[np.bool_]
    inputs: tuple[InputFile, ...]
    findings: tuple[Finding, ...]


class _Stored(NamedTuple):
    """A model's outputs as they were stored.

    Attributes:
        file: that they are in.
        logits: whether they are before softmax.
        found: the numbers, and the names that a table has for them.
        precision: the coarsest that holds the numbers.
    """

    file: Whole
    logits: bool
    found: Coordinates
    precision: Precision


def read_answers(asked: LossesOptions, *, need_labels: bool) -> ModelAnswers:
    """Return what a model said of all records, all numbers of one precision.

    Files of different precision put scores on different grids, and the storage would tell
    who is a member: their numbers are rounded alike.

    Args:
        asked: the files, of all records or of members and holdout.
        need_labels: whether some score needs the true classes.

    Raises:
        InputError: an input cannot be read, or does not fit the others.
    """
    names = ("members", "holdout") if asked.has_holdout else ("outputs",)
    outputs = [_stored(asked.outputs(_SIDES[name]), f"the {name}") for name in names]
    pairs = [asked.outputs(f"{_SIDES[name]}reference_") for name in names]
    given = [pair for pair in pairs if any(one is not None for one in pair)]
    if 0 < len(given) < len(names):
        raise InputError(
            "no_reference",
            "A reference model is given for members or for the holdout alone.",
            hint="Give `reference_logits` and `holdout_reference_logits`.",
        )
    references = [_stored(pair, "the reference model") for pair in given]
    mixed = [len({one.precision for one in some}) > 1 for some in (outputs, references)]
    sides = [
        _answers(asked, name, stored, reference, need=need_labels)
        for name, stored, reference in zip_longest(names, _alike(outputs), _alike(references))
    ]
    whole = sides[0] if len(sides) == 1 else _together(*sides)
    if not any(mixed):
        return whole
    return replace(whole, findings=(*whole.findings, Finding("rounded_outputs")))


def _stored(given: tuple[Any, Any], name: str) -> _Stored:
    logits = given[0] is not None
    file = open_whole(given[0] if logits else given[1], name, several=True)
    wanted, other = (_LOGITS, _PROBABILITIES) if logits else (_PROBABILITIES, _LOGITS)
    if file.table is None and find(file, other) and not find(file, wanted):
        called = ("logits", "probabilities")
        raise InputError(
            "other_outputs",
            f"{file.name}: it holds {called[logits]} and is given as {called[not logits]}.",
            hint=f"Use --{called[logits]}.",
        )
    found = array_files.coordinates(
        file, wanted, reserved=(*LABELS, *CANDIDATES), classes=not logits
    )
    # Sums round by how an array lies in memory, which must not tell files apart.
    found = replace(found, values=np.ascontiguousarray(found.values))
    return _Stored(file, logits, found, precision_of(found.values))


def _alike(some: Sequence[_Stored]) -> Iterator[_Stored]:
    """Yield outputs rounded to the coarsest precision among them."""
    precisions = {one.precision for one in some}
    for one in some:
        values = one.found.values
        if len(precisions) > 1:
            values = rounded_to(values, coarsest(precisions))
        yield one._replace(found=replace(one.found, values=values))


def _answers(
    asked: LossesOptions, name: str, stored: _Stored, reference: _Stored | None, *, need: bool
) -> ModelAnswers:
    file, names = stored.file, stored.found.columns
    log_p, findings = _log_probabilities(stored)
    rows, classes = log_p.shape
    given = getattr(asked, f"{_SIDES[name]}labels")
    label_file = opened(given, "the labels") or file
    labels = None
    if given is not None or need or find(label_file, LABELS):
        labels, sorted_words = _true_classes(label_file, classes, names, alone=given is not None)
        require_rows(labels.size, rows, label_file.name)
        findings += sorted_words
        unseen = classes - np.unique(labels).size
        if unseen:
            findings += (Finding.of("unseen_classes", classes=classes, unseen=unseen, of=name),)
    member_file = file
    if name != "outputs":
        _refuse_others(file, inside=name == "members")
        member = np.full(rows, name == "members")
    else:
        # Where no file was given for it, whichever says who is a member.
        elsewhere = find(label_file, CANDIDATES) and not find(file, CANDIDATES)
        found = opened(asked.membership, "the membership")
        member_file = found or (label_file if elsewhere else file)
        member = array_files.members_of(member_file, alone=found is not None)
        require_rows(member.size, rows, member_file.name)
    compared, others = None, []
    if reference is not None:
        others = [reference.file]
        compared = None if labels is None else _of_true_class(reference, log_p, names, labels)
    return ModelAnswers(
        log_p=log_p,
        classes=names,
        labels=labels,
        reference=compared,
        member=member,
        inputs=described([file, label_file, member_file, *others], rows),
        findings=findings,
    )


def _together(inside: ModelAnswers, outside: ModelAnswers) -> ModelAnswers:
    if inside.log_p.shape[1] != outside.log_p.shape[1]:
        raise InputError(
            "classes_differ", "Members and holdout records have outputs for different classes."
        )
    _require_same_classes(inside.classes, outside.classes, "The holdout's outputs")
    if all((one.log_p == inside.log_p[0]).all() for one in (inside, outside)):
        raise InputError(
            "constant_outputs", "The model answers the same for every record: is it trained?"
        )
    if np.array_equal(inside.log_p, outside.log_p):
        raise InputError(
            "same_outputs",
            "Members and holdout records have the same outputs, row for row.",
            hint="Was one file given for both?",
        )
    if (inside.labels is None) != (outside.labels is None):
        raise InputError(
            "no_labels",
            "Labels are given for members or for the holdout alone.",
            hint="Give `labels` and `holdout_labels`.",
        )
    return ModelAnswers(
        log_p=np.concatenate([inside.log_p, outside.log_p]),
        classes=inside.classes,
        labels=_joined(inside.labels, outside.labels),
        reference=_joined(inside.reference, outside.reference),
        member=np.concatenate([inside.member, outside.member]),
        inputs=(*inside.inputs, *outside.inputs),
        findings=tuple(dict.fromkeys((*inside.findings, *outside.findings))),
    )


def _joined(one: NDArray[Any] | None, other: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if one is None or other is None else np.concatenate([one, other])


def _refuse_others(file: Whole, *, inside: bool) -> None:
    """Refuse a file of members, or of the holdout, that says otherwise of some rows."""
    if find(file, CANDIDATES, dimensions=1) is None:
        return
    try:
        told = array_files.members_of(file, alone=False)
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


def _require_same_classes(one: tuple[str, ...], other: tuple[str, ...], name: str) -> None:
    """Require that tables have the same columns in the same order; arrays have no names."""
    if one and other and one != other:
        raise InputError(
            "classes_differ",
            f"{name}: the columns of the classes have other names, or stand in another order.",
            hint="Column number c has to be the same class in every table.",
        )


def _of_true_class(
    reference: _Stored, log_p: Floats, names: tuple[str, ...], labels: NDArray[np.intp]
) -> Floats:
    """Return the reference's log p of the true class, shape (n,)."""
    name = reference.file.name
    said, _ = _log_probabilities(reference)
    _require_same_classes(names, reference.found.columns, name)
    require_rows(said.shape[0], log_p.shape[0], name)
    if said.shape[1] != log_p.shape[1]:
        raise InputError(
            "classes_differ",
            f"{name}: {said.shape[1]} classes, where the model has {log_p.shape[1]}.",
        )
    if np.array_equal(said, log_p):
        raise InputError(
            "reference_is_model",
            f"{name}: the reference model says exactly what the model says of every record.",
            hint="Give the outputs of another model, not trained on the audited records.",
        )
    return np.asarray(said[np.arange(labels.size), labels])


def _log_probabilities(stored: _Stored) -> tuple[Floats, tuple[Finding, ...]]:
    """Return log probabilities of each class, and what was taken, where a table left it open."""
    values, name = stored.found.values, stored.file.name
    findings = _taken(stored.found, name)
    if not stored.logits:
        return _log_of(values, name), findings
    inside = within(values.reshape(-1))
    several = values.shape[1] > 1
    if inside and several and add_up(list(values.T)):
        raise InputError(
            "look_like_probabilities",
            f"{name}: the rows have numbers from 0 to 1 that add up to 1, as probabilities do and "
            "logits do not.",
            hint="Give them with `probabilities`.",
        )
    if inside and not several:
        findings += (Finding.of("look_like_probabilities", file=name),)
    return log_probabilities(values), findings


def _taken(found: Coordinates, name: str) -> tuple[Finding, ...]:
    """Return which columns of a table the classes are."""
    if not found.columns:
        return ()
    names, skipped = shown_names(found.columns), shown_names(found.skipped)
    if not found.skipped:
        return (Finding.of("columns_taken", case="all", file=name, names=names),)
    return (Finding.of("columns_taken", case="some", file=name, names=names, skipped=skipped),)


def _log_of(values: Floats, name: str) -> Floats:
    """Return the logarithms of probabilities, scaled to add up to 1."""
    outside = ((values < -ROUNDING) | (values > 1 + ROUNDING)).any(axis=1)
    values = np.clip(values, 0.0, 1.0)
    if values.shape[1] == 1:
        values = np.concatenate([1 - values, values], axis=1)
    total = values.sum(axis=1)
    wrong = np.flatnonzero(outside | (np.abs(total - 1) > sum_tolerance(list(values.T))))
    if wrong.size:
        raise InputError(
            "no_probabilities",
            f"{name}: rows that are no probabilities that add up to 1: {wrong.size:,}, the first "
            f"is row {wrong[0] + 1}.",
            hint="If these are outputs before softmax, use `logits`; other columns of numbers than "
            "outputs have to be left out.",
        )
    with np.errstate(divide="ignore"):
        log_p = np.log(values)
    # Rounded probabilities do not quite add up to 1.
    return np.asarray(log_p - np.log(total)[:, None])


def log_probabilities(logits: Floats) -> Floats:
    """Return log p of each class, shape (n, c), from finite logits of the same shape.

    Of one column, shape (n, 1), which is that of the second of two classes, they are of both.
    log1p of what the others add to the largest: a sure model's small loss keeps its digits.
    """
    if logits.shape[1] == 1:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
    rows = np.arange(logits.shape[0])
    largest = logits.argmax(axis=1)
    with np.errstate(over="ignore"):  # further than 1e308 below: p is 0
        below = logits - logits[rows, largest][:, None]
    others = np.exp(below)
    others[rows, largest] = 0.0
    return np.asarray(below - np.log1p(others.sum(axis=1))[:, None])


def _true_classes(
    file: Whole, classes: int, names: Sequence[str], *, alone: bool
) -> tuple[NDArray[np.intp], tuple[Finding, ...]]:
    """Return the class of each record, shape (n,), and what was taken of labels that are words.

    Args:
        file: that holds the labels.
        classes: how many there are.
        names: of the outputs' columns; none of an array.
        alone: the file was given for the labels.

    Raises:
        InputError: there are no labels, or some are no class.
    """
    words = array_files.words(file, LABELS, alone=alone)
    if words is not None:
        return _of_words(words, classes, names, file.name)
    known, codes = np.unique(
        array_files.vector(file, LABELS, "labels", alone=alone), return_inverse=True
    )
    numbers = known.tolist()
    wrong = np.array([one != int(one) or not 0 <= one < classes for one in numbers])[codes]
    # A number is a column's place, unless the columns are numbered otherwise.
    by_name = _by_name([f"{one:.15g}" for one in numbers], names, zero=not wrong.any())
    if by_name is None and wrong.any():
        raise InputError(
            "bad_labels",
            f"{file.name}: labels that are no class from 0 to {classes - 1}: "
            f"{np.count_nonzero(wrong):,}, the first in row {np.argmax(wrong) + 1}.",
            hint=LABEL_HINT,
        )
    return np.array(numbers if by_name is None else by_name, dtype=np.intp)[codes], ()


def _of_words(
    words: NDArray[np.str_], classes: int, names: Sequence[str], name: str
) -> tuple[NDArray[np.intp], tuple[Finding, ...]]:
    """Return the classes of labels that are words.

    A word is the column by its name, or by what its name has behind the stem of all; otherwise
    the classes are the words in order, as scikit-learn's ``classes_`` are, of which none may be
    absent.
    """
    known, codes = np.unique(words, return_inverse=True)
    by_name = _by_name(known.tolist(), names)
    if by_name is not None and "" not in known:
        return np.array(by_name, dtype=np.intp)[codes], ()
    if "" in known or known.size != classes:
        raise InputError(
            "bad_labels",
            f"{name}: {known.size} different labels that are words, where the outputs have "
            f"{classes} classes.",
            hint="Name the columns of the outputs after the classes, or number the classes.",
        )
    found = (Finding.of("labels_sorted", file=name),)
    return codes.astype(np.intp), found


def _by_name(words: Sequence[str], names: Sequence[str], *, zero: bool = False) -> list[int] | None:
    """Return the places of the columns that words name, as wholes or behind a stem of all.

    Args:
        words: different ones.
        names: of the columns.
        zero: the words are numbers that may be places; they name columns only if 0 names one.
    """
    shared = set.intersection(*(set(stems(name)) for name in names)) if names else set()
    for stem in ("", *sorted(shared)):
        places = {name[len(stem) :]: at for at, name in enumerate(names)}
        if places.keys() >= {*words, *("0" * zero)}:
            return [places[word] for word in words]
    return None
