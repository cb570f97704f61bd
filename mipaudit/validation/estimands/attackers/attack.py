"""What the counts of an attack rule out, as ``bounds --tp --fn --fp --tn`` states it.

The attack was fixed before any file was drawn; its own epsilon and mu, from its true
rates, are the truth. The mechanism's are at least as large.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.maths.privacy.tradeoff import refuted_epsilon, refuted_mu
from mipaudit.validation.coverage.interval import Interval
from mipaudit.validation.estimands.estimand import Estimand, one_sided, wrong_arguments
from mipaudit.validation.rivals.audited_file import ATTACK_CUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.bounds.refutation import Refutation, RefutedLimits
    from mipaudit.validation.coverage.interval import Args
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.rivals.audited_file import AuditedFile


class _RuledOut(Estimand):
    """A parameter of differential privacy that an attack rules out; it takes no arguments."""

    def applies(self, law: Law) -> bool:
        """Tell whether the attack leaves any finite value standing."""
        return math.isfinite(self._at(*_rates(law)))

    def truth(self, law: Law, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the attack's own value, from its true rates."""
        if args:
            raise wrong_arguments(self)
        return self._at(*_rates(law))

    def baseline(self, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return 0."""
        return 0.0

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the Clopper-Pearson limits, two-sided and one-sided."""
        refuted = audited.refuted
        for limits in refuted.limits:
            if limits.method == "clopper-pearson":
                yield self._interval(refuted, limits)

    def _interval(self, refuted: Refutation, limits: RefutedLimits) -> Interval:
        lower, upper = self._ends(limits)
        two_sided = limits.sides == 2  # noqa: PLR2004
        return Interval(
            estimand=self.name,
            lower=lower,
            upper=upper,
            nominal=one_sided(limits.confidence) if two_sided else limits.confidence,
            value=self._value(refuted),
            label=self.name if two_sided else f"{self.name}, one-sided",
        )

    @staticmethod
    @abstractmethod
    def _at(tpr: float, fpr: float) -> float:
        """Return the least value that is consistent with these rates."""

    @staticmethod
    @abstractmethod
    def _ends(limits: RefutedLimits) -> tuple[float, float | None]:
        """Return the two limits."""

    @staticmethod
    @abstractmethod
    def _value(refuted: Refutation) -> float | None:
        """Return the best estimate."""


class AttackEpsilon(_RuledOut):
    """The epsilon, at delta 0, that an attack rules out."""

    name = "attack_epsilon"
    meaning = "epsilon that a fixed attack rules out (bounds, from counts)"

    @staticmethod
    def _at(tpr: float, fpr: float) -> float:
        return refuted_epsilon(tpr, fpr, 0.0)

    @staticmethod
    def _ends(limits: RefutedLimits) -> tuple[float, float | None]:
        return limits.epsilon_lower, limits.epsilon_upper

    @staticmethod
    def _value(refuted: Refutation) -> float | None:
        return refuted.epsilon


class AttackMu(_RuledOut):
    """The mu of Gaussian differential privacy that an attack rules out."""

    name = "attack_mu"
    meaning = "mu that a fixed attack rules out (bounds, from counts)"

    @staticmethod
    def _at(tpr: float, fpr: float) -> float:
        return refuted_mu(tpr, fpr)

    @staticmethod
    def _ends(limits: RefutedLimits) -> tuple[float, float | None]:
        return limits.mu_lower, limits.mu_upper

    @staticmethod
    def _value(refuted: Refutation) -> float | None:
        return refuted.mu


def _rates(law: Law) -> tuple[float, float]:
    """Return the true TPR and FPR of the attack at `ATTACK_CUT`."""
    cut = np.array([ATTACK_CUT])
    return 1 - float(law.members.cdf(cut)[0]), 1 - float(law.holdout.cdf(cut)[0])
