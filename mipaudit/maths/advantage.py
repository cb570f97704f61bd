"""The advantage of an attacker's guesses, and of those of somebody who does not look."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mipaudit.maths.arrays import Floats

RateT = TypeVar("RateT", float, "Floats")


def advantage(tpr: RateT, fpr: RateT, prior: float) -> RateT:
    """Return how much more often guesses are right than wrong: 1 - 2p + 2 (p TPR - (1-p) FPR).

    Args:
        tpr: share of members that are guessed to be members.
        fpr: share of holdout records, likewise.
        prior: p in (0, 1), the share of members among the records that are guessed about.

    Returns:
        A number in [-1, 1], or as many as there are rates.
    """
    return 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)


def baseline(prior: float) -> float:
    """Return the advantage of the best guess without a look, |2p-1|: always the likelier class."""
    return abs(2 * prior - 1)
