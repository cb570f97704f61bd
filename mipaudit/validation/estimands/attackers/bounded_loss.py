"""The generalization gap and the bounded-loss adversary, as ``attack`` states them of a loss.

The score counts as a loss that is low for members, with a bound that was known before: what
lies outside of 0 to the bound counts as the end that it passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.attack.adversaries.literature import bounded_loss_guesses
from mipaudit.evidence.named_attackers.named_attack import achieved, mean_difference, weighed
from mipaudit.validation.coverage.interval import Interval
from mipaudit.validation.estimands.estimand import DEAR, Estimand, one_sided, wrong_arguments
from mipaudit.validation.rivals.audited_file import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.validation.coverage.interval import Args
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.laws.mixture import Mixture
    from mipaudit.validation.rivals.audited_file import AuditedFile

BOUND: Final = 2.0
_ALPHA: Final = 1 - CONFIDENCE
# The middles of so many steps: each mean is then within BOUND / 2^17 of the truth.
_STEPS: Final = 1 << 16


class GeneralizationGap(Estimand):
    """Mean loss of the holdout less that of the members, of the clipped loss."""

    name = "generalization_gap"
    meaning = "generalization gap of a bounded loss (attack)"
    usual = DEAR

    def truth(self, law: Law, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the difference of the two means."""
        if args:
            raise wrong_arguments(self)
        return _mean(law.holdout) - _mean(law.members)

    def baseline(self, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return 0."""
        return 0.0

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the limits of two means."""
        terms = np.clip(audited.score, 0.0, BOUND) / BOUND
        lower, upper = mean_difference(terms[~audited.member], terms[audited.member], _ALPHA)
        yield Interval(
            estimand=self.name,
            lower=lower * BOUND,
            upper=upper * BOUND,
            nominal=one_sided(CONFIDENCE),
        )


class BoundedLoss(Estimand):
    """The advantage of Yeom's bounded-loss adversary."""

    name = "bounded_loss"
    meaning = "advantage of the bounded-loss adversary (attack)"
    usual = DEAR

    def truth(self, law: Law, prior: float, args: Args) -> float:
        """Return its advantage: it calls a record a member with probability 1 - loss/bound."""
        if args:
            raise wrong_arguments(self)
        return weighed(1 - _mean(law.members) / BOUND, 1 - _mean(law.holdout) / BOUND, prior)

    def baseline(self, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return 0: it may do worse than blind guessing."""
        return 0.0

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the limits that ``attack`` states."""
        found = achieved(
            bounded_loss_guesses(audited.score, BOUND),
            audited.member,
            prior=audited.prior,
            alpha=_ALPHA,
        )
        if found is None:
            return
        yield Interval(
            estimand=self.name,
            lower=found.advantage.lower,
            upper=found.advantage.upper,
            nominal=one_sided(CONFIDENCE),
            value=found.advantage.value,
        )


def _mean(part: Mixture) -> float:
    """Return the mean of a clipped loss: the integral of P(loss > x) from 0 to the bound."""
    step = BOUND / _STEPS
    middles = np.asarray(step * (np.arange(_STEPS) + 0.5), dtype=np.float64)
    return float((1 - part.cdf(middles)).sum() * step)
