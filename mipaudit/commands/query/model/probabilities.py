"""Log probabilities of a model's classes, from its logits or probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.model.outputs import LABELS, ArrayFile
from mipaudit.errors import InputError
from mipaudit.reading.bytes.storage_precision import Precision, precision_of, rounded_to
from mipaudit.reading.columns.membership import CANDIDATES
from mipaudit.reading.columns.score_selection import shown_names
from mipaudit.statements.estimate import Finding

if TYPE_CHECKING:
    from mipaudit.reading.sheets.coordinates import Coordinates

_LOGITS: Final = ("logits", "outputs", "scores")
_PROBABILITIES: Final = ("probabilities", "probs", "predictions", "confidences")
# Sums of float32 or rounded probabilities stray from 1.
_SUM_TOLERANCE: Final = 1e-2
# A softmax or a mean of votes may leave [0, 1] by rounding.
_ROUNDING: Final = 1e-6


class ReadOutputs(NamedTuple):
    """A model's outputs, read.

    Attributes:
        log_p: log probabilities, shape (n, c).
        columns: names of the classes in a table; none of an array.
        findings: what was taken, where a table left it open.
        precision: the coarsest that holds the numbers as they were stored.
    """

    log_p: NDArray[np.float64]
    columns: tuple[str, ...]
    findings: tuple[Finding, ...]
    precision: Precision


def read_log_probabilities(
    file: ArrayFile, *, logits: bool, precision: Precision | None = None
) -> ReadOutputs:
    """Return log probabilities of each class, their names, and what was taken.

    Args:
        file: of the outputs.
        logits: whether they are before softmax.
        precision: that the numbers are rounded to; None for as they are.

    Raises:
        InputError: the file holds no such outputs.
    """
    _refuse_other_kind(file, logits=logits)
    found = file.coordinates(_LOGITS if logits else _PROBABILITIES, reserved=(*LABELS, *CANDIDATES))
    # Sums round by how an array lies in memory, which must not tell files apart.
    values, findings = np.ascontiguousarray(found.values), _taken(found, file.name)
    stored = precision_of(values)
    if precision is not None:
        values = rounded_to(values, precision)
    if not logits:
        return ReadOutputs(_log_of(values, file.name), found.columns, findings, stored)
    if _sum_to_one(values):
        raise InputError(
            "look_like_probabilities",
            f"{file.name}: every row has numbers from 0 to 1 that add up to 1, as probabilities "
            "do and logits do not.",
            hint="Give them with `probabilities`.",
        )
    if values.shape[1] == 1 and _within_0_and_1(values):
        text = (
            f"{file.name}: every number is from 0 to 1. If they are probabilities, give them with "
            "`probabilities`: as logits they make false scores."
        )
        findings += (Finding(code="look_like_probabilities", text=text),)
    whole = binary_logits(values) if values.shape[1] == 1 else values
    return ReadOutputs(log_probabilities(whole), found.columns, findings, stored)


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
    if not found.columns:
        return ()
    text = f"{name}: the classes are, from 0 on, the columns {shown_names(found.columns)}."
    if found.skipped:
        text += f" Passed over: {shown_names(found.skipped)}."
    return (Finding(code="columns_taken", text=text),)


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
            f"{name}: rows that are no probabilities that add up to 1: {wrong.size:,}, the first "
            f"is row {wrong[0] + 1}.",
            hint="If these are outputs before softmax, use `logits`.",
        )
    with np.errstate(divide="ignore"):
        log_p = np.log(values)
    # Rounded probabilities do not quite add up to 1.
    return np.asarray(log_p - np.log(total)[:, None])


def log_probabilities(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log p of each class, shape (n, c), from finite logits of the same shape.

    log1p of what the others add to the largest: a sure model's small loss keeps its digits.
    """
    rows = np.arange(logits.shape[0])
    largest = logits.argmax(axis=1)
    with np.errstate(over="ignore"):  # further than 1e308 below: p is 0
        below = logits - logits[rows, largest][:, None]
    others = np.exp(below)
    others[rows, largest] = 0.0
    return np.asarray(below - np.log1p(others.sum(axis=1))[:, None])


def binary_logits(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logits of two classes, shape (n, 2), from those of the second, shape (n, 1)."""
    return np.concatenate([np.zeros_like(logits), logits], axis=1)
