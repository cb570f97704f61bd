"""Families of scenarios: a class or a law, and the numbers that its names carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)
from mipaudit.validation.laws.named_family import Family, ScenarioParameter, family_of, short
from mipaudit.validation.laws.parametric_laws import LAW_FAMILIES, truthful
from mipaudit.validation.rivals import attack
from mipaudit.validation.scenarios.score_scenarios import ScoreScenario

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.rivals.attack import Attack
    from mipaudit.validation.scenarios.scenario import Scenario

_CURVES: Final[Mapping[str, Callable[..., TradeOff]]] = {
    "gauss-shift": lambda mu: GaussianDP(mu=mu),
    "laplace": lambda epsilon: LaplaceMechanism(shift=epsilon),
    "geometric": lambda epsilon: GeometricMechanism(scale=1 / epsilon, sensitivity=1),
    "randomized-response": lambda epsilon: RandomizedResponse(
        truth=truthful(epsilon), categories=2
    ),
    "counting-queries": lambda queries, records, sd: GaussianDP(mu=queries**0.5 / records / sd),
}
_ATTACKS: Final[Mapping[str, Callable[..., tuple[Attack, ...]]]] = {
    "yeom-regression": attack.error_attacks,
    "humphries": lambda groups: (attack.log_loss_attack(groups),),
    "colluding": lambda bits, keys: (attack.colluding_attack(bits, keys),),
    "counting-queries": lambda *numbers: (attack.averaging_attack(*numbers),),
}
_NOTES: Final[Mapping[str, str]] = {
    "humphries": "The members are not independent draws from the population: all are of one group. "
    "No bound from differential privacy applies, whatever the training algorithm.",
    "colluding": "The score is the number of keys under which the answer matches.",
    "yeom-regression": "The score is the absolute error: members' are smaller if overfitted.",
}
_COIN: Final = "Epsilon and mu are for adding or removing one canary."


def mechanism_curve(law_name: str) -> TradeOff | None:
    """Return the trade-off curve of the mechanism that a law is the output of, if it is one."""
    family = family_of(law_name, LAW_FAMILIES)
    curve = None if family is None else _CURVES.get(family.prefix)
    return None if family is None or curve is None else curve(*family.parse(law_name))


def law_family(prefix: str, heading: str) -> Family[ScoreScenario]:
    """Return the scenarios whose scores follow the family of laws with this prefix."""
    family = _laws(prefix)

    def make(*values: float) -> ScoreScenario:
        found = family.make(*values)
        curve, attacks = _CURVES.get(prefix), _ATTACKS.get(prefix)
        return ScoreScenario(
            name=found.name,
            summary=found.description,
            heading=heading,
            parameters=_named(family.parameters, values),
            notes=(_NOTES[prefix],) if prefix in _NOTES else (),
            law=found,
            curve=curve(*values) if curve else None,
            attacks=attacks(*values) if attacks else (),
        )

    return Family(
        prefix=family.prefix,
        parameters=family.parameters,
        make=make,
        examples=family.examples,
        summary=family.summary,
    )


def canary_family(prefix: str, heading: str, *, example: float) -> Family[ScoreScenario]:
    """Return one-run designs: the canaries' scores pass a mechanism, each on its own."""
    plain = law_family(prefix, heading)

    def make(value: float) -> ScoreScenario:
        found = plain.make(value)
        canaries: ScoreScenario = replace(
            found,
            name=f"canaries-{found.name}",
            summary=f"canaries: {found.summary}",
            notes=(_COIN,),
            canaries=True,
            n_holdout=0,
        )
        return canaries

    return Family(
        prefix=f"canaries-{prefix}",
        parameters=plain.parameters,
        make=make,
        examples=((example,),),
        summary=f"canaries: {plain.summary}",
    )


def class_family(
    kind: Callable[..., Scenario],
    prefix: str,
    heading: str,
    *,
    field: str,
    parameter: ScenarioParameter,
    example: float,
    summary: str,
    notes: tuple[str, ...] = (),
) -> Family[Scenario]:
    """Return the scenarios of a class that takes one number, as ``field``."""

    def make(value: float) -> Scenario:
        number = int(value) if parameter.step else value
        return kind(
            name=f"{prefix}-{short(value)}",
            summary=summary.replace(parameter.name, short(value)),
            heading=heading,
            parameters=_named((parameter,), (value,)),
            notes=notes,
            **{field: number},
        )

    return Family(
        prefix=prefix,
        parameters=(parameter,),
        make=make,
        examples=((example,),),
        summary=summary,
    )


def _laws(prefix: str) -> Family[Law]:
    return next(family for family in LAW_FAMILIES if family.prefix == prefix)


def _named(
    parameters: tuple[ScenarioParameter, ...], values: tuple[float, ...]
) -> dict[str, float]:
    return {p.name.lower(): value for p, value in zip(parameters, values, strict=True)}
