"""What pass one decides for pass two: cells, burn-in, and whether values are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.summaries.cells.cells import Cells, build_cells, distinct_values
from mipaudit.summaries.sample import BurnInSample, burn_in_blocks

ScoreKind = Literal["float", "integer", "bool", "string"]

EXACT_ROWS: Final = 1 << 21  # what keeps the whole run under 400 MiB
_EXACT_VALUES: Final = 1 << 23
# Draws of up to so many rows.
_DRAWS: Final = {1 << 12: 4, 1 << 17: 2}
_LEAST_CELLS: Final = 512
_MOST_CELLS: Final = 4096
_ROWS_PER_CELL: Final = 1 << 18
_FINE_CELLS: Final = 1 << 16
_FEW_VALUES: Final = 256
_MOST_VALUES: Final = 2048
_MOST_VALUES_ASKED: Final = 8192
_SINGLETON_SHARE: Final = 0.1
_OVERFULL_FINE: Final = 32.0
_OVERFULL_COARSE: Final = 3.0
_SLACK: Final = 32


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
        draws: how often the rows are assigned to micro-blocks, at least 1.
    """

    columns: tuple[ColumnPlan, ...]
    burn_in: int
    seed: int
    exact: bool
    draws: int = 1


def kept_exactly(rows: int, columns: int) -> bool:
    """Tell whether an input is small enough to keep every score."""
    return rows <= EXACT_ROWS and rows * columns <= _EXACT_VALUES


def make_plan(
    sample: BurnInSample,
    kinds: Sequence[ScoreKind],
    *,
    prior: float,
    discrete: bool,
    seed: int,
    early_for: int | None = None,
) -> Plan:
    """Return the plan that a settled sample calls for.

    Args:
        sample: of both classes, neither empty.
        kinds: of each score column.
        prior: p in (0, 1).
        discrete: take every column as discrete.
        seed: of the row assignment.
        early_for: plan for a large input of this many rows, of which the sample has
            seen the first ones; see `plan_holds`.

    Raises:
        InputError: a column taken as discrete has too many values.
    """
    if early_for is None:
        rows = sample.members.rows + sample.holdout.rows
        burn_in = burn_in_blocks(sample.members.rows, sample.holdout.rows)
    else:
        rows, burn_in = early_for, burn_in_blocks(early_for, early_for)
    exact = kept_exactly(rows, len(kinds))
    columns = []
    for index, kind in enumerate(kinds):
        members = sample.members.scores[sample.members.within(burn_in), index]
        holdout = sample.holdout.scores[sample.holdout.within(burn_in), index]
        columns.append(
            column_plan(
                members, holdout, kind, prior=prior, discrete=discrete, rows=rows, exact=exact
            )
        )
    return Plan(
        columns=tuple(columns),
        burn_in=burn_in,
        seed=seed,
        exact=exact,
        draws=_draws(rows) if exact else 1,
    )


def _draws(rows: int) -> int:
    """Return how many draws keep luck small: one hardly moves the answer of many rows."""
    return next((draws for most, draws in _DRAWS.items() if rows <= most), 1)


def column_plan(
    members: NDArray[np.float64],
    holdout: NDArray[np.float64],
    kind: ScoreKind,
    *,
    prior: float,
    discrete: bool,
    rows: int,
    exact: bool,
) -> ColumnPlan:
    """Return the cells of one column.

    Args:
        members: burn-in scores, shape (b1,).
        holdout: burn-in scores, shape (b2,).
        kind: of the column.
        prior: p in (0, 1).
        discrete: take it as discrete.
        rows: of the whole input.
        exact: the scores are kept, so that no fine cells are needed.

    Raises:
        InputError: it is taken as discrete and has too many values.
    """
    each_value = is_discrete(np.concatenate([members, holdout]), kind, asked=discrete)
    cells = build_cells(
        members,
        holdout,
        prior=prior,
        coarse=coarse_cells(rows),
        fine=0 if exact else _FINE_CELLS,
        discrete=each_value,
        grid=not exact,
    )
    return ColumnPlan(cells=cells, discrete=each_value)


def coarse_cells(rows: int) -> int:
    """Return how many coarse cells an input of so many rows bears."""
    return min(max(rows // _ROWS_PER_CELL, _LEAST_CELLS), _MOST_CELLS)


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
    distinct, times = distinct_values(np.sort(values))
    if asked or kind in {"bool", "string"}:
        if distinct.size > _MOST_VALUES_ASKED:
            raise InputError(
                "too_many_values",
                f"A discrete score may have at most {_MOST_VALUES_ASKED} distinct values "
                "among the rows that choose the cells; this one has more.",
                hint="Leave `discrete` out, or choose another column with `score_col`.",
            )
        return True
    if kind == "integer":
        return bool(distinct.size <= _MOST_VALUES)
    once = int(np.count_nonzero(times == 1))
    return bool(0 < distinct.size <= _FEW_VALUES and once <= _SINGLETON_SHARE * values.size)


def plan_holds(early: Plan, sample: BurnInSample, plan: Plan) -> bool:
    """Tell whether a plan made from the first rows serves the whole input.

    It does where no cell holds much more of the burn-in than it should; a file sorted
    by score or by class, or one that drifts, has to be counted again. Only burn-in
    rows decide, so the limits stay valid either way.

    Args:
        early: made from the first rows.
        sample: of the whole input, settled.
        plan: what the whole sample calls for.
    """
    if early.burn_in != plan.burn_in or plan.exact:
        return False
    return all(
        one.discrete == whole.discrete
        and (
            np.array_equal(one.cells.edges, whole.cells.edges)
            if whole.discrete
            else _evenly_filled(one.cells, sample, index, early.burn_in)
        )
        for index, (one, whole) in enumerate(zip(early.columns, plan.columns, strict=True))
    )


def _evenly_filled(cells: Cells, sample: BurnInSample, index: int, burn_in: int) -> bool:
    """Tell whether no cell but an atom's holds far more than an equal share of a class."""
    for one in (sample.members, sample.holdout):
        # In order, since to search for those is several times faster.
        values = np.sort(one.scores[one.within(burn_in), index])
        cell = np.searchsorted(cells.edges, values, side="left")
        several = ~cells.single[cell]
        fine = np.bincount(cell[several], minlength=1).max()
        coarse = np.bincount(cells.coarse[cell[several]], minlength=1).max()
        if fine > _OVERFULL_FINE * values.size / _FINE_CELLS + _SLACK:
            return False
        if coarse > _OVERFULL_COARSE * values.size / _LEAST_CELLS + _SLACK:
            return False
    return True
