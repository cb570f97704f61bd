"""Burn-in and judged rows of independent runs, an attack's guesses on them, and caution.

How cautious the choice of an attack should be is settled on the burn-in rows alone.
Where epsilon is reached by large sets of scores (randomized response, Laplace noise),
small sets that look better only look so, and caution pays; where the ratio of the
classes grows towards the ends (Gaussian noise), it costs. Attacks chosen with one half of
the burn-in are tried on the other half, with each degree of caution.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.epsilon.given import AttackTable
from mipaudit.maths.epsilon.choice import (
    Attack,
    Candidates,
    Numerator,
    Sizes,
    choose_attacks,
    lower_candidates,
    prospect,
    upper_candidates,
)
from mipaudit.maths.epsilon.conditional import GuessCounts, Slack

# Settled by simulation; fixed before any row is seen.
_BURN_IN_SHARE: Final = 0.2
# Up to here the burn-in has an exact size; beyond, the size is binomial and costs less.
_EXACT_SIZE: Final = 1 << 16
LEAST_ROWS: Final = 2
_MARGINS: Final = (3.0, 1.4, 0.5)  # in the order of preference
_TRIALS: Final = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class BurnIn:
    """Rows that choose an attack.

    Attributes:
        members: float64, sorted, shape (b1,).
        holdout: float64, sorted, shape (b0,).
    """

    members: NDArray[np.float64]
    holdout: NDArray[np.float64]

    @property
    def rows(self) -> tuple[int, int]:
        """Return the number of members and of holdout records."""
        return self.members.size, self.holdout.size

    def candidates(self) -> tuple[Candidates, Candidates]:
        """Return the candidate upper and lower thresholds; neither class may be empty."""
        return (
            upper_candidates(self.members, self.holdout),
            lower_candidates(self.members, self.holdout),
        )

    def seen(self, attack: Attack) -> GuessCounts:
        """Return the attack's guesses on these rows; it abstains between its two sets."""
        return _guesses(self.members, self.holdout, attack, _ordered_beyond)

    def halves(self, rng: np.random.Generator) -> "tuple[tuple[BurnIn, BurnIn], ...]":
        """Return two random halves, each as the first of a pair; none if a class is spent."""
        first = rng.random(self.members.size) < 1 / 2, rng.random(self.holdout.size) < 1 / 2
        one = BurnIn(members=self.members[first[0]], holdout=self.holdout[first[1]])
        two = BurnIn(members=self.members[~first[0]], holdout=self.holdout[~first[1]])
        return ((one, two), (two, one)) if min(*one.rows, *two.rows) else ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Scores of both classes, and the burn-in among them; the other rows are judged.

    Attributes:
        members: all scores, shape (n1,).
        holdout: all scores, shape (n0,).
        burn_in: the rows that choose.
    """

    members: NDArray[np.floating]
    holdout: NDArray[np.floating]
    burn_in: BurnIn

    @property
    def sizes(self) -> Sizes:
        """Return the rows per class, in the burn-in and judged."""
        rows = self.burn_in.rows
        judged = self.members.size - rows[0], self.holdout.size - rows[1]
        return Sizes(burn_in=rows, judged=judged)

    def guesses(self, attack: Attack) -> GuessCounts:
        """Return the attack's guesses on the judged rows; it abstains between its sets."""
        whole = _guesses(self.members, self.holdout, attack, _beyond)
        chosen = self.burn_in.seen(attack)
        return GuessCounts(*(all_rows - some for all_rows, some in zip(whole, chosen, strict=True)))

    def answers(self, attack: Attack) -> AttackTable:
        """Return the guesses on the judged rows of an attack that never abstains.

        Args:
            attack: has one set; all other rows get the other guess.
        """
        made = self.guesses(attack)
        tp, fp = made.n_members - made.fn, made.n_holdout - made.tn
        if attack.numerator == "member":
            tp, fp = made.tp, made.fp
        return AttackTable(tp=tp, fn=made.n_members - tp, fp=fp, tn=made.n_holdout - fp)


def divide(
    members: NDArray[np.floating], holdout: NDArray[np.floating], rng: np.random.Generator
) -> Split:
    """Draw the burn-in rows, whatever their scores.

    Args:
        members: scores, shape (n1,), n1 at least 2.
        holdout: scores, shape (n0,), n0 at least 2.
        rng: settles which rows choose and which are judged.
    """
    burn_in = BurnIn(members=_drawn(members, rng), holdout=_drawn(holdout, rng))
    return Split(members=members, holdout=holdout, burn_in=burn_in)


def _drawn(scores: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.float64]:
    if scores.size > _EXACT_SIZE:
        chosen = scores[rng.random(scores.size, dtype=np.float32) < _BURN_IN_SHARE]
    else:
        count = max(1, round(_BURN_IN_SHARE * scores.size))
        chosen = scores[rng.permutation(scores.size)[:count]]
    return np.sort(chosen).astype(np.float64)


def _beyond(rows: NDArray[np.floating], attack: Attack) -> tuple[int, int]:
    """Count the rows in the upper and in the lower set."""
    # NumPy's scalars keep the comparison in double precision for narrower scores.
    upper, lower = np.float64(attack.upper), np.float64(attack.lower)
    return int(np.count_nonzero(rows >= upper)), int(np.count_nonzero(rows <= lower))


def _ordered_beyond(rows: NDArray[np.float64], attack: Attack) -> tuple[int, int]:
    """Do as `_beyond` does, for sorted rows; a threshold that is NaN has none beyond it."""
    above = rows.size - int(np.searchsorted(rows, attack.upper, side="left"))
    below = 0
    if not np.isnan(attack.lower):
        below = int(np.searchsorted(rows, attack.lower, side="right"))
    return above, below


def _guesses(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    attack: Attack,
    beyond: Callable[[NDArray[Any], Attack], tuple[int, int]],
) -> GuessCounts:
    found = beyond(members, attack), beyond(holdout, attack)
    (tp, fn), (fp, tn) = found if attack.members_high else (found[0][::-1], found[1][::-1])
    return GuessCounts(tp, fp, tn, fn, n_members=members.size, n_holdout=holdout.size)


def settled_margin(
    split: Split, usual: Mapping[Numerator, Slack], rng: np.random.Generator
) -> float:
    """Return the margin whose attacks did best on halves of the burn-in that chose none.

    Args:
        split: its judged rows are not looked at, only counted.
        usual: right guesses that do not count, and the error for the rest, by numerator.
        rng: halves the burn-in.

    Returns:
        One of three; the most cautious where a class has too few rows to be halved.
    """
    judged = split.sizes.judged
    trials = [trial for _ in range(_TRIALS) for trial in split.burn_in.halves(rng)]
    if not trials:
        return _MARGINS[0]
    tried: dict[float, list[GuessCounts]] = {margin: [] for margin in _MARGINS}
    beyond = dict.fromkeys(_MARGINS, 0.0)
    for chooser, other in trials:
        sizes = Sizes(burn_in=chooser.rows, judged=judged)
        attacks = choose_attacks(*chooser.candidates(), sizes, usual, _MARGINS)
        for margin, attack in zip(_MARGINS, attacks, strict=True):
            tried[margin].append(other.seen(attack))
            beyond[margin] += usual[attack.numerator].guesses / len(trials)

    def found(margin: float) -> float:
        seen = GuessCounts(*map(sum, zip(*tried[margin], strict=True)))
        alpha = usual["both"].alpha
        return prospect(seen, judged, beyond=beyond[margin], alpha=alpha, trials=_TRIALS)

    return max(_MARGINS, key=found)
