"""The risk of every cell of records: limits alone and together, the list, the largest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.advantage import baseline
from mipaudit.maths.cell_risk import (
    RiskLimits,
    above_p_values,
    conditional_limits,
    discoveries,
    error_for_selected,
    melded_limits,
)
from mipaudit.maths.finite_population import Population, finite_limits, finite_p_values

FoundT = TypeVar("FoundT")
# Among more cells each holds too little of a class for melding to gain anything.
MOST_MELDED: Final = 64
_MEMBER: Final = 1
_EARLY: Final = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordRisks:
    """Counts by cell, and what they show.

    Attributes:
        counts: int64, shape (m, 2, 2): cell, in burn-in, (holdout, member).
        single: bool, shape (m,): cells that are one value. No label chose them, so all rows count
            there; in other cells those outside the burn-in, which cut them.
        prior: p in (0, 1).
        confidence: of all limits together, and of each pointwise one, in [0.5, 1).
        tau: risk above which records are listed, in [0, 1).
        rate: false-discovery rate of the list, in (0, 1).
        population: n training records, of which the members are a sample; None where the
            members stand for all that might have been members.
        limit: on the risk, of the policy; None for ``tau``.
    """

    counts: NDArray[np.int64]
    single: NDArray[np.bool_]
    prior: float
    confidence: float
    tau: float = 0.5
    rate: float = 0.05
    population: int | None = None
    limit: float | None = None

    @cached_property
    def members(self) -> NDArray[np.int64]:
        """Return the counted members of each cell."""
        return self._rows[:, _MEMBER]

    @cached_property
    def holdout(self) -> NDArray[np.int64]:
        """Return the counted holdout records of each cell."""
        return self._rows[:, 1 - _MEMBER]

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        return np.where(self.single[:, None], self.everyone, self.counts[:, 0])

    @cached_property
    def everyone(self) -> NDArray[np.int64]:
        """Return all rows of each cell, (holdout, member), shape (m, 2)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def n_members(self) -> int:
        """Return the members counted."""
        return int(self.members.sum())

    @property
    def n_holdout(self) -> int:
        """Return the holdout records counted."""
        return int(self.holdout.sum())

    @cached_property
    def occupied(self) -> NDArray[np.bool_]:
        """Tell in which cells a record was counted: only those share the error."""
        return np.asarray(self.members + self.holdout > 0)

    @property
    def cells(self) -> int:
        """Return the number of cells in which a record was counted."""
        return int(self.occupied.sum())

    @property
    def melded(self) -> bool:
        """Tell whether the limits are melded, rather than conditional."""
        return self.population is not None or self.cells <= MOST_MELDED

    @cached_property
    def together(self) -> RiskLimits:
        """Return the limits that hold for all cells together (Bonferroni)."""
        return self.limits((1 - self.confidence) / max(1, self.cells))

    @cached_property
    def alone(self) -> RiskLimits:
        """Return the limits of each cell alone, which do not hold together."""
        return self.limits(1 - self.confidence)

    @cached_property
    def listed(self) -> NDArray[np.bool_]:
        """Tell which cells are listed as having a risk above tau."""
        chosen = np.zeros(self.members.size, dtype=np.bool_)
        chosen[self.occupied] = discoveries(self._above[self.occupied], self.rate)
        return chosen

    @cached_property
    def adjusted(self) -> RiskLimits:
        """Return limits for the listed cells, adjusted for having been selected."""
        count = int(self.listed.sum())
        return self.limits(error_for_selected(1 - self.confidence, count, self.cells))

    @cached_property
    def _above(self) -> NDArray[np.float64]:
        found = np.ones(self.members.size)
        for cells, values in self._counted(above_p_values, finite_p_values, tau=self.tau):
            found[cells] = values
        return found

    @cached_property
    def _ranked(self) -> NDArray[np.intp]:
        """Return all cells: the largest lower limit first, then the largest risk, then in order."""
        first = -np.arange(self.members.size)
        by = (first, self.together.risk, self.together.risk_lower)
        return np.asarray(np.lexsort(by)[::-1])

    @property
    def largest(self) -> int:
        """Return the cell whose risk has the largest lower limit, then the largest risk."""
        return int(self._ranked[0])

    @property
    def order(self) -> NDArray[np.intp]:
        """Return the occupied cells, the most exposed first."""
        return np.asarray(self._ranked[self.occupied[self._ranked]])

    @property
    def members_first(self) -> NDArray[np.intp]:
        """Return the same, those that surely give members away above the limit before others."""
        limits, limit = self.together, self.tau if self.limit is None else self.limit
        away = (limits.direction > 0) & (limits.risk_lower > limit)
        return np.asarray(self.order[np.argsort(~away[self.order], kind="stable")])

    @property
    def largest_lower(self) -> float:
        """Return a lower limit of the largest risk.

        A cell's risk is an average over its values, so it is one of the largest risk of
        a single value too.
        """
        return max(baseline(self.prior), float(self.together.risk_lower.max()))

    @property
    def largest_value(self) -> float:
        """Return the best estimate of the largest risk: that of the cell that attains the limit.

        At least the average risk, as the lower limit is.
        """
        return max(baseline(self.prior), float(self.together.risk[self.largest]))

    @cached_property
    def uncounted(self) -> int:
        """Return the records in cells without a counted record: all from the burn-in."""
        return int(self.everyone[~self.occupied].sum())

    @property
    def largest_upper(self) -> float:
        """Return an upper limit of the largest risk over the cells that hold records.

        It is 1 where records are in cells without a counted one: nothing limits their risk.
        """
        if not self.cells or self.uncounted:
            return 1.0
        return float(self.together.risk_upper[self.occupied].max())

    def limits(self, alpha: float) -> RiskLimits:
        """Return limits of two-sided error alpha for each cell."""
        by = melded_limits if self.melded else conditional_limits
        # What is known of a cell where no row of a class was counted in any.
        signed, lower, upper = (
            np.full(self.members.size, x) for x in (2 * self.prior - 1, -1.0, 1.0)
        )
        for cells, some in self._counted(by, finite_limits, alpha=alpha):
            signed[cells], lower[cells], upper[cells] = some.signed, some.lower, some.upper
        return RiskLimits(signed=signed, lower=lower, upper=upper)

    def _counted(
        self, unlimited: Callable[..., FoundT], finite: Callable[..., FoundT], **at: float
    ) -> Iterator[tuple[NDArray[np.bool_], FoundT]]:
        """Yield cells whose counts are of the same rows, and what a function finds in them.

        Of two functions it is the one that suits the members.
        """
        late, early = self.counts[:, 0], self.counts[:, _EARLY, _MEMBER]
        for cells, rows, known in (
            (self.single, self.everyone, np.zeros_like(early)),
            (~self.single, late, early),
        ):
            holdout, members = np.ascontiguousarray(rows[cells].T)
            n_holdout, n_members = rows.sum(axis=0).tolist()
            if not members.size or min(n_holdout, n_members) == 0:
                continue
            common = {"n_holdout": n_holdout, "prior": self.prior, **at}
            if self.population is None:
                yield cells, unlimited(members, holdout, n_members=n_members, **common)
                continue
            training = Population(
                records=self.population, known=int(known.sum()), sampled=n_members
            )
            yield cells, finite(members, holdout, known[cells], population=training, **common)
