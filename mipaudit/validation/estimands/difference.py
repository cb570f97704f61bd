"""Differences of advantage between two queries, and the largest of several.

The law of a file says nothing of a second query: pairs of scores are drawn here, for the
membership that the file has, from scenarios of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.compare.queries.pairs import Cohort, Compared, Meeting, same_rows
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.summaries.challenger_counts import (
    GridTally,
    MeetingTally,
    ValueSet,
    cells_at_once,
    score_cells,
)
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally
from mipaudit.validation.estimands.estimand import (
    Args,
    Estimand,
    Interval,
    wrong_arguments,
)
from mipaudit.validation.laws.paired_scores import PAIRED_SCORES, ScorePair
from mipaudit.validation.rivals.audited_file import CONFIDENCE, AuditedFile

if TYPE_CHECKING:
    from mipaudit.statements.estimate import Attackers
    from mipaudit.validation.laws.law import Law

# The one law on whose cells these are run: they draw their own scores.
_HOST: Final = "null-gaussian"
_CLASSES: Final[tuple[Attackers, ...]] = ("thresholds", "intervals-1")
_BY_NAME: Final = {one.name: one for one in PAIRED_SCORES}
_BLOCKS: Final = 15
_NULL_QUERIES: Final = 8


def compared_columns(
    member: NDArray[np.bool_],
    columns: Sequence[NDArray[np.float64]],
    *,
    prior: float,
    seed: int,
    pairs: Sequence[tuple[int, int]],
    together: Sequence[tuple[int, int]] = (),
) -> tuple[tuple[Evidence, ...], Cohort]:
    """Return queries of the same rows in memory, counted as ``compare`` would.

    Args:
        member: bool, shape (n,).
        columns: scores under each query, shape (n,).
        prior: p in (0, 1).
        seed: of the row assignment.
        pairs: the pairs to compare.
        together: the pairs to look at together.
    """
    rows = Rows(
        first_row=0,
        source_rows=member.size,
        kept=None,
        keys=None,
        member=member,
        scores=tuple(columns),
    )
    many = len(columns)
    sample = BurnInSample(many, seed)
    sample.add(rows)
    sample.settle()
    plan = make_plan(sample, ["float"] * many, prior=prior, discrete=False, seed=seed)
    tally = Tally(plan)
    tally.add(rows)
    evidence = tuple(
        Evidence(score=f"query {index}", counts=counts, prior=prior, seed=seed)
        for index, counts in enumerate(tally.counts())
    )
    count = cells_at_once(10 * max(1, len(pairs)), _BLOCKS)
    values = ValueSet(many)
    values.add(rows)
    known = values.values() if member.size <= count else (None,) * many
    scores = [
        score_cells(
            one.cells,
            sample,
            index,
            burn_in=plan.burn_in,
            prior=prior,
            count=count,
            values=known[index],
        )
        for index, one in enumerate(plan.columns)
    ]
    grids = GridTally(scores, together, seed)
    grids.add(rows)
    met = same_rows(
        evidence,
        scores,
        pairs=pairs,
        grids=dict(zip(together, grids.counts, strict=True)),
        seed=seed,
    )
    meetings: list[Meeting] = []
    for part in met.plan.parts():
        found = MeetingTally(part)
        found.add(rows)
        meetings += met.meetings(part, found.counts)
    return evidence, Cohort(queries=tuple(range(many)), met=met, meetings=meetings)


def compared_pair(
    audited: AuditedFile, pair: ScorePair, rng: np.random.Generator, *, together: bool
) -> Compared:
    """Return two queries with scores drawn for the membership of a file."""
    first, second = pair.draw(rng, audited.member)
    if not pair.apart:
        evidence, cohort = compared_columns(
            audited.member,
            [first, second],
            prior=audited.prior,
            seed=audited.seed,
            pairs=[(0, 1)],
            together=[(0, 1)] if together else [],
        )
        return Compared(evidence=evidence, cohorts=(cohort,), independent=False)
    cohorts, evidence = [], ()
    for number, scores in enumerate((first, second)):
        found, _ = _one_query(audited, scores)
        evidence = (*evidence, *found)
        cohorts.append(Cohort(queries=(number,), met=None, meetings=()))
    return Compared(evidence=evidence, cohorts=tuple(cohorts), independent=True)


def _one_query(
    audited: AuditedFile, scores: NDArray[np.float64]
) -> tuple[tuple[Evidence, ...], Cohort]:
    return compared_columns(
        audited.member, [scores], prior=audited.prior, seed=audited.seed, pairs=[]
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

    def truth(self, law: Law, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the first query's advantage minus the second's."""
        match args:
            case (str(pair), str()) if pair in _BY_NAME:
                return _BY_NAME[pair].difference(prior)
            case _:
                raise wrong_arguments(self)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what ``compare`` states of every pair and class."""
        for number, pair in enumerate(PAIRED_SCORES):
            rng = np.random.default_rng((audited.seed, number))
            found = compared_pair(audited, pair, rng, together=False)
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

    def truth(self, law: Law, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the joint advantage minus the larger of the two."""
        match args:
            case (str(pair),) if pair in _BY_NAME:
                one = _BY_NAME[pair]
                return one.joint_advantage(prior) - one.larger_advantage(prior)
            case _:
                raise wrong_arguments(self)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what ``compare`` states of every pair of the same records."""
        for number, pair in enumerate(PAIRED_SCORES):
            if pair.apart:
                continue
            rng = np.random.default_rng((audited.seed, number))
            found = compared_pair(audited, pair, rng, together=True)
            lower = found.gain(found.cohorts[0], (0, 1), "thresholds", (1 - CONFIDENCE) / 2)
            yield self.interval(lower, None, args=(pair.name,), label=f"{self.name}({pair.name})")


class LargestAdvantage(_OfPairs):
    """The largest advantage among several queries, chosen on the rows; ``args`` is empty."""

    name = "largest_advantage"
    meaning = "largest advantage among eight queries that leak nothing"
    trivial = True

    def truth(self, law: Law, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the trivial attacker's advantage."""
        if args:
            raise wrong_arguments(self)
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
