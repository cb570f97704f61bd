"""What to read: the user's choice of columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from mipaudit.options.scores import Columns, Membership, NanPolicy

if TYPE_CHECKING:
    from mipaudit.statements.provenance import Setting
    from mipaudit.summaries.rows import UnitRule
    from mipaudit.summaries.seed import SeedChoice

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
    named: bool = False
    arrays: bool = False
    left_out: frozenset[str] = frozenset()
    chosen_by: str | None = None

    @property
    def group_option(self) -> str:
        """How the user names the columns of groups."""
        return "`by`" if self.run_column is None else "`run_col`"


def read_request(
    asked: Membership,
    *,
    seed: SeedChoice | None = None,
    vectors: bool = False,
    run_column: str | None = None,
    group_columns: Sequence[str] = (),
    named: bool = False,
) -> ReadRequest:
    """Return what to read, as a command was asked.

    Args:
        asked: the rows that count, and the columns unless the command has its own say on these.
        seed: which one is asked for.
        vectors: whether a comma list may name a score of several numbers.
        run_column: names the run of a row, which is then its group.
        group_columns: columns whose values together name a row's group.
        named: whether the values of the key column are to be written out.
    """
    request = ReadRequest(
        member_column=asked.member_col,
        member_value=asked.member_value,
        where=asked.where,
        unit_column=asked.unit_col,
        unit_rows=asked.unit_rows,
        rows_are=asked.rows_are,
        seed=0 if seed is None else seed.number or 0,
        vectors=vectors,
        run_column=run_column,
        group_columns=tuple(group_columns) if run_column is None else (run_column,),
        named=named,
    )
    if not isinstance(asked, Columns):
        return request
    settings: tuple[Setting, ...] = getattr(asked, "settings", None) or ()
    # The second is its name in reports, which `verify` has the settings of.
    scores = (one for one in settings if one.name in {"score_col", "score_columns"})
    unseen = (one.where for one in scores if one.source in {"file", "environment"})
    return replace(
        request,
        score_columns=tuple(asked.score_col),
        key_column=asked.key_col,
        nan=asked.nan,
        chosen_by=next(unseen, None),
    )
