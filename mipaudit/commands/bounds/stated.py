"""The guarantee that a caller states: from options to a trade-off curve.

DP-SGD and compositions need an accountant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mipaudit.commands.bounds.options import BoundsOptions
from mipaudit.commands.bounds.parts import WHOLE
from mipaudit.maths.privacy.approximate import ApproximateDP
from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mipaudit.commands.bounds.readings import Kind, Neighbours
    from mipaudit.maths.privacy.composition import Composition, Part
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


def composition_of(
    parts: Sequence[tuple[str, Mapping[str, float]]], adjacency: Neighbours | None
) -> Composition:
    """Return the composition.

    Args:
        parts: each a kind and its numbers, as `parts_of` reads them.
        adjacency: the neighbours that an (epsilon, delta) is stated for; by add or remove
            unless said.

    Raises:
        UsageError: a number is out of its range.
    """
    from mipaudit.maths.privacy.composition import Composition

    return Composition(parts=tuple(_part(kind, numbers, adjacency) for kind, numbers in parts))


def accounted_curves(
    composition: Composition, adjacency: Neighbours | None
) -> tuple[Neighbours, TradeOff, TradeOff]:
    """Return the neighbours the guarantee is read for, its curve, and that by substitution.

    Noise multipliers are stated for adding or removing a record; randomized response only
    ever protects by substitution.

    Raises:
        MissingExtraError: the accountant is not installed.
        UsageError: the neighbours do not fit a part.
    """
    from mipaudit.maths.privacy.accountant import account
    from mipaudit.maths.privacy.composition import ResponsePart

    by_substitution = account(composition, "substitution")
    responses = any(isinstance(part, ResponsePart) for part in composition.parts)
    if adjacency == "substitution" or (responses and adjacency is None):
        return "substitution", by_substitution, by_substitution
    return "add-remove", account(composition, "add-remove"), by_substitution


def _part(kind: str, numbers: Mapping[str, float], adjacency: Neighbours | None) -> Part:
    from mipaudit.maths.privacy import composition as c

    makers: dict[str, Callable[..., Part]] = {
        "gaussian": c.GaussianPart,
        "laplace": c.LaplacePart,
        "approximate-dp": c.ApproximatePart,
        "randomized-response": c.ResponsePart,
        "dp-sgd": c.DpSgd,
    }
    found: dict[str, Any] = {
        name: int(value) if name in WHOLE else value for name, value in numbers.items()
    }
    if kind == "approximate-dp" and adjacency is not None:
        found["adjacency"] = adjacency
    return makers[kind](**found)
