"""``mipaudit query losses``: scores of what a model says of members and holdout records.

All in logarithms: p_j = exp(z_j - log sum exp z), and log(1 - p_j) is the log of the sum of
the others, so that a sure model (p near 1) loses no digits.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.model.array_files import (
    LABEL_HINT,
    RENAME,
    ModelQuery,
    column,
    coordinates,
    described,
    find,
    members_of,
    model_query,
    opened,
    require_both_classes,
    require_rows,
)
from mipaudit.commands.query.model.options import LossesOptions
from mipaudit.data.model_outputs import LABELS, ROUNDING, add_up, stems, sum_tolerance, within
from mipaudit.data.parts import other_hints
from mipaudit.data.tables.records import rounded_alike
from mipaudit.data.tables.splits import Coordinates
from mipaudit.data.tables.table import Whole, open_whole
from mipaudit.data.words import CANDIDATES, shown_names
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Bools, Floats, Places
from mipaudit.model.message import Finding, Message
from mipaudit.options.public import public
from mipaudit.options.values import require
from mipaudit.statements.provenance import InputFile, provenance

_CALIBRATED: Final = "loss_calibrated"
_UNLABELLED: Final = frozenset({"conf_max", "entropy"})
_DEFAULT: Final = ("loss", "conf_true", "conf_max", "entropy", "mod_entropy", "margin", "correct")
_MEANING: Final = (
    "loss minus the reference model's loss on the same record (Watson et al. 2022); low for members"
)
_BOTH: Final = (
    "Mark members with 1 and holdout records with 0, or give the holdout in a file of its own, "
    "with `holdout_logits` or `holdout_probabilities`."
)
_KINDS: Final = ("probabilities", "logits")
ModelScore = Literal[
    "loss", "conf_true", "conf_max", "entropy", "mod_entropy", "margin", "phi", "correct"
]
SCORES: Final[dict[ModelScore, str]] = {
    "loss": "cross-entropy, -log p of the true class; low for members",
    "conf_true": "p of the true class; high for members",
    "conf_max": "the largest p; high for members, and needs no label",
    "entropy": "-sum p log p; low for members, and needs no label",
    "mod_entropy": "modified entropy (Song and Mittal 2021); low for members",
    "margin": "log p of the true class minus that of the best other class; high for members",
    "phi": "log(p / (1 - p)) of the true class (Carlini et al. 2022); high for members",
    "correct": "whether the true class has the largest p; true for members",
}
# Rows at once: temporaries stay small beside the outputs.
_ROWS: Final = 1 << 14


def answer_query_losses(asked: LossesOptions) -> "ModelQuery":
    """Return the loss, confidence, entropy and similar scores of every record.

    Outputs have one row for each record and one column for each class. A single column is the
    second of two classes. Labels and membership may be in the same table (columns ``label`` and
    ``member``) or archive (arrays ``labels`` and ``member``) as the outputs.

    Raises:
        UsageError: the outputs are given twice or not at all, or no such score.
        InputError: an input cannot be read, or does not fit the others.
    """
    calibrated = [_CALIBRATED] if asked.has_reference else []
    every = [*SCORES, *calibrated]
    wanted = [*dict.fromkeys(asked.scores)] or [*_DEFAULT, *calibrated]
    for name in wanted:
        hint = "It needs `reference_logits`." if name == _CALIBRATED else None
        require(name in every, "scores", f"The scores that can be made: {', '.join(every)}.", hint)
    whole = _read_answers(asked, need_labels=not _UNLABELLED.issuperset(wanted))
    require_both_classes(whole.member, _BOTH)
    # Where only scores that need no label are wanted, the others are not looked at.
    unlabelled = np.zeros(whole.member.size, dtype=np.intp)
    made = model_scores(whole.log_p, unlabelled if whole.labels is None else whole.labels)
    columns: dict[str, tuple[str, NDArray[Any]]] = {
        name: (meaning, made[name]) for name, meaning in SCORES.items() if name in wanted
    }
    limitations = [Message("losses_as_answered")]
    if len(wanted) > 1:
        limitations.insert(0, Message("losses_shared"))
    if _CALIBRATED in wanted:
        assert whole.reference is not None  # noqa: S101 - it is among those that can be made
        columns[_CALIBRATED] = (_MEANING, _calibrated(made["loss"], whole.reference))
        limitations.append(Message("losses_same_record"))
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


def _calibrated(loss: NDArray[Any], reference: Floats) -> Floats:
    """Return the loss less that of the reference model."""
    with np.errstate(invalid="ignore"):
        found = np.asarray(loss + reference, dtype=np.float64)
    undefined = int(np.count_nonzero(np.isnan(found)))
    if undefined:
        raise InputError(
            "infinite_losses",
            "Both models give the true class probability 0 in some rows "
            f"({undefined:,}): the difference of their losses is undefined.",
            "Give logits: their losses are finite.",
        )
    return found


def model_scores(log_p: Floats, labels: Places) -> dict[ModelScore, Floats | Bools]:
    """Return every score of every record.

    Args:
        log_p: log probabilities, shape (n, c), c at least 2; -inf for a probability of 0.
        labels: true class of each record, in [0, c), shape (n,).

    Returns:
        Arrays of shape (n,) by name; losses and margins may be infinite, never NaN.
    """
    parts = [
        _scores(log_p[start : start + _ROWS], labels[start : start + _ROWS])
        for start in range(0, labels.size, _ROWS)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in SCORES}


def _scores(log_p: Floats, labels: Places) -> dict[ModelScore, Floats | Bools]:
    """Return every score of some rows."""
    rows = np.arange(labels.size)
    true = log_p[rows, labels]
    others = log_p.copy()
    others[rows, labels] = -np.inf
    log_rest = log_others(log_p)
    p = np.exp(log_p)
    rest_true = log_rest[rows, labels]
    entropy = -_times(p, log_p).sum(axis=1)
    # -(1-p_y) log p_y - sum over i other than y of p_i log(1-p_i).
    away = _times(p, log_rest)
    away[rows, labels] = 0.0
    modified = -_times(np.exp(rest_true), true) - away.sum(axis=1)
    return {
        # Of p = 1 a loss of 0, not -0.
        "loss": 0.0 - true,
        "conf_true": np.exp(true),
        "conf_max": p.max(axis=1),
        "entropy": np.maximum(entropy, 0.0),
        "mod_entropy": np.maximum(modified, 0.0),
        "margin": _less(true, others.max(axis=1)),
        "phi": _less(true, rest_true),
        "correct": log_p.argmax(axis=1) == labels,
    }


def log_others(log_p: Floats) -> Floats:
    """Return log(1 - p_j) of each class, shape (n, c), to full precision.

    Where p_j is at most 1/2 it is log1p(-p_j); only the largest p can be above, and of it the
    others are added up.
    """
    rows = np.arange(log_p.shape[0])
    largest = log_p.argmax(axis=1)
    others = log_p.copy()
    others[rows, largest] = -np.inf
    with np.errstate(divide="ignore"):
        found = np.log1p(-np.minimum(np.exp(log_p), 1.0))
    found[rows, largest] = _log_sum_exp(others)
    return np.asarray(found)


def _times(p: Floats, log: Floats) -> Floats:
    """Return p log with 0 log 0 = 0."""
    with np.errstate(invalid="ignore"):
        return np.where(p == 0, 0.0, p * log)


def _less(one: Floats, other: Floats) -> Floats:
    """Return one - other, where both are -inf -inf: a class that was ruled out."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(one), -np.inf, one - other)


def _log_sum_exp(values: Floats) -> Floats:
    largest = values.max(axis=1, keepdims=True)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - safe).sum(axis=1)) + safe[:, 0])


query_losses = public(LossesOptions, answer_query_losses)


_LOGITS: Final = ("logits", "outputs", "scores")
_PROBABILITIES: Final = ("probabilities", "probs", "predictions", "confidences")
# What the options of each set of files begin with.
_SIDES: Final = {"outputs": "", "members": "", "holdout": "holdout_"}


class _Answers(NamedTuple):
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
    labels: Places | None
    reference: Floats | None
    member: Bools
    inputs: tuple[InputFile, ...]
    findings: tuple[Finding, ...]


# A model's outputs as they were stored: the file, whether they are before softmax, and the
# numbers with the names that a table has for them.
_Stored: TypeAlias = tuple[Whole, bool, Coordinates]


def _read_answers(asked: LossesOptions, *, need_labels: bool) -> _Answers:
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
            "A reference model is given for only one of members and holdout.",
            "Give `reference_logits` and `holdout_reference_logits`.",
        )
    references = [_stored(pair, "the reference model") for pair in given]
    (outputs, rounded), (references, also) = _alike(outputs), _alike(references)
    sides = [
        _answers(asked, name, stored, reference, need=need_labels)
        for name, stored, reference in zip_longest(names, outputs, references)
    ]
    whole = sides[0] if len(sides) == 1 else _together(*sides)
    if not rounded and not also:
        return whole
    return whole._replace(findings=(*whole.findings, Finding("rounded_outputs")))


def _stored(given: tuple[Any, Any], name: str) -> _Stored:
    """Open the logits or the probabilities, whichever are given."""
    logits = given[0] is not None
    file = open_whole(given[0] if logits else given[1], name, several=True)
    wanted, other = (_LOGITS, _PROBABILITIES) if logits else (_PROBABILITIES, _LOGITS)
    if file.table is None and find(file, other) and not find(file, wanted):
        raise InputError(
            "other_outputs",
            f"{file.name}: it holds {_KINDS[not logits]}, but is given as {_KINDS[logits]}.",
            f"Use --{_KINDS[not logits]}.",
        )
    found = coordinates(file, wanted, reserved=(*LABELS, *CANDIDATES), classes=not logits)
    # Sums round by how an array lies in memory, which must not tell files apart.
    found = replace(found, values=np.ascontiguousarray(found.values))
    return file, logits, found


def _alike(some: Sequence[_Stored]) -> tuple[list[_Stored], bool]:
    """Return outputs rounded to the coarsest precision among them, and whether some were finer."""
    values, uneven = rounded_alike([found.values for _, _, found in some])
    pairs = zip(some, values, strict=True)
    return [(file, of, replace(found, values=own)) for (file, of, found), own in pairs], uneven


def _answers(
    asked: LossesOptions, name: str, stored: _Stored, reference: _Stored | None, *, need: bool
) -> _Answers:
    """Return what the model said of one class of records, or of all."""
    file, logits, held = stored
    names = held.columns
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
        add = f"Or add `membership` FILE or, if all are members, `holdout_{_KINDS[logits]}` FILE."
        with other_hints({"not_given": f"{RENAME.format('member')} {add}"}):
            member = members_of(member_file, alone=found is not None)
        require_rows(member.size, rows, member_file.name)
    compared, others = None, []
    if reference is not None:
        others = [reference[0]]
        compared = None if labels is None else _of_true_class(reference, log_p, names, labels)
    return _Answers(
        log_p=log_p,
        classes=names,
        labels=labels,
        reference=compared,
        member=member,
        inputs=described([file, label_file, member_file, *others], rows),
        findings=findings,
    )


def _together(inside: _Answers, outside: _Answers) -> _Answers:
    """Return members and holdout records as one, members first."""
    if inside.log_p.shape[1] != outside.log_p.shape[1]:
        raise InputError(
            "classes_differ", "Members and holdout records have outputs for different classes."
        )
    _require_same_classes(inside.classes, outside.classes, "The holdout's outputs")
    if all((one.log_p == inside.log_p[0]).all() for one in (inside, outside)):
        raise InputError(
            "constant_outputs", "The model's output is the same for every record. Is it trained?"
        )
    if np.array_equal(inside.log_p, outside.log_p):
        raise InputError(
            "same_outputs",
            "Members and holdout records have the same outputs, row for row.",
            "Was the same file given for both?",
        )
    if (inside.labels is None) != (outside.labels is None):
        raise InputError(
            "no_labels",
            "Labels are given for only one of members and holdout.",
            "Give `labels` and `holdout_labels`.",
        )
    every: Any = {
        name: None if one is None else np.concatenate([one, getattr(outside, name)])
        for name, one in inside._asdict().items()
        if isinstance(one, np.ndarray) or one is None
    }
    return inside._replace(
        **every,
        inputs=(*inside.inputs, *outside.inputs),
        findings=tuple(dict.fromkeys((*inside.findings, *outside.findings))),
    )


def _refuse_others(file: Whole, *, inside: bool) -> None:
    """Refuse a file of members, or of the holdout, that says otherwise of some rows."""
    if find(file, CANDIDATES, dimensions=1) is None:
        return
    try:
        told = members_of(file, alone=False)
    except InputError:
        # A column of that name with other words says nothing of membership.
        return
    others = int(np.count_nonzero(told != inside))
    if others:
        kind, whose = ("holdout records", "members") if inside else ("members", "the holdout")
        raise InputError(
            "contradicted_membership",
            f"{file.name}: it is given as outputs of {whose}, but marks {others:,} of its rows as "
            f"{kind}.",
            "Give one file with all records and its membership, or one of each kind.",
        )


def _require_same_classes(one: tuple[str, ...], other: tuple[str, ...], name: str) -> None:
    """Require that tables have the same columns in the same order; arrays have no names."""
    if one and other and one != other:
        raise InputError(
            "classes_differ",
            f"{name}: the columns of the classes differ in name or order.",
            "Each class must be the same column in every table.",
        )


def _of_true_class(
    reference: _Stored, log_p: Floats, names: tuple[str, ...], labels: Places
) -> Floats:
    """Return the reference's log p of the true class, shape (n,)."""
    file, _, held = reference
    name = file.name
    said, _ = _log_probabilities(reference)
    _require_same_classes(names, held.columns, name)
    require_rows(said.shape[0], log_p.shape[0], name)
    if said.shape[1] != log_p.shape[1]:
        raise InputError(
            "classes_differ",
            f"{name}: {said.shape[1]} classes, but the model has {log_p.shape[1]}.",
        )
    if np.array_equal(said, log_p):
        raise InputError(
            "reference_is_model",
            f"{name}: the reference model's outputs equal the model's for every record.",
            "Give the outputs of another model, not trained on the audited records.",
        )
    return np.asarray(said[np.arange(labels.size), labels])


def _log_probabilities(stored: _Stored) -> tuple[Floats, tuple[Finding, ...]]:
    """Return log probabilities of each class, and what was taken, where a table left it open."""
    file, logits, found = stored
    values, name, findings = found.values, file.name, _taken(found, file.name)
    if not logits:
        return _log_of(values, name), findings
    inside = within(values.reshape(-1))
    several = values.shape[1] > 1
    if inside and several and add_up(list(values.T)):
        raise InputError(
            "look_like_probabilities",
            f"{name}: the rows have numbers from 0 to 1 that add up to 1, like probabilities and "
            "unlike logits.",
            "Give them with `probabilities`.",
        )
    if inside and not several:
        findings += (Finding.of("look_like_probabilities", file=name),)
    return log_probabilities(values), findings


def _taken(found: Coordinates, name: str) -> tuple[Finding, ...]:
    """Return which columns of a table the classes are."""
    names = {"names": shown_names(found.columns)}
    if found.skipped:
        names["skipped"] = shown_names(found.skipped)
    case = "some" if found.skipped else "all"
    taken = Finding.of("columns_taken", case=case, file=name, **names)
    return (taken,) if found.columns else ()


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
            f"{name}: some rows are not probabilities that add up to 1: {wrong.size:,}, the first "
            f"is row {wrong[0] + 1}.",
            "For outputs before softmax, use `logits`. Remove columns that are not outputs.",
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
) -> tuple[Places, tuple[Finding, ...]]:
    """Return the class of each record, shape (n,), and what was taken of labels that are words.

    Args:
        file: that holds the labels.
        classes: how many there are.
        names: of the outputs' columns; none of an array.
        alone: the file was given for the labels.

    Raises:
        InputError: there are no labels, or some are no class.
    """
    found = column(file, LABELS, "labels", alone=alone, words=True)
    if found.dtype.kind == "U":
        return _of_words(found, classes, names, file.name)
    known, codes = np.unique(found, return_inverse=True)
    numbers = known.tolist()
    wrong = np.array([one != int(one) or not 0 <= one < classes for one in numbers])[codes]
    # A number is a column's place, unless the columns are numbered otherwise.
    by_name = _by_name([f"{one:.15g}" for one in numbers], names, zero=not wrong.any())
    if by_name is None and wrong.any():
        raise InputError(
            "bad_labels",
            f"{file.name}: some labels are not a class from 0 to {classes - 1}: "
            f"{np.count_nonzero(wrong):,}, the first in row {np.argmax(wrong) + 1}.",
            LABEL_HINT,
        )
    return np.array(numbers if by_name is None else by_name, dtype=np.intp)[codes], ()


def _of_words(
    words: NDArray[np.str_], classes: int, names: Sequence[str], name: str
) -> tuple[Places, tuple[Finding, ...]]:
    """Return the classes of labels that are words.

    A word is the column by its name, or by what its name has behind the stem of all. Where no
    word is a column's, even in other capitals, the classes are the words in order, as
    scikit-learn's ``classes_`` are, of which none may be absent.
    """
    known, codes = np.unique(words, return_inverse=True)
    said = {word.strip().casefold() for word in known.tolist()}
    own = next(
        (own for own in _called(names) if said & {one.strip().casefold() for one in own}), []
    )
    if len(own) == 1 and known.size <= classes and {"", *own} & {*known} == {*own}:
        # The first of two classes has no column.
        return (known == own[0]).astype(np.intp)[codes], ()
    by_name = _by_name(known.tolist(), names)
    if by_name is not None and "" not in known:
        return np.array(by_name, dtype=np.intp)[codes], ()
    if own:
        raise InputError(
            "bad_labels",
            f"{name}: labels must be names of columns of the outputs, but "
            f"{np.isin(known, own, invert=True).sum()} of {known.size} different labels are not.",
            "Write labels and columns alike, capitals too. Each class needs its column.",
        )
    if "" in known or known.size != classes:
        raise InputError(
            "bad_labels",
            f"{name}: {known.size} different labels in words, but the outputs have {classes} "
            "classes.",
            "Name the columns of the outputs after the classes, or number the classes.",
        )
    found = (Finding.of("labels_sorted", file=name),)
    return codes.astype(np.intp), found


def _called(names: Sequence[str]) -> list[list[str]]:
    """Return what columns are called as wholes, and behind each stem of all."""
    shared = set.intersection(*(set(stems(name)) for name in names)) if names else set()
    return [[name[len(stem) :] for name in names] for stem in ("", *sorted(shared))]


def _by_name(words: Sequence[str], names: Sequence[str], *, zero: bool = False) -> list[int] | None:
    """Return the places of the columns that words name, as wholes or behind a stem of all.

    Args:
        words: different ones.
        names: of the columns.
        zero: the words are numbers that may be places; they name columns only if 0 names one.
    """
    for own in _called(names):
        if {*own} >= {*words, *("0" * zero)}:
            return [own.index(word) for word in words]
    return None
