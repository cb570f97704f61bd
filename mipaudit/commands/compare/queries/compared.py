"""Several queries, of the same rows or not: every limit of a difference, when asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mipaudit.commands.compare.queries.pairs import common_classes
from mipaudit.evidence.named_attackers.difference import apart_lower, class_challenger
from mipaudit.evidence.scores.prequential import held_out_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.compare.queries.pairs import Meeting, SameRows
    from mipaudit.evidence.named_attackers.difference import Challenger
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.evidence.scores.prequential import HeldOut
    from mipaudit.statements.estimate import Attackers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cohort:
    """Queries of the same rows, counted.

    Attributes:
        queries: their numbers among all queries.
        met: the attackers that met, or None where there is one query only.
        meetings: what they came to, in the order of the plan.
    """

    queries: tuple[int, ...]
    met: SameRows | None
    meetings: Sequence[Meeting]


@dataclass(frozen=True, kw_only=True, eq=False)
class Compared:
    """All queries, and how any two of them differ.

    Attributes:
        evidence: one for each query; names are unique.
        cohorts: which queries are of the same rows.
        independent: whether different cohorts hold different records.
    """

    evidence: tuple[Evidence, ...]
    cohorts: tuple[Cohort, ...]
    independent: bool
    _challengers: dict[tuple[int, Attackers], Challenger] = field(default_factory=dict)

    def cohort(self, query: int) -> Cohort:
        """Return the cohort that a query belongs to."""
        return next(one for one in self.cohorts if query in one.queries)

    def classes(self, first: int, second: int) -> tuple[Attackers, ...]:
        """Return the classes that a difference can be stated for."""
        return common_classes(self.evidence[first], self.evidence[second])

    def challenger(self, query: int, attackers: Attackers) -> Challenger:
        """Return the attackers of a class that learned on a query."""
        key = (query, attackers)
        if key not in self._challengers:
            one = self.evidence[query]
            self._challengers[key] = class_challenger(one.counts, attackers, one.prior)
        return self._challengers[key]

    def lower(self, first: int, second: int, attackers: Attackers, alpha: float) -> float | None:
        """Return a lower limit of the first query's advantage minus the second's.

        Args:
            first: number of a query.
            second: number of another.
            attackers: the class, on either query.
            alpha: one-sided error in (0, 1).
        """
        cohort = self.cohort(first)
        if second in cohort.queries and cohort.met is not None:
            place = cohort.queries.index
            key = (place(first), attackers)
            return cohort.met.lower(cohort.meetings, key, place(second), attackers, alpha)
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

    def value(self, query: int, attackers: Attackers) -> float:
        """Return the best estimate of a query's advantage within a class: biased downward."""
        return self.challenger(query, attackers).hopeful.value

    def largest(self, cohort: Cohort) -> HeldOut:
        """Return the guesses of one attacker at a time, on whichever query of a cohort."""
        found = [self.evidence[one] for one in cohort.queries]
        blocks = [one.counts.blocks for one in found]
        return held_out_together(blocks, found[0].counts.burn_in, found[0].prior)

    def gain(
        self, cohort: Cohort, pair: tuple[int, int], attackers: Attackers, alpha: float
    ) -> float | None:
        """Return a lower limit of what a pair shows beyond the better of the two alone.

        The better of the two is one fixed attacker, on one of the scores: the smaller of
        the two limits holds without a share of the error for either. Two scores never
        show less than one, so the limit is at least 0.

        Args:
            cohort: of both.
            pair: numbers within the cohort.
            attackers: the class of those who see one score alone.
            alpha: one-sided error in (0, 1).
        """
        if cohort.met is None:
            return None
        limits = [
            cohort.met.lower(cohort.meetings, pair, rival, attackers, alpha) for rival in pair
        ]
        known = [one for one in limits if one is not None]
        return max(0.0, min(known)) if len(known) == len(limits) else None
