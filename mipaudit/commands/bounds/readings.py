"""A privacy guarantee as it is stated, what it means for members and holdout, and what it allows.

Every figure of what it allows the best attacker is of one trade-off curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.maths.privacy.approximate import (
    ApproximateDP,
    published_bounds,
    to_substitution,
    two_steps,
)
from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.maths.privacy.tradeoff import TradeOff

Kind = Literal[
    "approximate-dp",
    "gaussian-dp",
    "zero-concentrated-dp",
    "gaussian-noise",
    "laplace-noise",
    "geometric-noise",
    "randomized-response",
    "dp-sgd",
    "composition",
    "counting-queries",
]
Neighbours = Literal["substitution", "add-remove"]
BY_SUBSTITUTION: Final = "member or holdout, neighbours by substitution"
BY_TWO_STEPS: Final = "member or holdout, neighbours by add or remove"
BY_PRESENCE: Final = "present or absent, neighbours by add or remove"
_UNBOUNDED: Final = "no epsilon holds at this delta"
# Their curves are upper bounds, close ones, and reached by nothing.
_ROUNDED_UP: Final = frozenset({"zero-concentrated-dp", "dp-sgd", "composition"})
_CURVES: Final = {
    "approximate-dp": "Kairouz, Oh and Viswanath 2015: reached by some mechanism",
    "gaussian-dp": "Dong, Roth and Su 2022: reached by Gaussian noise",
    "zero-concentrated-dp": "limits of the Renyi divergence at many orders jointly: an upper bound",
    "gaussian-noise": "exact for this mechanism, in the worst case over the data",
    "laplace-noise": "exact for this mechanism, in the worst case over the data",
    "geometric-noise": "exact for this mechanism, in the worst case over the data",
    "randomized-response": "exact for this mechanism",
    "dp-sgd": "privacy loss distribution by dp-accounting, rounded up: an upper bound",
    "composition": "privacy loss distribution by dp-accounting, rounded up: an upper bound",
    "counting-queries": "exact for this mechanism, in the worst case over the data",
}
# Two ways to the same number may differ by a rounding.
_SAME: Final = 1e-12
FPRS: Final = (0.001, 0.01, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """A guarantee as stated.

    Attributes:
        kind: what sort of guarantee or mechanism.
        parameters: its numbers, by name.
        adjacency: the neighbours it is read for.
        adjacency_assumed: whether that reading was assumed, not given.
        delta: the delta at which ``epsilon`` is stated.
        epsilon: least epsilon at that delta, for those neighbours; None if there is none.
        epsilon_reason: why there is none.
        curve: where the trade-off curve comes from, and whether anything reaches it.
    """

    kind: Kind
    parameters: dict[str, float]
    adjacency: Neighbours
    adjacency_assumed: bool
    delta: float
    epsilon: float | None
    epsilon_reason: str | None
    curve: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an attacker must tell apart, and the curve that limits it."""

    game: str
    curve: TradeOff


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """An upper bound of the advantage, published or exact, with where it comes from.

    ``tight`` tells whether it equals the bound of an exact trade-off curve.
    """

    name: str
    value: float
    source: str
    assumes: str
    tight: bool


def guarantee(
    kind: Kind,
    parameters: Mapping[str, float],
    curve: TradeOff,
    *,
    delta: float,
    adjacency: Neighbours | None,
) -> Guarantee:
    """Describe a guarantee.

    Args:
        kind: what sort.
        parameters: its numbers, by name.
        curve: its trade-off curve, for the neighbours that it is stated for.
        delta: in [0, 1].
        adjacency: these neighbours; None when nobody said.
    """
    epsilon = curve.epsilon_at(delta)
    known = math.isfinite(epsilon)
    return Guarantee(
        kind=kind,
        parameters=dict(parameters),
        adjacency=adjacency or "substitution",
        adjacency_assumed=adjacency is None,
        delta=delta,
        epsilon=epsilon if known else None,
        epsilon_reason=None if known else _UNBOUNDED,
        curve=_CURVES[kind],
    )


def readings(
    curve: TradeOff, adjacency: Neighbours | None, by_substitution: TradeOff | None = None
) -> tuple[Reading, ...]:
    """Return how the guarantee can be read; the first reading is the one that counts.

    By add or remove, telling a member from a holdout record takes two steps, telling
    whether a record is there at all takes one.

    Args:
        curve: the guarantee, for the neighbours that it is stated for.
        adjacency: these neighbours; None when nobody said.
        by_substitution: the curve for a substitution, if it is known better than as two
            steps.
    """
    match adjacency:
        case "substitution":
            return (Reading(game=BY_SUBSTITUTION, curve=curve),)
        case "add-remove":
            return (
                Reading(game=BY_TWO_STEPS, curve=by_substitution or two_steps(curve)),
                Reading(game=BY_PRESENCE, curve=curve),
            )
        case None:
            return (
                Reading(game=BY_SUBSTITUTION, curve=curve),
                Reading(game=BY_TWO_STEPS, curve=two_steps(curve)),
            )


def bounds_of(
    stated: Guarantee, curve: TradeOff, *, prior: float, advantage: float
) -> tuple[Bound, ...]:
    """Return every published bound of the advantage, and that of the curve, last.

    The published ones see the guarantee through an epsilon at one delta, by substitution.

    Args:
        stated: the guarantee.
        curve: what tells a member from a holdout record.
        prior: p in (0, 1).
        advantage: what ``curve`` allows at the prior.
    """
    epsilon, delta = _by_substitution(stated, curve)
    published = tuple(
        Bound(
            name=bound.name,
            value=bound.advantage,
            source=bound.source,
            assumes=bound.assumes,
            tight=stated.kind not in _ROUNDED_UP and bound.advantage <= advantage * (1 + _SAME),
        )
        for bound in published_bounds(epsilon, delta, prior)
    )
    exact = Bound(
        name="trade-off curve",
        value=advantage,
        source=stated.curve,
        assumes=f"the guarantee as stated, by {stated.adjacency}",
        tight=stated.kind not in _ROUNDED_UP,
    )
    return (*published, exact)


def _by_substitution(stated: Guarantee, curve: TradeOff) -> tuple[float, float]:
    """Return the (epsilon, delta) by substitution that the published bounds start from."""
    match curve, stated.kind:
        case ApproximateDP(), _:
            return curve.epsilon, curve.delta
        case _, "approximate-dp":
            return to_substitution(stated.parameters["epsilon"], stated.delta)
        case _:
            return curve.epsilon_at(stated.delta), stated.delta


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
