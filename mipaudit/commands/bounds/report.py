"""What ``bounds`` returns, prints and writes: the JSON format ``mipaudit.bounds/3``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from mipaudit.commands.bounds.readings import (
    BY_PRESENCE,
    BY_SUBSTITUTION,
    BY_TWO_STEPS,
    Allowance,
    Guarantee,
)
from mipaudit.maths.privacy.epsilon_delta import PublishedBound
from mipaudit.maths.privacy.renyi import ORDERS
from mipaudit.model.message import Message
from mipaudit.statements.any_report import AnyReport
from mipaudit.statements.rounding import number_text

if TYPE_CHECKING:
    from mipaudit.commands.bounds.attacks import CountingQueries, Refutation
    from mipaudit.commands.bounds.curves import Curves
    from mipaudit.commands.bounds.requirement import Requirement, Target
    from mipaudit.commands.bounds.tuned import Tuned


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BoundsReport(AnyReport):
    """The answer to one question; the parts for other questions are empty.

    Attributes:
        guarantee: what was stated; ``attacker`` is what it allows in its first reading,
            ``other_readings`` in the others; ``bounds`` bound the advantage.
        target: the limit that was asked about; ``needed`` keeps it, one entry for each
            kind of neighbours.
        refuted: what an attack rules out.
        counting_queries: the attack of the lecture notes.
        tuned: of the best of several runs: one run, and each way to come by their number.
    """

    guarantee: Guarantee | None
    attacker: Allowance | None
    other_readings: tuple[Allowance, ...]
    bounds: tuple[PublishedBound, ...]
    target: Target | None
    needed: tuple[Requirement, ...]
    refuted: Refutation | None
    counting_queries: CountingQueries | None
    curves: Curves | None = None
    tuned: tuple[Tuned, ...] = ()


def complete() -> None:
    """Load every type that a report may hold, so that its annotations can be resolved."""
    from mipaudit.commands.bounds.attacks import CountingQueries, Refutation
    from mipaudit.commands.bounds.curves import Curves
    from mipaudit.commands.bounds.requirement import Requirement, Target
    from mipaudit.commands.bounds.tuned import Tuned

    kinds = (CountingQueries, Curves, Refutation, Requirement, Target, Tuned)
    globals().update({kind.__name__: kind for kind in kinds})


_READINGS: Final = {
    BY_SUBSTITUTION: "one_exchanged",
    BY_TWO_STEPS: "added_or_removed",
    BY_PRESENCE: "present_or_absent",
}
_MOST_ORDERS: Final = 12
_MOST_ALIKE: Final = 1000


def answer(report: BoundsReport) -> Message:
    """Return what a guarantee allows, what a target needs, or what an attack rules out."""
    if report.refuted is not None:
        return _ruled_out(report.refuted)
    if report.target is not None:
        return _kept(report.target)
    found = Message.of("promise_allows", **_by_reading(report, lambda one: one.advantage))
    plainly = found.with_values("right_at_most")
    said = next(_successes(report), found)
    return said.with_values(said.code, plainly=plainly)


def remarks(report: BoundsReport) -> Iterator[Message]:
    """Yield what else a guarantee says, and that no release was looked at."""
    first = report.attacker
    if first is None:
        return
    yield from islice(_successes(report), 1, None)
    yield Message("release_not_seen")
    if first.success_at and first.game == BY_SUBSTITUTION and report.other_readings:
        yield Message("success_of_one_step")
    tight = tuple(one.name for one in report.bounds if one.tight)
    if tight:
        yield Message.of("bounds_as_tight", names=tight)


def promised(report: BoundsReport) -> Message | None:
    """Return what was promised; None where nothing was."""
    stated = report.guarantee
    if stated is None:
        return None
    return Message.of(f"promised_{stated.kind.replace('-', '_')}", **stated.parameters)


def reading(report: BoundsReport) -> Message | None:
    """Return how the guarantee is read first."""
    first = report.attacker
    return None if first is None else Message(_READINGS[first.game])


def other_reading(report: BoundsReport) -> Message | None:
    """Return how the guarantee is read otherwise."""
    return next((Message(_READINGS[one.game]) for one in report.other_readings), None)


def allowed(report: BoundsReport) -> tuple[Message, ...]:
    """Return what no attacker can exceed, by the first reading and by the other."""
    first = report.attacker
    if first is None:
        return ()
    figures: list[tuple[Message, Callable[[Allowance], float]]] = [
        (Message.of("figure_advantage", prior=first.prior), lambda one: one.advantage),
        (Message.of("figure_excess", baseline=first.baseline), lambda one: one.excess),
        (Message("figure_accuracy"), lambda one: one.accuracy),
        (Message("figure_eta"), lambda one: one.eta),
        *(
            (Message.of("figure_tpr", fpr=float(fpr)), lambda one, at=fpr: one.tpr_at_fpr[at])
            for fpr in first.tpr_at_fpr
        ),
        *(
            (Message.of("figure_success", baseline=float(b)), lambda one, at=b: one.success_at[at])
            for b in first.success_at
        ),
        (Message.of("figure_precision", recall=first.recall_floor), lambda one: one.precision),
        (Message("figure_certainty"), lambda one: one.posterior_limit),
    ]
    return tuple(
        figure.with_values(
            figure.code, first=read(first), second=next(map(read, report.other_readings), None)
        )
        for figure, read in figures
        # What is above a baseline of 0 is the advantage.
        if figure.get("baseline") != 0 or figure.code != "figure_excess"
    )


def kept(report: BoundsReport) -> tuple[Requirement, ...]:
    """Return what keeps the limit; of a guarantee that was asked for, without its own epsilon."""
    if report.target is None or report.target.quantity != "delta":
        return report.needed
    return tuple(replace(one, epsilon=None) for one in report.needed)


def divergences(report: BoundsReport) -> tuple[Message, ...]:
    """Return the Renyi divergences, of many those of the usual orders."""
    known = {} if report.guarantee is None else report.guarantee.renyi
    shown = map(number_text, ORDERS) if len(known) > _MOST_ORDERS else known
    return tuple(
        Message.of("figure_divergence", order=float(order), first=known[order])
        for order in shown
        if order in known
    )


def _by_reading(
    report: BoundsReport, read: Callable[[Allowance], float]
) -> dict[str, float | Message | None]:
    """Return a figure by each reading, as values of a message."""
    first = report.attacker
    assert first is not None  # noqa: S101 - the question is what a guarantee allows
    values: dict[str, float | Message | None] = {"upper": read(first), "prior": first.prior}
    for one in report.other_readings:
        values |= {"other": read(one), "reading": reading(report)}
        values["other_reading"] = other_reading(report)
    return values


def _successes(report: BoundsReport) -> Iterator[Message]:
    """Yield how often something about a person is guessed right, by each baseline."""
    for baseline in report.attacker.success_at if report.attacker else ():

        def success(one: Allowance, at: str = baseline) -> float:
            return 100 * one.success_at[at]

        share = float(baseline)
        alike = round(1 / share) if share * _MOST_ALIKE >= 1 else 0
        known = alike > 1 and number_text(1 / alike) == baseline
        yield Message.of(
            "success_allowed",
            baseline=share,
            alike=alike if known else None,
            absent=any(one.game == BY_PRESENCE for one in report.other_readings) or None,
            **_by_reading(report, success),
        )


def _kept(target: Target) -> Message:
    """Return what is wanted, up to what does it."""
    of_their_own = {"delta", "success", "tpr_at_fpr"}
    code = target.quantity if target.quantity in of_their_own else "quantity"
    return Message.of(f"keeps_{code}", **asdict(target))


def _ruled_out(refuted: Refutation) -> Message:
    values = {name: getattr(refuted, name) for name in ("tpr", "fpr", "delta", "epsilon", "mu")}
    return Message.of("rules_out", **values, perfect=(None in values.values()) or None)
