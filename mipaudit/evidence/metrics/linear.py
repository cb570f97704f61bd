"""A metric that is linear in the rates: the advantage at another prior, on another scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mipaudit.evidence.metrics.evidence import MetricEvidence

if TYPE_CHECKING:
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.maths.metrics.metric import Metric, OrdinaryForm
    from mipaudit.statements.estimate import Attackers


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearEvidence(MetricEvidence):
    """A metric that is linear in the rates: an advantage at the prior c1 / (c1 + c2)."""

    evidence: Evidence
    metric: Metric
    form: OrdinaryForm

    @property
    def method(self) -> str:
        """Name the method of the lower limit."""
        return "exact blocks" if self.evidence.strict else "prequential with MOVER"

    @property
    def class_method(self) -> str:
        """Name the method of the upper limits."""
        if self.evidence.strict:
            return "finite-sample limit of the class supremum, as of an advantage"
        return "oracle limit of the class supremum, linearised"

    @property
    def selection(self) -> str:
        """Say which rows chose the attackers of the lower limit, and which scored them."""
        return "attackers fitted on the burn-in and on earlier blocks, scored on later ones"

    @property
    def value(self) -> float:
        """Return the held-out estimate."""
        return self._moved(self._advantage.held_out.value)

    @property
    def standard_error(self) -> float:
        """Return the standard error of the value."""
        return self._scale * self._advantage.held_out.standard_error

    def lower(self, alpha: float) -> float:
        """Return the lower limit for any attacker, one-sided alpha."""
        return self._moved(self._advantage.lower(alpha))

    def upper(self, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit for a class, one-sided alpha."""
        upper = self._advantage.upper(attackers, alpha)
        return None if upper is None else self._moved(upper)

    def observed(self, attackers: Attackers) -> tuple[float, int, int]:
        """Return the best observed value of a class, and the rows behind it."""
        if attackers == "any":
            n_holdout, n_members = (int(n) for n in self.evidence.counts.scored.sum(axis=0))
            return self._moved(self._advantage.plugin), n_members, n_holdout
        advantage, n_members, n_holdout = self._advantage.observed(attackers)
        return self._moved(advantage), n_members, n_holdout

    @cached_property
    def _advantage(self) -> Evidence:
        return self.evidence.at_prior(self.form.c1 / (self.form.c1 + self.form.c2))

    @property
    def _scale(self) -> float:
        return (self.form.c1 + self.form.c2) / 2 / self.metric.bottom[0]

    def _moved(self, advantage: float) -> float:
        """Return the metric at which the advantage has a value."""
        shift = 2 * self._advantage.prior - 1
        moved = self.form.c0 / self.metric.bottom[0] + self._scale * (advantage + shift)
        return min(max(moved, self.metric.baseline), self.metric.most)
