"""The errors that only a count over the whole input can state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.reading.rows.left_out import Coarse, Fault, Intake


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
            f"The column of --run-col is empty in {_where(intake.null_groups)}: no run is known "
            "for them.",
            hint="Remove these rows or fill them in.",
        )
    if (merging := _merging(intake, coarse)) is not None:
        return merging
    return InputError(
        "nan_scores",
        f"Missing scores (NaN): {_columns(intake.missing)}.",
        hint="Use --nan drop to leave these rows out, or --nan category to count "
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
            "or name another column with --score-col.",
        )
    if intake.overflowed:
        return _overflow(intake, coarse)
    if intake.merged:
        return InputError(
            "lowest_scores",
            "With --nan category, minus infinity takes the place of the lowest number there is, "
            f"which is a score too: {_columns(intake.merged)}.",
            hint="Use --nan drop, or replace the scores by their ranks.",
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
            hint="Say with --member-value which one means member (all others are holdout).",
        )
    return InputError(
        "unknown_labels",
        f"The labels of membership column {name} do not say which one means member.",
        hint="Say it with --member-value.",
    )


def empty_class_error(*, members: bool) -> InputError:
    """Return the error for a class without rows."""
    present, absent = ("holdout", "member") if members else ("member", "holdout")
    return InputError(
        "empty_class",
        f"There is no {absent} record: every row is {present}.",
        hint="Check the membership column (--member-col, --member-value) and the filter (--where).",
    )
