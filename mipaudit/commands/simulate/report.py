"""What a simulated file's truth, and the list of scenarios, conclude, as codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, cast

from mipaudit.model.message import Message

if TYPE_CHECKING:
    from mipaudit.validation.truth import ScenarioList, Truth, TruthReport


class Numbered(NamedTuple):
    """A number in the names of a family of scenarios, and its range."""

    example: str
    name: str
    lowest: float
    highest: float
    whole: bool
    even: bool


def answer(report: TruthReport | ScenarioList) -> Message:
    """Return what a scenario is and what the best attacker reaches, or how many there are."""
    # The list is told by its command: its class would have to be loaded for `isinstance`.
    if report.command != "simulate":
        listed = cast("ScenarioList", report)
        return Message.of("scenarios_listed", scenarios=len(listed.scenarios))
    drawn = cast("TruthReport", report)
    best = next((one for one in drawn.truths if _is_best(one)), None)
    values = {} if best is None else {"sees": best.sees, "best": best.value, "prior": drawn.prior}
    return Message.of("truth_known", scenario=drawn.scenario, what=drawn.summary, **values)


def _is_best(one: Truth) -> bool:
    return (one.quantity, one.attackers, one.group) == ("advantage", "any", None)


def remarks(report: TruthReport | ScenarioList) -> Iterator[Message]:
    """Yield why a value is missing, where one comes from, and what the reader must know."""
    if report.command != "simulate":
        return
    drawn = cast("TruthReport", report)
    for reason in dict.fromkeys(one.value_reason for one in drawn.truths if one.value_reason):
        yield Message.of("no_value", reason=reason)
    for name, source in dict.fromkeys((one.attackers, one.source) for one in drawn.truths):
        if name and source:
            yield Message.of("guess_source", guess=name, source=source)
    for note in drawn.notes:
        yield Message.of("scenario_note", note=note)


def size(report: TruthReport) -> Message:
    """Return how many rows there are."""
    return Message.of("rows_drawn", **report.rows)


def numbered(report: ScenarioList) -> tuple[Numbered, ...]:
    """Return what stands for the words in capitals."""
    return tuple(
        Numbered(entry.examples[0], p.name, p.lowest, p.highest, p.step == 1, p.step == 2)  # noqa: PLR2004
        for entry in report.scenarios
        for p in entry.parameters
    )
