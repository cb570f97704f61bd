"""What to read: the user's choice of columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from mipaudit.options.groups.scores import Columns, Membership
    from mipaudit.statements.origin import Setting
    from mipaudit.summaries.identity.seed import SeedChoice
    from mipaudit.summaries.unit_scores import UnitRule

NanPolicy = Literal["error", "category", "drop"]
RowsAre = Literal["independent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """How to understand an input.

    Attributes:
        score_columns: the score columns by name, or comma lists of them where ``vectors``
            are allowed; empty means found by the rules.
        member_column: the membership column by name; None means found.
        member_value: rows whose membership equals it are members, the rest holdout.
        where: ``"column = value"``: only these rows are read.
        unit_column: names the person; each counts once.
        unit_rows: what of a person's rows counts; None for one of them.
        rows_are: ``"independent"`` takes rows for that although their ids repeat.
        key_column: names a row's identity; its position otherwise.
        nan: what to do with a missing score.
        seed: that was stated or drawn, 0 for neither: with the rows it chooses the class of
            a person in both (``unit_column``).
        vectors: whether a comma list may name a score of several numbers.
        run_column: names the run of a row; one id may be in several runs.
        group_columns: columns whose values together name a row's group.
        group_option: how the user names those columns.
        named: the values of the key column are to be written out.
        arrays: the score columns are those of arrays, which nobody named.
        left_out: names of files that cannot be read and are skipped.
        chosen_by: the policy file, or variable, that names the score columns; None where the
            caller did.
    """

    score_columns: tuple[str, ...] = ()
    member_column: str | None = None
    member_value: str | None = None
    where: str | None = None
    unit_column: str | None = None
    unit_rows: UnitRule | None = None
    rows_are: RowsAre | None = None
    key_column: str | None = None
    nan: NanPolicy = "error"
    seed: int = 0
    vectors: bool = False
    run_column: str | None = None
    group_columns: tuple[str, ...] = ()
    group_option: str = "`by`"
    named: bool = False
    arrays: bool = False
    left_out: frozenset[str] = frozenset()
    chosen_by: str | None = None


def read_request(
    asked: Columns,
    *,
    seed: SeedChoice | None = None,
    vectors: bool = False,
    run_column: str | None = None,
    group_columns: Sequence[str] = (),
    named: bool = False,
) -> ReadRequest:
    """Return what to read, as a command was asked.

    Args:
        asked: the columns and rows that count.
        seed: which one is asked for.
        vectors: whether a comma list may name a score of several numbers.
        run_column: names the run of a row, which is then its group.
        group_columns: columns whose values together name a row's group.
        named: whether the values of the key column are to be written out.
    """
    request = rows_request(asked, seed=seed, group_columns=group_columns)
    if run_column is not None:
        request = replace(request, group_columns=(run_column,), group_option="`run_col`")
    return replace(
        request,
        score_columns=tuple(asked.score_col),
        key_column=asked.key_col,
        nan=asked.nan,
        vectors=vectors,
        run_column=run_column,
        named=named,
        chosen_by=_choosing_file(asked),
    )


def _choosing_file(asked: Columns) -> str | None:
    settings: tuple[Setting, ...] = getattr(asked, "settings", None) or ()
    # The second is its name in reports, which `verify` has the settings of.
    names = {"score_col", "score_columns"}
    unseen = {"file", "environment"}
    return next((o.where for o in settings if o.name in names and o.source in unseen), None)


def rows_request(
    asked: Membership,
    *,
    seed: SeedChoice | None = None,
    group_columns: Sequence[str] = (),
) -> ReadRequest:
    """Return which rows to read, of a command that has its own say on the columns; as above."""
    return ReadRequest(
        member_column=asked.member_col,
        member_value=asked.member_value,
        where=asked.where,
        unit_column=asked.unit_col,
        unit_rows=asked.unit_rows,
        rows_are=asked.rows_are,
        seed=0 if seed is None else seed.number or 0,
        group_columns=tuple(group_columns),
    )
