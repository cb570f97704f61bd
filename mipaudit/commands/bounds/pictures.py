"""The picture of a report of ``bounds`` for a page: what no attacker can exceed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.bounds.page import READINGS
from mipaudit.formats.promised import Point, Promise, promise_name, promised
from mipaudit.statements.text.rounding import percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.bounds.report import BoundsReport
    from mipaudit.formats.document import Picture


def bounds_pictures(report: BoundsReport) -> Iterator[Picture]:
    """Yield the trade-off of the guarantee at its epsilon and delta, if it has an epsilon.

    Where nobody said which neighbours it is about, both readings are drawn, the harsher first.
    """
    stated, attacker = report.guarantee, report.attacker
    if stated is None or attacker is None or stated.epsilon is None:
        return
    promise = Promise(stated.epsilon, stated.delta, twice=stated.adjacency == "add-remove")
    name = promise_name(promise)
    promises = [(name, promise)]
    if stated.adjacency_assumed:
        (harsher,) = report.other_readings
        promises = [
            (f"{name}, {READINGS[harsher.game]}", promise._replace(twice=True)),
            (f"the same, {READINGS[attacker.game]}", promise),
        ]
        attacker = harsher
    points = [
        Point(float(rate), most, f"at most, at {percent_text(float(rate))} false alarms")
        for rate, most in attacker.tpr_at_fpr.items()
    ]
    yield promised(
        promises,
        points,
        caption="No attacker is above the line while the promise is kept; its own limits, "
        "which can be lower than those of its epsilon and delta, are marked.",
    )
