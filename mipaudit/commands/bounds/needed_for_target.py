"""Which guarantee a target needs: one of the three questions of ``bounds``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

from mipaudit.commands.bounds.guarantee.readings import Neighbours
from mipaudit.commands.bounds.options import BoundsOptions
from mipaudit.commands.bounds.requirement import Target, requirement

if TYPE_CHECKING:
    from mipaudit.commands.bounds.report import BoundsReport

_LIMITATIONS: Final = (
    (
        "Each guarantee keeps the target by itself; the noise is for one release of what has that "
        "sensitivity, and repeated releases need more."
    ),
    (
        "It holds for one member and one holdout record drawn alike: where the two groups differ, "
        "or records depend on each other, an attacker can exceed the target."
    ),
)


def what_is_needed(asked: BoundsOptions, empty: BoundsReport) -> BoundsReport:
    """Return the report on the guarantees that the target needs."""
    target = _target(asked)
    counting = asked.counting_queries is not None
    adjacency = "substitution" if counting else asked.adjacency
    needed = tuple(
        requirement(
            target,
            delta=asked.delta or 0.0,
            adjacency=neighbours,
            sensitivity=asked.moved,
            one_number=not counting,
        )
        for neighbours in ((adjacency,) if adjacency else get_args(Neighbours))
    )
    return replace(empty, target=target, needed=needed, limitations=_LIMITATIONS)


def _target(asked: BoundsOptions) -> Target:
    prior = asked.prior
    match asked:
        case BoundsOptions(advantage=float(value)):
            return Target(quantity="advantage", value=value, fpr=None, prior=prior)
        case BoundsOptions(accuracy=float(value)):
            return Target(quantity="accuracy", value=value, fpr=None, prior=prior)
        case BoundsOptions(eta=float(value)):
            return Target(quantity="eta", value=value, fpr=None, prior=prior)
        case BoundsOptions(tpr_at_fpr=(value, fpr)):
            return Target(quantity="tpr_at_fpr", value=value, fpr=fpr, prior=prior)
    raise AssertionError("no target is asked for")
