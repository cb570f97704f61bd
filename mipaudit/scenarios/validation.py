"""Coverage of every interval that ``estimate`` prints, on laws with known truth.

Run as ``python -m mipaudit.scenarios.validation [--short]``: exit 0 when no limit
covers less than it promises and every method known to be invalid is caught, else 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from itertools import cycle, product
from typing import TYPE_CHECKING, Final

from mipaudit.scenarios.alternatives import MACE_LABEL, alternatives
from mipaudit.scenarios.controls import INVALID_LABEL
from mipaudit.scenarios.coverage import Cell, Order, run_cells
from mipaudit.scenarios.coverage_table import CoverageTable, failures
from mipaudit.scenarios.intervals import default_intervals, strict_intervals
from mipaudit.scenarios.laws import LAWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.scenarios.coverage import Interval
    from mipaudit.scenarios.coverage_table import CoverageRow

# The most telling laws: no leak in four guises, leaks that thresholds miss, rare
# leaks, heavy tails, ties, infinities, discrete scores, near-perfect separation.
TELLING: Final = (
    "null-gaussian",
    "null-discrete-1000",
    "null-ties",
    "gauss-shift-1",
    "gauss-scale-3",
    "leaked-atoms",
    "cauchy-shift",
    "comb-64",
    "randomized-response-1",
    "multinomial-1000",
    "infinite-scores",
    "laplace-4",
)
SIZES: Final = (50, 1_000, 10_000)
PRIORS: Final = (0.5, 0.1)
ORDERS: Final[tuple[Order, ...]] = ("shuffled", "sorted", "reversed")
INVALID: Final = (INVALID_LABEL, MACE_LABEL)
_SHORT_REPLICATIONS: Final = 1_000
_FULL_REPLICATIONS: Final = 4_000
_SEED: Final = 20_260
_LEVEL: Final = 0.01


def audited(
    member: NDArray[np.bool_], score: NDArray[np.float64], prior: float, seed: int
) -> list[Interval]:
    """Return every default interval, and what other methods say of the same file."""
    return [
        *default_intervals(member, score, prior, seed),
        *alternatives(member, score, prior, seed),
    ]


def short_cells() -> list[Cell]:
    """Return the short grid: the telling laws, each size and prior, the orders in turn."""
    orders = cycle(ORDERS)
    return [
        _cell(law, size, prior, next(orders), _SHORT_REPLICATIONS)
        for law, size, prior in product(TELLING, SIZES, PRIORS)
    ]


def full_cells() -> list[Cell]:
    """Return the full grid: every law, size and prior, sorted files among them."""
    return [
        _cell(law, size, prior, order, _FULL_REPLICATIONS)
        for law, size, prior, order in product(LAWS, SIZES, PRIORS, ORDERS)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the coverage tables, print them, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the short grid, for every change")
    parser.add_argument("--strict", action="store_true", help="the finite-sample methods")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    cells = short_cells() if options.short else full_cells()
    started = time.monotonic()
    method = strict_intervals if options.strict else audited
    table = run_cells(cells, method, seed=_SEED, jobs=options.jobs)
    sys.stdout.write(table.markdown() if not options.short else "")
    sys.stdout.write(_digest(table))
    broken, uncaught = judge_table(table, invalid=() if options.strict else INVALID)
    for row in broken:
        sys.stdout.write(f"BELOW NOMINAL: {_name(row)}\n")
    for label in uncaught:
        sys.stdout.write(f"NOT CAUGHT: {label}\n")
    sys.stdout.write(
        f"{len(table.rows)} limits in {len(cells)} cells, {time.monotonic() - started:.0f} s: "
        f"{len(broken)} below nominal, {len(uncaught)} invalid methods not caught\n"
    )
    return 1 if broken or uncaught else 0


def judge_table(
    table: CoverageTable, *, invalid: Sequence[str]
) -> tuple[tuple[CoverageRow, ...], tuple[str, ...]]:
    """Return the rows that cover less than they promise, and invalid methods not caught.

    Holm's correction runs over the valid rows; each invalid method is judged on its own.
    """
    ours = CoverageTable(rows=tuple(row for row in table.rows if row.label not in invalid))
    uncaught = tuple(
        label
        for label in invalid
        if not failures(
            CoverageTable(rows=tuple(row for row in table.rows if row.label == label)), _LEVEL
        )
    )
    return failures(ours, _LEVEL), uncaught


def _cell(law: str, size: int, prior: float, order: Order, replications: int) -> Cell:
    return Cell(
        law=LAWS[law],
        n_members=size // 2,
        n_holdout=size - size // 2,
        prior=prior,
        order=order,
        replications=replications,
    )


def _digest(table: CoverageTable) -> str:
    """Return, by limit and size, the least coverage and the mean gap to the truth."""
    lines = [
        "| limit | side | records | least coverage | mean gap to the truth |",
        "|---|---|--:|--:|--:|",
    ]
    keys = dict.fromkeys((row.label, row.side, row.n_members + row.n_holdout) for row in table.rows)
    for label, side, size in keys:
        rows = [
            row
            for row in table.rows
            if (row.label, row.side, row.n_members + row.n_holdout) == (label, side, size)
            and row.stated
        ]
        if not rows:
            continue
        least = min(row.coverage for row in rows)
        gaps = [row.mean_gap for row in rows if row.mean_gap is not None]
        gap = f"{sum(gaps) / len(gaps):.4f}" if gaps else "-"
        lines.append(f"| {label} | {side} | {size:,} | {least:.4f} | {gap} |")
    return "\n".join(lines) + "\n"


def _name(row: CoverageRow) -> str:
    return (
        f"{row.label} {row.side}: {row.law}, {row.n_members}+{row.n_holdout}, prior "
        f"{row.prior:g}, {row.order}: {row.coverage:.4f} < {row.nominal:.4g}, p = {row.p_value:.2g}"
    )


if __name__ == "__main__":
    sys.exit(main())
