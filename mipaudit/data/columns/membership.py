"""Which rows count, and which label of the membership column means a member."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.columns.column import Column, Hashes, Labels, Numbers, column_scores
from mipaudit.data.csv.cells import MISSING
from mipaudit.errors import InputError, UsageError
from mipaudit.statements.text.printable_names import quoted_name

# A number (booleans are 0 and 1) or a string without case and outer spaces.
Label = float | str

CANDIDATES: Final = (
    "member",
    "is_member",
    "membership",
    "in_train",
    "is_train",
    "canary",
    "included",
    "inclusion",
    "coin",
    "split",
)
MEMBER_LABELS: Final = frozenset[Label](
    {1.0}
    | {"1", "true", "t", "yes", "y", "in", "included", "member", "members", "train", "training"}
    | {"in_train", "in-train", "is_member", "canary"}
)
HOLDOUT_LABELS: Final = frozenset[Label](
    {0.0, -1.0}
    | {"0", "-1", "false", "f", "no", "n", "out", "excluded", "holdout", "hold-out", "hold_out"}
    | {"held-out", "held_out", "heldout", "test", "testing", "non-member", "non-members"}
    | {"nonmember", "nonmembers", "non_member", "non_members", "not_in_train", "not_member"}
    | {"reference", "val", "valid", "validation"}
)
_KNOWN_PAIRS: Final = (
    "1 and 0, true and false, yes and no, in and out, member and holdout, train and test"
)
_TRUE: Final = frozenset({"true", "t", "yes", "y"})
_SAYS_YES: Final = _TRUE | {"1", "1.0"}
_FALSE: Final = frozenset({"false", "f", "no", "n"})
_SAYS_NOTHING: Final = _FALSE | {"0", "0.0"} | frozenset(map(str.casefold, MISSING))

_HOLDOUT, _MEMBER, _UNKNOWN, _NULL = 0, 1, 2, 3
Mask = NDArray[np.bool_]
# Membership per row, and the rows with another label and with none; None where no row is marked.
Decoded = tuple[Mask, Mask | None, Mask | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRule:
    """Tells members from holdout in one column.

    ``holdout`` is None when every label that is not a member's is holdout.
    """

    column: str
    members: frozenset[Label]
    holdout: frozenset[Label] | None

    def decode(self, column: Column) -> Decoded:
        """Return the membership of every row, and which have another label or none."""
        if isinstance(column, Labels):
            table = [self._code(normal_label(word)) for word in column.vocabulary.words]
            return _decoded(np.array([*table, _NULL], dtype=np.uint8)[column.codes])
        if column.missing is None and self._plain(column.values):
            # One byte a row, each 0 or 1: booleans as they are.
            return column.values.view(np.bool_), None, None
        return _decoded(self._number_codes(column))

    def _plain(self, values: NDArray[Any]) -> bool:
        if self.members != {1.0} or not (self.holdout is None or 0.0 in self.holdout):
            return False
        if values.dtype == np.bool_:
            return True
        byte = values.dtype.kind in "iu" and values.dtype.itemsize == 1 and values.size > 0
        return byte and bool(values.min() >= 0) and bool(values.max() <= 1)

    def _code(self, label: Label) -> int:
        if label in self.members:
            return _MEMBER
        return _HOLDOUT if self.holdout is None or label in self.holdout else _UNKNOWN

    def _number_codes(self, column: Numbers | Hashes) -> NDArray[np.uint8]:
        values = column.values
        start = _HOLDOUT if self.holdout is None else _UNKNOWN
        codes = np.full(values.shape, start, dtype=np.uint8)
        for labels, code in ((self.holdout or (), _HOLDOUT), (self.members, _MEMBER)):
            for label in labels:
                if isinstance(label, float):
                    codes[values == label] = code
        if values.dtype.kind == "f":
            codes[np.isnan(values)] = _NULL
        if column.missing is not None:
            codes[column.missing] = _NULL
        return codes


def _decoded(codes: NDArray[np.uint8]) -> Decoded:
    member = codes == _MEMBER
    if not codes.size or codes.max() <= _MEMBER:
        return member, None, None
    unknown, null = codes == _UNKNOWN, codes == _NULL
    return member, unknown if unknown.any() else None, null if null.any() else None


def normal_label(word: str) -> Label:
    """Return ``word`` as labels are compared: no outer spaces, no case."""
    return word.strip().casefold()


def said_of(column: Column) -> NDArray[np.float64]:
    """Return 1 for yes, 0 for no, and what is neither, or nothing, as another number or NaN.

    A text is taken at its word where it says yes; that it says no clears nobody.
    """
    if not isinstance(column, Labels):
        return column_scores(column)
    words = map(normal_label, column.vocabulary.words)
    said = [1 if one in _SAYS_YES else np.nan if one in _SAYS_NOTHING else 2 for one in words]
    found: NDArray[np.float64] = np.array([*said, np.nan])[column.codes]
    return found


def distinct_labels(column: Column) -> set[Label]:
    """Return the labels that occur in ``column``, nulls left out."""
    if isinstance(column, Labels):
        used = np.unique(column.codes[column.codes >= 0])
        return {normal_label(column.vocabulary.words[int(code)]) for code in used}
    values, missing = column.values, column.missing
    return _distinct_numbers(values if missing is None else values[~missing])


def _distinct_numbers(values: NDArray[Any]) -> set[Label]:
    if values.dtype.kind == "f":
        values = values[~np.isnan(values)]
    if not values.size:
        return set()
    low, high = float(values.min()), float(values.max())
    if low == high or values.dtype == np.bool_:
        return {low, high}
    return {float(value) for value in np.unique(values)}


def rule_from_labels(column: str, labels: Iterable[Label]) -> MemberRule | None:
    """Return the rule for well-known labels, or None when they are not a known pair."""
    known = frozenset(labels)
    members, holdout = known & MEMBER_LABELS, known & HOLDOUT_LABELS
    if members | holdout != known or len(members) > 1 or len(holdout) > 1:
        return None
    return MemberRule(column=column, members=members, holdout=holdout)


def rule_from_value(column: str, value: str) -> MemberRule:
    """Return the rule "equal to ``value`` is a member, everything else is holdout"."""
    word = value.strip().casefold()
    labels: set[Label] = {word}
    if word in _TRUE:
        labels.add(1.0)
    elif word in _FALSE:
        labels.add(0.0)
    else:
        with suppress(ValueError):
            labels.add(float(word))
    return MemberRule(column=column, members=frozenset(labels), holdout=None)


_BOOLEANS: Final = {"true": True, "false": False}
_QUOTES: Final = ("'", '"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Keeps the rows whose ``column`` equals ``value``."""

    column: str
    value: str

    def mask(self, column: Column) -> NDArray[np.bool_]:
        """Return which rows are kept; a null equals nothing.

        Raises:
            UsageError: ``bad_where`` when the column is numeric and the value is not.
        """
        kept: NDArray[np.bool_]
        if isinstance(column, Labels):
            hits = [word == self.value for word in column.vocabulary.words]
            kept = np.array([*hits, False], dtype=np.bool_)[column.codes]
            return kept
        kept = np.asarray(column.values == self._number(column.values))
        return kept if column.missing is None else kept & ~column.missing

    def _number(self, values: NDArray[Any]) -> float:
        word = self.value.casefold()
        if word in _BOOLEANS:
            return _BOOLEANS[word]
        try:
            # A large integer would lose digits as a float.
            return int(word) if values.dtype.kind in "iu" else float(word)
        except ValueError:
            pass
        try:
            return float(word)
        except ValueError:
            raise UsageError(
                "bad_where",
                "`where`: the column holds numbers and the value is not one.",
            ) from None


def parse_where(text: str) -> Where:
    """Read ``"column = value"``; the value may be in quotes.

    Raises:
        UsageError: ``bad_where``.
    """
    column, equals, value = text.partition("=")
    column, value = column.strip(), value.removeprefix("=").strip()
    if not equals or not column or not value:
        raise UsageError("bad_where", '`where`: expected "column = value".')
    if len(value) > 1 and value[0] in _QUOTES and value[-1] == value[0]:
        value = value[1:-1]
    return Where(column=column, value=value)


def label_error(
    column: str, count: int, *, measured: bool = False, likely: str | None = None
) -> InputError:
    """Return the error for a membership column whose labels are not understood.

    Args:
        column: its name.
        count: how many labels it has.
        measured: whether it holds floats, as scores do.
        likely: names of columns that may be meant; None for none.
    """
    name = quoted_name(column)
    if count > 2:  # noqa: PLR2004
        meant = "Say with `member_value` which one means member (all others are holdout)."
        if measured:
            meant = f"It may be a score. Membership is {_KNOWN_PAIRS}."
        if likely is not None:
            meant += f" Named like membership: {likely}; name it with `member_col`."
        return InputError(
            "many_labels",
            f"Membership column {name} has {count} different labels; two are expected.",
            hint=meant,
        )
    return InputError(
        "unknown_labels",
        f"The labels of membership column {name} do not say which one means member.",
        hint=f"Known are {_KNOWN_PAIRS}; of others, say with `member_value` which one it is.",
    )


def empty_class_error(*, members: bool) -> InputError:
    """Return the error for a class without rows."""
    present, absent = ("holdout", "member") if members else ("member", "holdout")
    return InputError(
        "empty_class",
        f"There is no {absent} record: every row is {present}.",
        hint="Check the membership column (`member_col`, `member_value`) and the filter (`where`).",
    )
