"""Several together: the risks of all cells, the advantages of groups, differences of queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from mipaudit.commands.compare.queries.cohort import Columns, Compared, compared, count_cohort
from mipaudit.commands.compare.queries.run import largest_of
from mipaudit.commands.records.cells import RecordCells, RecordRisks, RecordTally, cut_cells
from mipaudit.commands.records.counts import attack_differences
from mipaudit.counting.scores import over_rows
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.rows import ErrorShare
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.rows import splitmix64
from mipaudit.summaries.tally import Grouping, Tally
from mipaudit.validation.estimands.estimand import (
    CONFIDENCE,
    AuditedFile,
    Estimand,
    Interval,
    burn_in,
    rows_of,
    trivial,
)
from mipaudit.validation.law import Law, law_of, normal

if TYPE_CHECKING:
    Numbers = tuple[float, ...]
    from mipaudit.model.row import Attackers

    Draw = Callable[[np.random.Generator, Bools], Sequence[Floats]]

_GROUPS: Final = 4
_GROUP_SALT: Final = 0x67726F757073


def file_risks(audited: AuditedFile) -> tuple[RecordCells, RecordRisks]:
    """Return the cells that ``records`` cuts on a file, and their risks."""
    rows = rows_of(audited.member, [audited.score])
    cells = cut_cells(
        burn_in(rows, audited.seed), "float", seed=audited.seed, discrete=audited.discrete
    )
    tally = RecordTally(cells)
    tally.add(rows)
    risks = RecordRisks(
        counts=tally.counts, single=cells.single, prior=audited.prior, confidence=CONFIDENCE
    )
    return cells, risks


def true_risks(law: Law, prior: float, edges: Numbers, cell: Numbers) -> Floats:
    """Return f_p of each cell under a law, shape (m,); 2p-1 where nothing ever falls.

    Args:
        law: of the scores.
        prior: p in (0, 1).
        edges: as in `RecordCells`.
        cell: likewise.
    """
    shares = [
        np.bincount(cell, weights=np.diff(side.cdf(np.array(edges)), prepend=0.0, append=1.0))
        for side in (law.members, law.holdout)
    ]
    members, holdout = prior * shares[0], (1 - prior) * shares[1]
    total = members + holdout
    return np.where(total > 0, (members - holdout) / np.where(total > 0, total, 1.0), 2 * prior - 1)


def _margin(
    law: Law, prior: float, edges: Numbers, cell: Numbers, lower: Numbers, upper: Numbers
) -> float:
    """Return the least distance of a cell's risk from its limits, below 0 if outside."""
    risks = true_risks(law, prior, edges, cell)
    return float(np.minimum(risks - lower, upper - risks).min())


def _margin_row(audited: AuditedFile) -> Iterator[Interval]:
    """Yield that every cell is inside its limits."""
    cells, risks = file_risks(audited)
    # Without a counted record nothing is claimed of a cell. Rounding may cost 1e-12.
    free = np.where(risks.occupied, 1e-12, 9.0)
    found = cells.edges, cells.cell, risks.together.lower - free, risks.together.upper + free
    args = tuple(tuple(one.tolist()) for one in found)
    yield Interval(lower=0.0, nominal=CONFIDENCE, args=args)


def _largest(
    law: Law, prior: float, edges: Numbers, cell: Numbers, occupied: tuple[bool, ...]
) -> float:
    # All cells together have |2p-1| at least, also those without a record.
    return max(
        trivial(prior), float(np.abs(true_risks(law, prior, edges, cell)[[*occupied]]).max())
    )


def _largest_row(audited: AuditedFile) -> Iterator[Interval]:
    cells, risks = file_risks(audited)
    row = risks.largest_row("score")
    yield Interval(
        lower=row.lower,
        upper=row.upper,
        value=float(risks.together.risk[risks.largest]),
        args=tuple(tuple(one.tolist()) for one in (cells.edges, cells.cell, risks.occupied)),
    )


def _of_groups(law: Law, prior: float, of: str) -> float:
    match of:
        case "any":
            return law.advantage(prior)
        case "thresholds":
            return law.advantage_thresholds(prior)
        case _:  # the difference of a group from the rest
            return 0.0


def _group_rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield the extreme limits over four groups of records that leak alike.

    The groups are drawn at random, in the proportions 8:4:2:1, so the largest of their lower
    limits and the least of their upper limits are what must not pass the truth.
    """
    share = ErrorShare(confidence=CONFIDENCE, columns=_GROUPS)
    found = _in_groups(audited)
    yield Interval(lower=max(one.lower(share.one_sided) for one in found), args=("any",))
    uppers = [one.upper("thresholds", share.one_sided) for one in found]
    least = min(1.0 if upper is None else upper for upper in uppers)
    yield Interval(upper=least, args=("thresholds",), label=", thresholds")
    differences = attack_differences(
        [one.counts for one in found], prior=audited.prior, alpha=share.two_sided
    )
    yield Interval(
        lower=max(one.lower for one in differences),
        upper=min(one.upper for one in differences),
        args=("difference",),
        label=", difference",
    )


def _in_groups(audited: AuditedFile) -> list[Evidence]:
    """Return the evidence on four groups, drawn whatever the score and the membership."""
    place = np.arange(audited.member.size, dtype=np.uint64)
    draw = splitmix64(place, audited.seed ^ _GROUP_SALT) % np.uint64(15)
    group = np.searchsorted([8, 12, 14], draw, side="right").astype(np.uint64)
    rows = replace(rows_of(audited.member, [audited.score]), groups=group)
    plan = make_plan(
        burn_in(rows, audited.seed),
        ["float"],
        prior=audited.prior,
        discrete=audited.discrete,
        seed=audited.seed,
    )
    kept = np.arange(_GROUPS, dtype=np.uint64)
    tally = Tally(plan, Grouping(kept=kept, merged=kept[:0]))
    tally.add(rows)
    return [
        Evidence(score="score", counts=one, prior=audited.prior, seed=audited.seed)
        for one in tally.counts()
    ]


RECORDS: Final = (
    # How far inside its limits the cell is that comes nearest to leaving them: simultaneous
    # limits hold if that margin is not below 0.
    Estimand(name="record_risk", truth=_margin, said=_margin_row, by_name_only=True),
    Estimand(
        name="largest_risk",
        truth=_largest,
        statements=(("risk", "any"),),
        said=_largest_row,
        baseline=trivial,
        by_name_only=True,
    ),
    Estimand(
        name="group_advantage",
        truth=_of_groups,
        said=_group_rows,
        baseline=lambda prior, of: 0.0 if of == "difference" else trivial(prior),
        by_name_only=True,
    ),
)


# The one law on whose cells these are run: they draw their own scores.
_HOST: Final = "null-gaussian"
_CLASSES: Final[tuple[Attackers, ...]] = ("thresholds", "intervals-1")
_NULL_QUERIES: Final = 8
_HALF_ALPHA: Final = (1 - CONFIDENCE) / 2


# Scores of two queries whose best attackers are known, alone and together. Draws the scores of
# records with this membership under both queries; takes a prior, and returns the advantage of the
# best of any class that sees the first score, of the best that sees the second, and of the best
# that sees both; whether the second query was asked about other records.
ScorePair: TypeAlias = tuple["Draw", Callable[[float], tuple[float, float, float]], bool]


def _correlated(shifts: tuple[float, float], correlation: float, *, apart: bool) -> ScorePair:
    """Return normal scores; members are higher by a shift, another for each query.

    The best attacker has one threshold on either score: the same for thresholds and intervals.
    """
    a, b = shifts
    squared = (a * a - 2 * correlation * a * b + b * b) / (1 - correlation * correlation)
    seen = (a, b, math.sqrt(max(0.0, squared)))

    def draw(rng: np.random.Generator, member: Bools) -> tuple[Floats, Floats]:
        first, other = rng.standard_normal((2, member.size))
        second = correlation * first + math.sqrt(1 - correlation**2) * other
        return first + a * member, second + b * member

    def advantages(prior: float) -> tuple[float, float, float]:
        first, second, both = (_shifted(shift).advantage(prior) for shift in seen)
        return first, second, both

    return draw, advantages, apart


def _swing(share: float) -> ScorePair:
    """Return scores, 0 or 1: one tells all members but a few, and the other just those few.

    The hardest case for a limit of the difference: a file may hold none of the rows on which
    the two attackers change places, and each of them moves the difference twice.

    Args:
        share: of the members that only the second score tells, in (0, 1).
    """

    def draw(rng: np.random.Generator, member: Bools) -> tuple[Floats, Floats]:
        rare = member & (rng.random(member.size) < share)
        return np.asarray(member & ~rare, dtype=np.float64), rare.astype(np.float64)

    def advantages(prior: float) -> tuple[float, float, float]:
        # No holdout record has such a score and some members do; both together are always right.
        first, second = (
            max(1 - 2 * prior + 2 * prior * tpr, trivial(prior)) for tpr in (1 - share, share)
        )
        return first, second, 1.0

    return draw, advantages, False


@lru_cache(maxsize=64)
def _shifted(shift: float) -> Law:
    return law_of("shifted", f"members {shift:g} higher", normal(mean=shift), normal())


PAIRS: Final[dict[str, ScorePair]] = {
    **{
        f"{kind}-{word}": _correlated(shifts, correlation, apart=word == "apart")
        for kind, shifts in (("null", (0.0, 0.0)), ("equal", (1.0, 1.0)), ("unequal", (1.5, 0.5)))
        for word, correlation in (
            *(("alike", 0.8), ("unrelated", 0.0)),
            *(("opposed", -0.8), ("apart", 0.0)),
        )
    },
    # About two such members are expected in a file of 200 and of 1,000 records: the worst for them.
    "swing-rare": _swing(0.03),
    "swing-rarer": _swing(0.005),
}


def compared_columns(
    member: Bools,
    columns: Sequence[Floats],
    *,
    prior: float,
    seed: int,
    pairs: Sequence[tuple[int, int]],
    first: int = 0,
) -> Compared:
    """Return queries of the same rows in memory, counted as ``compare`` does.

    Args:
        member: bool, shape (n,).
        columns: scores under each query, shape (n,).
        prior: p in (0, 1).
        seed: of the row assignment.
        pairs: the pairs to compare.
        first: number of the first of them among all queries.
    """
    rows = rows_of(member, columns)
    queries = Columns(
        names=tuple(f"query {first + number}" for number in range(len(columns))),
        kinds=tuple("float" for _ in columns),
    )
    return count_cohort(
        *(queries, pairs, lambda _, start: over_rows(rows, start)),
        prior=prior,
        discrete=False,
        seed=seed,
        first=first,
    )


def compared_pair(audited: AuditedFile, pair: ScorePair, rng: np.random.Generator) -> Compared:
    """Return two queries with scores drawn for the membership of a file."""
    draw, _, apart = pair
    drawn = draw(rng, audited.member)
    counted = partial(compared_columns, audited.member, prior=audited.prior, seed=audited.seed)
    if not apart:
        return counted(drawn, pairs=[(0, 1)])
    found = [counted([scores], pairs=[], first=number) for number, scores in enumerate(drawn)]
    return compared(found, independent=True)


def _compared(audited: AuditedFile) -> Iterator[tuple[str, ScorePair, Compared]]:
    """Yield every pair, drawn for a file, as ``compare`` sees it."""
    for number, (name, pair) in enumerate(PAIRS.items()):
        rng = np.random.default_rng((audited.seed, number))
        yield name, pair, compared_pair(audited, pair, rng)


def _difference(_law: Law, prior: float, pair: str) -> float:
    _, advantages, _ = PAIRS[pair]
    first, second, _ = advantages(prior)
    return first - second


def _difference_rows(audited: AuditedFile) -> Iterator[Interval]:
    for name, _, found in _compared(audited):
        for attackers in _CLASSES:
            yield Interval(
                lower=found.lower(0, 1, attackers, _HALF_ALPHA),
                upper=found.upper(0, 1, attackers, _HALF_ALPHA),
                value=found.value(0, attackers) - found.value(1, attackers),
                args=(name,),
                label=f"({name}, {attackers})",
            )


def _gain(_law: Law, prior: float, pair: str) -> float:
    _, advantages, _ = PAIRS[pair]
    first, second, both = advantages(prior)
    return both - max(first, second)


def _gain_rows(audited: AuditedFile) -> Iterator[Interval]:
    for name, (*_, apart), found in _compared(audited):
        # A constant score adds nothing, and nothing is stated.
        if not apart and (0, 1) in found.together:
            lower = found.gain((0, 1), "thresholds", _HALF_ALPHA)
            yield Interval(lower=lower, args=(name,), label=f"({name})")


def _largest_advantage_row(audited: AuditedFile) -> Iterator[Interval]:
    """Yield the limit of the largest advantage among queries that leak nothing."""
    rng = np.random.default_rng((audited.seed, len(PAIRS)))
    columns = list(rng.standard_normal((_NULL_QUERIES, audited.member.size)))
    cohort = compared_columns(
        audited.member, columns, prior=audited.prior, seed=audited.seed, pairs=[]
    )
    yield Interval(lower=largest_of(cohort.evidence).lower(_HALF_ALPHA))


def _is_host(law: Law) -> bool:
    return law.name == _HOST


DIFFERENCES: Final = (
    # Of the advantages of two queries; the argument is the pair.
    Estimand(
        name="difference",
        truth=_difference,
        statements=tuple(("difference", attackers) for attackers in _CLASSES),
        said=_difference_rows,
        has_truth=_is_host,
        by_name_only=True,
    ),
    # What two scores show together beyond the better of them alone.
    Estimand(
        name="joint_gain", truth=_gain, said=_gain_rows, has_truth=_is_host, by_name_only=True
    ),
    # The largest advantage among several queries, chosen on the rows.
    Estimand(
        name="largest_advantage",
        truth=lambda _law, prior: trivial(prior),
        said=_largest_advantage_row,
        baseline=trivial,
        has_truth=_is_host,
        by_name_only=True,
    ),
)
