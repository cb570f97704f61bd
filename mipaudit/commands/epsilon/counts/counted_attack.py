"""The conditional limit on epsilon from a table of counts, without scores.

The attack was fixed before the runs were counted, and gives an answer on every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from mipaudit.maths.epsilon.conditional import GuessCounts, conditional_lower, usual_slack
from mipaudit.maths.privacy.tradeoff import refuted_epsilon

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.maths.epsilon.choice import Numerator

_EITHER: Final[tuple[Numerator, ...]] = ("member", "holdout")


def conditional_from_counts(
    tp: int,
    fn: int,
    fp: int,
    tn: int,
    *,
    numerator: Numerator | Literal["either"],
    delta: float,
    alpha: float,
) -> tuple[float, Numerator]:
    """Return the lower limit of epsilon, and the class whose right guesses gave it.

    Args:
        tp: members guessed to be members.
        fn: members guessed to be holdout; tp + fn above 0.
        fp: holdout records guessed to be members.
        tn: holdout records guessed to be holdout; fp + tn above 0.
        numerator: the guesses that count, settled beforehand; ``either`` tries those of
            *member* and those of *holdout*, each with half of the error.
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).
    """
    tried: tuple[Numerator, ...] = _EITHER if numerator == "either" else (numerator,)
    found = [
        (conditional_lower(counts, usual_slack(exposed, delta, alpha / len(tried))), one)
        for one in tried
        for counts, exposed in [_counted(tp, fn, fp, tn, one)]
    ]
    return max(found, key=lambda pair: pair[0])


def estimate_from_counts(tp: int, fn: int, fp: int, tn: int, *, delta: float) -> float:
    """Return the plug-in epsilon of the smoothed rates: finite."""
    return refuted_epsilon(*smoothed_rates(tp, fn, fp, tn), delta)


def smoothed_rates(tp: int, fn: int, fp: int, tn: int) -> tuple[float, float]:
    """Return TPR and FPR with half a run of each kind added: neither is 0 or 1."""
    return (tp + 0.5) / (tp + fn + 1), (fp + 0.5) / (fp + tn + 1)


def pooled_limit() -> Callable[[int, int, int, int, float, float], float]:
    """Return the conditional limit as a function of right and wrong guesses.

    Its arguments are those of `mipaudit.commands.epsilon.runs.power.CountLimit`. Guesses
    of *member* and of *holdout* count together in the conditional limit, so equally many
    runs of both kinds, with mirrored sets, are one set with twice the runs.
    """
    from functools import lru_cache

    slack_of = lru_cache(maxsize=64)(usual_slack)

    def limit(tp: int, n_num: int, fp: int, n_den: int, delta: float, alpha: float, /) -> float:
        counts = GuessCounts(tp=tp, fp=fp, tn=0, fn=0, n_members=n_num, n_holdout=n_den)
        return conditional_lower(counts, slack_of(n_num, delta, alpha))

    return limit


def _counted(tp: int, fn: int, fp: int, tn: int, numerator: Numerator) -> tuple[GuessCounts, int]:
    """Return the guesses that count, and how many runs delta may expose among them."""
    members, holdout = tp + fn, fp + tn
    in_counts, out_counts = numerator != "holdout", numerator != "member"
    counts = GuessCounts(
        tp=tp if in_counts else 0,
        fp=fp if in_counts else 0,
        tn=tn if out_counts else 0,
        fn=fn if out_counts else 0,
        n_members=members,
        n_holdout=holdout,
    )
    return counts, members * in_counts + holdout * out_counts
