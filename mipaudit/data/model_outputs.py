"""What a model said of the classes: numbers from 0 to 1 that add up to 1, no scores one by one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.data import words
from mipaudit.data.column import CHUNK_ROWS, Field, column_scores
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.model.message import Finding, Message

if TYPE_CHECKING:
    from mipaudit.data.choice import Choice
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.source import ScoreSource, Sides

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
# Of more rows, or of files far away, a few row groups are looked at.
_LOOKED_AT: Final = 1 << 22
_GROUPS: Final = 8
_MOST_NUMBERS: Final = 1 << 22
# Words of a column that may be what an attack says.
_OF_MEMBERS: Final = frozenset({"in", "member", "members", "membership", "train"})
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


def _rows_of_sum_one(columns: Sequence[Floats]) -> Bools:
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
    return words.hints_score(name) or name.strip().casefold().startswith("lira")


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
    sure = [at for at in every if names[at] not in doubtful and not words.says_score(names[at])]
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


class ModelOutputs:
    """Looks whether the scores that were taken are a model's outputs.

    Attributes:
        names: the columns to look at: floats that are scores, and what tells of those that the
            user named. Of one score that is the true class, of several all that may be outputs
            with them.
    """

    def __init__(
        self, sides: Sides, fields: Sequence[Field], choice: Choice, request: ReadRequest
    ) -> None:
        """Choose the columns to look at by their names and kinds.

        Args:
            sides: the parts of the input by the class that they were given for.
            fields: all columns.
            choice: which of them were taken, and what for.
            request: how to understand them.
        """
        self._sides, self._fields, self._request = sides, fields, request
        self._label = _true_class(fields, {request.member_column, *choice.members})
        scores = set(choice.names)
        roles = {*choice.ids, *choice.splits, *request.group_columns, request.member_column}
        roles |= {request.key_column, request.unit_column}
        free = [
            one.name
            for one in fields
            if one.kind == "float" and one.name not in roles and not words.is_candidate(one.name)
        ]
        self._taken = self.names = [name for name in free if name in scores]
        self._named = bool(request.score_columns) and not request.arrays
        if self._named:
            plain = [name for name in self._taken if not is_called_score(name)]
            if len(self._taken) > 1:
                self.names = free if len(plain) > 1 else []
            else:
                self.names = [*plain, self._label] if plain and self._label else []

    def findings(self, source: ScoreSource) -> tuple[Finding, ...]:
        """Return what is to be said of columns that are a model's outputs.

        Args:
            source: the opened input.

        Raises:
            InputError: ``class_probabilities``: nobody named the columns, and they are no scores
                one by one.
        """
        names, taken = self.names, self._taken
        if not names or source.rows_hint < _FEWEST_ROWS:
            return ()
        if len(taken) == 1 and len(names) > 1:
            columns = _sample(source, names)
            tells = is_output(columns[0]) and tells_class(*columns)
            return (self._lone(source, taken[0], "tells"),) if tells else ()
        models = self._models(source)
        if models and len(models[0]) == 1:
            return (self._lone(source, models[0][0], "share"),)
        if models and not self._named:
            raise self._refused(source, models)
        several = [one for one in models if len(set(taken).intersection(one)) > 1]
        if not several:
            return ()
        shown = words.shown_names([name for one in several for name in one], self._fields)
        return (self._finding(source, "class_probabilities", names=shown),)

    def _models(self, source: ScoreSource) -> list[list[str]]:
        """Return the outputs of each model; one column alone, beside a label, if nobody named it.

        Of an ordinary input no more than one chunk is read.
        """
        names = self.names
        lone = self._label is not None and not self._named
        # Without a label two may be what an attack says, if their names do.
        least = 3 if self._label is None and any(map(_says_members, names)) else 2
        found: list[tuple[int, ...]] = []
        for first in (True, False):
            if len(names) < (1 if lone else least):
                return []
            columns = _sample(source, names, first=first)
            if columns[0].size >= _FEWEST_ROWS:
                found = [one for one in class_columns(names, columns) if len(one) >= least]
                at = lone_column(names, columns) if lone and not found else None
                found = found if at is None else [(at,)]
            if not found and (columns[0].size >= _FEWEST_ROWS or not first):
                return []
        return [[names[at] for at in one] for one in found]

    def _lone(self, source: ScoreSource, name: str, case: str) -> Finding:
        column = words.shown_column(name, self._fields)
        return self._finding(source, "class_probability", case=case, column=column)

    def _finding(self, source: ScoreSource, code: str, **shown: str) -> Finding:
        """Return what some columns are, beside which label, and what makes scores of them."""
        beside = None
        if self._label is not None:
            label = words.shown_column(self._label, self._fields)
            beside = Message.of("beside_label", label=label)
        line, needs = self._way_out(source)
        return Finding.of(code, **shown, beside=beside, line=line, needs=needs)

    def _refused(self, source: ScoreSource, models: Sequence[Sequence[str]]) -> InputError:
        line, needs = self._way_out(source, models=len(models))
        names = [name for one in models for name in one]
        beside = ""
        if self._label is not None:
            beside = f", next to a label column {words.shown_column(self._label, self._fields)}"
        others = [n for n in self._taken if n not in names and is_called_score(n)]
        others += filter(_says_members, names)
        name = [*others, names[-1]][0]
        shown = shlex.quote(name) if name in words.shown_column(name, self._fields) else "NAME"
        last = f"If the columns are scores of an attack, name one: `score_col` {shown}"
        hint = ["Make scores from them:", f"  {line}", *filter(None, [needs]), last]
        return InputError(
            "class_probabilities",
            f"The columns {words.shown_names(names, self._fields)} are from 0 to 1 and add up to 1"
            f"{beside}, like a model's probabilities of the classes. Each column alone is a weak "
            "score: a low 'at most' for it does not show that little leaks.",
            "\n".join(hint),
        )

    def _way_out(self, source: ScoreSource, *, models: int = 1) -> tuple[str, str]:
        """Return what makes scores of the outputs, and what it needs besides, in words."""
        request, sides = self._request, [parts for _, parts in self._sides]
        in_memory, unlabelled = sides[0][0].blob is None, self._label is None
        names = [some[0].name if len(some) == 1 else "FILE" for some in sides]
        stem = PurePath(names[0]).name.partition(".")[0]
        written = f"{'model' if stem in {'FILE', 'standard input'} else stem}_scores.csv"
        if in_memory:
            names = ["frame"] if len(sides) == 1 else ["members", "holdout"]
        given = {}
        for prefix, name in zip(("", "holdout_"), names, strict=False):
            given[f"{prefix}probabilities"] = "-" if name == "standard input" else name
            given |= {f"{prefix}labels": f"{prefix}labels"} if unlabelled else {}
        if in_memory:
            line = f"mipaudit.query_losses({', '.join(f'{k}={v}' for k, v in given.items())})"
        else:
            typed = (f"--{k.replace('_', '-')} {shlex.quote(v)}" for k, v in given.items())
            line = f"mipaudit query losses {' '.join(typed)} -o {shlex.quote(written)}"
        told = request.member_value is None and source.member_column in words.CANDIDATES
        narrowed = (request.where, request.unit_column, request.key_column)
        needs = {
            "one FILE of all rows": max(map(len, sides)) > 1,
            "one model's outputs at a time": models > 1,
            "the true classes: a file, or a column 'label'": unlabelled,
            "a column 'member' of 1 and 0": len(sides) == 1 and not told,
            "a file of only the rows that count (it has no `where`, `unit_col`, `key_col` or "
            "`nan`)": (any(narrowed) or request.nan != "error"),
        }
        wanted = ", ".join(what for what, needed in needs.items() if needed)
        return line, f"It needs {wanted}." if wanted else ""


def _says_members(name: str) -> bool:
    return not _OF_MEMBERS.isdisjoint(words.name_words(name))


def _true_class(fields: Sequence[Field], roles: set[str | None]) -> str | None:
    """Return the column of the true class; None where none is called so."""
    named = {one.name.strip().casefold(): one for one in reversed(fields)}
    found = (named[name] for name in LABELS if name in named)
    return next((one.name for one in found if one.name not in roles and one.kind != "other"), None)


def _sample(source: ScoreSource, names: Sequence[str], *, first: bool = False) -> list[Floats]:
    """Return columns of rows at even distances, NaN where a number is missing.

    These are all rows of up to 131,072, where there are few columns.

    Args:
        source: the opened input.
        names: of the columns, each of shape (n,) in the answer.
        first: look at one chunk alone.
    """
    parts, total = list(source.every_row()), source.rows_hint
    few = first or source.remote or total > _LOOKED_AT
    if few:
        parts = parts[:: -(-len(parts) // (1 if first or source.remote else _GROUPS))]
        total = min(total, len(parts) * CHUNK_ROWS)
    step = -(-total // max(_FEWEST_ROWS, min(CHUNK_ROWS, _MOST_NUMBERS // len(names))))
    found: list[list[Floats]] = [[np.empty(0)] for _ in names]
    for part in parts:
        for chunk, rows in part.looked_at(names, scores=False):
            kept = slice(None) if rows.kept is None else rows.kept
            for name, columns in zip(names, found, strict=True):
                columns.append(column_scores(chunk.columns[name])[kept][::step])
            if few:
                break
    return [np.concatenate(columns) for columns in found]
