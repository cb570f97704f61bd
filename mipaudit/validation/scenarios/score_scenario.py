"""One score per record, from a law: the simplest scenario, and the one-run canaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.validation.scenarios.scenario import RecordScenario
from mipaudit.validation.scenarios.view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.rivals.attack import Attack
    from mipaudit.validation.scenarios.view import Columns

SCORE: Final = "score"


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
