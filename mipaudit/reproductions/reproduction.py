"""A reproduction: a figure of a paper and the function that computes it anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mipaudit.reproductions.report import Outcome


Array = NDArray[np.float64]

T = TypeVar("T")
Needs = Literal["adult", "compas"]

# What the notes on a band say where its width is that of a simulation.
SIMULATED: Final = "simulation error: 5 standard errors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an audit of one score says, at one prior.

    Attributes:
        lower: the advantage is at least that, for the best of all attackers, with
            confidence 0.95.
        thresholds: no threshold exceeds that, with confidence 0.95.
        kernel: the published kernel estimate U_N; no limit of anything.
    """

    lower: float
    thresholds: float
    kernel: float | None


class Audit(Protocol):
    """How a reproduction calls the audit that users call."""

    def __call__(self, members: Array, holdout: Array, *, prior: float = 0.5) -> Limits:
        """Return the limits for scores of shape (n,), or (n, d) taken together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What a reproduction works with.

    Attributes:
        seed: of every random choice.
        quick: compute the smaller form.
        audit: the audit that users call.
        advance: told the share of the work that is done, in [0, 1].
        table: the user's file as columns, for figures that need one.
    """

    seed: int
    quick: bool
    audit: Audit
    advance: Callable[[float], None]
    table: Any = None

    def rng(self, stream: int) -> np.random.Generator:
        """Return a generator of its own for each stream."""
        return np.random.default_rng([self.seed, stream])

    def pick(self, full: T, quick: T) -> T:
        """Return what the form that is asked for takes."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """A figure of a paper.

    Attributes:
        id: stable, lower case: ``izzo-fig1``.
        title: what it is about, a few words.
        source: the paper and the figure in it.
        shows: what the figure in the paper shows: axes, curves, setting.
        claim: what the paper concludes from it.
        run: computes it.
        needs: the file that the user must supply, if any.
        accounts: whether it trains with DP-SGD, whose epsilon dp-accounting counts.
    """

    id: str
    title: str
    source: str
    shows: str
    claim: str
    run: Callable[[Bench], Outcome]
    needs: Needs | None = None
    accounts: bool = False
