"""What was left out of the rows, counted on the way.

The errors that only a count over the whole input can state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mipaudit.errors import InputError
from mipaudit.reading.columns.sentinels import Spread
from mipaudit.statements.copies import Copies
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.statements.verdict import BLUNTED, DIGITS_LOST

if TYPE_CHECKING:
    from mipaudit.reading.columns.membership import Label

_OF_ROWS = ("null_labels", "null_keys", "null_groups", "unknown_labels")
_BY_COLUMN = (
    "missing",
    "inexact",
    "rounded",
    "met",
    "overflowed",
    "moved",
    "infinite",
    "endless",
    "lowest",
)
_COUNTS = (
    "members",
    "holdout",
    "filtered",
    "other_side",
    "nan_members",
    "nan_holdout",
    "unit_members",
    "unit_holdout",
)


@dataclass(slots=True, kw_only=True)
class Fault:
    """How many rows have a fault, and the first: a global position from 0."""

    count: int = 0
    first_row: int = -1

    def add(self, count: int, first_row: int) -> None:
        """Count more rows, of which ``first_row`` is the first."""
        if count and (self.first_row < 0 or first_row < self.first_row):
            self.first_row = first_row
        self.count += count


@dataclass(frozen=True, slots=True, kw_only=True)
class Coarse:
    """A float type that some files store a column in, and which, for messages."""

    precision: str
    where: str


@dataclass(slots=True, kw_only=True)
class Intake:
    """Counts of rows over a part of the input, or over all of it.

    Attributes:
        members, holdout: rows that are present.
        filtered: rows that ``--where`` left out.
        other_side: rows of the other class in a file given for one class.
        nan_members, nan_holdout: rows with a missing score.
        missing: missing scores, by column.
        inexact: numbers beyond 2^53 that a float64 cannot hold, by column.
        rounded: numbers that lose digits in a float64, by column.
        met: those among them that have the float64 of another row.
        overflowed: finite scores beyond the float type that the column is rounded to.
        moved: scores that this rounding changed, by column.
        coarse: by column and class, rows that are stored so to begin with.
        copied: by class, records that were released word for word.
        told: by class, records of which the input says whether they were.
        null_labels: rows without membership.
        null_keys: rows without a key or person.
        null_groups: rows without a run, where each must name one.
        labels: membership labels that the rule does not know.
        unit_members, unit_holdout: rows left out because their person has another.
        infinite: infinite scores, by column; counted only where a missing score gets a
            place of its own, because they are told apart there.
        endless: scores at minus infinity, which move up to the lowest number there.
        lowest: scores at the lowest number, where they would meet those.
        groups: what the hashes of the groups stand for.
        spread: by column of numbers, where its scores lie, sentinels apart.
    """

    members: int = 0
    holdout: int = 0
    filtered: int = 0
    other_side: int = 0
    nan_members: int = 0
    nan_holdout: int = 0
    missing: dict[str, Fault] = field(default_factory=dict)
    inexact: dict[str, Fault] = field(default_factory=dict)
    rounded: dict[str, Fault] = field(default_factory=dict)
    met: dict[str, Fault] = field(default_factory=dict)
    overflowed: dict[str, Fault] = field(default_factory=dict)
    moved: dict[str, Fault] = field(default_factory=dict)
    coarse: Counter[tuple[str, bool]] = field(default_factory=Counter)
    copied: Counter[bool] = field(default_factory=Counter)
    told: Counter[bool] = field(default_factory=Counter)
    null_labels: Fault = field(default_factory=Fault)
    null_keys: Fault = field(default_factory=Fault)
    null_groups: Fault = field(default_factory=Fault)
    unknown_labels: Fault = field(default_factory=Fault)
    labels: set[Label] = field(default_factory=set)
    unit_members: int = 0
    unit_holdout: int = 0
    infinite: dict[str, Fault] = field(default_factory=dict)
    endless: dict[str, Fault] = field(default_factory=dict)
    lowest: dict[str, Fault] = field(default_factory=dict)
    groups: dict[int, tuple[str, ...]] = field(default_factory=dict)
    spread: dict[str, Spread] = field(default_factory=dict)

    @property
    def merged(self) -> dict[str, Fault]:
        """Columns whose different scores would become the same one, with their lowest number."""
        return {name: fault for name, fault in self.lowest.items() if name in self.endless}

    @property
    def blunted(self) -> tuple[str, ...]:
        """Columns rounded for rows that are fewer than half of either class."""
        sizes = ((True, self.members), (False, self.holdout))
        return tuple(
            name
            for name in self.moved
            if all(2 * self.coarse[name, side] < size for side, size in sizes)
        )

    @property
    def copies(self) -> Copies | None:
        """The records that were released word for word; None where nothing tells."""
        if not self.told.total():
            return None
        return Copies(
            members=self.copied[True],
            holdout=self.copied[False],
            told_members=self.told[True],
            told_holdout=self.told[False],
            n_members=self.members,
            n_holdout=self.holdout,
        )

    def faulty(self, *, nan_is_error: bool) -> bool:
        """Tell whether something was counted that must end the run."""
        faults = sum(getattr(self, name).count for name in _OF_ROWS)
        told_apart = not (self.inexact or self.overflowed or self.merged)
        return faults > 0 or not told_apart or (nan_is_error and bool(self.missing))

    def include(self, other: Intake) -> None:
        """Add the counts of other rows."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _OF_ROWS:
            fault: Fault = getattr(other, name)
            getattr(self, name).add(fault.count, fault.first_row)
        for name in ("coarse", "copied", "told"):
            getattr(self, name).update(getattr(other, name))
        for name in _BY_COLUMN:
            for column, fault in getattr(other, name).items():
                getattr(self, name).setdefault(column, Fault()).add(fault.count, fault.first_row)
        for column, spread in other.spread.items():
            self.spread.setdefault(column, Spread()).include(spread)
        self.labels |= other.labels
        self.groups |= other.groups


def merge_intakes(intakes: Iterable[Intake]) -> Intake:
    """Return the sums."""
    total = Intake()
    for intake in intakes:
        total.include(intake)
    return total


def intake_findings(intake: Intake, *, category: bool) -> tuple[Finding, ...]:
    """Return what the reader must know about rows that were changed or left out."""
    nan = f"{intake.nan_members} members and {intake.nan_holdout} holdout records"
    units = f"{intake.unit_members} rows of members and {intake.unit_holdout} of holdout records"
    other = f"{intake.other_side} rows of the other class"
    texts = {
        "nan_dropped": f"Left out because a score is missing: {nan}.",
        "nan_category": f"A missing score counts as a value below all others: {nan} have one.",
        "unit_rows_dropped": f"One row per person is kept: {units} are left out.",
        "other_side_rows": f"Left out of files given for one class: {other}.",
    }
    present = {
        "nan_dropped": bool(intake.missing) and not category,
        "nan_category": bool(intake.missing) and category,
        "unit_rows_dropped": intake.unit_members + intake.unit_holdout > 0,
        "other_side_rows": intake.other_side > 0,
    }
    found = [Finding(code=code, text=text) for code, text in texts.items() if present[code]]
    found += [_rounded(name, fault) for name, fault in sorted(intake.rounded.items())]
    return (*found, *(_met(name, fault) for name, fault in sorted(intake.met.items())))


def _rounded(name: str, fault: Fault) -> Finding:
    return Finding(
        code="decimals_rounded",
        text=(
            f"Column {quoted_name(name)} holds decimals of more than 15 digits in {_rows(fault)}: "
            "they are rounded to the nearest 64-bit float, where two may become one."
        ),
    )


def _met(name: str, fault: Fault) -> Finding:
    return Finding(
        code=DIGITS_LOST,
        text=(
            f"Column {quoted_name(name)}: in {_rows(fault)} the digits that a 64-bit float cannot "
            "hold may be all that tells the score from that of another row. They are not seen, so "
            "that no policy is met. Write fewer digits, or replace the scores by their ranks."
        ),
    )


def _rows(fault: Fault) -> str:
    return "1 row" if fault.count == 1 else f"{fault.count} rows"


def types_finding(name: str) -> Finding:
    """Return that a column is stored in different ways in different files."""
    return Finding(
        code="types_differ",
        text=(
            f"Column {quoted_name(name)} has different types in different files: "
            "values rounded differently can tell the classes apart by themselves."
        ),
    )


def precision_findings(intake: Intake, coarse: Mapping[str, Coarse]) -> list[Finding]:
    """Return which columns are rounded to the float type that some files store them in.

    Args:
        intake: of a full pass.
        coarse: that type and those files, by column.
    """
    found = []
    blunted = set(intake.blunted)
    for name, one in coarse.items():
        rows = intake.coarse[name, True] + intake.coarse[name, False]
        text = (
            f"Column {quoted_name(name)} is stored as {one.precision} in {one.where} ({rows:,} "
            f"rows) and more finely in others: all scores were rounded to that, or the storage "
            "would tell the classes apart."
        )
        found.append(Finding(code="scores_rounded", text=text))
        if name in blunted:
            text = (
                f"Column {quoted_name(name)}: few of its rows are stored as {one.precision}, those "
                f"in {one.where}, and {intake.moved[name].count:,} others lost digits for them. "
                "What the others tell beyond that is not seen, so that no policy is met. Store "
                "those rows like the others, or leave the file out."
            )
            found.append(Finding(code=BLUNTED, text=text))
    return found


def fault_of(
    intake: Intake,
    *,
    member_column: str | None,
    key_column: str | None,
    coarse: Mapping[str, Coarse],
) -> InputError:
    """Return the error for the gravest fault in ``intake``, which is faulty.

    Args:
        intake: of all rows.
        member_column: that says who is a member, or None.
        key_column: that identifies the rows, or None.
        coarse: the float type that a column is rounded to, and the files that store it so.
    """
    if intake.unknown_labels.count:
        return label_error(member_column or "", len(intake.labels))
    if intake.null_labels.count:
        return InputError(
            "null_membership",
            f"Membership column {quoted_name(member_column or '')} is empty in "
            f"{_where(intake.null_labels)}.",
            hint="Remove these rows or fill them in.",
        )
    if intake.null_keys.count:
        return InputError(
            "missing_key",
            f"Column {quoted_name(key_column or '')}, which identifies the rows, is empty in "
            f"{_where(intake.null_keys)}.",
        )
    if intake.null_groups.count:
        return InputError(
            "missing_run",
            f"The column of `run_column` is empty in {_where(intake.null_groups)}: no run is known "
            "for them.",
            hint="Remove these rows or fill them in.",
        )
    if (merging := _merging(intake, coarse)) is not None:
        return merging
    return InputError(
        "nan_scores",
        f"Missing scores (NaN): {_columns(intake.missing)}.",
        hint="Use `nan` drop to leave these rows out, or `nan` category to count "
        "a missing score as a value of its own.",
    )


def _merging(intake: Intake, coarse: Mapping[str, Coarse]) -> InputError | None:
    """Return the error for different scores that would become one; None for none."""
    if intake.inexact:
        return InputError(
            "large_integers",
            "Integers beyond 2^53, or numbers beyond what 64 bits hold, which cannot be told "
            f"apart: {_columns(intake.inexact)}.",
            hint="Subtract a constant, replace them by their ranks, "
            "or name another column with `score_columns`.",
        )
    if intake.overflowed:
        return _overflow(intake, coarse)
    if intake.merged:
        return InputError(
            "lowest_scores",
            "With `nan` category, minus infinity takes the place of the lowest number there is, "
            f"which is a score too: {_columns(intake.merged)}.",
            hint="Use `nan` drop, or replace the scores by their ranks.",
        )
    return None


def _overflow(intake: Intake, coarse: Mapping[str, Coarse]) -> InputError:
    name, fault = next(iter(intake.overflowed.items()))
    one = coarse[name]
    return InputError(
        "coarse_overflow",
        f"Column {quoted_name(name)} is stored as {one.precision} in {one.where} and more finely "
        f"elsewhere, where scores are beyond all that {one.precision} holds, in {_where(fault)}: "
        "rounded alike, they would all become infinite.",
        hint="Store the column in the same type everywhere, or leave that file out.",
    )


def _columns(faults: Mapping[str, Fault]) -> str:
    return "; ".join(
        f"column {quoted_name(name)} in {_where(fault)}" for name, fault in faults.items()
    )


def _where(fault: Fault) -> str:
    rows = "1 row" if fault.count == 1 else f"{fault.count} rows"
    return f"{rows}, first in data row {fault.first_row + 1}"


def label_error(column: str, count: int) -> InputError:
    """Return the error for a membership column whose labels are not understood."""
    name = quoted_name(column)
    if count > 2:  # noqa: PLR2004
        return InputError(
            "many_labels",
            f"Membership column {name} has {count} different labels; two are expected.",
            hint="Say with `member_value` which one means member (all others are holdout).",
        )
    return InputError(
        "unknown_labels",
        f"The labels of membership column {name} do not say which one means member.",
        hint="Say it with `member_value`.",
    )


def empty_class_error(*, members: bool) -> InputError:
    """Return the error for a class without rows."""
    present, absent = ("holdout", "member") if members else ("member", "holdout")
    return InputError(
        "empty_class",
        f"There is no {absent} record: every row is {present}.",
        hint="Check the membership column (`member_column`, `member_value`) and the filter "
        "(`where`).",
    )
