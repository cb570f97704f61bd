"""Any two of all queries: every limit of their difference, by how their rows hang together."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from mipaudit.commands.compare.queries.cohort import Cohort, common_classes
from mipaudit.commands.compare.queries.report import Pairing
from mipaudit.evidence.difference import Challenger, apart_lower
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.model.row import Attackers


def pairs_of(count: int, baseline: int | None) -> list[tuple[int, int]]:
    """Return the pairs of queries to compare: all, or every other one with the baseline."""
    if baseline is None:
        return list(combinations(range(count), 2))
    return [(one, baseline) for one in range(count) if one != baseline]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """All queries, and how any two of them differ.

    Attributes:
        cohorts: which queries are of the same rows, in the order of their queries.
        independent: whether different cohorts hold different records.
    """

    cohorts: Sequence[Cohort]
    independent: bool

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Return one for each query; names are unique."""
        return tuple(one for cohort in self.cohorts for one in cohort.evidence)

    def cohort(self, query: int) -> Cohort:
        """Return the cohort that a query belongs to."""
        return next(one for one in self.cohorts if query in one.queries)

    @property
    def apart(self) -> Pairing:
        """Return how the rows of different cohorts hang together."""
        return "independent" if self.independent else "unknown"

    def classes(self, first: int, second: int) -> tuple[Attackers, ...]:
        """Return the classes that a difference can be stated for."""
        return common_classes(self.evidence[first], self.evidence[second])

    def challenger(self, query: int, attackers: Attackers) -> Challenger:
        """Return the attackers of a class that learned on a query."""
        cohort = self.cohort(query)
        return cohort.challenger(query - cohort.first, attackers)

    def value(self, query: int, attackers: Attackers) -> float:
        """Return the best estimate of a query's advantage within a class: biased downward."""
        return self.challenger(query, attackers).rates.value

    def lower(self, first: int, second: int, attackers: Attackers, alpha: float) -> float | None:
        """Return a lower limit of the first query's advantage minus the second's.

        Args:
            first: number of a query.
            second: number of another.
            attackers: the class, on either query.
            alpha: one-sided error in (0, 1).
        """
        cohort = self.cohort(first)
        if second in cohort.queries:
            key = (first - cohort.first, attackers)
            return cohort.lower(key, second - cohort.first, attackers, alpha)
        return apart_lower(
            self.challenger(first, attackers),
            self.evidence[second],
            attackers,
            alpha,
            independent=self.independent,
        )

    def upper(self, first: int, second: int, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit of the first query's advantage minus the second's."""
        lower = self.lower(second, first, attackers, alpha)
        return None if lower is None else -lower
