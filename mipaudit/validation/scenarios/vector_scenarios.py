"""Scenarios of two scores for each record, which tell more together than each alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.laws.families import coin, law_of
from mipaudit.validation.laws.mixture import normal
from mipaudit.validation.scenarios.scenario import RecordScenario, View

if TYPE_CHECKING:
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.scenarios.scenario import Columns

FIRST: Final = "d1"
SECOND: Final = "d2"
BOTH: Final = f"{FIRST}, {SECOND}"


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
    return _pair(draw, together, agreement, law_of("sign", "one of the two", normal(), normal()))


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
        law_of("shifted", f"members {shift:g} higher", normal(mean=shift), normal())
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
