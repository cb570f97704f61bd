"""Coverage runs: draw files from laws with known truth, and count the limits that miss it."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.scenarios.coverage_table import CoverageTable
from mipaudit.scenarios.coverage_tally import tally

if TYPE_CHECKING:
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from mipaudit.scenarios.coverage_table import CoverageRow
    from mipaudit.scenarios.law import Law

Order = Literal["shuffled", "sorted", "reversed"]
Estimand = Literal[
    "advantage",
    "advantage_thresholds",
    "advantage_intervals",
    "advantage_bins",
    "auc",
    "tpr_at_fpr",
]

_CHUNKS_PER_JOB: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One setting to replicate.

    Attributes:
        law: what the scores are drawn from.
        n_members: members per file, above 0.
        n_holdout: holdout records per file, above 0.
        prior: p in (0, 1).
        order: rows shuffled, or sorted by score (members first among ties), or that reversed.
        replications: files to draw, above 0.
    """

    law: Law
    n_members: int
    n_holdout: int
    prior: float
    order: Order
    replications: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """What an audited method says about one estimand of one file.

    Attributes:
        estimand: name of the truth.
        lower: lower limit, or None where the method states none.
        upper: upper limit, or None.
        nominal: promised coverage of each side alone, such as 0.975.
        estimand_args: ``(k,)`` for ``advantage_intervals``, ``(fpr, side)`` for
            ``tpr_at_fpr``, the cut points for ``advantage_bins``.
        label: names the row of the table, so that two methods can state the same
            estimand; by default made from the estimand and its arguments.
    """

    estimand: Estimand
    lower: float | None
    upper: float | None
    nominal: float
    estimand_args: tuple[float | str, ...] = ()
    label: str = ""

    @property
    def row_label(self) -> str:
        """The label, or a default from the estimand; bins have too many cut points to name."""
        if self.label or not self.estimand_args or self.estimand == "advantage_bins":
            return self.label or self.estimand
        return f"{self.estimand}({', '.join(map(str, self.estimand_args))})"


# (member bool[n], score float64[n], prior, seed) -> one interval per row of the table.
AuditFunction = Callable[
    ["NDArray[np.bool_]", "NDArray[np.float64]", float, int], Sequence[Interval]
]


def run_cell(cell: Cell, audit: AuditFunction, *, seed: int) -> tuple[CoverageRow, ...]:
    """Replicate one cell in this process.

    Args:
        cell: the setting.
        audit: the method or methods under test.
        seed: of the whole run; every replication has its own stream.
    """
    return tally(cell, replicate(cell, audit, seed, range(cell.replications)))


def run_cells(
    cells: Sequence[Cell], audit: AuditFunction, *, seed: int, jobs: int = 2
) -> CoverageTable:
    """Replicate all cells in ``jobs`` processes; the table does not depend on how many.

    Args:
        cells: the settings.
        audit: as for `run_cell`; with more than one job it must be importable, because
            each process starts afresh.
        seed: of the whole run.
        jobs: processes; 1 runs here.
    """
    if jobs == 1:
        return _table([run_cell(cell, audit, seed=seed) for cell in cells])
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        pending: list[list[Future[list[Sequence[Interval]]]]] = [
            [pool.submit(replicate, cell, audit, seed, part) for part in _chunks(cell, jobs)]
            for cell in cells
        ]
        return _table(
            [
                tally(cell, [said for future in futures for said in future.result()])
                for cell, futures in zip(cells, pending, strict=True)
            ]
        )


def replicate(
    cell: Cell, audit: AuditFunction, seed: int, replications: range
) -> list[Sequence[Interval]]:
    """Return what ``audit`` says about these replications of a cell."""
    settings = f"{cell.law.name} {cell.n_members} {cell.n_holdout} {cell.prior!r} {cell.order}"
    stream = zlib.crc32(settings.encode())
    said = []
    for number in replications:
        rng = np.random.default_rng((seed, stream, number))
        member, score = draw_file(cell, rng)
        said.append(audit(member, score, cell.prior, int(rng.integers(2**63))))
    return said


def draw_file(
    cell: Cell, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the membership and the scores of one file, in the cell's order of rows."""
    members, holdout = cell.law.sample(rng, cell.n_members, cell.n_holdout)
    score = np.concatenate([members, holdout])
    member = np.arange(len(score)) < cell.n_members
    rows = _row_order(cell.order, score, rng)
    return member[rows], score[rows]


def _row_order(
    order: Order, score: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    match order:
        case "shuffled":
            return rng.permutation(len(score))
        case "sorted":
            return np.argsort(score, kind="stable")
        case "reversed":
            return np.argsort(score, kind="stable")[::-1]


def _table(cells: Sequence[Sequence[CoverageRow]]) -> CoverageTable:
    return CoverageTable(rows=tuple(row for cell in cells for row in cell))


def _chunks(cell: Cell, jobs: int) -> list[range]:
    step = math.ceil(cell.replications / (_CHUNKS_PER_JOB * jobs))
    everything = range(cell.replications)
    return [everything[start : start + step] for start in range(0, cell.replications, step)]
