"""The picture of a report of ``epsilon``: what the claim allows, and the attack that was judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.promised import Point, Promise, promise_name, promised

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.epsilon.report import EpsilonReport, JudgedAttack
    from mipaudit.formats.document import Picture


def epsilon_pictures(report: EpsilonReport) -> Iterator[Picture]:
    """Yield the trade-off of what is claimed and of what is shown, where there is either."""
    delta = report.design.delta
    promises = []
    claim = report.claim
    if claim is not None and claim.epsilon is not None:
        claimed = Promise(claim.epsilon, delta)
        promises.append((f"claimed: {promise_name(claimed)}", claimed))
    deciding = [one for one in report.statements if one.decides and one.lower]
    if deciding:
        shown = Promise(max(one.lower or 0.0 for one in deciding), delta)
        promises.append((f"not kept below: {promise_name(shown)}", shown))
    points = [
        Point(one.attack.fp / (one.attack.fp + one.attack.tn), _tpr(one.attack), "the attack")
        for one in deciding[:1]
        if one.attack is not None
        and one.attack.fp + one.attack.tn
        and one.attack.tp + one.attack.fn
    ]
    if promises:
        yield promised(
            promises,
            points,
            caption="No attacker is above the solid line if the promise is kept. Shares of the "
            "attack are those that were counted, without their limits.",
        )


def _tpr(attack: JudgedAttack) -> float:
    return attack.tp / (attack.tp + attack.fn)
