"""The rows of the report on several queries: each limit at its share of the error."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mipaudit.commands.compare.queries.cohort import Cohort
from mipaudit.commands.compare.queries.pairs import Compared
from mipaudit.commands.compare.queries.report import Pairing
from mipaudit.evidence.scores.averaged_lower import Averaged, averaged_among
from mipaudit.evidence.scores.rows import PREQUENTIAL, ErrorShare
from mipaudit.model.message import Message
from mipaudit.model.row import Attackers, Row

_METHODS: Final[dict[Pairing, str]] = {
    "same-rows": "paired: the same rows under both queries",
    "independent": "root of squared slacks: independent inputs",
    "unknown": "two limits at the whole error: nothing is known of how the inputs overlap",
}
_SELECTION: Final = (
    "attackers of the class fitted on the burn-in and on earlier blocks, beside the best of the "
    "class on the other query"
)
_LOWER_ONLY: Final = Message("upper_needs_any")
_TOO_FEW: Final = Message("few_rows")


def difference_rows(
    compared: Compared, pairs: Sequence[tuple[int, int]], confidence: float
) -> list[Row]:
    """Return all differences, the first minus the second, jointly over the pairs for each class."""
    share = ErrorShare(confidence=confidence, columns=len(pairs))
    return [
        _difference(compared, pair, attackers, share)
        for pair in pairs
        for attackers in compared.classes(*pair)
    ]


def _difference(
    compared: Compared, pair: tuple[int, int], attackers: Attackers, share: ErrorShare
) -> Row:
    a, b = (compared.evidence[one] for one in pair)
    lower = compared.lower(*pair, attackers, share.one_sided)
    upper = compared.upper(*pair, attackers, share.one_sided)
    rates = [compared.challenger(one, attackers).rates for one in pair]
    smaller = min(rates, key=lambda one: one.n_members + one.n_holdout)
    one_cohort = pair[1] in compared.cohort(pair[0]).queries
    return Row(
        quantity="difference",
        score=a.score,
        versus=b.score,
        method=_METHODS["same-rows" if one_cohort else compared.apart],
        attackers=attackers,
        value=rates[0].value - rates[1].value,
        plugin=a.observed(attackers)[0] - b.observed(attackers)[0],
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


def largest_of(cohort: Cohort) -> Averaged:
    """Return the guesses of one attacker at a time, on whichever query of a cohort."""
    blocks = [one.counts.blocks for one in cohort.evidence]
    first = cohort.evidence[0]
    return averaged_among(blocks, first.counts.burn_in, first.prior)


def best_of_rows(compared: Compared, confidence: float) -> list[Row]:
    """Return the largest advantage among the queries of each cohort of several."""
    several = [one for one in compared.cohorts if len(one.queries) > 1]
    share = ErrorShare(confidence=confidence, columns=max(1, len(several)))
    rows = []
    for cohort in several:
        naive = max(cohort.evidence, key=lambda one: one.lower(share.one_sided))
        row = _any_attacker(
            largest_of(cohort),
            share,
            score="largest of " + ", ".join(one.score for one in cohort.evidence),
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
        rows += [row, chosen]
    return rows


def together_rows(compared: Compared, confidence: float) -> tuple[list[Row], list[Row]]:
    """Return what pairs of scores show together, and what that adds to each alone."""
    found = [(cohort, pair) for cohort in compared.cohorts for pair in cohort.together]
    share = ErrorShare(confidence=confidence, columns=max(1, len(found)))
    together, gains = [], []
    for cohort, pair in found:
        a, b = (cohort.evidence[one].score for one in pair)
        row = _any_attacker(
            cohort.challengers[pair].rates,
            share,
            score=f"{a} + {b}",
            method="prequential, on either score and on grids of both",
            selection=PREQUENTIAL,
        )
        together.append(row)
        for attackers in compared.classes(*(cohort.queries[one] for one in pair)):
            lower = cohort.gain(pair, attackers, share.one_sided)
            better = max(cohort.challenger(one, attackers).rates.value for one in pair)
            gain = replace(
                row,
                quantity="difference",
                versus=f"the better of {a} and {b}",
                method="paired: both scores seen together, beside the best of the class on "
                "either alone",
                attackers=attackers,
                value=cohort.challengers[pair].rates.value - better,
                lower=lower,
                lower_reason=_TOO_FEW if lower is None else None,
                selection=_SELECTION,
            )
            gains.append(gain)
    return together, gains


def _any_attacker(
    held: Averaged, share: ErrorShare, *, score: str, method: str, selection: str
) -> Row:
    """Return what attackers reach at least."""
    return Row(
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
        n_members=held.n_members,
        n_holdout=held.n_holdout,
    )
