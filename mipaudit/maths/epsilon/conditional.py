"""The conditional limit on epsilon: right guesses among all guesses, dominated by a binomial.

An attacker guesses *member* on one set of scores, *holdout* on another that does not
meet it, and abstains on the rest. Under (epsilon, 0)-DP each guess, given that it is
made, is right with odds of at most e^epsilon times the odds of the classes' sizes. So the
number of right guesses, given how many there are of each kind, is below the sum of two
binomials. Guesses of both kinds count together, which one inequality alone leaves
unused. With delta, each row is beyond the reach of epsilon with probability at most
delta, independently: all but a binomial number of rows, the *slack*, behave as above.

The argument is exact where labels are drawn row by row. Where the class sizes are fixed
it is checked by enumeration: the size is at most the nominal one.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

# Each halving gains a bit; the bracket is 2 |log(n1/n0)| wide.
_HALVINGS: Final = 60
_TOLERANCE: Final = 1e-9
_REACH: Final = 9.0  # standard deviations, with room for the skewness of rare counts
# Of alpha: for the direction that the rows show, the rest for the other one.
_SHOWN: Final = 0.95
# Of alpha, at most: for each of three numbers of rows that delta may have exposed. Where it may
# expose many, small sets would lose more to a greater number than to a smaller error.
_EXPOSED: Final = 1 / 6


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
    def reversed(self) -> GuessCounts:
        """Return what the opposite guesses on the same sets are."""
        return self._replace(tp=self.fn, fp=self.tn, tn=self.fp, fn=self.tp)

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
        members: how many of them may say *member*; None for all.
        holdout: how many of them may say *holdout*; None for all.
    """

    guesses: int
    alpha: float
    members: int | None = None
    holdout: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposed:
    """Rows that delta may have put beyond the reach of epsilon, with an error paid once.

    Attributes:
        members: of the members, of which guesses of *member* are right.
        holdout: of the holdout records.
        rows: of both together; at most their sum.
    """

    members: int = 0
    holdout: int = 0
    rows: int = 0

    def slack(self, counts: GuessCounts, alpha: float) -> Slack:
        """Return what guesses of these kinds lose, at the error that is left for them."""
        members = self.members if counts.tp + counts.fp else 0
        holdout = self.holdout if counts.tn + counts.fn else 0
        guesses = min(self.rows, members + holdout)
        return Slack(guesses=guesses, alpha=alpha, members=members, holdout=holdout)


def usual_slack(exposed: int, delta: float, alpha: float) -> Slack:
    """Return the least slack that is exceeded with probability at most alpha / 20."""
    if delta == 0 or exposed == 0:
        return Slack(guesses=0, alpha=alpha)
    return Slack(guesses=_least_slack(exposed, delta, alpha / 20), alpha=0.95 * alpha)


def most_exposed(
    n_members: int, n_holdout: int, delta: float, alpha: float
) -> tuple[Exposed, float]:
    """Return the rows that delta may have exposed, for any number of attacks, and the error left.

    Args:
        n_members: members, each exposed with probability at most delta.
        n_holdout: holdout records.
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).
    """
    if delta == 0:
        return Exposed(), alpha
    sizes = n_members, n_holdout, n_members + n_holdout
    members, holdout, rows = (_least_slack(one, delta, _EXPOSED * alpha) for one in sizes)
    left = alpha - _exceeds(members, sizes[0], delta) - _exceeds(holdout, sizes[1], delta)
    if rows < members + holdout:
        left -= _exceeds(rows, sizes[2], delta)
    return Exposed(members=members, holdout=holdout, rows=min(rows, members + holdout)), left


def lower_either_way(
    counts: GuessCounts, exposed: Exposed, alpha: float, *, beat: float = 0.0
) -> float:
    """Return the limit where the rows showed which set's guesses are *member*.

    Guesses and their opposites may err, so each has half of alpha; but where the opposite, at
    this epsilon, would need a number of right guesses that chance hardly ever gives to members
    and holdout that are alike, nearly all of alpha is left for the guesses that were made. Rows
    that favour one way by chance favour the other less than alike rows do.

    Args:
        counts: guesses on sets that were fixed beforehand.
        exposed: rows that delta may have exposed.
        alpha: error of both ways together, in (0, 1).
        beat: at least 0; a limit that is not above it is returned as 0.
    """
    shown = _SHOWN * alpha
    lower = conditional_lower(counts, exposed.slack(counts, shown), beat=beat)
    if lower == 0:
        return 0.0
    sure = conditional_lower(counts, exposed.slack(counts, alpha / 2))
    ways = counts, counts.reversed
    apart = all(_by_chance(one, sure, exposed.slack(one, shown)) <= alpha - shown for one in ways)
    return lower if apart else sure * (sure > beat)


def _by_chance(counts: GuessCounts, epsilon: float, slack: Slack) -> float:
    """Return how likely so many guesses refute epsilon if members and holdout are alike, at most.

    Only the numbers of guesses are used, not how many were right.
    """
    from scipy.special import bdtrc, expit

    made = counts.tp + counts.fp, counts.tn + counts.fn
    within = _fewest_needed(made, slack, counts.log_ratio)
    shares = expit(epsilon + counts.log_ratio), expit(epsilon - counts.log_ratio)
    if sum(within) <= 0:
        return 0.0
    # Between what guesses that are all of the lesser share would need, and of the greater one.
    fewest, most = (_least_slack(sum(within), one, slack.alpha) for one in sorted(shares))
    needed = fewest + bisect_left(
        range(fewest, most),
        x=True,
        key=lambda count: _tail_of_two(count + 1, within, shares) <= slack.alpha,
    )
    # Hoeffding (1956, Theorem 4): a sum of unlike ones of this mean, or less, is below it.
    alike = _mean_share(made, counts.log_ratio)
    return float(bdtrc(needed, sum(made), alike)) if needed < sum(within) else 0.0


def _mean_share(made: tuple[int, int], log_ratio: float) -> float:
    """Return the share of guesses of *member* and of *holdout* that is right among alike rows."""
    return 1 - (made[0] * _wrong_share(log_ratio) + made[1] * _wrong_share(-log_ratio)) / sum(made)


def _fewest_needed(made: tuple[int, int], slack: Slack, log_ratio: float) -> tuple[int, int]:
    """Take the slack from the guesses of the greater odds: the rest needs the fewest right."""
    member, holdout = _divided(slack, made, members_first=log_ratio >= 0)
    return made[0] - member, made[1] - holdout


def _divided(slack: Slack, most: tuple[int, int], *, members_first: bool) -> tuple[int, int]:
    """Take the slack from guesses of *member* and of *holdout*, from one kind all that it may."""
    members = slack.guesses if slack.members is None else slack.members
    holdout = slack.guesses if slack.holdout is None else slack.holdout
    limits = min(members, most[0]), min(holdout, most[1])
    if members_first:
        first = min(slack.guesses, limits[0])
        return first, min(slack.guesses - first, limits[1])
    first = min(slack.guesses, limits[1])
    return min(slack.guesses - first, limits[0]), first


def conditional_lower(counts: GuessCounts, slack: Slack, *, beat: float = 0.0) -> float:
    """Return the lower limit of epsilon; at least 0 and finite.

    Args:
        counts: guesses on sets, and of a direction, that were fixed beforehand.
        slack: right guesses that do not count, and the error.
        beat: at least 0; a limit that is not above it is returned as 0.
    """
    from scipy.special import betaincinv, expit, logit

    correct = counts.correct - slack.guesses
    if correct <= 0:
        return 0.0
    odds = float(logit(betaincinv(correct, counts.wrong + 1, slack.alpha)))
    member, holdout = _guesses_within_reach(counts, slack)
    ratio = counts.log_ratio
    if ratio == 0 or not member or not holdout:
        lower = odds - (ratio if member else -ratio)
        return lower if lower > beat else 0.0

    def excess(epsilon: float) -> float:
        shares = expit(epsilon + ratio), expit(epsilon - ratio)
        tail = _tail_of_two(correct, (member, holdout), shares)
        return math.log(max(tail, sys.float_info.min)) - math.log(slack.alpha)

    return _greatest(excess, max(beat, odds - abs(ratio)), odds + abs(ratio))


def _greatest(excess: Callable[[float], float], least: float, most: float) -> float:
    """Return the greatest epsilon without excess, to a billionth; 0 if ``least`` has some.

    Args:
        excess: rises with epsilon, nearly in a straight line; above 0 at ``most``.
        least: where to begin.
        most: an upper end of the answer.
    """
    if most <= least or (below := excess(least)) > 0:
        return 0.0
    low, high, above = least, most, max(excess(most), sys.float_info.min)
    side = 0.0
    while high - low > _TOLERANCE:
        # Where a straight line between the ends crosses, but never at an end: beside the answer
        # that closes the bracket from the other side.
        line = low + (high - low) * below / (below - above)
        place = min(max(line, low + _TOLERANCE / 2), high - _TOLERANCE / 2)
        found = excess(place)
        # Illinois: an end that stays twice counts half.
        if found > 0:
            below, high, above = below / (1 + (side > 0)), place, found
        else:
            above, low, below = above / (1 + (side < 0)), place, found
        side = found
    return low


def _tail_of_two(count: int, guesses: tuple[int, int], shares: tuple[float, float]) -> float:
    """Return P(Bin(guesses[0], shares[0]) + Bin(guesses[1], shares[1]) >= count)."""
    import numpy as np
    from scipy.special import bdtrc

    if shares[0] == shares[1]:
        return float(bdtrc(count - 1, sum(guesses), shares[0])) if count > 0 else 1.0
    # Summed over the likely counts of the kind that varies less.
    (few, share), (many, other) = sorted(
        zip(guesses, shares, strict=True), key=lambda pair: pair[0] * pair[1] * (1 - pair[1])
    )
    if not 0 < share < 1 or few == 0:
        left = count - few * (share >= 1)
        return float(bdtrc(left - 1, many, other)) if left > 0 else 1.0
    reach = _REACH * math.sqrt(few * share * (1 - share)) + _REACH**2
    first, last = max(0, int(few * share - reach)), min(few, int(few * share + reach) + 1)
    # P(Bin(many, other) >= count - found) of each found: one tail, and what each step adds.
    least = float(bdtrc(min(count - first - 1, many), many, other)) if count > first else 1.0
    steps = _chances(count - last, count - first, many, other)[::-1]
    tails = np.minimum(least + np.concatenate([[0.0], steps.cumsum()]), 1.0)
    return float(_chances(first, last + 1, few, share) @ tails)


def _chances(start: int, stop: int, n: int, share: float) -> NDArray[np.floating]:
    """Return P(Bin(n, share) = k) of each k from ``start`` up to but not ``stop``."""
    import numpy as np

    chances = np.zeros(stop - start)
    first, beyond = max(start, 0), min(stop, n + 1)
    if first < beyond:
        apart = math.lgamma(n + 1) - math.lgamma(first + 1) - math.lgamma(n - first + 1)
        counts = np.arange(first, beyond)
        logs = np.log((n + 1 - counts[1:]) / counts[1:]) + (math.log(share) - math.log1p(-share))
        begin = apart + first * math.log(share) + (n - first) * math.log1p(-share)
        logs = np.concatenate([[begin], logs]).cumsum()
        chances[first - start : beyond - start] = np.exp(logs)
    return chances


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
    return max(0.0, epsilon_of_share(odds, member, holdout, counts.log_ratio))


def epsilon_of_share(
    log_odds: float, member_guesses: float, holdout_guesses: float, log_ratio: float
) -> float:
    """Return the epsilon at which the mean share of right guesses has these log-odds.

    Args:
        log_odds: log-odds of the share.
        member_guesses: guesses of *member*, at least 0.
        holdout_guesses: guesses of *holdout*, at least 0; not both 0.
        log_ratio: log of members over holdout records.

    Returns:
        Epsilon, rounded downward; may be below 0.
    """
    if log_ratio == 0:
        return log_odds
    # Compared by wrong guesses: near a share of 1 the right ones all look alike.
    target = (member_guesses + holdout_guesses) * _wrong_share(log_odds)
    low, high = log_odds - abs(log_ratio), log_odds + abs(log_ratio)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        wrong = member_guesses * _wrong_share(middle + log_ratio)
        wrong += holdout_guesses * _wrong_share(middle - log_ratio)
        low, high = (middle, high) if wrong >= target else (low, middle)
    return low


def _wrong_share(log_odds: float) -> float:
    """Return the share of wrong guesses at these log-odds of right ones."""
    power = math.exp(-abs(log_odds))
    return power / (1 + power) if log_odds > 0 else 1 / (1 + power)


def _guesses_within_reach(counts: GuessCounts, slack: Slack) -> tuple[int, int]:
    """Take the slack from the guesses with the lesser odds: the least favourable way."""
    right = counts.tp, counts.tn
    member, holdout = _divided(slack, right, members_first=counts.log_ratio < 0)
    return counts.tp + counts.fp - member, counts.tn + counts.fn - holdout


def _exceeds(count: int, rows: int, delta: float) -> float:
    """Return P(Bin(rows, delta) > count)."""
    from scipy.special import bdtrc

    return float(bdtrc(count, rows, delta)) if count < rows else 0.0


def _least_slack(rows: int, delta: float, error: float) -> int:
    """Return the least count that a binomial exceeds with probability at most ``error``."""
    return bisect_left(range(rows), x=True, key=lambda count: _exceeds(count, rows, delta) <= error)
