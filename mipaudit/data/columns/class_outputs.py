"""Which columns are what a model said of the classes: numbers from 0 to 1 that add up to 1."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.columns.names import hints_score, says_score

Floats = NDArray[np.float64]
# Columns that hold the true class of a record.
LABELS: Final = ("label", "labels", "y", "y_true", "target", "targets", "class")
# Sums of float32 stray from 1.
_TOLERANCE: Final = 1e-2
# A softmax or a mean of votes may leave [0, 1] by rounding.
ROUNDING: Final = 1e-6
# Numbers that were rounded and add up to 1 before: each at most doubles, and some is left of them.
_MOST_ASTRAY: Final = 1 - 1e-3
# How far from a whole number of its last decimal a number in half precision may be.
_GRID: Final = 0.03
_UNITS: Final = tuple(10.0**decimals for decimals in range(1, 8))
# The share of rows that may be astray, and how many must not be, where there are as many.
_FEW: Final = 0.01
_FEWEST_ROWS: Final = 20
# How well a number ranks the records of one class above the others that is a model's output.
_TELLING: Final = 0.8
_FEWEST_OF_CLASS: Final = 20
# Where the stem of a name may end: behind what parts words, and before a number.
_STEM_ENDS: Final = re.compile(r"[\W_]+(?=[^\W_])|(?<=[^\W\d_])(?=\d+$)")


def stems(name: str) -> list[str]:
    """Return what a name may share with others of its kind, short ones first.

    ``prob_big_cat`` has ``prob_`` and ``prob_big_``, ``p0`` has ``p``.
    """
    return [name[: found.end()] for found in _STEM_ENDS.finditer(name)]


def sum_tolerance(columns: Sequence[Floats]) -> float:
    """Return how far the sum of a row may be from 1: .01, or what rounding may have done.

    That is half a unit of the last decimal for each column, where it is more.

    Args:
        columns: k arrays of shape (n,), numbers from 0 to 1; NaN where one is missing.
    """
    return _tolerance([_half_unit(one) for one in columns])


def add_up(columns: Sequence[Floats]) -> bool:
    """Tell whether numbers from 0 to 1 add up to 1 in nearly every row that has all of them.

    Args:
        columns: k arrays of shape (n,).
    """
    return bool(_rows_of_sum_one(columns).any())


def _rows_of_sum_one(columns: Sequence[Floats]) -> NDArray[np.bool_]:
    """Return which rows surely add up to 1, shape (n,): none, where fewer may than must."""
    total = np.zeros(columns[0].shape)
    for one in columns:
        total += one
    astray = np.abs(total - 1)
    fits = astray <= _tolerance([_half_unit(one, few=_FEW) for one in columns])
    there = np.count_nonzero(~np.isnan(total))
    enough = max((1 - _FEW) * there, min(_FEWEST_ROWS, total.size))
    return (astray <= sum_tolerance(columns)) & (np.count_nonzero(fits) >= enough)


def _half_unit(values: Floats, *, few: float = 0.0) -> float:
    """Return half a unit of the last decimal of numbers, but for a few; 0 where they have many."""
    for units in _UNITS:
        scaled = values * units
        if np.mean(np.abs(scaled - np.rint(scaled)) > _GRID) <= few:
            return 0.5 / units
    return 0.0


def _tolerance(half_units: Sequence[float]) -> float:
    rounding = len(half_units) * min(half_units)
    return min(rounding + ROUNDING, _MOST_ASTRAY) if rounding > _TOLERANCE else _TOLERANCE


def within(values: Floats) -> bool:
    """Tell whether numbers, shape (n,), are from 0 to 1 and not all missing."""
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    return bool(low >= -ROUNDING and high <= 1 + ROUNDING)


def class_columns(
    names: Sequence[str], columns: Sequence[Floats], doubtful: Collection[str] = ()
) -> list[tuple[int, ...]]:
    """Return the places of columns that are probabilities of classes, for each model.

    Columns with one stem are tried, and those side by side: never a search over subsets.

    Args:
        names: of the columns, in file order.
        columns: each of shape (n,), n at least 1; NaN where a number is missing.
        doubtful: names of columns that may stand between others without being outputs; those
            of scores are doubtful, too.
    """
    found: list[tuple[int, ...]] = []
    for group in sorted(set(_groups(names, columns, doubtful)), key=lambda one: (-len(one), one)):
        if any(not set(group).isdisjoint(larger) for larger in found):
            continue
        some = [columns[at] for at in group]
        fits = _rows_of_sum_one(some)
        # One alone that is a fraction is no class among others: it is next to 1 itself.
        if sum(is_output(one[fits]) for one in some) > 1:
            found.append(group)
    return sorted(found)


def lone_column(names: Sequence[str], columns: Sequence[Floats]) -> int | None:
    """Return the place of the one column that may be the probability of a class, if one may.

    Args:
        names: of columns of floats, in file order.
        columns: as of `class_columns`.
    """
    found = [
        at
        for at, (name, one) in enumerate(zip(names, columns, strict=True))
        if not is_called_score(name) and is_output(one)
    ]
    return found[0] if len(found) == 1 else None


def is_called_score(name: str) -> bool:
    """Tell whether a column by itself is no output, since its name may mean a score."""
    return hints_score(name) or name.strip().casefold().startswith("lira")


def tells_class(values: Floats, truth: Floats) -> bool:
    """Tell whether numbers rank the records of a class above the others, or below: AUC beyond .8.

    Args:
        values: shape (n,), NaN where one is missing.
        truth: the true classes, shape (n,), likewise; of more than two those count that have, and
            leave, 20 records.
    """
    there = ~(np.isnan(values) | np.isnan(truth))
    classes, codes, sizes = np.unique(truth[there], return_inverse=True, return_counts=True)
    _, ranks, ties = np.unique(values[there], return_inverse=True, return_counts=True)
    middle = np.cumsum(ties) - (ties - 1) / 2
    sums = np.bincount(codes.reshape(-1), weights=middle[ranks.reshape(-1)], minlength=sizes.size)
    least = 1 if classes.size == 2 else _FEWEST_OF_CLASS  # noqa: PLR2004
    enough = np.minimum(sizes, codes.size - sizes) >= least
    n, rest = sizes[enough], codes.size - sizes[enough]
    auc = (sums[enough] - n * (n + 1) / 2) / (n * rest)
    return bool((np.abs(auc - 0.5) > _TELLING - 0.5).any())


def is_output(values: Floats) -> bool:
    """Tell whether numbers, shape (n,), are from 0 to 1, differ, and are not all 0 or 1."""
    there = values[~np.isnan(values)]
    fraction = ((there > 0) & (there < 1)).any()
    return bool(fraction and within(there) and there.min() < there.max())


def _groups(
    names: Sequence[str], columns: Sequence[Floats], doubtful: Collection[str]
) -> Iterator[tuple[int, ...]]:
    """Yield the places of two columns and more with one stem, and of those side by side."""
    inside = [within(one) for one in columns]
    stemmed: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        for stem in stems(name):
            stemmed.setdefault(stem, []).append(at)
    for some in stemmed.values():
        if len(some) > 1 and all(inside[at] for at in some):
            yield tuple(some)
    every = range(len(names))
    sure = [at for at in every if names[at] not in doubtful and not says_score(names[at])]
    for places in (every, sure):
        for side_by_side, run in groupby(places, key=lambda at: inside[at]):
            group = tuple(run)
            if side_by_side and len(group) > 1:
                yield group
                if places is sure:
                    yield from (group[part] for part in _parts([columns[at] for at in group]))


def _parts(columns: Sequence[Floats]) -> Iterator[slice]:
    """Yield, of columns side by side, the longest parts that may add up to 1: one for each end.

    Sums only grow with a part, so that the longest whose sums are not above 1 is the only one.
    """
    half_units = [_half_unit(one, few=_FEW) for one in columns]
    total, lacks, first = np.zeros(columns[0].shape), np.zeros(columns[0].shape, int), 0
    for end, one in enumerate(columns, start=1):
        total, lacks = total + np.nan_to_num(one), lacks + np.isnan(one)
        while True:  # one column by itself is not above 1
            above = total[lacks == 0] - 1
            most = _tolerance(half_units[first:end])
            if np.count_nonzero(above > most) <= _FEW * above.size:
                break
            gone, first = columns[first], first + 1
            total, lacks = total - np.nan_to_num(gone), lacks - np.isnan(gone)
        if end - first > 1 and np.count_nonzero(above >= -most) >= (1 - _FEW) * above.size > 0:
            yield slice(first, end)
