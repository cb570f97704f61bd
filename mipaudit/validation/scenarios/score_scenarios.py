"""Scenarios of one score for each record, and of its group and features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
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
from mipaudit.validation.laws.mixture import Discrete, atoms, normal, rounded
from mipaudit.validation.scenarios.scenario import (
    GROUP,
    SCORE,
    RecordScenario,
    View,
    averaging_attacks,
    colluding_attacks,
    error_attacks,
    log_loss_attacks,
)
from mipaudit.validation.truth import family_of

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.validation.laws.catalogue import Subgroup
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.scenarios.scenario import Attack, Columns
    from mipaudit.validation.truth import Family

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
    "humphries": log_loss_attacks,
    "colluding": colluding_attacks,
    "counting-queries": averaging_attacks,
}


def mechanism_curve(law_name: str) -> TradeOff | None:
    """Return the trade-off curve of the mechanism that a law is the output of, if it is one."""
    family = family_of(law_name, LAW_FAMILIES)
    curve = None if family is None else _CURVES.get(family.prefix)
    return None if family is None or curve is None else curve(*family.parse(law_name))


def scores(
    law: Law, curve: TradeOff | None = None, attacks: tuple[Attack, ...] = ()
) -> RecordScenario:
    """Return independent scores from a law.

    Args:
        law: of the scores.
        curve: trade-off curve of the mechanism that makes them, if one does.
        attacks: named attacks on them.
    """
    return RecordScenario(
        name=law.name,
        summary=law.description,
        drawn=(SCORE,),
        draw=lambda rng, member: {SCORE: _drawn_from(law, rng, member)},
        views=(View(sees=SCORE, law=law, read=_read_score, curve=curve, attacks=attacks),),
    )


def scores_of(family: Family[Law], *values: float) -> RecordScenario:
    """Return independent scores from the law of a family that has these numbers."""
    curve, attacks = _CURVES.get(family.prefix), _ATTACKS.get(family.prefix)
    return scores(
        family.make(*values),
        curve(*values) if curve else None,
        attacks(*values) if attacks else (),
    )


def _read_score(columns: Columns) -> NDArray[np.float64]:
    return columns[SCORE]


def _drawn_from(
    law: Law, rng: np.random.Generator, member: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return independent scores of records with this membership."""
    inside = int(member.sum())
    members, holdout = law.sample(rng, inside, member.size - inside)
    found = np.empty(member.size)
    found[member] = members
    found[~member] = holdout
    return found


def grouped(law: Law, groups: Sequence[Subgroup]) -> RecordScenario:
    """Return a score and the group of each record.

    Args:
        law: of the scores when groups are not told apart.
        groups: their shares and laws.
    """

    def draw(rng: np.random.Generator, member: NDArray[np.bool_]) -> Columns:
        shares = [group.share for group in groups]
        code = np.searchsorted(np.cumsum(shares[:-1]), rng.random(member.size), side="right")
        score = np.empty(member.size)
        for index, group in enumerate(groups):
            rows = code == index
            score[rows] = _drawn_from(group.law, rng, member[rows])
        labels = np.array([group.label for group in groups], dtype=object)
        return {SCORE: score, GROUP: labels[code]}

    views = (
        View(sees=SCORE, law=one.law, read=_read_score, group=one.label, share=one.share)
        for one in groups
    )
    every = View(sees=SCORE, law=law, read=_read_score)
    return RecordScenario(
        name=law.name,
        summary=law.description,
        drawn=(SCORE, GROUP),
        draw=draw,
        views=(every, *views),
    )


def shifted_features(shift: float) -> RecordScenario:
    """Return five features, the first higher in members; the score is the sum of two of them.

    Args:
        shift: how many standard deviations higher the first feature is in members.
    """
    members, other = _feature(shift), _feature(0.0)

    def draw(rng: np.random.Generator, member: NDArray[np.bool_]) -> Columns:
        features = {name: rng.standard_normal(member.size) for name in FEATURES}
        features["x1"] += shift * member
        rounded = {
            name: np.clip(np.rint(_TENTHS * values), -_REACH, _REACH).astype(np.int64)
            for name, values in features.items()
        }
        return {SCORE: (rounded["x1"] + rounded["x2"]) / _TENTHS, **rounded}

    score = View(
        sees=SCORE,
        law=law_of("sum", "two features", _sum(members, other), _sum(other, other)),
        read=_read_score,
    )
    # Of the features, the first is all.
    blind = View(
        sees=", ".join(FEATURES),
        law=law_of("x1", "the feature that differs", members, other),
        read=lambda columns: columns["x1"].astype(np.float64),
        quantity="blind_advantage",
    )
    return RecordScenario(drawn=(SCORE, *FEATURES), draw=draw, views=(score, blind))


def _feature(shift: float) -> Discrete:
    return rounded(
        base=normal(mean=_TENTHS * shift, sd=_TENTHS),
        values=np.arange(-_REACH, _REACH + 1, dtype=np.float64),
    )


def _sum(one: Discrete, other: Discrete) -> Discrete:
    """Return the law of the sum of two features, in standard deviations.

    Its masses are computed when they are asked for: a list of scenarios needs none.
    """
    values = np.arange(-2 * _REACH, 2 * _REACH + 1) / _TENTHS

    @cache
    def found() -> Discrete:
        masses = np.convolve(one.atoms()[1], other.atoms()[1])
        return atoms(values, masses / masses.sum())

    return Discrete(
        draw=lambda rng, size: found().draw(rng, size),
        values=values,
        table=lambda: found().table(),
    )
