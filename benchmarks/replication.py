"""One replication of `validate`, beside a bare histogram and sort of the same scores.

A replication is all that `estimate` prints of one score column held in memory: cells,
blocks, ladders and every limit. Costs are per 1,000 of them, so that seconds here are
milliseconds each; all sizes take turns in one process, as cells of `validate` do.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING, Final

import measure
import numpy as np
from scores import MEMBER_SHIFT, SEED

from mipaudit.evidence.scores.assignments import TURNS
from mipaudit.evidence.scores.averaged_lower import averaged_each
from mipaudit.validation.estimands.estimand import AuditedFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mipaudit.summaries.counts import RankedRows

# With the averages over assignments that an audit of so many rows has.
BUDGETS: Final = {1_000: 25.0, 10_000: 10.0}
SIZES: Final = (50, *BUDGETS, 100_000)
ROUNDS: Final = 9
ROWS_PER_TURN: Final = 100_000
MOST_PER_TURN: Final = 20
AT_ONCE: Final = 8
PER: Final = 1_000
BINS: Final = 100


@dataclass(frozen=True, kw_only=True)
class Replication:
    """A file of Gaussian scores, members shifted, and a fresh seed for each audit."""

    member: NDArray[np.bool_]
    score: NDArray[np.float64]
    seeds: count[int]

    def audit(self) -> None:
        """Compute every row that ``estimate`` would print."""
        file = AuditedFile(member=self.member, score=self.score, prior=0.5, seed=next(self.seeds))
        if not file.estimates:
            raise RuntimeError

    def lower_limits(self) -> None:
        """Let the attackers of all assignments learn, in so many audits at once."""
        averaged_each([self.ranked] * AT_ONCE, 0.5)

    @cached_property
    def ranked(self) -> RankedRows:
        """Return the rows as the lower limit has them."""
        file = AuditedFile(member=self.member, score=self.score, prior=0.5, seed=0)
        rows = file.evidence.counts.ranked
        assert rows is not None  # noqa: S101 - of so few rows
        return rows

    def bare(self) -> None:
        """Sort the scores and count them in bins, class by class."""
        np.sort(self.score)
        np.histogram(self.score[self.member], BINS)
        np.histogram(self.score[~self.member], BINS)


def drawn(size: int) -> Replication:
    """Return a file of this many rows, half of them members, in random order."""
    rng = np.random.default_rng(SEED)
    member = rng.permutation(size) < size // 2
    score = rng.standard_normal(size) + MEMBER_SHIFT * member
    return Replication(member=member, score=score, seeds=count())


def cost_of(work: Callable[[], None], times: int) -> measure.Cost:
    """Return what doing it `PER` times would take, from ``times`` of them."""
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(times):
        work()
    scale = PER / times
    return measure.Cost(
        cpu=(time.process_time() - cpu) * scale,
        wall=(time.perf_counter() - wall) * scale,
        peak=0,
    )


def lower_cost(file: Replication, times: int) -> measure.Cost:
    """Return what `PER` lower limits would take, several at once."""
    cost = cost_of(file.lower_limits, times)
    return replace(cost, cpu=cost.cpu / AT_ONCE, wall=cost.wall / AT_ONCE)


def main() -> int:
    """Print the table; return 1 when the budget is missed."""
    chosen = measure.settings(__doc__)
    files = {size: drawn(size) for size in SIZES}
    runs = {}
    for size in SIZES:
        file = files[size]
        times = min(MOST_PER_TURN, ROWS_PER_TURN // size)
        runs[f"audit {size}"] = partial(cost_of, file.audit, times)
        runs[f"lower {size}"] = partial(lower_cost, file, max(1, times // AT_ONCE))
        runs[f"bare {size}"] = partial(cost_of, file.bare, times)
    costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
    print(measure.HEADER)
    kept = True
    for size in SIZES:
        kept &= measure.within(
            f"{PER:,} replications, {size:,} rows",
            costs[f"audit {size}"],
            "np.sort + 2 np.histogram",
            costs[f"bare {size}"],
            budget=BUDGETS.get(size),
        )
        assignments = len(files[size].ranked.micro_blocks) * TURNS
        measure.within(
            f"{PER:,} lower limits, {size:,} rows, {assignments} assignments, {AT_ONCE} at once",
            costs[f"lower {size}"],
            "np.sort + 2 np.histogram",
            costs[f"bare {size}"],
            budget=None,
        )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
