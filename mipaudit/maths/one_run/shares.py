"""Guesses about the canaries of one run, and the share of the coins that included them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Below it the p-values of one run keep too few digits.
SMALLEST_P_VALUE: Final = 1e-9
_SMALLEST: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryCount:
    """Guesses about canaries, and how many of them are right.

    Attributes:
        canaries: m, at least 1.
        guesses: r in [1, m], fixed before the coins were known.
        correct: v in [0, r].
        guessed_in: how many of the guesses say *included*; None if that is not known.
    """

    canaries: int
    guesses: int
    correct: int
    guessed_in: int | None

    @property
    def one_sided(self) -> bool:
        """Tell whether all guesses are known to be of one kind."""
        return self.guessed_in is not None and self.guessed_in in {0, self.guesses}


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinShares:
    """An interval that holds the share of the coins: how often each includes its canary.

    Attributes:
        low: in (0, 1).
        high: in [low, 1); equal to ``low`` where the share is known.
        included: how many canaries were, where the interval comes from that.
        error: of the interval, half of it at either end; 0 where the share is known.
    """

    low: float
    high: float
    included: int | None = None
    error: float = 0.0


FAIR: Final = CoinShares(low=0.5, high=0.5)


def coin_shares(*, canaries: int, included: int, error: float) -> CoinShares:
    """Return the shares that so many included canaries do not speak against.

    Args:
        canaries: m, at least 1.
        included: in [0, m].
        error: of the interval, half of it at either end (Clopper and Pearson 1934).
    """
    from scipy.special import betaincinv

    left_out = canaries - included
    low = float(betaincinv(included, left_out + 1, error / 2)) if included else 0.0
    high = 1 - float(betaincinv(left_out, included + 1, error / 2)) if left_out else 1.0
    return CoinShares(
        low=max(low, _SMALLEST), high=min(high, 1 - _SMALLEST), included=included, error=error
    )
