"""The rows of the report on several queries: each limit at its share of the error."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from mipaudit.commands.compare.queries.pairs import Cohort, Compared
from mipaudit.evidence.scores.averaged_lower import Averaged
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.statements.estimate import Attackers, Estimate

_METHODS: Final = {
    "same-rows": "paired: the same rows under both queries",
    "independent": "root of squared slacks: independent inputs",
    "unknown": "two limits at the whole error: nothing is known of how the inputs overlap",
}
_SELECTION: Final = (
    "attackers of the class fitted on the burn-in and on earlier blocks, beside the best of the "
    "class on the other query"
)
_LOWER_ONLY: Final = "an upper limit would need one for all attackers"
_TOO_FEW: Final = "too few rows"
MOST_TOGETHER: Final = 10


def pairs_of(count: int, baseline: int | None) -> list[tuple[int, int]]:
    """Return the pairs of queries to compare: all, or every other one with the baseline."""
    if baseline is None:
        return list(combinations(range(count), 2))
    return [(one, baseline) for one in range(count) if one != baseline]


def advantage_rows(compared: Compared, confidence: float) -> list[Estimate]:
    """Return the advantage of every query, jointly over the queries."""
    share = ErrorShare(confidence=confidence, columns=len(compared.evidence))
    return [row for one in compared.evidence for row in advantage_estimates(one, share)]


def pairing(compared: Compared, first: int, second: int) -> str:
    """Return how the rows of two queries hang together."""
    if second in compared.cohort(first).queries:
        return "same-rows"
    return "independent" if compared.independent else "unknown"


def difference_row(
    compared: Compared,
    first: int,
    second: int,
    attackers: Attackers,
    share: ErrorShare,
) -> Estimate:
    """Return the difference of two queries for a class, the first minus the second."""
    a, b = compared.evidence[first], compared.evidence[second]
    lower = compared.lower(first, second, attackers, share.one_sided)
    upper = compared.upper(first, second, attackers, share.one_sided)
    observed = a.observed(attackers)[0] - b.observed(attackers)[0]
    judged = [compared.challenger(one, attackers).rates for one in (first, second)]
    smaller = min(judged, key=lambda one: one.n_members + one.n_holdout)
    return Estimate(
        quantity="difference",
        score=a.score,
        versus=b.score,
        method=_METHODS[pairing(compared, first, second)],
        attackers=attackers,
        value=compared.value(first, attackers) - compared.value(second, attackers),
        plugin=observed,
        lower=lower,
        lower_reason=_TOO_FEW if lower is None else None,
        upper=upper,
        upper_reason=_TOO_FEW if upper is None else None,
        confidence=share.confidence,
        selection=_SELECTION,
        validity="approximate",
        n_members=smaller.n_members,
        n_holdout=smaller.n_holdout,
    )


def difference_rows(
    compared: Compared, pairs: Sequence[tuple[int, int]], confidence: float
) -> list[Estimate]:
    """Return all differences, jointly over the pairs for each class.

    The query with the greater estimate stands first, unless there is a baseline.
    """
    share = ErrorShare(confidence=confidence, columns=len(pairs))
    return [
        difference_row(compared, first, second, attackers, share)
        for first, second in pairs
        for attackers in compared.classes(first, second)
    ]


def best_of_rows(compared: Compared, confidence: float) -> list[Estimate]:
    """Return the largest advantage among the queries of each cohort of several."""
    several = [one for one in compared.cohorts if len(one.queries) > 1]
    share = ErrorShare(confidence=confidence, columns=max(1, len(several)))
    return [row for cohort in several for row in _best_of(compared, cohort, share)]


def _best_of(compared: Compared, cohort: Cohort, share: ErrorShare) -> list[Estimate]:
    held = compared.largest(cohort)
    found = [compared.evidence[one] for one in cohort.queries]
    name = "largest of " + ", ".join(one.score for one in found)
    naive = max(found, key=lambda one: one.lower(share.one_sided))
    row = _lower_limit(
        held,
        (held.n_holdout, held.n_members),
        share,
        score=name,
        method="prequential, one attacker at a time on whichever query did best so far",
        selection="query and attacker chosen on the burn-in and on earlier blocks",
    )
    chosen = replace(
        row,
        method="the largest of the limits, each at the full error",
        value=naive.held_out.value,
        lower=naive.lower(share.one_sided),
        selection="the query was chosen on the rows that it is judged on",
        validity="not-an-interval",
    )
    return [row, chosen]


def together_rows(compared: Compared, confidence: float) -> tuple[list[Estimate], list[Estimate]]:
    """Return what pairs of scores show together, and what that adds to each alone."""
    found = [
        (cohort, pair)
        for cohort in compared.cohorts
        if cohort.met is not None
        for pair in cohort.met.together
    ]
    share = ErrorShare(confidence=confidence, columns=max(1, len(found)))
    together = [_together(compared, cohort, pair, share) for cohort, pair in found]
    gains = [
        _gain(compared, cohort, pair, attackers, share, row)
        for (cohort, pair), row in zip(found, together, strict=True)
        for attackers in compared.classes(*(cohort.queries[one] for one in pair))
    ]
    return together, gains


def _together(
    compared: Compared, cohort: Cohort, pair: tuple[int, int], share: ErrorShare
) -> Estimate:
    a, b = (compared.evidence[cohort.queries[one]].score for one in pair)
    assert cohort.met is not None  # noqa: S101 - whoever asks has looked
    held = cohort.met.together[pair].rates
    return _lower_limit(
        held,
        (held.n_holdout, held.n_members),
        share,
        score=f"{a} + {b}",
        method="prequential, on either score and on grids of both",
        selection="attackers fitted on the burn-in and on earlier blocks, scored on later ones",
    )


def _lower_limit(
    held: Averaged,
    judged: Sequence[int],
    share: ErrorShare,
    *,
    score: str,
    method: str,
    selection: str,
) -> Estimate:
    """Return what attackers reach at least on so many holdout records and members."""
    n_holdout, n_members = judged
    return Estimate(
        quantity="advantage",
        score=score,
        method=method,
        attackers="any",
        value=held.value,
        lower=held.lower(share.one_sided),
        upper=None,
        upper_reason=_LOWER_ONLY,
        confidence=share.confidence,
        selection=selection,
        validity="approximate",
        n_members=n_members,
        n_holdout=n_holdout,
    )


def _gain(
    compared: Compared,
    cohort: Cohort,
    pair: tuple[int, int],
    attackers: Attackers,
    share: ErrorShare,
    together: Estimate,
) -> Estimate:
    both = [cohort.queries[one] for one in pair]
    a, b = (compared.evidence[one].score for one in both)
    lower = compared.gain(cohort, pair, attackers, share.one_sided)
    better = max(compared.value(one, attackers) for one in both)
    return replace(
        together,
        quantity="difference",
        versus=f"the better of {a} and {b}",
        method="paired: both scores seen together, beside the best of the class on either alone",
        attackers=attackers,
        value=None if together.value is None else together.value - better,
        lower=lower,
        lower_reason=_TOO_FEW if lower is None else None,
        selection=_SELECTION,
    )
