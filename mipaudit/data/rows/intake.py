"""What was left out of the rows, counted on the way.

The errors that only a count over the whole input can state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.words import label_error
from mipaudit.errors import InputError
from mipaudit.model.message import Finding
from mipaudit.statements.copies import Copies, unread_findings
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.verdict import BLUNTED, MISSING

if TYPE_CHECKING:
    from mipaudit.data.words import Label

# Nines of either sign: a finding may name them, since they are not from the data alone.
_SENTINELS: Final = frozenset(
    float(sign * (10**digits - 1)) for digits in range(2, 10) for sign in (-1, 1)
)
_SORTED: Final = np.array(sorted(_SENTINELS))
_REPEATED: Final = 2
# How likely, at most, the classes of an honest file differ so much in what is missing.
_SURE: Final = 0.001
# Rows, by class: present; left out of a file given for the other class, because a score is missing,
# or because their person has another; of those present, with a score missing and kept, released
# word for word, and told whether they were, or told in words that say neither.
Kept = Literal["present", "other_side", "nan", "unit", "copied", "told", "unclear"]
# What is wrong with rows, as `Intake.faults` has it.
OfRow = Literal["unknown_labels", "null_labels", "null_keys", "null_groups"]
OfScore = Literal["missing", "inexact", "overflowed", "moved", "infinite", "endless", "lowest"]
Wrong = Literal[OfRow, OfScore]

# A float type that some files store a column in, and these files, for messages.
Coarse = tuple[str, str]

_CLASSES: Final = (True, False)
_ENDING: Final[frozenset[Wrong]] = frozenset(
    {"unknown_labels", "null_labels", "null_keys", "null_groups", "inexact", "overflowed"}
)


@dataclass(slots=True, kw_only=True)
class Fault:
    """How many rows have a fault, the first, and the chunk that it is in: positions from 0."""

    count: int = 0
    first_row: int = -1
    chunk: int = -1

    def add(self, count: int, first_row: int, chunk: int = 0) -> None:
        """Count more rows, of which ``first_row`` is the first, in the chunk that begins there."""
        if count and (self.first_row < 0 or first_row < self.first_row):
            self.first_row, self.chunk = first_row, chunk
        self.count += count

    @property
    def told(self) -> str:
        """How many rows, and which is the first, in words."""
        rows = "1 row" if self.count == 1 else f"{self.count} rows"
        return f"{rows}, first in data row {self.first_row + 1}"


@dataclass(slots=True, kw_only=True)
class Spread:
    """The scores of a column that are no sentinels, and how often each sentinel is there.

    Attributes:
        lowest, highest: of the others.
        counts: by sentinel.
    """

    lowest: float = np.inf
    highest: float = -np.inf
    counts: Counter[float] = field(default_factory=Counter)

    def add(self, scores: NDArray[np.float64]) -> None:
        """Count more scores, shape (n,), none of them NaN."""
        if not scores.size:
            return
        ends = (float(scores.min()), float(scores.max()))
        # One that lies among the others is a score like them, so that the ends tell.
        if not _SENTINELS.isdisjoint(ends):
            hits = np.isin(scores, _SORTED)
            self.counts.update(scores[hits].tolist())
            scores = scores[~hits]
            if not scores.size:
                return
            ends = (float(scores.min()), float(scores.max()))
        self.lowest, self.highest = min(self.lowest, ends[0]), max(self.highest, ends[1])

    def include(self, other: Spread) -> None:
        """Add the scores of other rows."""
        self.lowest = min(self.lowest, other.lowest)
        self.highest = max(self.highest, other.highest)
        self.counts.update(other.counts)

    @property
    def far(self) -> dict[int, int]:
        """Rows by sentinel, of those farther from all other scores than these are wide."""
        width = self.highest - self.lowest
        return {
            int(value): count
            for value, count in sorted(self.counts.items())
            if count >= _REPEATED
            and 0 < width < max(self.lowest - value, value - self.highest) < np.inf
        }


@dataclass(slots=True, kw_only=True)
class Intake:
    """Counts of rows over a part of the input, or over all of it.

    Attributes:
        rows: by what they are and their class.
        faults: by what is wrong, and by column, "" where it is of the row:
            ``unknown_labels`` and ``null_labels`` have no membership, ``null_keys`` no key or
            person, ``null_groups`` no run, where each must name one; ``missing`` scores;
            ``inexact`` numbers that a float64 does not tell from others; ``overflowed`` are finite
            scores beyond the float type that the column is rounded to; ``moved`` those that this
            changed; ``infinite`` ones are counted only where a missing score gets a place of its
            own, because they are told apart there, ``endless`` at minus infinity, which move up to
            the lowest number there, and ``lowest`` at it, where they would meet those.
        coarse: by column and class, rows that are stored so to begin with.
        labels: membership labels that the rule does not know.
        groups: what the hashes of the groups stand for.
        spread: by column of numbers, where its scores lie, sentinels apart.
    """

    rows: Counter[tuple[Kept, bool]] = field(default_factory=Counter)
    faults: dict[Wrong, dict[str, Fault]] = field(default_factory=dict)
    coarse: Counter[tuple[str, bool]] = field(default_factory=Counter)
    labels: set[Label] = field(default_factory=set)
    groups: dict[int, tuple[str, ...]] = field(default_factory=dict)
    spread: dict[str, Spread] = field(default_factory=dict)

    def of(self, wrong: Wrong) -> dict[str, Fault]:
        """Return the faults of a kind, by column."""
        return self.faults.get(wrong, {})

    def note(self, wrong: Wrong, column: str, mask: NDArray[np.bool_], first_row: int) -> None:
        """Count the rows of ``mask``, of which the first is global row ``first_row``."""
        count = int(np.count_nonzero(mask))
        if count:
            fault = self.faults.setdefault(wrong, {}).setdefault(column, Fault())
            fault.add(count, first_row + int(np.argmax(mask)), first_row)

    def classes(self, kind: Kept, member: NDArray[np.bool_]) -> None:
        """Count rows of a kind by their class."""
        inside = int(np.count_nonzero(member))
        self.rows[kind, True] += inside
        self.rows[kind, False] += member.size - inside

    def count_copies(self, said: NDArray[np.float64], member: NDArray[np.bool_]) -> None:
        """Count rows by whether they were released word for word, as `said_of` has it."""
        for side in _CLASSES:
            rows = said[member == side]
            self.rows["copied", side] += int(np.count_nonzero(rows == 1))
            self.rows["told", side] += int(np.count_nonzero((rows == 1) | (rows == 0)))
            self.rows["unclear", side] += int(
                np.count_nonzero((rows != 1) & (rows != 0) & ~np.isnan(rows))
            )

    @property
    def merged(self) -> dict[str, Fault]:
        """Columns whose different scores would become the same one, with their lowest number."""
        return {name: one for name, one in self.of("lowest").items() if name in self.of("endless")}

    @property
    def blunted(self) -> tuple[str, ...]:
        """Columns rounded for rows that are fewer than half of either class."""
        return tuple(
            name
            for name in self.of("moved")
            if all(2 * self.coarse[name, side] < self.rows["present", side] for side in _CLASSES)
        )

    @property
    def copies(self) -> Copies | None:
        """The records that were released word for word; None where nothing tells."""
        rows = self.rows
        if not rows["told", True] + rows["told", False]:
            return None
        return Copies(
            members=rows["copied", True],
            holdout=rows["copied", False],
            told_members=rows["told", True],
            told_holdout=rows["told", False],
            n_members=rows["present", True],
            n_holdout=rows["present", False],
        )

    def faulty(self, *, nan_is_error: bool) -> bool:
        """Tell whether something was counted that must end the run."""
        ending = _ENDING | {"missing"} if nan_is_error else _ENDING
        return not ending.isdisjoint(self.faults) or bool(self.merged)

    def include(self, other: Intake) -> None:
        """Add the counts of other rows."""
        self.rows.update(other.rows)
        self.coarse.update(other.coarse)
        for wrong, faults in other.faults.items():
            own = self.faults.setdefault(wrong, {})
            for column, fault in faults.items():
                own.setdefault(column, Fault()).add(fault.count, fault.first_row, fault.chunk)
        for column, spread in other.spread.items():
            self.spread.setdefault(column, Spread()).include(spread)
        self.labels |= other.labels
        self.groups |= other.groups


def intake_findings(intake: Intake, *, category: bool) -> tuple[Finding, ...]:
    """Return what the reader must know about rows that were changed or left out."""
    rows, missing = intake.rows, bool(intake.of("missing"))
    left_out, dropped, other_side = (
        {"members": rows[kind, True], "holdout": rows[kind, False]}
        for kind in ("nan", "unit", "other_side")
    )
    found = []
    if missing:
        found.append(Finding.of("nan_category" if category else "nan_dropped", **left_out))
    if any(dropped.values()):
        found.append(Finding.of("unit_rows_dropped", **dropped))
    if any(other_side.values()):
        found.append(Finding.of("other_side_rows", rows=sum(other_side.values())))
    if (
        missing
        and not category
        and _unlike(*((rows["nan", s], rows["present", s]) for s in _CLASSES))
    ):
        found.append(Finding.of(MISSING))
    return (*found, *unread_findings(rows["unclear", True]))


def _unlike(members: tuple[int, int], holdout: tuple[int, int]) -> bool:
    """Tell whether the classes surely differ in how many rows lack a score, and have one.

    That is Fisher's exact test in both directions, p below .001 together.
    """
    from mipaudit.maths.exact_tests import larger_share_p

    sides = [(gone, gone + left) for gone, left in (members, holdout)]
    if not all(whole for _, whole in sides):
        return False
    p_values = (larger_share_p(*one, *other) for one, other in (sides, sides[::-1]))
    return min(p_values) <= _SURE / 2


def precision_findings(intake: Intake, coarse: Mapping[str, Coarse]) -> list[Finding]:
    """Return which columns are rounded to the float type that some files store them in.

    Args:
        intake: of a full pass.
        coarse: that type and those files, by column.
    """
    found = []
    blunted = intake.blunted
    for name, (precision, where) in coarse.items():
        rows = intake.coarse[name, True] + intake.coarse[name, False]
        stored = {"column": name, "precision": precision, "where": where}
        found.append(Finding.of("scores_rounded", **stored, rows=rows))
        if name in blunted:
            moved = intake.of("moved")[name].count
            found.append(Finding.of(BLUNTED, **stored, rows=moved))
    return found


def fault_of(
    intake: Intake,
    names: Sequence[str],
    *,
    member_column: str | None,
    key_column: str | None,
    coarse: Mapping[str, Coarse],
) -> InputError:
    """Return the error for the gravest fault in ``intake``, which is faulty.

    Args:
        intake: of all rows.
        names: the score columns, in order.
        member_column: that says who is a member, or None.
        key_column: that identifies the rows, or None.
        coarse: the float type that a column is rounded to, and the files that store it so.
    """
    if intake.of("unknown_labels"):
        return label_error(member_column or "", len(intake.labels))
    if found := intake.of("null_labels"):
        return InputError(
            "null_membership",
            f"Membership column {quoted_name(member_column or '')} is empty in {found[''].told}.",
            hint="Remove these rows or fill them in.",
        )
    if found := intake.of("null_keys"):
        return InputError(
            "missing_key",
            f"Column {quoted_name(key_column or '')}, which identifies the rows, is empty in "
            f"{found[''].told}.",
        )
    if found := intake.of("null_groups"):
        return InputError(
            "missing_run",
            f"The column of `run_col` is empty in {found[''].told}: no run is known for them.",
            hint="Remove these rows or fill them in.",
        )
    return _fault_of_scores(intake, names, coarse)


def _fault_of_scores(
    intake: Intake, names: Sequence[str], coarse: Mapping[str, Coarse]
) -> InputError:
    """Return the error for different scores that would become one, or for missing ones."""

    def in_order(faults: Mapping[str, Fault]) -> dict[str, Fault]:
        """Return faults as whoever reads all chunks in order meets them."""
        places = [(fault.chunk, names.index(name)) for name, fault in faults.items()]
        return {names[at]: faults[names[at]] for _, at in sorted(places)}

    if found := in_order(intake.of("inexact")):
        return InputError(
            "large_integers",
            "Integers beyond 2^53, or numbers of more digits than 64 bits hold, which cannot be "
            f"told apart: {_columns(found)}.",
            hint="Subtract a constant, write numbers of at most 15 digits, replace them by their "
            "ranks, or name another column with `score_col`.",
        )
    if found := in_order(intake.of("overflowed")):
        name, fault = next(iter(found.items()))
        precision, where = coarse[name]
        return InputError(
            "coarse_overflow",
            f"Column {quoted_name(name)} is stored as {precision} in {where} and more "
            f"finely elsewhere, where scores are beyond all that {precision} holds, in "
            f"{fault.told}: rounded alike, they would all become infinite.",
            hint="Store the column in the same type everywhere, or leave that file out.",
        )
    if found := in_order(intake.merged):
        return InputError(
            "lowest_scores",
            "With `nan` category, minus infinity takes the place of the lowest number there is, "
            f"which is a score too: {_columns(found)}.",
            hint="Use `nan` drop, or replace the scores by their ranks.",
        )
    return InputError(
        "nan_scores",
        f"Missing scores (NaN): {_columns(in_order(intake.of('missing')))}.",
        hint="Use `nan` drop to leave these rows out, or `nan` category to count "
        "a missing score as a value of its own.",
    )


def _columns(faults: Mapping[str, Fault]) -> str:
    return "; ".join(
        f"column {quoted_name(name)} in {fault.told}" for name, fault in faults.items()
    )
