"""Scenarios of one score for each record, and families of them with numbers in their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)
from mipaudit.validation.laws.families import LAW_FAMILIES, law_of, truthful
from mipaudit.validation.laws.mixture import Atoms, Normal, Rounded
from mipaudit.validation.scenarios.scenario import (
    GROUP,
    RecordScenario,
    View,
    averaging_attack,
    colluding_attack,
    error_attacks,
    log_loss_attack,
    tidy,
)
from mipaudit.validation.truth import Family, ScenarioParameter, Truth, family_of, filled, short

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.validation.laws.catalogue import Subgroup
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.scenarios.scenario import Attack, Columns, Scenario

SCORE: Final = "score"
# Whole numbers, which `estimate` takes for features beside a score with decimals.
FEATURES: Final = ("x1", "x2", "x3", "x4", "x5")
# Features are in tenths of a standard deviation, up to 12 of them.
_TENTHS: Final = 10
_REACH: Final = 120
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
    "yeom-regression": error_attacks,
    "humphries": lambda groups: (log_loss_attack(groups),),
    "colluding": lambda bits, keys: (colluding_attack(bits, keys),),
    "counting-queries": lambda *numbers: (averaging_attack(*numbers),),
}
_NOTES: Final[Mapping[str, str]] = {
    "humphries": "The members are not independent draws from the population: all are of one group. "
    "No bound from differential privacy applies, whatever the training algorithm.",
    "colluding": "The score is the number of keys under which the answer matches.",
    "yeom-regression": "The score is the absolute error: members' are smaller if overfitted.",
}
_COIN: Final = "Epsilon and mu are for adding or removing one canary."


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreScenario(RecordScenario):
    """Independent scores from a law.

    Attributes:
        law: of the scores.
        curve: trade-off curve of the mechanism that makes them, if one does.
        attacks: named attacks on them.
    """

    law: Law
    curve: TradeOff | None = None
    attacks: tuple[Attack, ...] = ()

    @property
    def drawn(self) -> tuple[str, ...]:
        """The score."""
        return (SCORE,)

    def draw(self, rng: np.random.Generator, member: NDArray[np.bool_]) -> Columns:
        """Return independent scores of records with this membership."""
        return {SCORE: drawn_from(self.law, rng, member)}

    def views(self) -> tuple[View, ...]:
        """Return the score."""
        return (
            View(
                sees=SCORE,
                law=self.law,
                read=read_score,
                curve=self.curve,
                attacks=self.attacks,
            ),
        )


def read_score(columns: Columns) -> NDArray[np.float64]:
    """Return the column of scores."""
    return columns[SCORE]


def drawn_from(
    law: Law, rng: np.random.Generator, member: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return independent scores of records with this membership."""
    inside = int(member.sum())
    members, holdout = law.sample(rng, inside, member.size - inside)
    scores = np.empty(member.size)
    scores[member] = members
    scores[~member] = holdout
    return scores


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupScenario(RecordScenario):
    """A score and the group of each record.

    Attributes:
        law: of the scores when groups are not told apart.
        groups: their shares and laws.
    """

    law: Law
    groups: tuple[Subgroup, ...]

    @property
    def drawn(self) -> tuple[str, ...]:
        """The score and the group."""
        return (SCORE, GROUP)

    def draw(self, rng: np.random.Generator, member: NDArray[np.bool_]) -> Columns:
        """Return scores and groups of records with this membership."""
        shares = [group.share for group in self.groups]
        code = np.searchsorted(np.cumsum(shares[:-1]), rng.random(member.size), side="right")
        score = np.empty(member.size)
        for index, group in enumerate(self.groups):
            rows = code == index
            score[rows] = drawn_from(group.law, rng, member[rows])
        labels = np.array([group.label for group in self.groups], dtype=object)
        return {SCORE: score, GROUP: labels[code]}

    def views(self) -> tuple[View, ...]:
        """Return the score of all records, and of each group."""
        return (
            View(sees=SCORE, law=self.law, read=read_score),
            *(
                View(sees=SCORE, law=group.law, read=read_score, group=group.label)
                for group in self.groups
            ),
        )

    def further_truths(self, prior: float) -> tuple[Truth, ...]:
        """Return the advantage of who sees the group too: groups are as frequent in both."""
        parts = [group.share * group.law.advantage(prior) for group in self.groups]
        return (
            Truth(
                quantity="advantage",
                value=tidy(sum(parts)),
                sees=f"{SCORE}, {GROUP}",
                attackers="any",
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftScenario(RecordScenario):
    """Five features, the first higher in members; the score is a function of two of them.

    Attributes:
        shift: how many standard deviations higher the first feature is in members.
    """

    shift: float

    @property
    def drawn(self) -> tuple[str, ...]:
        """The score and the features."""
        return (SCORE, *FEATURES)

    def draw(self, rng: np.random.Generator, member: NDArray[np.bool_]) -> Columns:
        """Return scores and features of records with this membership."""
        features = {name: rng.standard_normal(member.size) for name in FEATURES}
        features["x1"] += self.shift * member
        rounded = {
            name: np.clip(np.rint(_TENTHS * values), -_REACH, _REACH).astype(np.int64)
            for name, values in features.items()
        }
        return {SCORE: (rounded["x1"] + rounded["x2"]) / _TENTHS, **rounded}

    def views(self) -> tuple[View, ...]:
        """Return the score, and the features, of which the first is all."""
        members, holdout = _feature(self.shift), _feature(0.0)
        blind = law_of("x1", "the feature that differs", members, holdout)
        return (
            View(sees=SCORE, law=self._score_law(members, holdout), read=read_score),
            View(
                sees=", ".join(FEATURES),
                law=blind,
                read=lambda columns: columns["x1"].astype(np.float64),
                quantity="blind_advantage",
            ),
        )

    def _score_law(self, members: Rounded, holdout: Rounded) -> Law:
        other = _feature(0.0)
        return law_of(self.name, self.summary, _sum(members, other), _sum(holdout, other))


def _feature(shift: float) -> Rounded:
    return Rounded(
        base=Normal(mean=_TENTHS * shift, sd=_TENTHS),
        values=np.arange(-_REACH, _REACH + 1, dtype=np.float64),
    )


def _sum(one: Rounded, other: Rounded) -> Atoms:
    """Return the law of the sum of two features, in standard deviations."""
    masses = np.convolve(one.atoms()[1], other.atoms()[1])
    values = np.arange(-2 * _REACH, 2 * _REACH + 1) / _TENTHS
    return Atoms(values=values, masses=masses / masses.sum())


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

    return Family(prefix, family.parameters, make, family.examples, family.summary)


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
        f"canaries-{prefix}", plain.parameters, make, ((example,),), f"canaries: {plain.summary}"
    )


def class_family(
    kind: Callable[..., Scenario],
    prefix: str,
    heading: str,
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
            summary=filled(summary, (parameter,), (value,)),
            heading=heading,
            parameters=_named((parameter,), (value,)),
            notes=notes,
            **{field: number},
        )

    return Family(prefix, (parameter,), make, ((example,),), summary)


def _laws(prefix: str) -> Family[Law]:
    return next(family for family in LAW_FAMILIES if family.prefix == prefix)


def _named(
    parameters: tuple[ScenarioParameter, ...], values: tuple[float, ...]
) -> dict[str, float]:
    return {p.name.lower(): value for p, value in zip(parameters, values, strict=True)}
