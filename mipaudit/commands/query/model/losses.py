"""``mipaudit query losses``: scores of what a model says of records.

All in logarithms: p_j = exp(z_j - log sum exp z), and log(1 - p_j) is the log of the sum of
the others, so that a sure model (p near 1) loses no digits.
"""

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.model.answer import ModelQuery, model_query, require_both_classes
from mipaudit.commands.query.model.class_probabilities import read_answers
from mipaudit.commands.query.model.options import LossesOptions
from mipaudit.errors import InputError
from mipaudit.model.message import Message
from mipaudit.options.public import public
from mipaudit.options.values import require
from mipaudit.statements.provenance import provenance

Floats = NDArray[np.float64]
_CALIBRATED: Final = "loss_calibrated"
_UNLABELLED: Final = frozenset({"conf_max", "entropy"})
_DEFAULT: Final = ("loss", "conf_true", "conf_max", "entropy", "mod_entropy", "margin", "correct")
_MEANING: Final = (
    "loss less the reference model's loss on the same record (Watson et al. 2022); low for members"
)
_BOTH: Final = (
    "Mark members with 1 and holdout records with 0, or give the holdout in a file of its own, "
    "with `holdout_logits` or `holdout_probabilities`."
)
ModelScore = Literal[
    "loss", "conf_true", "conf_max", "entropy", "mod_entropy", "margin", "phi", "correct"
]
SCORES: Final[dict[ModelScore, str]] = {
    "loss": "cross-entropy, -log p of the true class; low for members",
    "conf_true": "p of the true class; high for members",
    "conf_max": "the largest p; high for members, and needs no label",
    "entropy": "-sum p log p; low for members, and needs no label",
    "mod_entropy": "modified entropy (Song and Mittal 2021); low for members",
    "margin": "log p of the true class less that of the best other; high for members",
    "phi": "log(p / (1 - p)) of the true class (Carlini et al. 2022); high for members",
    "correct": "whether the true class has the largest p; true for members",
}
# Rows at once: temporaries stay small beside the outputs.
_ROWS: Final = 1 << 14


def answer_query_losses(asked: LossesOptions) -> "ModelQuery":
    """Return the loss, confidence, entropy and their kin of every record.

    One row for each record and one column for each class; a single column is the second of
    two classes. Labels and membership may be in the same table (columns ``label`` and
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
    whole = read_answers(asked, need_labels=not _UNLABELLED.issuperset(wanted))
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
    with np.errstate(invalid="ignore"):
        found = np.asarray(loss + reference, dtype=np.float64)
    undefined = int(np.count_nonzero(np.isnan(found)))
    if undefined:
        raise InputError(
            "infinite_losses",
            f"In {undefined:,} rows both models rule the true class out: infinity less infinity.",
            hint="Give logits, of which no loss is infinite.",
        )
    return found


def model_scores(
    log_p: Floats, labels: NDArray[np.intp]
) -> dict[ModelScore, Floats | NDArray[np.bool_]]:
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


def _scores(
    log_p: Floats, labels: NDArray[np.intp]
) -> dict[ModelScore, Floats | NDArray[np.bool_]]:
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
