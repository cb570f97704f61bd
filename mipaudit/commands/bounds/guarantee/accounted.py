"""Guarantees that need an accountant: DP-SGD and compositions, from keywords to a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mipaudit.commands.bounds.guarantee.parts import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mipaudit.commands.bounds.guarantee.readings import Neighbours
    from mipaudit.maths.privacy.composition import Composition, Part
    from mipaudit.maths.privacy.tradeoff import TradeOff


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
