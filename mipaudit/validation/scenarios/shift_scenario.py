"""Members and holdout that differ, and a score that tells no more than the records do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.validation.laws.density import Normal
from mipaudit.validation.laws.parametric_laws import law_of
from mipaudit.validation.laws.part import Atoms, Rounded
from mipaudit.validation.scenarios.scenario import RecordScenario
from mipaudit.validation.scenarios.score_scenario import SCORE, read_score
from mipaudit.validation.scenarios.view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.scenarios.view import Columns

# Whole numbers, which `estimate` takes for features beside a score with decimals.
FEATURES: Final = ("x1", "x2", "x3", "x4", "x5")
# Features are in tenths of a standard deviation, up to 12 of them.
_TENTHS: Final = 10
_REACH: Final = 120


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
