"""Guesses about canaries by the order of their scores, and how many of them are right.

The k_plus canaries with the most telling scores are guessed to be included, the k_minus
with the least telling ones to be left out, and nothing is said of the others. How many
to guess must not depend on the coins: it is fixed beforehand, or several numbers are
tried and share the error between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.errors import UsageError
from mipaudit.summaries.identity import splitmix64

if TYPE_CHECKING:
    from numpy.typing import NDArray

Direction = Literal["high", "low"]

# Half of the canaries and quarters of that: next to the best number of guesses lies one
# that costs little, and a finer grid costs more error than it finds.
_LARGEST_SHARE: Final = 2
_STEP: Final = 4
_FEWEST_GUESSES: Final = 10
# A leak that only marks included canaries shows at one end alone, and is worth a look.
_BOTH_ENDS: Final = 0.8
_ONE_END: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessPlan:
    """How many canaries to guess, settled before the coins are looked at.

    Attributes:
        guessed_in: k_plus, canaries guessed to be included.
        guessed_out: k_minus, canaries guessed to be left out.
        share: of the error, in (0, 1].
    """

    guessed_in: int
    guessed_out: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessCount:
    """How many guesses were made and how many of them are right.

    Attributes:
        guesses: r.
        correct: v.
        share: of the error that this count may spend, in (0, 1].
        guessed_in: k_plus, or None where only totals are known.
        guessed_out: k_minus, or None.
        direction: the scores that were taken to speak for inclusion, or None.
    """

    guesses: int
    correct: int
    share: float = 1.0
    guessed_in: int | None = None
    guessed_out: int | None = None
    direction: Direction | None = None


def plan_guesses(canaries: int, guesses: int | tuple[int, int] | None) -> tuple[GuessPlan, ...]:
    """Return what will be tried, with the error shared out.

    Args:
        canaries: m, at least 1.
        guesses: one number, split evenly between the two ends; a pair (k_plus, k_minus);
            or None for the default grid, m/2, m/8, m/32, ... down to 10 guesses, at both
            ends (80% of the error) and at either end alone (10% each).

    Raises:
        UsageError: fewer than one guess in all, a negative number, or more than m.
    """
    if guesses is None:
        return _grid(canaries)
    if isinstance(guesses, tuple):
        guessed_in, guessed_out = guesses
    else:
        guessed_in, guessed_out = guesses - guesses // 2, guesses // 2
    if min(guessed_in, guessed_out) < 0 or not 1 <= guessed_in + guessed_out <= canaries:
        raise UsageError(
            "bad_guesses",
            f"The number of guesses must be from 1 to the number of canaries, {canaries}.",
            hint="Give one number, or how many to guess in and how many to guess out.",
        )
    return (GuessPlan(guessed_in=guessed_in, guessed_out=guessed_out, share=1.0),)


def _grid(canaries: int) -> tuple[GuessPlan, ...]:
    sizes = [max(1, canaries // _LARGEST_SHARE)]
    while sizes[-1] // _STEP >= _FEWEST_GUESSES:
        sizes.append(sizes[-1] // _STEP)
    shapes = [(size - size // 2, size // 2, _BOTH_ENDS) for size in sizes]
    shapes += [(size, 0, _ONE_END) for size in sizes]
    shapes += [(0, size, _ONE_END) for size in sizes]
    return tuple(
        GuessPlan(guessed_in=top, guessed_out=bottom, share=share / len(sizes))
        for top, bottom, share in shapes
    )


def count_guesses(
    included: NDArray[np.bool_],
    scores: NDArray[np.floating],
    plans: tuple[GuessPlan, ...],
    *,
    direction: Direction | None,
    seed: int = 0,
    ids: NDArray[np.uint64] | None = None,
) -> tuple[GuessCount, ...]:
    """Return how many guesses of each plan are right.

    Args:
        included: what the coins said, shape (m,).
        scores: shape (m,), no NaN; infinite ones are the most or least telling.
        plans: from `plan_guesses`, made without a look at ``included``.
        direction: whether high or low scores speak for inclusion, known beforehand; None
            tries both and halves every share.
        seed: of the pseudo-random order of equal scores.
        ids: distinct numbers of the canaries, shape (m,), so that the order of equal
            scores does not depend on that of the file; None takes positions.
    """
    keys = np.arange(scores.size, dtype=np.uint64) if ids is None else ids
    ties = splitmix64(keys, seed)
    tried: tuple[Direction, ...] = ("high", "low") if direction is None else (direction,)
    return tuple(
        GuessCount(
            guesses=plan.guessed_in + plan.guessed_out,
            correct=right,
            share=plan.share / len(tried),
            guessed_in=plan.guessed_in,
            guessed_out=plan.guessed_out,
            direction=way,
        )
        for way in tried
        for plan, right in zip(
            plans, _right(included, scores if way == "high" else -scores, ties, plans), strict=True
        )
    )


def _right(
    included: NDArray[np.bool_],
    telling: NDArray[np.floating],
    ties: NDArray[np.uint64],
    plans: tuple[GuessPlan, ...],
) -> list[int]:
    """Return the right guesses of each plan; the most telling canaries come last."""
    ordered = included[np.lexsort((ties, telling))]
    before = np.concatenate(([0], np.cumsum(ordered)))  # included among the first k
    size = included.size
    return [
        int(before[size] - before[size - plan.guessed_in])
        + plan.guessed_out
        - int(before[plan.guessed_out])
        for plan in plans
    ]
