"""Numbers released over random training sets, for ``noise``: every moment is known."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.validation.scenarios.scenario import Scenario
from mipaudit.validation.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.validation.truth import Kind

SPLIT: Final = "split"
RELEASE: Final = "release"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """What `noise` has to know of one released number, over all random halves.

    Attributes:
        sigma_1: mean distance from the median.
        sigma_2: standard deviation.
        sensitivity: largest move when one record is exchanged for another.
        swap_distance: mean such move, for the record for which it is largest.
        swap_distance_average: mean such move of all records.
        median: of the release.
        mean: of the release.
    """

    sigma_1: float
    sigma_2: float
    sensitivity: float
    swap_distance: float
    swap_distance_average: float
    median: float
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitScenario(Scenario):
    """A deterministic algorithm, run on random halves of fixed records.

    Attributes:
        records: n, even.
        n_splits: rows drawn unless somebody says otherwise.
    """

    records: int
    n_splits: int = 256

    @property
    def kind(self) -> Kind:
        """Rows are splits."""
        return "splits"

    @property
    def columns(self) -> tuple[str, ...]:
        """The number of the split, and what was released."""
        return (SPLIT, RELEASE)

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many splits are drawn."""
        return {"splits": self.n_splits}

    @property
    @abstractmethod
    def splits_per_chunk(self) -> int:
        """How many splits may be drawn at once without taking much memory."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, splits: int) -> NDArray[np.float64]:
        """Return what is released over independent random halves, shape (splits,)."""

    @abstractmethod
    def moments(self) -> Moments:
        """Return the moments over all halves, exact to nine digits or more."""

    def truths(self, prior: float) -> tuple[Truth, ...]:
        """Return the moments; the prior has no meaning here."""
        del prior
        known = self.moments()
        return tuple(
            Truth(quantity=name, value=float(f"{value:.9g}"), sees=RELEASE)
            for name, value in (
                ("sigma_1", known.sigma_1),
                ("sigma_2", known.sigma_2),
                ("sensitivity", known.sensitivity),
                ("swap_distance", known.swap_distance),
                ("swap_distance_average", known.swap_distance_average),
            )
        )
