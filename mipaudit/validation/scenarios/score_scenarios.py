"""Scenarios of one score for each record, of its group and features, and of two scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)
from mipaudit.validation.laws.families import LAW_FAMILIES, coin, law_of, truthful
from mipaudit.validation.laws.mixture import Atoms, Normal, Rounded
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

FIRST: Final = "d1"
SECOND: Final = "d2"
BOTH: Final = f"{FIRST}, {SECOND}"
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


def xor(advantage: float) -> RecordScenario:
    """Return normal scores whose signs agree more often in members: alone, each tells nothing.

    Args:
        advantage: of the best attacker at prior 0.5, in (0, 1].
    """
    chances = (1 + advantage) / 2, (1 - advantage) / 2

    def draw(rng: np.random.Generator, member: NDArray[np.bool_]) -> Columns:
        first = rng.standard_normal(member.size)
        second = np.abs(rng.standard_normal(member.size))
        agree = rng.random(member.size) < np.where(member, *chances)
        return {FIRST: first, SECOND: np.copysign(second, np.where(agree, first, -first))}

    def agreement(columns: Columns) -> NDArray[np.float64]:
        agree = np.signbit(columns[FIRST]) == np.signbit(columns[SECOND])
        return np.asarray(agree, dtype=np.float64)

    together = law_of("signs", "whether the signs agree", *map(coin, chances))
    return _pair(draw, together, agreement, law_of("sign", "one of the two", Normal(), Normal()))


def gaussian_plane(mu: float) -> RecordScenario:
    """Return two normal scores, members higher in both.

    Args:
        mu: distance of the two centres, in standard deviations.
    """

    def draw(rng: np.random.Generator, member: NDArray[np.bool_]) -> Columns:
        centre = member * (mu / math.sqrt(2))
        return {name: rng.standard_normal(member.size) + centre for name in (FIRST, SECOND)}

    def diagonal(columns: Columns) -> NDArray[np.float64]:
        return np.asarray((columns[FIRST] + columns[SECOND]) / math.sqrt(2))

    together, alone = (
        law_of("shifted", f"members {shift:g} higher", Normal(mean=shift), Normal())
        for shift in (mu, mu / math.sqrt(2))
    )
    return _pair(draw, together, diagonal, alone)


def _pair(
    draw: Callable[[np.random.Generator, NDArray[np.bool_]], Columns],
    law: Law,
    read: Callable[[Columns], NDArray[np.float64]],
    alone: Law,
) -> RecordScenario:
    """Return two scores: a number has all that they tell together, and each is seen alone too."""
    views = (
        View(sees=BOTH, law=law, read=read, ordered=False),
        View(sees=FIRST, law=alone, read=lambda columns: columns[FIRST]),
        View(sees=SECOND, law=alone, read=lambda columns: columns[SECOND]),
    )
    return RecordScenario(drawn=(FIRST, SECOND), draw=draw, views=views)
