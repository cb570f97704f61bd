"""The guarantee that a caller states: from options to a trade-off curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mipaudit.commands.bounds.options import BoundsOptions
from mipaudit.maths.privacy.approximate import ApproximateDP
from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mipaudit.commands.bounds.guarantee.readings import Kind, Neighbours
    from mipaudit.maths.privacy.tradeoff import TradeOff


class Stated(NamedTuple):
    """A guarantee as stated.

    Attributes:
        kind: what sort.
        parameters: its numbers, by name.
        curve: its trade-off curve, for the neighbours that it is stated for.
        adjacency: these neighbours; None where the caller must say and did not.
        by_substitution: the curve for a substitution, where it is known better than as a
            removal and an addition.
    """

    kind: Kind
    parameters: dict[str, float]
    curve: TradeOff
    adjacency: Neighbours | None
    by_substitution: TradeOff | None = None


def stated(asked: BoundsOptions) -> Stated:
    """Return the one guarantee that is stated.

    Raises:
        UsageError: a number of a composition is out of its range.
        MissingExtraError: an accountant is needed and not installed.
    """
    match asked:
        case BoundsOptions(dp_sgd=dict(numbers)):
            return _accounted("dp-sgd", (("dp-sgd", numbers),), numbers, asked.adjacency)
        case BoundsOptions(compose=(_, *_) as parts):
            return _accounted("composition", parts, {"parts": len(parts)}, asked.adjacency)
    kind, parameters, curve = _in_closed_form(asked)
    of_substitutions = kind in {"randomized-response", "counting-queries"}
    return Stated(
        kind=kind,
        parameters=parameters,
        curve=curve,
        adjacency="substitution" if of_substitutions else asked.adjacency,
    )


def _in_closed_form(asked: BoundsOptions) -> tuple[Kind, dict[str, float], TradeOff]:
    moved = asked.moved
    found: tuple[Kind, dict[str, float], TradeOff] | None = None
    match asked:
        case BoundsOptions(epsilon=float(epsilon)):
            numbers = {"epsilon": epsilon, "delta": asked.delta or 0.0}
            found = "approximate-dp", numbers, ApproximateDP(**numbers)
        case BoundsOptions(mu=float(mu)):
            found = "gaussian-dp", {"mu": mu}, GaussianDP(mu=mu)
        case BoundsOptions(rho=float(rho)):
            from mipaudit.maths.privacy.concentrated import ZeroConcentrated

            found = "zero-concentrated-dp", {"rho": rho}, ZeroConcentrated(rho=rho)
        case BoundsOptions(counting_queries={"k": k, "n": n}, noise_sd=float(sd)):
            numbers = {"queries": k, "records": n, "noise_sd": sd}
            found = "counting-queries", numbers, GaussianDP(mu=moved / sd)
        case BoundsOptions(noise_sd=float(sd)):
            numbers = {"noise_sd": sd, "sensitivity": moved}
            found = "gaussian-noise", numbers, GaussianDP(mu=moved / sd)
        case BoundsOptions(scale=float(scale)):
            numbers = {"scale": scale, "sensitivity": moved}
            found = "laplace-noise", numbers, LaplaceMechanism(shift=moved / scale)
        case BoundsOptions(geometric_scale=float(scale)):
            numbers = {"geometric_scale": scale, "sensitivity": moved}
            curve = GeometricMechanism(scale=scale, sensitivity=int(moved))
            found = "geometric-noise", numbers, curve
        case BoundsOptions(randomized_response=float(truth)):
            answers = asked.categories or 2
            response = RandomizedResponse(truth=truth, categories=answers)
            found = "randomized-response", {"truth": truth, "categories": answers}, response
    assert found is not None  # noqa: S101 - the options hold one guarantee
    return found


def _accounted(
    kind: Kind,
    parts: Sequence[tuple[str, Mapping[str, float]]],
    parameters: dict[str, float],
    adjacency: Neighbours | None,
) -> Stated:
    from mipaudit.commands.bounds.guarantee.accounted import accounted_curves, composition_of

    neighbours, curve, by_substitution = accounted_curves(
        composition_of(parts, adjacency), adjacency
    )
    return Stated(
        kind=kind,
        parameters=parameters,
        curve=curve,
        adjacency=neighbours,
        by_substitution=by_substitution,
    )
