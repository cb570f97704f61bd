"""What pass one decides for pass two: cells, burn-in, and whether values are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.errors import InputError
from mipaudit.summaries.cells import Cells, build_cells
from mipaudit.summaries.sample import burn_in_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.summaries.sample import BurnInSample

ScoreKind = Literal["float", "integer", "bool", "string"]

EXACT_ROWS: Final = 1 << 22
_EXACT_VALUES: Final = 1 << 24
_LEAST_CELLS: Final = 512
_MOST_CELLS: Final = 4096
_ROWS_PER_CELL: Final = 1 << 18
_FINE_CELLS: Final = 1 << 16
_FEW_VALUES: Final = 256
_MOST_VALUES: Final = 2048
_MOST_VALUES_ASKED: Final = 8192
_SINGLETON_SHARE: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnPlan:
    """The cells of one score column, and whether every burn-in value is one."""

    cells: Cells
    discrete: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """How all columns are counted.

    Attributes:
        columns: one per score column.
        burn_in: micro-blocks that only train.
        seed: of the row assignment.
        exact: the scores are kept, so that threshold statistics are exact.
    """

    columns: tuple[ColumnPlan, ...]
    burn_in: int
    seed: int
    exact: bool


def make_plan(
    sample: BurnInSample, kinds: Sequence[ScoreKind], *, prior: float, discrete: bool, seed: int
) -> Plan:
    """Return the plan that a settled sample calls for.

    Args:
        sample: of both classes, neither empty.
        kinds: of each score column.
        prior: p in (0, 1).
        discrete: take every column as discrete.
        seed: of the row assignment.

    Raises:
        InputError: a column taken as discrete has too many values.
    """
    burn_in = burn_in_blocks(sample.members.rows, sample.holdout.rows)
    rows = sample.members.rows + sample.holdout.rows
    exact = rows <= EXACT_ROWS and rows * len(kinds) <= _EXACT_VALUES
    columns = []
    for index, kind in enumerate(kinds):
        members = sample.members.scores[sample.members.within(burn_in), index]
        holdout = sample.holdout.scores[sample.holdout.within(burn_in), index]
        each_value = is_discrete(np.concatenate([members, holdout]), kind, asked=discrete)
        cells = build_cells(
            members,
            holdout,
            prior=prior,
            coarse=min(max(rows // _ROWS_PER_CELL, _LEAST_CELLS), _MOST_CELLS),
            fine=0 if exact else _FINE_CELLS,
            discrete=each_value,
            grid=not exact,
        )
        columns.append(ColumnPlan(cells=cells, discrete=each_value))
    return Plan(columns=tuple(columns), burn_in=burn_in, seed=seed, exact=exact)


def is_discrete(values: NDArray[np.float64], kind: ScoreKind, *, asked: bool) -> bool:
    """Tell from the burn-in whether every value may have a cell of its own.

    A float score is discrete when it has few values and nearly all of them recur: a
    small sample of a continuous score has few values too, but each once.

    Args:
        values: burn-in scores, shape (n,).
        kind: of the column.
        asked: the user says that it is discrete.

    Raises:
        InputError: it must be discrete and has too many values.
    """
    distinct, times = np.unique(values, return_counts=True)
    if asked or kind in {"bool", "string"}:
        if distinct.size > _MOST_VALUES_ASKED:
            raise InputError(
                "too_many_values",
                f"A discrete score may have at most {_MOST_VALUES_ASKED} distinct values "
                "among the rows that choose the cells; this one has more.",
                hint="Leave --discrete out, or choose another column with --score-col.",
            )
        return True
    if kind == "integer":
        return bool(distinct.size <= _MOST_VALUES)
    once = int(np.count_nonzero(times == 1))
    return bool(distinct.size <= _FEW_VALUES and once <= _SINGLETON_SHARE * values.size)
