"""Which guarantee a target needs: one of the three questions of ``bounds``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, get_args

from mipaudit.commands.bounds.guarantee.readings import Neighbours
from mipaudit.commands.bounds.guarantee.stated import (
    counting_sensitivity,
    is_given,
    require_no_adjacency,
)
from mipaudit.commands.bounds.requirement import Target, requirement
from mipaudit.options.plain_values import number, optional, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.commands.bounds.requirement import Quantity

_TARGETS: Final[tuple[Quantity, ...]] = ("advantage", "accuracy", "eta", "tpr_at_fpr")
# 0.3 is a target at prior 0.35, although |2 * 0.35 - 1| is a little more in floats.
_ROUNDING: Final = 1e-15
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


def what_is_needed(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of the report on the guarantees that a target needs.

    Args:
        asked: the keywords of ``bounds``, checked, with one target.

    Raises:
        UsageError: the target is out of range.
    """
    require(
        asked["categories"] is None,
        "categories",
        "The number of categories belongs to --randomized-response.",
    )
    target = _target(asked)
    delta = asked["delta"] or 0.0
    sensitivity = _target_sensitivity(asked)
    adjacencies: tuple[Neighbours, ...] = (
        (asked["adjacency"],) if asked["adjacency"] else get_args(Neighbours)
    )
    if asked["counting_queries"]:
        require_no_adjacency(asked["adjacency"])
        adjacencies = ("substitution",)
    return {
        "target": target,
        "needed": tuple(
            requirement(
                target,
                delta=delta,
                adjacency=adjacency,
                sensitivity=sensitivity,
                one_number=not asked["counting_queries"],
            )
            for adjacency in adjacencies
        ),
        "limitations": _LIMITATIONS,
    }


def _target_sensitivity(asked: Mapping[str, Any]) -> float:
    if asked["counting_queries"]:
        require(
            asked["sensitivity"] is None,
            "sensitivity",
            "The sensitivity of --counting-queries follows from k and n.",
        )
        return counting_sensitivity(asked)
    accepted = "The sensitivity must be above 0 and finite."
    sensitivity = optional("sensitivity", asked["sensitivity"], accepted)
    require(sensitivity is None or 0 < sensitivity < math.inf, "sensitivity", accepted)
    return 1.0 if sensitivity is None else sensitivity


def _target(asked: Mapping[str, Any]) -> Target:
    quantity: Quantity = next(name for name in _TARGETS if is_given(asked[name]))
    prior = asked["prior"]
    trivial = max(prior, 1 - prior)
    if quantity == "tpr_at_fpr":
        value, fpr = asked["tpr_at_fpr"]
        require(
            0 < fpr < 1 and fpr <= value <= 1,
            "tpr_at_fpr",
            "The target must be a TPR from the FPR up to 1, the FPR above 0 and below 1.",
            "Random guessing reaches TPR = FPR. Example: 0.02@0.001.",
        )
        return Target(quantity=quantity, value=value, fpr=fpr, prior=prior)
    lowest, highest = {
        "advantage": (abs(2 * prior - 1), 1.0),
        "accuracy": (trivial, 1.0),
        "eta": (0.0, 1 - trivial),
    }[quantity]
    accepted = (
        f"The target for {quantity} must be at least {lowest:g}, which blind guessing "
        f"reaches at this prior, and at most {highest:g}."
    )
    value = number(quantity, asked[quantity], accepted)
    require(lowest - _ROUNDING <= value <= highest + _ROUNDING, quantity, accepted)
    return Target(quantity=quantity, value=value, fpr=None, prior=prior)
