"""A scenario: a table that can be drawn at any size, and what is true of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.validation.scenarios.view import Columns, View
    from mipaudit.validation.truth import Kind, Truth

MEMBER: Final = "member"
INCLUDED: Final = "included"
GROUP: Final = "group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(ABC):
    """Something that can be simulated.

    Attributes:
        name: stable, lower case, with hyphens; it carries the parameters.
        summary: one line.
        heading: what it is listed under.
        parameters: the numbers in its name.
        notes: what a reader of its truth must know.
    """

    name: str
    summary: str
    heading: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """What its rows are."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""

    @property
    @abstractmethod
    def sizes(self) -> Mapping[str, int]:
        """How many rows of each class are drawn unless somebody says otherwise."""

    @abstractmethod
    def truths(self, prior: float) -> tuple[Truth, ...]:
        """Return what is true of it.

        Args:
            prior: probability that a challenged record is a member, in (0, 1).
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordScenario(Scenario):
    """Rows are records, each a member or holdout.

    Attributes:
        n_members: drawn unless somebody says otherwise.
        n_holdout: likewise.
        canaries: whether each record was included by a fair coin of its own.
    """

    n_members: int = 1000
    n_holdout: int = 1000
    canaries: bool = False

    @property
    def kind(self) -> Kind:
        """Canaries, or members and holdout."""
        return "canaries" if self.canaries else "scores"

    @property
    def columns(self) -> tuple[str, ...]:
        """The row's id, its membership, and what is drawn."""
        return (self.id_column, self.member_column, *self.drawn)

    @property
    def id_column(self) -> str:
        """The column that numbers the rows."""
        return "canary_id" if self.canaries else "record_id"

    @property
    def member_column(self) -> str:
        """The column that says who is a member."""
        return INCLUDED if self.canaries else MEMBER

    @property
    def sizes(self) -> Mapping[str, int]:
        """Members and holdout records, or canaries."""
        if self.canaries:
            return {"canaries": self.n_members}
        return {"members": self.n_members, "holdout": self.n_holdout}

    @property
    @abstractmethod
    def drawn(self) -> tuple[str, ...]:
        """The columns that `draw` returns; the first is what rows are sorted by."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, member: NDArray[np.bool_]) -> Columns:
        """Return the columns of independent records with this membership."""

    @abstractmethod
    def views(self) -> tuple[View, ...]:
        """Return what attackers may see."""

    def truths(self, prior: float) -> tuple[Truth, ...]:
        """Return what is true of every view, and what follows."""
        from mipaudit.validation.scenarios.truths import truths_of

        seen = tuple(truth for view in self.views() for truth in truths_of(view, prior))
        return (*seen, *self.further_truths(prior))

    def further_truths(self, prior: float) -> tuple[Truth, ...]:
        """Return truths that belong to no single view."""
        del prior
        return ()
