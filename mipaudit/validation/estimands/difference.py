"""Differences of advantage between two queries, and the largest of several.

The law of a file says nothing of a second query: pairs of scores are drawn here, for the
membership that the file has, from scenarios of their own: correlated, or seldom swapped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.compare.queries.pairs import Cohort, Compared
from mipaudit.commands.compare.queries.rows_in_order import Columns
from mipaudit.commands.compare.queries.run import count_cohort
from mipaudit.counting.kept_rows import OrderedRows
from mipaudit.validation.estimands.audited_file import CONFIDENCE, AuditedFile, rows_of
from mipaudit.validation.estimands.estimand import Estimand, Interval
from mipaudit.validation.laws.families import law_of
from mipaudit.validation.laws.mixture import Normal

if TYPE_CHECKING:
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.statements.estimate import Attackers
    from mipaudit.validation.laws.law import Law

# The one law on whose cells these are run: they draw their own scores.
_HOST: Final = "null-gaussian"
_CLASSES: Final[tuple[Attackers, ...]] = ("thresholds", "intervals-1")
_NULL_QUERIES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedScores:
    """Normal scores of two queries; members are higher by a shift, another for each query.

    Attributes:
        name: stable, lower case, with hyphens.
        shifts: of the two queries, in standard deviations, at least 0.
        correlation: of the two scores of a record, given its membership, in (-1, 1).
        apart: whether the second query was asked about other records.
    """

    name: str
    shifts: tuple[float, float]
    correlation: float = 0.0
    apart: bool = False

    def draw(
        self, rng: np.random.Generator, member: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores of records with this membership under both queries."""
        first, other = rng.standard_normal((2, member.size))
        second = self.correlation * first + math.sqrt(1 - self.correlation**2) * other
        return first + self.shifts[0] * member, second + self.shifts[1] * member

    def difference(self, prior: float) -> float:
        """Return the first query's advantage minus the second's.

        The best attacker has one threshold on either score, so this is the difference for
        the classes of thresholds and of intervals alike.
        """
        first, second = (_law(shift).advantage(prior) for shift in self.shifts)
        return first - second

    def larger_advantage(self, prior: float) -> float:
        """Return the larger of the two advantages."""
        return max(_law(shift).advantage(prior) for shift in self.shifts)

    def joint_advantage(self, prior: float) -> float:
        """Return the advantage of the best attacker who sees both scores."""
        a, b, r = *self.shifts, self.correlation
        return _law(math.sqrt(max(0.0, (a * a - 2 * r * a * b + b * b) / (1 - r * r)))).advantage(
            prior
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RareSwing:
    """One score tells all members but a few, and the other tells just those few.

    The hardest case for a limit of the difference: a file may hold none of the rows on which
    the two attackers change places, and each of them moves the difference twice.

    Attributes:
        name: stable, lower case, with hyphens.
        share: of the members that only the second score tells, in (0, 1).
    """

    name: str
    share: float
    apart: ClassVar[bool] = False

    def draw(
        self, rng: np.random.Generator, member: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores, 0 or 1, of records with this membership under both queries."""
        rare = member & (rng.random(member.size) < self.share)
        return np.asarray(member & ~rare, dtype=np.float64), rare.astype(np.float64)

    def difference(self, prior: float) -> float:
        """Return the first query's advantage minus the second's, for any class."""
        return self._advantage(1 - self.share, prior) - self._advantage(self.share, prior)

    def larger_advantage(self, prior: float) -> float:
        """Return the larger of the two advantages."""
        return self._advantage(max(self.share, 1 - self.share), prior)

    def joint_advantage(self, _prior: float) -> float:
        """Return the advantage of who sees both scores, and so is always right."""
        return 1.0

    def _advantage(self, tpr: float, prior: float) -> float:
        """Return the advantage of a score that no holdout record has and some members do."""
        return max(1 - 2 * prior + 2 * prior * tpr, abs(2 * prior - 1))


@lru_cache(maxsize=64)
def _law(shift: float) -> Law:
    return law_of("shifted", f"members {shift:g} higher", Normal(mean=shift), Normal())


CORRELATED: Final = tuple(
    PairedScores(
        name=f"{kind}-{word}", shifts=shifts, correlation=correlation, apart=word == "apart"
    )
    for kind, shifts in (("null", (0.0, 0.0)), ("equal", (1.0, 1.0)), ("unequal", (1.5, 0.5)))
    for word, correlation in (("alike", 0.8), ("unrelated", 0.0), ("opposed", -0.8), ("apart", 0.0))
)
# About two such members are expected in a file of 200 and of 1,000 records: the worst for them.
SWINGS: Final = (
    RareSwing(name="swing-rare", share=0.03),
    RareSwing(name="swing-rarer", share=0.005),
)
ScorePair = PairedScores | RareSwing
PAIRED_SCORES: Final[tuple[ScorePair, ...]] = (*CORRELATED, *SWINGS)
_BY_NAME: Final = {one.name: one for one in PAIRED_SCORES}


def compared_columns(
    member: NDArray[np.bool_],
    columns: Sequence[NDArray[np.float64]],
    *,
    prior: float,
    seed: int,
    pairs: Sequence[tuple[int, int]],
    first: int = 0,
) -> tuple[tuple[Evidence, ...], Cohort]:
    """Return queries of the same rows in memory, counted as ``compare`` does.

    Args:
        member: bool, shape (n,).
        columns: scores under each query, shape (n,).
        prior: p in (0, 1).
        seed: of the row assignment.
        pairs: the pairs to compare.
        first: number of the first of them among all queries.
    """
    rows = OrderedRows(rows=rows_of(member, columns), seed=seed)
    queries = Columns(
        names=tuple(f"query {first + number}" for number in range(len(columns))),
        kinds=tuple("float" for _ in columns),
        first=first,
        partitions=(),
    )
    cohort, evidence = count_cohort(
        queries, pairs, lambda _, start: rows.over(start), prior=prior, discrete=False, seed=seed
    )
    return evidence, cohort


def compared_pair(audited: AuditedFile, pair: ScorePair, rng: np.random.Generator) -> Compared:
    """Return two queries with scores drawn for the membership of a file."""
    drawn = pair.draw(rng, audited.member)
    counted = partial(compared_columns, audited.member, prior=audited.prior, seed=audited.seed)
    if not pair.apart:
        evidence, cohort = counted(drawn, pairs=[(0, 1)])
        return Compared(evidence=evidence, cohorts=(cohort,), independent=False)
    found = [counted([scores], pairs=[], first=number) for number, scores in enumerate(drawn)]
    return Compared(
        evidence=tuple(one for some, _ in found for one in some),
        cohorts=tuple(cohort for _, cohort in found),
        independent=True,
    )


class _OfPairs(Estimand):
    by_name_only = True

    def applies(self, law: Law) -> bool:
        """Tell whether the law is the host: one is enough, its scores are not used."""
        return law.name == _HOST


class Difference(_OfPairs):
    """Of the advantages of two queries, for a class; ``args`` is (pair, class)."""

    name = "difference"
    meaning = "advantage of one query minus that of another"
    statements = frozenset({("difference", attackers) for attackers in _CLASSES})
    takes = ((str, str),)

    def _value(self, _law: Law, prior: float, pair: str, _of: str) -> float | None:
        found = _BY_NAME.get(pair)
        return None if found is None else found.difference(prior)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what ``compare`` states of every pair and class."""
        for number, pair in enumerate(PAIRED_SCORES):
            rng = np.random.default_rng((audited.seed, number))
            found = compared_pair(audited, pair, rng)
            for attackers in _CLASSES:
                alpha = (1 - CONFIDENCE) / 2
                yield self.interval(
                    found.lower(0, 1, attackers, alpha),
                    found.upper(0, 1, attackers, alpha),
                    value=found.value(0, attackers) - found.value(1, attackers),
                    args=(pair.name, attackers),
                    label=f"{self.name}({pair.name}, {attackers})",
                )


class JointGain(_OfPairs):
    """What two scores show together beyond the better of them alone; ``args`` is (pair,)."""

    name = "joint_gain"
    meaning = "advantage of two scores seen together minus the better of either alone"
    takes = ((str,),)

    def _value(self, _law: Law, prior: float, pair: str) -> float | None:
        one = _BY_NAME.get(pair)
        return None if one is None else one.joint_advantage(prior) - one.larger_advantage(prior)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what ``compare`` states of every pair of the same records."""
        for number, pair in enumerate(PAIRED_SCORES):
            if pair.apart:
                continue
            rng = np.random.default_rng((audited.seed, number))
            found = compared_pair(audited, pair, rng)
            cohort = found.cohorts[0]
            if cohort.met is None or (0, 1) not in cohort.met.together:
                continue  # a constant score adds nothing, and nothing is stated
            lower = found.gain(cohort, (0, 1), "thresholds", (1 - CONFIDENCE) / 2)
            yield self.interval(lower, None, args=(pair.name,), label=f"{self.name}({pair.name})")


class LargestAdvantage(_OfPairs):
    """The largest advantage among several queries, chosen on the rows; ``args`` is empty."""

    name = "largest_advantage"
    meaning = "largest advantage among eight queries that leak nothing"
    trivial = True

    def _value(self, _law: Law, prior: float) -> float:
        return abs(2 * prior - 1)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the limit of the largest, and what choosing the best one would print."""
        rng = np.random.default_rng((audited.seed, len(PAIRED_SCORES)))
        columns = list(rng.standard_normal((_NULL_QUERIES, audited.member.size)))
        evidence, cohort = compared_columns(
            audited.member, columns, prior=audited.prior, seed=audited.seed, pairs=[]
        )
        found = Compared(evidence=evidence, cohorts=(cohort,), independent=False)
        alpha = (1 - CONFIDENCE) / 2
        yield self.interval(found.largest(cohort).lower(alpha), None)
