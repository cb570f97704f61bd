"""What one score shows about the optimum of one metric: every limit, at any error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.maths.metrics.metric import Metric
    from mipaudit.statements.estimate import Attackers


class MetricEvidence(ABC):
    """One metric of one score.

    Attributes:
        evidence: of the score.
        metric: at the same prior.
    """

    evidence: Evidence
    metric: Metric

    @property
    @abstractmethod
    def method(self) -> str:
        """Name the method of the lower limit."""

    @property
    @abstractmethod
    def class_method(self) -> str:
        """Name the method of the upper limits."""

    @property
    @abstractmethod
    def selection(self) -> str:
        """Say which rows chose the attackers of the lower limit, and which scored them."""

    @property
    @abstractmethod
    def value(self) -> float:
        """Return the held-out estimate, at least the baseline: biased downward."""

    @property
    @abstractmethod
    def standard_error(self) -> float:
        """Return the standard error of the value, roughly."""

    @abstractmethod
    def lower(self, alpha: float) -> float:
        """Return the lower limit for any attacker, one-sided alpha."""

    @abstractmethod
    def upper(self, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit for a class, one-sided alpha; None where there is none."""

    @abstractmethod
    def observed(self, attackers: Attackers) -> tuple[float, int, int]:
        """Return the best observed value of a class, and the rows behind it."""


def deciding_upper(
    found: MetricEvidence, against: Attackers | None, alpha: float
) -> tuple[Attackers, float | None]:
    """Return the class whose upper limit decides a policy: the one asked for, else the widest."""
    if against is not None:
        return against, found.upper(against, alpha)
    if found.evidence.discrete:
        return "any", found.upper("any", alpha)
    limits = [(found.upper(one, alpha), one) for one in found.evidence.classes]
    upper, attackers = max((upper, one) for upper, one in limits if upper is not None)
    return attackers, upper
