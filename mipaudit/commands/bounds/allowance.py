"""What a guarantee allows the best attacker: every figure of one trade-off curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff

FPRS: Final = (0.001, 0.01, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The most that any attacker can reach; every figure is an upper bound.

    Attributes:
        game: what the attacker must tell apart, and under which reading.
        prior: probability that the challenged record is a member.
        baseline: advantage of the trivial attacker, |2p-1|.
        advantage: in [baseline, 1].
        excess: advantage - baseline.
        accuracy: (1 + advantage) / 2.
        eta: accuracy above the trivial attacker's, excess / 2.
        tpr_at_fpr: true-positive rate by false-positive rate.
        recall_floor: the least recall that the precision is stated for.
        precision: the most that "member" answers can be right (PPV) at the prior.
        posterior_limit: the most that any single output can make membership certain.
    """

    game: str
    prior: float
    baseline: float
    advantage: float
    excess: float
    accuracy: float
    eta: float
    tpr_at_fpr: dict[str, float]
    recall_floor: float
    precision: float
    posterior_limit: float


def allowance(curve: TradeOff, *, game: str, prior: float, recall_floor: float) -> Allowance:
    """Read every figure off a curve.

    Args:
        curve: the guarantee, for the two things that the attacker tells apart.
        game: what these are.
        prior: p in (0, 1).
        recall_floor: in (0, 1].
    """
    baseline = abs(2 * prior - 1)
    excess = min(curve.excess(prior), 1 - baseline)
    advantage = min(1.0, baseline + excess)
    return Allowance(
        game=game,
        prior=prior,
        baseline=baseline,
        advantage=advantage,
        excess=excess,
        accuracy=(1 + advantage) / 2,
        eta=excess / 2,
        tpr_at_fpr={number_text(fpr): curve.tpr(fpr) for fpr in FPRS},
        recall_floor=recall_floor,
        precision=curve.precision(prior, recall_floor),
        posterior_limit=curve.posterior_limit(prior),
    )
