"""What was left out of the rows, counted on the way.

The errors that only a count over the whole input can state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from mipaudit.data.words import Label, label_error
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.model.message import Finding
from mipaudit.statements.copies import Copies, unread_findings
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.verdict import BLUNTED, MISSING

# Nines of either sign: a finding may name them, since they are not from the data alone.
_SENTINELS: Final = frozenset(
    float(sign * (10**digits - 1)) for digits in range(2, 10) for sign in (-1, 1)
)
_SORTED: Final = np.array(sorted(_SENTINELS))
_REPEATED: Final = 2
# How likely, at most, the classes of an honest file differ so much in what is missing.
_SURE: Final = 0.001
# Rows, by class: present; left out of a file given for the other class, or because a score is
# missing; of those present, with a score missing and kept, released unchanged, and told
# whether they were, or told in words that say neither.
Kept = Literal["present", "other_side", "nan", "copied", "told", "unclear"]
# What is wrong with rows, and with scores, as `Intake.faults` has it.
OfRow = Literal["unknown_labels", "null_labels", "null_keys", "null_groups"]
OfScore = Literal["missing", "inexact", "overflowed", "moved", "infinite", "endless", "lowest"]
Wrong = OfRow | OfScore

# A float type that some files store a column in, and these files, for messages.
Coarse = tuple[str, str]

_CLASSES: Final = (True, False)
_FILL: Final = "Remove these rows or fill them in."
# What ends a run, the gravest first; a message is filled in where its error is made.
_ERRORS: Final[Mapping[Wrong, InputError]] = {
    "null_labels": InputError(
        "null_membership", "Membership column {member} is empty in {rows}.", _FILL
    ),
    "null_keys": InputError(
        "missing_key", "Column {key} must identify the rows, but is empty in {rows}.", _FILL
    ),
    "null_groups": InputError(
        "missing_run", "The column of `run_col` is empty in {rows}, so the run is unknown.", _FILL
    ),
    "inexact": InputError(
        "large_integers",
        "Some numbers have too many digits to be told apart (integers beyond 2^53, or more digits "
        "than 64 bits hold): {columns}.",
        "Subtract a constant, write numbers of at most 15 digits, replace them by their ranks, or "
        "name another column with `score_col`.",
    ),
    "overflowed": InputError(
        "coarse_overflow",
        "Column {first} is stored as {precision} in {files}, and with more precision in others. "
        "Other scores are too large for {precision} ({rows}): rounded, all would be infinite.",
        "Store the column in the same type everywhere, or leave that file out.",
    ),
    "lowest": InputError(
        "lowest_scores",
        "With `nan` category, minus infinity is read as the lowest possible number, which is also "
        "a score: {columns}.",
        "Use `nan` drop, or replace the scores by their ranks.",
    ),
    "missing": InputError(
        "nan_scores",
        "Missing scores (NaN): {columns}.",
        "Use `nan` drop to leave these rows out, or `nan` category to count a missing score as a "
        "value of its own.",
    ),
}


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
    """The lowest and highest score of a column but for sentinels, and how often each of these is.

    A sentinel that lies among the others is a score like them, and is not counted for sure.
    """

    lowest: float = np.inf
    highest: float = -np.inf
    counts: Counter[float] = field(default_factory=Counter)

    def add(self, scores: Floats) -> None:
        """Count more scores, shape (n,), none of them NaN."""
        if scores.size and not _SENTINELS.isdisjoint((scores.min(), scores.max())):
            hits = np.isin(scores, _SORTED)
            self.counts.update(scores[hits].tolist())
            scores = scores[~hits]
        self.lowest = min(self.lowest, float(scores.min(initial=np.inf)))
        self.highest = max(self.highest, float(scores.max(initial=-np.inf)))

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
        faults: by what is wrong and the column, "" where it is of the row:
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
    faults: dict[tuple[Wrong, str], Fault] = field(default_factory=dict)
    coarse: Counter[tuple[str, bool]] = field(default_factory=Counter)
    labels: set[Label] = field(default_factory=set)
    groups: dict[int, tuple[str, ...]] = field(default_factory=dict)
    spread: dict[str, Spread] = field(default_factory=dict)

    def of(self, wrong: Wrong) -> dict[str, Fault]:
        """Return the faults of a kind that count, by column."""
        found = {column: fault for (kind, column), fault in self.faults.items() if kind == wrong}
        if wrong != "lowest":
            return found
        # Only where minus infinity moves up there, too, do different scores become the same one.
        return {column: one for column, one in found.items() if ("endless", column) in self.faults}

    def note(self, wrong: Wrong, column: str, mask: Bools, first_row: int) -> None:
        """Count the rows of ``mask``, of which the first is global row ``first_row``."""
        count = int(np.count_nonzero(mask))
        if count:
            fault = self.faults.setdefault((wrong, column), Fault())
            fault.add(count, first_row + int(np.argmax(mask)), first_row)

    def classes(self, kind: Kept, member: Bools) -> None:
        """Count rows of a kind by their class."""
        inside = int(np.count_nonzero(member))
        self.rows[kind, True] += inside
        self.rows[kind, False] += member.size - inside

    def count_copies(self, said: Floats, member: Bools) -> None:
        """Count rows by whether they were released unchanged, as `said_of` has it."""
        yes, no = said == 1, said == 0
        self.classes("copied", member[yes])
        self.classes("told", member[yes | no])
        self.classes("unclear", member[~(yes | no | np.isnan(said))])

    def per_class(self, kind: Kept) -> dict[str, int]:
        """Return rows of a kind as messages name them."""
        return {"members": self.rows[kind, True], "holdout": self.rows[kind, False]}

    @property
    def copies(self) -> Copies | None:
        """The records that were released unchanged; None where no column says."""
        copied, told = self.per_class("copied"), self.per_class("told")
        if not any(told.values()):
            return None
        return Copies(
            **copied,
            **{f"told_{side}": count for side, count in told.items()},
            **{f"n_{side}": count for side, count in self.per_class("present").items()},
        )

    def faulty(self, *, nan_is_error: bool) -> bool:
        """Tell whether something was counted that must end the run."""
        ending = {"unknown_labels", *_ERRORS} - (
            {"lowest"} if nan_is_error else {"lowest", "missing"}
        )
        return any(kind in ending for kind, _ in self.faults) or bool(self.of("lowest"))

    def include(self, other: Intake) -> None:
        """Add the counts of other rows."""
        self.rows.update(other.rows)
        self.coarse.update(other.coarse)
        for key, fault in other.faults.items():
            self.faults.setdefault(key, Fault()).add(fault.count, fault.first_row, fault.chunk)
        for column, spread in other.spread.items():
            self.spread.setdefault(column, Spread()).include(spread)
        self.labels |= other.labels
        self.groups |= other.groups


def intake_findings(
    intake: Intake, dropped: tuple[int, int], *, category: bool
) -> tuple[Finding, ...]:
    """Return what the reader must know about rows that were changed or left out.

    Args:
        intake: of a full pass.
        dropped: rows of members and of the holdout that stand for no person.
        category: whether missing scores are kept, as a value of their own.
    """
    rows, missing = intake.rows, bool(intake.of("missing"))
    other_side = sum(intake.per_class("other_side").values())
    found = []
    if missing:
        code = "nan_category" if category else "nan_dropped"
        found.append(Finding.of(code, **intake.per_class("nan")))
    if any(dropped):
        found.append(Finding.of("unit_rows_dropped", members=dropped[0], holdout=dropped[1]))
    if other_side:
        found.append(Finding.of("other_side_rows", rows=other_side))
    if missing and not category and _unlike(rows):
        found.append(Finding.of(MISSING))
    return (*found, *unread_findings(rows["unclear", True]))


def _unlike(rows: Mapping[tuple[Kept, bool], int]) -> bool:
    """Tell whether the classes surely differ in how many rows lack a score, and have one.

    That is Fisher's exact test in both directions, p below .001 together.
    """
    from mipaudit.maths.exact_tests import larger_share_p

    sides = [(rows["nan", side], rows["nan", side] + rows["present", side]) for side in _CLASSES]
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
    found, moved = [], intake.of("moved")
    for name, (precision, where) in coarse.items():
        rows = [intake.coarse[name, side] for side in _CLASSES]
        stored = {"column": name, "precision": precision, "where": where}
        found.append(Finding.of("scores_rounded", **stored, rows=sum(rows)))
        # Rounded for rows that are fewer than half of either class.
        present = intake.per_class("present").values()
        if name in moved and all(2 * few < all_ for few, all_ in zip(rows, present, strict=True)):
            found.append(Finding.of(BLUNTED, **stored, rows=moved[name].count))
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
    wrong = next(one for one in _ERRORS if intake.of(one))
    faults, places = intake.of(wrong), ["", *names]
    # In the order in which a reader of all chunks meets them.
    ordered = sorted(faults, key=lambda name: (faults[name].chunk, places.index(name)))
    precision, files = coarse.get(ordered[0], ("", ""))
    error = _ERRORS[wrong]
    message = error.message.format(
        member=quoted_name(member_column or ""),
        key=quoted_name(key_column or ""),
        rows=faults[ordered[0]].told,
        columns="; ".join(f"column {quoted_name(n)} in {faults[n].told}" for n in ordered),
        first=quoted_name(ordered[0]),
        precision=precision,
        files=files,
    )
    return error.worded(message, error.hint)
