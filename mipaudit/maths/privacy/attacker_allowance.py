"""What (epsilon, delta)-differential privacy allows a membership attacker.

The tight bound is for neighbours that differ by *substitution* of one record, and
for members and holdout that are independent draws from one law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.maths.mip import allowed_eta
from mipaudit.maths.privacy.approximate import ApproximateDP
from mipaudit.maths.privacy.tradeoff import exp, prior_loss

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedBound:
    """One published upper bound of the advantage under a claim, in [0, 1], and its source."""

    name: str
    advantage: float
    source: str
    assumes: str


def to_substitution(epsilon: float, delta: float) -> tuple[float, float]:
    """Return the (epsilon, delta) by substitution that one by adding or removing implies.

    A substitution is a removal and an addition: (2 epsilon, (1 + e^epsilon) delta). As a
    bound on attackers it is loose: see :class:`mipaudit.maths.privacy.approximate.TwoStepDP`.
    """
    return 2 * epsilon, min(1.0, (1 + exp(epsilon)) * delta)


def advantage_bound(curve: TradeOff, prior: float) -> float:
    """Return the most that any attacker can reach at a prior, in [|2p-1|, 1].

    For (epsilon, delta) at p = 1/2 this is (e^epsilon - 1 + 2 delta) / (e^epsilon + 1)
    (Humphries et al. 2023, Theorem 3.1).

    Args:
        curve: what tells a member from a holdout record: a guarantee by substitution.
        prior: p in (0, 1).
    """
    return min(1.0, abs(2 * prior - 1) + curve.excess(prior))


def published_bounds(epsilon: float, delta: float, prior: float) -> tuple[PublishedBound, ...]:
    """Return the published bounds side by side, the loosest proof first.

    Those proved for p = 1/2 stand only there, and those for delta = 0 say 1 otherwise.

    Args:
        epsilon: at least 0, by substitution; may be infinite.
        delta: in [0, 1].
        prior: p in (0, 1).
    """
    pure = delta == 0
    humphries = PublishedBound(
        name="humphries",
        advantage=advantage_bound(ApproximateDP(epsilon=epsilon, delta=delta), prior),
        source="Humphries et al. 2023, Theorem 3.1, at the prior by the trade-off curve",
        assumes=f"(epsilon, delta) {_SUBSTITUTION}; independent, identically distributed records",
    )
    mace = PublishedBound(
        name="mace",
        advantage=_mace_bound(epsilon, prior) if pure else 1.0,
        source="Liu et al. 2022 (MACE), Theorem 4, as a bound of the advantage",
        assumes=f"epsilon {_SUBSTITUTION}, delta = 0 (1 otherwise); training set drawn at random",
    )
    if prior != 0.5:  # noqa: PLR2004 - the even prior, at which the other papers work
        return (mace, humphries)
    yeom = PublishedBound(
        name="yeom",
        advantage=min(1.0, math.expm1(min(epsilon, 1.0))) if pure else 1.0,
        source="Yeom et al. 2018, Theorem 1",
        assumes=f"epsilon {_SUBSTITUTION}, delta = 0 (1 otherwise)",
    )
    erlingsson = PublishedBound(
        name="erlingsson",
        advantage=-math.expm1(-epsilon) + delta * math.exp(-epsilon),
        source="Erlingsson et al. 2019",
        assumes=f"(epsilon, delta) {_SUBSTITUTION}",
    )
    izzo = PublishedBound(
        name="izzo",
        advantage=2 * allowed_eta(epsilon) if pure else 1.0,
        source="Izzo et al. 2022, Theorem 4: twice its eta",
        assumes=f"epsilon {_SUBSTITUTION}, delta = 0 (1 otherwise); a random half is trained on",
    )
    return (yeom, erlingsson, mace, izzo, humphries)


_SUBSTITUTION: Final = "by substitution"


def _mace_bound(epsilon: float, prior: float) -> float:
    """Return max |tanh((lambda +- epsilon) / 2)| with lambda = ln(p / (1-p)).

    It bounds the risk of every record, and so, loosely, their mean.
    """
    return math.tanh((epsilon + prior_loss(prior)) / 2)
