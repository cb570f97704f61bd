"""A score that tells more of some groups of records than of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.validation.scenarios.scenario import GROUP, RecordScenario
from mipaudit.validation.scenarios.score_scenario import SCORE, drawn_from, read_score
from mipaudit.validation.scenarios.truths import tidy
from mipaudit.validation.scenarios.view import View
from mipaudit.validation.truth import Truth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.validation.laws.groups import Subgroup
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.scenarios.view import Columns


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
