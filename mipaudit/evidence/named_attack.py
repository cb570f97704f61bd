"""Limits of what one attacker that was fixed beforehand achieves, and of how far it falls short."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.difference import encounter, fitted_challenger, of_constant, rival_class
from mipaudit.maths.advantage import advantage
from mipaudit.maths.arrays import Bools, Floats, Places
from mipaudit.maths.class_limits.difference import Encounter, fixed_lower, named_lower
from mipaudit.maths.mean_limits import Term, mean_lower, mean_upper, melded_lower
from mipaudit.summaries.challenger_counts import TabledGuesses

if TYPE_CHECKING:
    from mipaudit.model.row import Attackers
    from mipaudit.summaries.counts import ScoreCounts

_HOLDOUT, _MEMBER = 0, 1
# A search over intervals is quadratic in memory traffic; thresholds are listed outright.
_MOST_LISTED: Final = 1 << 12
# Limits of the same counts are asked for again by attackers that agree.
_KEPT: Final = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A value with its two-sided limits."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Achieved:
    """What an attacker achieves.

    Attributes:
        advantage: 1-2p + 2(p TPR - (1-p) FPR), with limits; may be below blind guessing.
        tpr: share of members that it calls members.
        fpr: share of holdout records that it calls members.
        n_members: members that it was judged on.
        n_holdout: holdout records, likewise.
        counted: whether its limits are those of counts, which are approximate; limits of
            means of coins hold at every sample size.
    """

    advantage: Limits
    tpr: float
    fpr: float
    n_members: int
    n_holdout: int
    counted: bool


def achieved(
    guesses: Bools | Floats, member: Bools, *, prior: float, alpha: float
) -> Achieved | None:
    """Return what an attacker achieves on rows that it did not learn from.

    Sure guesses make two independent binomial counts: their weighted difference has melded
    limits. An attacker that tosses coins has limits of two means of numbers in [0, 1], each
    at half the error, which hold at every sample size.

    Args:
        guesses: bool, whom it calls a member; or float, with which probability; shape (n,).
        member: bool, shape (n,).
        prior: p in (0, 1).
        alpha: two-sided error in (0, 1).

    Returns:
        None where a class has no row.
    """
    mine, theirs = (guesses[rows].astype(np.float64) for rows in (member, ~member))
    if min(mine.size, theirs.size) == 0:
        return None
    tpr, fpr = float(mine.mean()), float(theirs.mean())
    lower, upper = mean_difference(mine, theirs, alpha, prior)
    return Achieved(
        advantage=Limits(value=advantage(tpr, fpr, prior), lower=lower, upper=upper),
        tpr=tpr,
        fpr=fpr,
        n_members=mine.size,
        n_holdout=theirs.size,
        counted=_binary(mine) and _binary(theirs),
    )


@lru_cache(maxsize=_KEPT)
def difference_of_shares(
    members: tuple[int, int], holdout: tuple[int, int], prior: float, alpha: float
) -> tuple[float, float]:
    """Return melded limits of the advantage from (successes, trials) of both classes."""
    constant = 1 - 2 * prior
    up = [
        Term(weight=2 * prior, successes=members[0], trials=members[1]),
        Term(weight=-2 * (1 - prior), successes=holdout[0], trials=holdout[1]),
    ]
    down = [Term(weight=-one.weight, successes=one.successes, trials=one.trials) for one in up]
    lower = constant + melded_lower(up, alpha / 2)
    upper = constant - melded_lower(down, alpha / 2)
    return max(lower, -1.0), min(upper, 1.0)


def mean_difference(
    one: Floats, other: Floats, alpha: float, prior: float = 0.5
) -> tuple[float, float]:
    """Return two-sided limits of the advantage of two means of terms in [0, 1].

    At a prior of one half it is the mean of one less that of other. Four limits, each at a
    quarter of the error. Where all terms are 0 or 1, melded limits.
    """
    if _binary(one) and _binary(other):
        counts = ((int(terms.sum()), terms.size) for terms in (one, other))
        return difference_of_shares(*counts, prior, alpha)
    each = alpha / 4
    lower = advantage(mean_lower(one, each), mean_upper(other, each), prior)
    upper = advantage(mean_upper(one, each), mean_lower(other, each), prior)
    return max(lower, -1.0), min(upper, 1.0)


def _binary(terms: Floats) -> bool:
    return bool(((terms == 0) | (terms == 1)).all())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedRows:
    """Rows outside the burn-in, and what an attacker says of them.

    Attributes:
        takes: with which probability each is called a member (0 or 1 without coins), (n,).
        member: bool, shape (n,).
        scores: the audited score, shape (n,).
        cell: coarse cell of each score, shape (n,).
        blocks: micro-block of each row, shape (n,).
    """

    takes: Floats
    member: Bools
    scores: Floats
    cell: Places
    blocks: NDArray[np.uint8]


def surely_short(rows: JudgedRows, counts: ScoreCounts, prior: float, alpha: float) -> float:
    """Return how much more any attacker who sees the score has at least, one-sided alpha.

    It is the limit of an attacker who learns on earlier rows, less the named one: both are fixed
    before each block. An attacker that tosses coins counts as if each toss were drawn, which can
    only widen the limits.

    Args:
        rows: with the named attacker's guesses.
        counts: of the score, all rows.
        prior: p in (0, 1).
        alpha: in (0, 1).
    """
    best = fitted_challenger(counts, prior)
    seen = best.guesses
    assert isinstance(seen, TabledGuesses)  # noqa: S101 - of counted rows
    code = rows.member.astype(np.intp)
    weight = seen.weights[rows.blocks, code]
    guessed = seen.guessed[0][rows.blocks, code, rows.cell]
    sums = np.empty((4, 2, 2))
    for one, terms in zip(sums, (weight, guessed, weight**2, weight * guessed), strict=True):
        for called, share in enumerate((1 - rows.takes, rows.takes)):
            one[:, called] = np.bincount(code, weights=terms * share, minlength=2)
    squares = np.bincount(code, weights=guessed**2, minlength=2)
    met = encounter(sums, squares, np.ones(2, dtype=bool), best.rates)
    if met is None:
        return -2.0
    entering = met if best.gains(alpha) else of_constant(met)
    return fixed_lower(entering, np.array([False, True]), best.error(alpha))


def at_most_short(
    rows: JudgedRows, attackers: Attackers, prior: float, alpha: float
) -> float | None:
    """Return how much more the best attacker of a class has at most, one-sided alpha.

    It is minus the least limit, over the class, of the named attacker less the best one
    (`class_limits.difference`); None where a class of records has no row.
    """
    sizes = np.array([np.count_nonzero(~rows.member), np.count_nonzero(rows.member)])
    if sizes.min() == 0:
        return None
    values, cell = np.unique(rows.scores, return_inverse=True)
    single = np.ones(values.size, dtype=bool)
    if values.size > _MOST_LISTED and attackers != "thresholds":
        cell, single = _merged(cell, values.size)
    rates = np.empty((2, 2, single.size))
    code = rows.member * single.size + cell
    for called, share in ((1, rows.takes), (0, 1 - rows.takes)):
        total = np.bincount(code, weights=share, minlength=2 * single.size)
        rates[:, called] = total.reshape(2, -1)
    rates /= sizes[:, None, None]
    met = Encounter(
        rates=rates,
        single=single,
        n_members=float(sizes[_MEMBER]),
        n_holdout=float(sizes[_HOLDOUT]),
        prior=prior,
    )
    return -named_lower(met, rival_class(attackers), alpha)


def _merged(cell: Places, count: int) -> tuple[Places, Bools]:
    """Return runs of cells of about equal mass; a run of several values is bracketed."""
    mass = np.bincount(cell, minlength=count)
    run = np.minimum((np.cumsum(mass) - mass) * _MOST_LISTED // mass.sum(), _MOST_LISTED - 1)
    _, run = np.unique(run, return_inverse=True)
    return run[cell], np.bincount(run) == 1
