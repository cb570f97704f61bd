"""What a stated guarantee allows: one of the three questions of ``bounds``."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.bounds.allowance import allowance
from mipaudit.commands.bounds.guarantee.readings import bounds_of, guarantee, readings
from mipaudit.commands.bounds.guarantee.stated import stated
from mipaudit.statements.text.rounding import upper_figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.bounds.allowance import Allowance
    from mipaudit.commands.bounds.counting_queries import CountingQueries
    from mipaudit.commands.bounds.curves import Curves
    from mipaudit.commands.bounds.guarantee.stated import Stated
    from mipaudit.commands.bounds.options import BoundsOptions
    from mipaudit.commands.bounds.report import BoundsReport
    from mipaudit.maths.privacy.tradeoff import TradeOff

# A delta that nobody gave, where epsilon has to be derived at one.
_USUAL_DELTA: Final = 1e-5
# Rounding by an accountant that could show in a printed figure.
_VISIBLE: Final = 1e-5
_LIMITATIONS: Final = (
    (
        "Every figure is the most that any attacker can reach, whatever they know and compute; "
        "the release itself was not looked at."
    ),
    (
        "It holds if the guarantee holds, for one member and one holdout record drawn alike: "
        "where the two groups differ, or records depend on each other (families, clusters), an "
        "attacker can exceed it."
    ),
)


def what_is_allowed(asked: BoundsOptions, empty: BoundsReport) -> BoundsReport:
    """Return the report on what the stated guarantee allows.

    Raises:
        UsageError: a number of a composition is out of its range.
        MissingExtraError: it needs the accountant.
    """
    found = stated(asked)
    delta = asked.delta
    if delta is None:
        delta = 0.0 if math.isfinite(found.curve.loss) else _USUAL_DELTA
    ways = readings(found.curve, found.adjacency, found.by_substitution)
    description = guarantee(
        found.kind, found.parameters, found.curve, delta=delta, adjacency=found.adjacency
    )
    first, *others = (
        allowance(way.curve, game=way.game, prior=asked.prior, recall_floor=asked.recall_floor)
        for way in ways
    )
    curve = ways[0].curve
    return replace(
        empty,
        guarantee=description,
        attacker=first,
        other_readings=tuple(others),
        bounds=bounds_of(description, curve, prior=first.prior, advantage=first.advantage),
        counting_queries=_averaging_attack(found),
        curves=_points(curve, asked.prior) if asked.curves else None,
        limitations=(*_LIMITATIONS, *_remarks(first, curve)),
    )


def _remarks(first: Allowance, curve: TradeOff) -> Iterator[str]:
    if first.excess == 0 and first.baseline > 0:
        yield (
            "At this prior no attacker beats the one who always gives the likelier answer: look "
            "at the TPR at a low FPR and at the precision instead, or at prior 0.5."
        )
    # Only an accountant's curve has one.
    excess = getattr(curve, "excess_of_grid", 0.0)
    if excess > _VISIBLE:
        yield (
            "The accountant rounds privacy losses up to a grid; of the advantage, about "
            f"{upper_figure(excess, digits=2)} is owed to that."
        )


def _averaging_attack(found: Stated) -> CountingQueries | None:
    if found.kind != "counting-queries":
        return None
    from mipaudit.commands.bounds.counting_queries import averaging_attack

    numbers = found.parameters
    return averaging_attack(
        queries=int(numbers["queries"]),
        records=int(numbers["records"]),
        noise_sd=numbers["noise_sd"],
    )


def _points(curve: TradeOff, prior: float) -> Curves:
    from mipaudit.commands.bounds.curves import curves

    return curves(curve, prior=prior)
