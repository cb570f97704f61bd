"""One number made of several: what attackers on vector scores learn and look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.maths.learners import RobustScale

Form = Literal["product-grid", "joint", "logistic", "neighbours", "boosting", "coordinate"]
LEARNED: Final[frozenset[Form]] = frozenset({"logistic", "neighbours", "boosting"})


class Fitted(Protocol):
    """Something that makes one number of the coordinates."""

    def score(self, columns: list[NDArray[np.float64]], /) -> NDArray[np.float64]:
        """Return one number for each row, shape (n,)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coordinate:
    """A single coordinate as it is."""

    index: int

    def score(self, columns: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the coordinate."""
        return columns[self.index]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DerivedScore:
    """A derived score, higher for what looks like a member unless it is a coordinate.

    Attributes:
        form: what it is.
        fitted: makes it.
        scale: of the coordinates that it takes, or None where it takes them as they are.
    """

    form: Form
    fitted: Fitted
    scale: RobustScale | None

    @property
    def learned(self) -> bool:
        """Tell whether it is one of the learned scores."""
        return self.form in LEARNED


def derive(
    derived: Sequence[DerivedScore], columns: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], ...]:
    """Return each derived score of rows whose coordinates are given, each of shape (n,)."""
    raw = list(columns)
    scaled: list[NDArray[np.float64]] = []
    found = []
    for one in derived:
        if one.scale is None:
            found.append(one.fitted.score(raw))
            continue
        if not scaled:
            scaled = [one.scale.column(column, at) for at, column in enumerate(raw)]
        found.append(one.fitted.score(scaled))
    return tuple(found)
