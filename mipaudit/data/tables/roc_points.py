"""Points of an ROC that a guarantee allows: a claim that an accountant wrote down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.tables.json_file import Json, cells_part
from mipaudit.data.tables.table import Table, Whole, open_whole
from mipaudit.errors import InputError

if TYPE_CHECKING:
    from mipaudit.statements.provenance import InputFile

_RATES: Final = ("fpr", "tpr")
_CURVES: Final = ("curve", "x", "y")
_ROC: Final = "roc"
_HINT: Final = (
    "Give columns 'fpr' and 'tpr', the most true positives at each false-positive rate, or the "
    "file that `mipaudit bounds --curve FILE` writes."
)


def read_roc_points(path: str) -> tuple[NDArray[np.float64], InputFile]:
    """Read the points from CSV, Parquet or JSON: at each FPR no attacker has a greater TPR.

    CSV and Parquet have columns ``fpr`` and ``tpr``, or the rows ``roc`` of the file that
    ``bounds --curve`` writes; JSON is an object with lists of these names.

    Args:
        path: a file, or ``-`` for standard input.

    Returns:
        FPR and TPR, shape (k, 2), k at least 1, from 0 to 1, the TPR at least the FPR; the file.

    Raises:
        UsageError: an empty or remote path.
        InputError: ``no_curve`` or ``bad_curve``, or it cannot be read.
    """
    with open_whole(path, "the points") as whole:
        rates = _rates(whole)
        _require_roc(rates, whole.name)
        return rates, whole.described(len(rates))


def _rates(whole: Whole) -> NDArray[np.float64]:
    """Return FPR and TPR, shape (k, 2)."""
    if whole.form == "json":
        return _from_json(whole.document, whole.name)
    if whole.table is None:
        raise _no_curve(whole.name)
    kinds = {field.name: field.kind for field in whole.table.fields}
    if kinds.keys() >= set(_RATES):
        return whole.table.matrix(_RATES)[1]
    curves = kinds.keys() >= set(_CURVES) and kinds[_CURVES[0]] == "string"
    if whole.form != "csv" or not curves or not kinds.keys().isdisjoint(_RATES):
        raise _no_curve(whole.name)
    # Only numbers may be asked for as numbers: the other curves' rows are too.
    chosen = whole.table.words(_CURVES[0]) == _ROC
    return np.asarray(whole.table.matrix(_CURVES[1:])[1][chosen])


def _from_json(document: Json, name: str) -> NDArray[np.float64]:
    found = [document.get(one) for one in _RATES] if isinstance(document, dict) else []
    lists = [one for one in found if isinstance(one, list)]
    if len(lists) < len(_RATES):
        raise _no_curve(name)
    if len({len(one) for one in lists}) > 1:
        raise InputError("bad_curve", f"{name}: 'fpr' and 'tpr' differ in length.", hint=_HINT)
    cells = dict(zip(_RATES, lists, strict=True))
    return Table(part=cells_part(name, cells)).matrix(_RATES)[1]


def _require_roc(rates: NDArray[np.float64], name: str) -> None:
    if not len(rates):
        raise _no_curve(name)
    wrong = ((rates < 0) | (rates > 1)).any(axis=1) | (rates[:, 1] < rates[:, 0])
    order = np.argsort(rates[:, 0], kind="stable")
    wrong[order[1:]] |= np.diff(rates[order, 1]) < 0
    if wrong.any():
        raise InputError(
            "bad_curve",
            f"{name}: {np.count_nonzero(wrong)} points are no rates that a guarantee allows, the "
            f"first of them point {int(wrong.argmax()) + 1}: both must be from 0 to 1, the TPR at "
            "least the FPR, and it must not fall where the FPR rises.",
            hint=_HINT,
        )


def _no_curve(name: str) -> InputError:
    return InputError("no_curve", f"{name}: no points of an ROC are found.", hint=_HINT)
