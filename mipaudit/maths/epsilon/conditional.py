"""The conditional limit on epsilon: right guesses among all guesses, dominated by a binomial.

An attacker guesses *member* on one set of scores, *holdout* on another that does not
meet it, and abstains on the rest. Under (epsilon, 0)-DP each guess, given that it is
made, is right with odds of at most e^epsilon times the odds of the classes' sizes. So the
number of right guesses, given the number of guesses, is below a sum of independent
Bernoulli variables, and below a binomial of the same mean in the upper tail (Hoeffding
1956, Theorem 4). Guesses of both kinds count together, which one inequality alone leaves
unused. With delta, each row is beyond the reach of epsilon with probability at most
delta, independently: all but a binomial number of rows, the *slack*, behave as above.

The argument is exact where labels are drawn row by row. Where the class sizes are fixed
it is checked by enumeration: the size is at most the nominal one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Each halving gains a bit; the bracket is 2 |log(n1/n0)| wide.
_HALVINGS: Final = 60
# Below it Hoeffding's condition (the count above the mean by 1) follows from rejection.
_HOEFFDING_ALPHA: Final = 0.25
# A slack that is exceeded with a probability of under this share of alpha costs nothing.
_LEAST_SHARE: Final = 1e-3
_LARGEST_SHARE: Final = 0.9
_MOST_SLACKS: Final = 24


class GuessCounts(NamedTuple):
    """Guesses on judged rows, by class; the rows without a guess are abstentions.

    Attributes:
        tp: members guessed to be members.
        fp: holdout records guessed to be members.
        tn: holdout records guessed to be holdout.
        fn: members guessed to be holdout.
        n_members: members judged, with or without a guess; above 0.
        n_holdout: holdout records judged; above 0.
    """

    tp: int
    fp: int
    tn: int
    fn: int
    n_members: int
    n_holdout: int

    @property
    def correct(self) -> int:
        """Return the number of right guesses."""
        return self.tp + self.tn

    @property
    def wrong(self) -> int:
        """Return the number of wrong guesses."""
        return self.fp + self.fn

    @property
    def log_ratio(self) -> float:
        """Return the log of members over holdout records."""
        return math.log(self.n_members / self.n_holdout)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack:
    """Right guesses that delta alone may have made, and the error left for the rest.

    Attributes:
        guesses: at least 0.
        alpha: one-sided error that remains, in (0, 1).
    """

    guesses: int
    alpha: float


def slacks(exposed: int, delta: float, alpha: float) -> tuple[Slack, ...]:
    """Return the ways to divide alpha between delta's guesses and epsilon's.

    Which one is used must be settled before the judged rows are counted.

    Args:
        exposed: rows that may be beyond epsilon's reach.
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).

    Returns:
        At least one; at most 24, of rising slack.
    """
    if delta == 0 or exposed == 0:
        return (Slack(guesses=0, alpha=alpha),)
    least = _least_slack(exposed, delta, _LARGEST_SHARE * alpha)
    most = _least_slack(exposed, delta, _LEAST_SHARE * alpha)
    step = max(1, math.ceil((most - least) / (_MOST_SLACKS - 1)))
    return tuple(
        Slack(guesses=b, alpha=alpha - _exceeds(b, exposed, delta))
        for b in range(least, most + 1, step)
    )


def usual_slack(exposed: int, delta: float, alpha: float) -> Slack:
    """Return the least slack that is exceeded with probability at most alpha / 20."""
    if delta == 0 or exposed == 0:
        return Slack(guesses=0, alpha=alpha)
    return Slack(guesses=_least_slack(exposed, delta, alpha / 20), alpha=0.95 * alpha)


def conditional_lower(counts: GuessCounts, slack: Slack) -> float:
    """Return the lower limit of epsilon; at least 0 and finite.

    Args:
        counts: guesses on rows that chose neither the sets nor the slack.
        slack: from `slacks` or `usual_slack`, at the delta of the claim.
    """
    from scipy.special import betaincinv, logit

    correct = counts.correct - slack.guesses
    if correct <= 0:
        return 0.0
    least = float(betaincinv(correct, counts.wrong + 1, slack.alpha))
    member, holdout = _guesses_within_reach(counts, slack.guesses)
    ratio = counts.log_ratio
    if correct == 1 or slack.alpha >= _HOEFFDING_ALPHA:
        # Hoeffding's theorem is silent here; the greater of the two odds bounds both.
        ratios = [ratio] * (member > 0) + [-ratio] * (holdout > 0)
        return max(0.0, float(logit(least)) - max(ratios))
    return max(0.0, float(epsilon_of_share(logit(least), member, holdout, ratio)))


def conditional_estimate(counts: GuessCounts, delta: float, exposed: int) -> float:
    """Return the plug-in epsilon of the guesses, half a guess added on either side.

    Args:
        counts: guesses on judged rows.
        delta: in [0, 1].
        exposed: rows that could be right guesses beyond epsilon's reach.

    Returns:
        At least 0, finite.
    """
    beyond = delta * exposed
    correct = counts.correct - beyond
    if correct <= 0:
        return 0.0
    odds = math.log((correct + 0.5) / (counts.wrong + 0.5))
    member, holdout = counts.tp + counts.fp, counts.tn + counts.fn
    return max(0.0, float(epsilon_of_share(odds, member, holdout, counts.log_ratio)))


def epsilon_of_share(
    log_odds: float | NDArray[np.float64],
    member_guesses: float | NDArray[np.float64],
    holdout_guesses: float | NDArray[np.float64],
    log_ratio: float,
    *,
    halvings: int = _HALVINGS,
) -> NDArray[np.float64]:
    """Return the epsilon at which the mean share of right guesses has these log-odds.

    Args:
        log_odds: log-odds of the share; an array or a number, as are the next two.
        member_guesses: guesses of *member*, at least 0.
        holdout_guesses: guesses of *holdout*, at least 0; not both 0.
        log_ratio: log of members over holdout records.
        halvings: each adds a bit of precision.

    Returns:
        Epsilon of the shape of the arguments, rounded downward; may be below 0.
    """
    import numpy as np
    from scipy.special import expit

    odds, member, holdout = np.broadcast_arrays(
        np.asarray(log_odds, dtype=np.float64), member_guesses, holdout_guesses
    )
    if log_ratio == 0:
        return odds.astype(np.float64)
    # Compared by wrong guesses: near a share of 1 the right ones all look alike.
    target = (member + holdout) * expit(-odds)
    low, high = odds - abs(log_ratio), odds + abs(log_ratio)
    for _ in range(halvings):
        middle = (low + high) / 2
        wrong = member * expit(-middle - log_ratio) + holdout * expit(log_ratio - middle)
        low, high = (
            np.where(wrong >= target, middle, low),
            np.where(wrong >= target, high, middle),
        )
    return low


def _guesses_within_reach(counts: GuessCounts, slack: int) -> tuple[int, int]:
    """Take the slack from the guesses with the lesser odds: the least favourable way."""
    members_first = counts.log_ratio < 0
    first = min(slack, counts.tp if members_first else counts.tn)
    from_member = first if members_first else slack - first
    from_holdout = slack - from_member
    return counts.tp + counts.fp - from_member, counts.tn + counts.fn - from_holdout


def _exceeds(count: int, rows: int, delta: float) -> float:
    """Return P(Bin(rows, delta) > count)."""
    from scipy.special import bdtrc

    return float(bdtrc(count, rows, delta)) if count < rows else 0.0


def _least_slack(rows: int, delta: float, error: float) -> int:
    """Return the least count that a binomial exceeds with probability at most ``error``."""
    return bisect_left(range(rows), x=True, key=lambda count: _exceeds(count, rows, delta) <= error)
