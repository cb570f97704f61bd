"""Which columns differ between members and holdout: exact tests, column by column.

Cells are cut on the burn-in; the other rows are counted. So the cells are fixed before
the counts, and each test is exact or conservative at every sample size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Self

import numpy as np

from mipaudit.maths.chance import holm, independence_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.shift.differences.learner import Floats

Aspect = Literal["numbers", "categories", "dates", "missing"]

_MOST_CELLS: Final = 32
_ROWS_PER_CUT: Final = 20
_FEWEST_CUTS: Final = 3
_NEARLY_ALL: Final = 0.8  # total variation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnCells:
    """The cells of one column: up to each edge, or each of some texts; then all others.

    Attributes:
        category: whether the column holds texts.
        marks: edges or texts, in increasing order, shape (k,).
    """

    category: bool
    marks: Floats

    @property
    def count(self) -> int:
        """Cells, without that of the missing ones."""
        return self.marks.size + 1

    def locate(self, values: Floats) -> NDArray[np.int64]:
        """Return each row's cell, shape (n,); ``count`` for a missing value."""
        at = np.searchsorted(self.marks, values, side="left")
        if self.category and self.marks.size:
            known = self.marks[np.minimum(at, self.marks.size - 1)] == values
            at = np.where(known, at, self.marks.size)
        elif self.category:
            at = np.zeros(values.size, dtype=np.int64)
        return np.where(np.isnan(values), self.count, at)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnTest:
    """How one column differs between the classes.

    Attributes:
        column: its name, as it is.
        aspect: what is compared: the values, or how many are missing.
        effect: largest difference, members less holdout, between the shares of records at
            or below one value, with one text, or with a missing value; in [-1, 1].
        p_value: of equality, exact or conservative.
        adjusted: of all tests together (Holm): what is at most alpha differs.
        n_members: members behind it.
        n_holdout: holdout records behind it.
    """

    column: str
    aspect: Aspect
    effect: float
    p_value: float
    adjusted: float
    n_members: int
    n_holdout: int


def cut_columns(values: Floats, categories: Sequence[bool]) -> tuple[ColumnCells, ...]:
    """Return the cells of every column, from rows that are not counted in them.

    Args:
        values: of the burn-in, shape (n, d), NaN where missing.
        categories: for each column, whether its numbers stand for texts.
    """
    return tuple(
        ColumnCells(category=category, marks=_marks(values[:, at], category=category))
        for at, category in enumerate(categories)
    )


def _marks(column: Floats, *, category: bool) -> Floats:
    present = np.sort(column[~np.isnan(column)])
    if not present.size:
        return np.empty(0)
    most = min(_MOST_CELLS - 1, max(_FEWEST_CUTS, present.size // _ROWS_PER_CUT))
    if category:
        words, rows = np.unique(present, return_counts=True)
        return np.sort(words[np.argsort(-rows, kind="stable")[:most]])
    values = np.unique(present)
    if values.size <= most + 1:
        return values[:-1]
    places = np.arange(1, most + 1) * present.size // (most + 1)
    return np.unique(present[places])


class ColumnTallies:
    """Counts of every column's cells by class, as they grow; mergeable."""

    __slots__ = ("_cells", "counts")

    def __init__(self, cells: Sequence[ColumnCells]) -> None:
        """Start empty."""
        self._cells = tuple(cells)
        self.counts = [np.zeros((one.count + 1, 2), dtype=np.int64) for one in cells]

    def add(self, columns: Sequence[Floats], member: NDArray[np.bool_]) -> None:
        """Count rows whose columns are given, each of shape (n,)."""
        side = member.astype(np.int64)
        for at, (cells, values) in enumerate(zip(self._cells, columns, strict=True)):
            table = self.counts[at]
            code = 2 * cells.locate(values) + side
            self.counts[at] = table + np.bincount(code, minlength=table.size).reshape(table.shape)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        pairs = zip(self.counts, other.counts, strict=True)
        self.counts = [mine + theirs for mine, theirs in pairs]

    def telling(self) -> tuple[bool, ...]:
        """Return for each column whether its cells alone tell nearly all records apart."""
        shares = (table / np.maximum(table.sum(axis=0), 1) for table in self.counts)
        return tuple(
            bool(np.abs(share[:, 1] - share[:, 0]).sum() / 2 >= _NEARLY_ALL) for share in shares
        )

    def tests(self, names: Sequence[str], kinds: Sequence[Aspect]) -> tuple[ColumnTest, ...]:
        """Return the tests of all columns, those that differ most surely first.

        Args:
            names: of the columns.
            kinds: what each holds.
        """
        found = []
        for cells, table, name, kind in zip(self._cells, self.counts, names, kinds, strict=True):
            present, missing = table[:-1], table[-1]
            # By the sums over the classes alone: what is left out says nothing of them.
            if np.count_nonzero(present.sum(axis=1)) > 1:
                found.append(_values_test(name, kind, present, category=cells.category))
            if missing.any() and present.any():
                both = np.stack([missing, present.sum(axis=0)])
                found.append(_values_test(name, "missing", both, category=True))
        adjusted = holm(np.array([one[2] for one in found]))
        tests = [
            ColumnTest(
                column=name,
                aspect=aspect,
                effect=effect,
                p_value=p_value,
                adjusted=float(together),
                n_members=int(sizes[1]),
                n_holdout=int(sizes[0]),
            )
            for (name, aspect, p_value, effect, sizes), together in zip(
                found, adjusted, strict=True
            )
        ]
        return tuple(sorted(tests, key=lambda one: (one.p_value, -abs(one.effect))))


def _values_test(
    name: str, aspect: Aspect, table: NDArray[np.int64], *, category: bool
) -> tuple[str, Aspect, float, float, NDArray[np.int64]]:
    """Return (name, aspect, p-value, effect, sizes) of counts of shape (k, 2).

    Texts are tested one by one, numbers up to each edge; the error is shared over them
    (Bonferroni).
    """
    sizes = table.sum(axis=0)
    inside = table if category else np.cumsum(table, axis=0)[:-1]
    if len(table) == 2:  # noqa: PLR2004 - the second text says the same as the first
        inside = inside[:1]
    share = inside / np.maximum(sizes, 1)
    difference = share[:, 1] - share[:, 0]
    effect = float(difference[np.abs(difference).argmax()]) if min(sizes) else 0.0
    p_values = independence_p(inside[:, 1], inside.sum(axis=1), int(sizes[1]), int(sizes.sum()))
    p_value = min(1.0, float(p_values.min()) * len(p_values))
    return name, aspect, p_value, effect, sizes
