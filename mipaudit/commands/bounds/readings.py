"""A privacy guarantee as it is stated, what it means for members and holdout, and what it allows.

Every figure of what it allows the best attacker is of one trade-off curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from mipaudit.maths.advantage import baseline
from mipaudit.maths.privacy.epsilon_delta import (
    ApproximateDP,
    PublishedBound,
    published_bounds,
    to_substitution,
    two_steps,
)
from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)
from mipaudit.model.message import Message
from mipaudit.statements.rounding import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mipaudit.commands.bounds.options import BoundsOptions
    from mipaudit.maths.privacy.composition import Part
    from mipaudit.maths.privacy.tradeoff import TradeOff

Kind = Literal[
    "approximate-dp",
    "gaussian-dp",
    "zero-concentrated-dp",
    "renyi-dp",
    "tuned-runs",
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
# Their curves are upper bounds, close ones, and reached by nothing.
_ROUNDED_UP: Final = frozenset(
    {"zero-concentrated-dp", "renyi-dp", "tuned-runs", "dp-sgd", "composition"}
)
_CURVES: Final = {
    "approximate-dp": "Kairouz, Oh and Viswanath 2015: reached by some mechanism",
    "gaussian-dp": "Dong, Roth and Su 2022: reached by Gaussian noise",
    "zero-concentrated-dp": "limits of the Renyi divergence at many orders jointly: an upper bound",
    "renyi-dp": "limits of the Renyi divergence at the orders given, jointly: an upper bound",
    "tuned-runs": "Papernot and Steinke 2022 by dp-accounting, or all runs together; Renyi "
    "divergences at many orders jointly: an upper bound",
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
        adjacency: the neighbours it is read for, wherever it is read in one way.
        adjacency_assumed: whether that reading was assumed, not given.
        delta: the delta at which ``epsilon`` is stated.
        epsilon: least epsilon at that delta, for those neighbours; None if there is none.
        epsilon_reason: why there is none.
        renyi: limits of its Renyi divergences, by order; empty where none are known.
        curve: where the trade-off curve comes from, and whether anything reaches it.
    """

    kind: Kind
    parameters: dict[str, float]
    adjacency: Neighbours
    adjacency_assumed: bool
    delta: float
    epsilon: float | None
    epsilon_reason: Message | None
    curve: str
    renyi: dict[str, float] = field(default_factory=dict)


class Stated(NamedTuple):
    """A guarantee as stated.

    Attributes:
        kind: what sort.
        parameters: its numbers, by name.
        curve: its trade-off curve, for the neighbours that it is stated for.
        adjacency: these neighbours; None where the caller must say and did not.
        by_substitution: the curve for a substitution, where it is known better than as a
            removal and an addition.
        renyi: limits of its Renyi divergences that are known otherwise than from the curve.
    """

    kind: Kind
    parameters: dict[str, float]
    curve: TradeOff
    adjacency: Neighbours | None
    by_substitution: TradeOff | None = None
    renyi: tuple[tuple[float, float], ...] = ()


def guarantee(found: Stated, delta: float) -> Guarantee:
    """Describe a guarantee, at a delta in [0, 1]."""
    epsilon = found.curve.epsilon_at(delta)
    known = math.isfinite(epsilon)
    return Guarantee(
        kind=found.kind,
        parameters=dict(found.parameters),
        adjacency=found.adjacency or "substitution",
        adjacency_assumed=found.adjacency is None,
        delta=delta,
        epsilon=epsilon if known else None,
        epsilon_reason=None if known else Message("unbounded_at_delta"),
        renyi={number_text(order): limit for order, limit in _renyi(found)},
        curve=_CURVES[found.kind],
    )


def _renyi(found: Stated) -> Sequence[tuple[float, float]]:
    """Return orders and limits of the Renyi divergences, where the curve says them."""
    from mipaudit.maths.privacy import renyi

    if found.kind == "zero-concentrated-dp":
        return [(order, found.parameters["rho"] * order) for order in renyi.ORDERS]
    return found.renyi or tuple(renyi.divergences(found.curve).items())


def readings(found: Stated) -> tuple[tuple[str, TradeOff], ...]:
    """Return what an attacker may have to tell apart, each with the curve that limits it.

    The first reading is the one that counts. By add or remove, telling a member from a holdout
    record takes two steps, telling whether a record is there at all takes one.
    """
    if found.adjacency == "add-remove":
        two = found.by_substitution or two_steps(found.curve)
        return (BY_TWO_STEPS, two), (BY_PRESENCE, found.curve)
    one = (BY_SUBSTITUTION, found.curve)
    return (one,) if found.adjacency else (one, (BY_TWO_STEPS, two_steps(found.curve)))


def bounds_of(stated: Guarantee, curve: TradeOff, allowed: Allowance) -> tuple[PublishedBound, ...]:
    """Return every published bound of the advantage, and that of the curve, last.

    The published ones see the guarantee through an epsilon at one delta, by substitution.

    Args:
        stated: the guarantee.
        curve: what tells a member from a holdout record.
        allowed: what ``curve`` allows.
    """
    epsilon, delta = curve.epsilon_at(stated.delta), stated.delta
    if isinstance(curve, ApproximateDP):
        epsilon, delta = curve.epsilon, curve.delta
    elif stated.kind == "approximate-dp":
        epsilon, delta = to_substitution(stated.parameters["epsilon"], delta)
    advantage = allowed.advantage
    exact = PublishedBound(
        name="trade-off curve",
        advantage=advantage,
        source=stated.curve,
        assumes=f"the guarantee as stated, by {stated.adjacency}",
    )
    reached = stated.kind not in _ROUNDED_UP
    return tuple(
        replace(bound, tight=reached and bound.advantage <= advantage * (1 + _SAME))
        for bound in (*published_bounds(epsilon, delta, allowed.prior), exact)
    )


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
        success_at: how often something about a person is guessed right, by how often it is
            without the record (by add or remove, present or absent) or with another in its place.
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
    success_at: dict[str, float] = field(default_factory=dict)
    recall_floor: float
    precision: float
    posterior_limit: float


def allowance(
    curve: TradeOff,
    *,
    game: str,
    prior: float,
    recall_floor: float,
    baselines: Sequence[float] = (),
) -> Allowance:
    """Read every figure off a curve.

    Success at a baseline b is at most T(b), T being the ROC (Kulynych et al. 2025): for each
    value that a record may have, the guesses that are right of it are an attack; T is concave,
    so that the mean over values is within it, too. Curves are symmetric, so of two directions
    that differ the worse one counts.

    Args:
        curve: the guarantee, for the two things that the attacker tells apart.
        game: what these are.
        prior: p in (0, 1).
        recall_floor: in (0, 1].
        baselines: in [0, 1].
    """
    guessing = baseline(prior)
    excess = min(curve.excess(prior), 1 - guessing)
    advantage = min(1.0, guessing + excess)
    return Allowance(
        game=game,
        prior=prior,
        baseline=guessing,
        advantage=advantage,
        excess=excess,
        accuracy=(1 + advantage) / 2,
        eta=excess / 2,
        tpr_at_fpr={number_text(fpr): curve.tpr(fpr) for fpr in FPRS},
        success_at={number_text(b): curve.tpr(b) for b in baselines},
        recall_floor=recall_floor,
        precision=curve.precision(prior, recall_floor),
        posterior_limit=curve.posterior_limit(prior),
    )


def stated(asked: BoundsOptions) -> Stated:
    """Return the one guarantee that is stated.

    Raises:
        UsageError: a number of a composition is out of its range.
        MissingExtraError: an accountant is needed and not installed.
    """
    given: Any = getattr(asked, asked.family)
    numbers: dict[str, float] = {asked.family: given, "sensitivity": asked.moved}
    kind: Kind
    curve: TradeOff
    match asked.family:
        case "rdp":
            from mipaudit.maths.privacy.concentrated import RenyiDP

            line = RenyiDP(limits=tuple(given))
            numbers = {"orders": float(len(given))}
            return Stated("renyi-dp", numbers, line, asked.adjacency, renyi=line.limits)
        case "dp_sgd" | "compose":
            return _accounted(asked)
        case "randomized_response":
            numbers = {"truth": given, "categories": asked.categories or 2}
            curve = RandomizedResponse(truth=given, categories=asked.categories or 2)
            return Stated("randomized-response", numbers, curve, "substitution")
        case "counting_queries":
            sd = asked.noise_sd or 0.0
            numbers = {"queries": given["k"], "records": given["n"], "noise_sd": sd}
            curve = GaussianDP(mu=asked.moved / sd)
            return Stated("counting-queries", numbers, curve, "substitution")
        case "epsilon":
            kind, numbers = "approximate-dp", {"epsilon": given, "delta": asked.delta or 0.0}
            curve = ApproximateDP(**numbers)
        case "mu":
            kind, numbers, curve = "gaussian-dp", {"mu": given}, GaussianDP(mu=given)
        case "rho":
            from mipaudit.maths.privacy.concentrated import ZeroConcentrated

            kind, numbers = "zero-concentrated-dp", {"rho": given}
            curve = ZeroConcentrated(rho=given)
        case "noise_sd":
            kind, curve = "gaussian-noise", GaussianDP(mu=asked.moved / given)
        case "scale":
            kind, curve = "laplace-noise", LaplaceMechanism(shift=asked.moved / given)
        case _:
            kind = "geometric-noise"
            curve = GeometricMechanism(scale=given, sensitivity=int(asked.moved))
    return Stated(kind, numbers, curve, asked.adjacency)


def _accounted(asked: BoundsOptions) -> Stated:
    """Return what an accountant says of a composition.

    Noise multipliers are stated for adding or removing a record; randomized response only
    ever protects by substitution.
    """
    from mipaudit.maths.privacy.accountant import account
    from mipaudit.maths.privacy.composition import Composition

    kind: Kind = "composition" if asked.dp_sgd is None else "dp-sgd"
    parts = asked.compose if asked.dp_sgd is None else (("dp-sgd", asked.dp_sgd),)
    parameters = {"parts": float(len(parts))} if asked.dp_sgd is None else {**asked.dp_sgd}
    composition = Composition(parts=tuple(part(*one, asked.adjacency) for one in parts))
    found = account(composition, "substitution")
    responses = any(name == "randomized-response" for name, _ in parts)
    if asked.adjacency == "substitution" or (responses and asked.adjacency is None):
        return Stated(kind, parameters, found, "substitution", found)
    added = account(composition, "add-remove")
    return Stated(kind, parameters, added, "add-remove", found)


def part(kind: str, numbers: Mapping[str, float], adjacency: Neighbours | None) -> Part:
    """Return a part of a composition from its kind and its numbers; raises UsageError."""
    from mipaudit.maths.privacy import composition as c

    makers: dict[str, Callable[..., Part]] = {
        "gaussian": c.GaussianPart,
        "laplace": c.LaplacePart,
        "approximate-dp": c.ApproximatePart,
        "randomized-response": c.ResponsePart,
        "dp-sgd": c.DpSgd,
    }
    more = {"adjacency": adjacency} if kind == "approximate-dp" and adjacency else {}
    return makers[kind](**numbers, **more)
