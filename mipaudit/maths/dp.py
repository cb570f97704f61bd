"""What (epsilon, delta)-differential privacy allows a membership attacker.

The tight bound is for neighbours that differ by *substitution* of one record, and
for members and holdout that are independent draws from one law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedBound:
    """One published upper bound of the advantage under a claim, in [0, 1], and its source."""

    name: str
    advantage: float
    source: str
    assumes: str


def to_substitution(epsilon: float, delta: float) -> tuple[float, float]:
    """Return the substitution guarantee that an add-or-remove guarantee implies.

    A substitution is a removal and an addition: (2 epsilon, (1 + e^epsilon) delta).
    """
    return 2 * epsilon, min(1.0, (1 + _exp(epsilon)) * delta)


def advantage_bound(epsilon: float, delta: float, prior: float) -> float:
    """Return the most that any attacker can reach at a prior: the exact value.

    The trade-off curve of (epsilon, delta) has one corner besides its ends; the best
    attacker sits on a corner. At p = 1/2 this is (e^epsilon - 1 + 2 delta) /
    (e^epsilon + 1) (Humphries et al. 2023, Theorem 3.1).

    Args:
        epsilon: at least 0, by substitution; may be infinite.
        delta: in [0, 1].
        prior: p in (0, 1).

    Returns:
        A bound in [|2p-1|, 1].
    """
    p, q = prior, 1 - prior
    inverse = _exp(-epsilon)
    fpr = (1 - delta) * inverse / (1 + inverse)
    tpr = (1 + delta * inverse) / (1 + inverse)
    best = max(0.0, p - q, p * delta, p - q * (1 - delta), p * tpr - q * fpr)
    return min(1.0, 1 - 2 * p + 2 * best)


def published_bounds(epsilon: float, delta: float, prior: float) -> tuple[PublishedBound, ...]:
    """Return the published bounds side by side; those for p = 1/2 only there.

    Args:
        epsilon: at least 0, by substitution.
        delta: in [0, 1].
        prior: p in (0, 1).
    """
    exact = PublishedBound(
        name="humphries",
        advantage=advantage_bound(epsilon, delta, prior),
        source="Humphries et al. 2023, Theorem 3.1, at the prior by the trade-off curve",
        assumes="(epsilon, delta) by substitution; independent, identically distributed records",
    )
    if prior != 0.5:  # noqa: PLR2004 - the even prior, at which the papers work
        return (exact,)
    yeom = PublishedBound(
        name="yeom",
        advantage=min(1.0, math.expm1(min(epsilon, 1.0))) if delta == 0 else 1.0,
        source="Yeom et al. 2018, Theorem 1",
        assumes="epsilon by substitution, delta = 0 (1 otherwise)",
    )
    erlingsson = PublishedBound(
        name="erlingsson",
        advantage=1 - _exp(-epsilon) * (1 - delta),
        source="Erlingsson et al. 2019",
        assumes="(epsilon, delta) by substitution",
    )
    return (yeom, erlingsson, exact)


def _exp(x: float) -> float:
    """Return e^x, infinity where it overflows."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
