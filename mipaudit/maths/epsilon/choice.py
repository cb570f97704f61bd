"""Which attack to judge: two thresholds and a direction, chosen on burn-in rows.

The choice cannot harm the limit's validity, only its strength, so it may guess: every
pair of candidate thresholds gets the limit that the judged rows would give if the
burn-in's shares held there, less a margin for how uncertain those shares are. The margin
keeps it from chasing sets that look pure because they are small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.epsilon.conditional import GuessCounts, Slack, epsilon_of_share

Numerator = Literal["member", "holdout", "both"]

_RANKS: Final = 18
# Settled by simulation on Gaussian, Laplace and randomized-response mechanisms.
_DOUBT: Final = 1.5  # errors added to those the burn-in shows
_TRIAL_MARGIN: Final = 0.75  # standard errors of the log-odds found on trial
_HALVINGS: Final = 12
_SIDES: Final = (True, False)
_IMPOSSIBLE: Final = -1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """Guess one class at or above ``upper``, the other at or below ``lower``.

    Attributes:
        upper: threshold; NaN for no upper set.
        lower: threshold, below ``upper``; NaN for no lower set.
        members_high: whether *member* is the upper set's guess.
    """

    upper: float
    lower: float
    members_high: bool

    @property
    def numerator(self) -> Numerator:
        """Return whose right guesses count."""
        if not (math.isnan(self.upper) or math.isnan(self.lower)):
            return "both"
        return "member" if math.isnan(self.lower) == self.members_high else "holdout"

    def exposed(self, n_members: int, n_holdout: int) -> int:
        """Return the number of rows that could be right guesses beyond epsilon's reach."""
        members = n_members if self.numerator != "holdout" else 0
        return members + (n_holdout if self.numerator != "member" else 0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Candidate thresholds of sorted burn-in rows, with the counts beyond them.

    Attributes:
        thresholds: float64, shape (m,); the last is NaN, with counts of 0.
        counts: int64, shape (2, m), burn-in members and holdout records beyond.
    """

    thresholds: NDArray[np.float64]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Rows, members first: in the burn-in and judged; all above 0."""

    burn_in: tuple[int, int]
    judged: tuple[int, int]


def upper_candidates(members: NDArray[np.float64], holdout: NDArray[np.float64]) -> Candidates:
    """Return thresholds for sets {score >= t}, at log-spaced ranks from the top.

    Each lies halfway between two neighbouring values, so that no row is at it by its
    place in the burn-in; next to an infinity it is the value itself.

    Args:
        members: sorted burn-in scores, shape (n1,), n1 above 0.
        holdout: sorted burn-in scores, shape (n0,), n0 above 0.
    """
    _, halfway = _ends(members, holdout)
    return _candidates(halfway, members, holdout)


def lower_candidates(members: NDArray[np.float64], holdout: NDArray[np.float64]) -> Candidates:
    """Return thresholds for sets {score <= t}, as `upper_candidates` does for the top.

    Each is just below the threshold that the same gap gives an upper set, so that the
    two sets may share a gap and no row.
    """
    mirrored = -members[::-1], -holdout[::-1]
    values, halfway = _ends(*mirrored)
    inside = np.where(halfway < values, np.nextafter(halfway, np.inf), values)
    found = _candidates(inside, *mirrored)
    return Candidates(thresholds=-found.thresholds, counts=found.counts)


def _ends(
    members: NDArray[np.float64], holdout: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return values at log-spaced ranks from the top, and the middles of the gaps below."""
    values = np.unique(
        np.concatenate([rows[rows.size - _log_ranks(rows.size)] for rows in (members, holdout)])
    )
    before = np.maximum(_value_below(members, values), _value_below(holdout, values))
    with np.errstate(invalid="ignore"):  # infinities of both signs have no middle
        middle = before / 2 + values / 2
    between = np.isfinite(middle) & (middle > before) & (middle <= values)
    return values, np.where(between, middle, values)


def _candidates(
    thresholds: NDArray[np.float64], members: NDArray[np.float64], holdout: NDArray[np.float64]
) -> Candidates:
    beyond = [rows.size - np.searchsorted(rows, thresholds) for rows in (members, holdout)]
    return Candidates(
        thresholds=np.append(thresholds, np.nan),
        counts=np.pad(np.stack(beyond), ((0, 0), (0, 1))),
    )


def choose_attacks(
    upper: Candidates,
    lower: Candidates,
    sizes: Sizes,
    usual: Mapping[Numerator, Slack],
    margins: tuple[float, ...],
) -> list[Attack]:
    """Return the attack of the greatest predicted limit, for each margin.

    Args:
        upper: candidates for the set at the top.
        lower: candidates for the set at the bottom.
        sizes: rows per class.
        usual: right guesses that do not count, and the error for the rest, by whose guesses
            are right: an attack on one class pays for that class alone.
        margins: standard errors of the burn-in's log-odds to subtract; at least 0.
    """
    return [
        max(
            (_choose(upper, lower, sizes, usual, margin, members_high=side) for side in _SIDES),
            key=lambda choice: choice[0],
        )[1]
        for margin in margins
    ]


def _choose(
    upper: Candidates,
    lower: Candidates,
    sizes: Sizes,
    usual: Mapping[Numerator, Slack],
    margin: float,
    *,
    members_high: bool,
) -> tuple[float, Attack]:
    order = [0, 1] if members_high else [1, 0]
    kinds: tuple[Numerator, Numerator] = ("member", "holdout")
    beyond = np.full((upper.thresholds.size, lower.thresholds.size), usual["both"].guesses)
    beyond[:, -1] = usual[kinds[order[0]]].guesses  # the last threshold is for no set
    beyond[-1] = usual[kinds[order[1]]].guesses
    limits = predicted_limits(
        upper.counts[order],
        lower.counts[order[::-1]],
        burn_in=np.take(sizes.burn_in, order),
        judged=np.take(sizes.judged, order),
        beyond=beyond,
        alpha=usual["both"].alpha,
        margin=margin,
    )
    # NaN is apart from every threshold.
    limits = np.where(upper.thresholds[:, None] <= lower.thresholds, _IMPOSSIBLE, limits)
    row, column = divmod(int(limits.argmax()), limits.shape[1])
    return float(limits[row, column]), Attack(
        upper=float(upper.thresholds[row]),
        lower=float(lower.thresholds[column]),
        members_high=members_high,
    )


def choose_slack(
    ways: tuple[Slack, ...], attack: Attack, seen: GuessCounts, judged: tuple[int, int]
) -> Slack:
    """Return the way to divide alpha whose predicted limit is greatest.

    Args:
        ways: what to choose from.
        attack: the attack that will be judged.
        seen: its guesses on the burn-in rows.
        judged: judged members and holdout records.
    """
    member = np.array([[seen.tp], [seen.fp]])
    holdout = np.array([[seen.tn], [seen.fn]])
    upper, lower = (member, holdout) if attack.members_high else (holdout, member)
    order = [0, 1] if attack.members_high else [1, 0]

    def predicted(way: Slack) -> float:
        limits = predicted_limits(
            upper,
            lower,
            burn_in=np.take((seen.n_members, seen.n_holdout), order),
            judged=np.take(judged, order),
            beyond=way.guesses,
            alpha=way.alpha,
            margin=0.0,
        )
        return limits.item()

    return max(ways, key=predicted)


def prospect(
    seen: GuessCounts, judged: tuple[int, int], *, beyond: float, alpha: float, trials: int
) -> float:
    """Return the limit that judged rows would give at the shares of guesses tried out.

    Args:
        seen: guesses added up over trials that used every burn-in row in each.
        judged: judged members and holdout records.
        beyond: right guesses that do not count, the mean over the trials.
        alpha: one-sided error for the rest.
        trials: how many times each row was counted.
    """
    gains = judged[0] / seen.n_members, judged[1] / seen.n_holdout
    member = gains[0] * seen.tp, gains[1] * seen.fp
    holdout = gains[1] * seen.tn, gains[0] * seen.fn
    right = member[0] + holdout[0] - beyond
    if right <= 0:
        return _IMPOSSIBLE
    wrong = member[1] + holdout[1] + trials * sum(gains) / 4  # half an error in each trial
    # Trials share their rows: together they know little more than one of them.
    known = (seen.correct + 0.5) / trials, (seen.wrong + 0.5) / trials
    noise = _z(alpha) * math.sqrt(1 / right + 1 / wrong)
    unsure = _TRIAL_MARGIN * math.sqrt(1 / known[0] + 1 / known[1])
    odds = math.log(right / wrong) - noise - unsure
    ratio = math.log(judged[0] / judged[1])
    taken = _taken(member[0], holdout[0], beyond, ratio)
    guessed_in, guessed_out = sum(member) - taken[0], sum(holdout) - taken[1]
    return float(epsilon_of_share(odds, guessed_in, guessed_out, ratio, halvings=_HALVINGS))


def predicted_limits(
    upper: NDArray[np.int64],
    lower: NDArray[np.int64],
    *,
    burn_in: NDArray[np.int64],
    judged: NDArray[np.int64],
    beyond: int | NDArray[np.int64],
    alpha: float,
    margin: float,
) -> NDArray[np.float64]:
    """Return the limit to expect of every pair of sets, cautiously.

    Args:
        upper: shape (2, m), burn-in rows beyond each upper threshold: right, wrong.
        lower: shape (2, k), the same of the lower thresholds.
        burn_in: burn-in rows of the class that the upper set guesses, and of the other.
        judged: judged rows, in the same order.
        beyond: right guesses that do not count, of all pairs or of shape (m, k).
        alpha: one-sided error for the rest.
        margin: standard errors by which the burn-in may mislead, for right guesses and
            for wrong ones.

    Returns:
        Shape (m, k); very low where no right guess is to be expected.
    """
    gains = judged / burn_in
    tops = [(upper[row] * gains[row])[:, None] for row in (0, 1)]
    bottoms = [lower[row] * gains[1 - row] for row in (0, 1)]
    seen = [(upper[row][:, None] + lower[row]).astype(np.float64) for row in (0, 1)]
    # Limits of Poisson means by their scores: they grow with the count, also from 0.
    fewer = margin * (np.sqrt(seen[0] + margin**2 / 4) - margin / 2)
    more = margin * (np.sqrt(seen[1] + margin**2 / 4) + margin / 2) + _DOUBT
    gain = float(gains.mean())
    # The slack may be greater than what can be found: such sets are useless.
    right = tops[0] + bottoms[0] - fewer * gain - beyond
    wrong = tops[1] + bottoms[1] + more * gain
    counted = np.maximum(right, 1e-3)
    odds = np.log(counted / wrong) - _z(alpha) * np.sqrt(1 / counted + 1 / wrong)
    ratio = math.log(judged[0] / judged[1])
    taken = _taken(tops[0], bottoms[0], beyond, ratio)
    above = np.maximum(tops[0] + tops[1] - taken[0], 1e-9)
    below = np.maximum(bottoms[0] + bottoms[1] - taken[1], 1e-9)
    limits = epsilon_of_share(odds, above, below, ratio, halvings=_HALVINGS)
    return np.where(right > 0, limits, _IMPOSSIBLE)


def _taken(
    first: float | NDArray[np.float64],
    second: float | NDArray[np.float64],
    beyond: float | NDArray[np.int64],
    ratio: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Take the slack from two classes' right guesses as the limit will: the lesser odds first."""
    from_first = np.minimum(beyond, first) if ratio < 0 else np.maximum(beyond - second, 0.0)
    return np.asarray(from_first), np.asarray(beyond - from_first)


def _z(alpha: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri(alpha))


def _log_ranks(size: int) -> NDArray[np.int64]:
    return np.unique(np.geomspace(1, size, _RANKS).round().astype(np.int64))


def _value_below(ordered: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the greatest of ``ordered`` below each value; minus infinity if there is none."""
    index = np.searchsorted(ordered, values, side="left")
    return np.where(index > 0, ordered[index - 1], -np.inf)
