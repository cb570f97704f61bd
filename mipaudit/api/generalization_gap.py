"""How much larger the loss is on holdout records than on members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.api.attack_rows import NO_MEAN, real_loss
from mipaudit.audit.named_attack import mean_difference
from mipaudit.report.attack import GeneralizationGap

if TYPE_CHECKING:
    from mipaudit.api.attack_question import AttackQuestion
    from mipaudit.api.attack_rows import Attacked

_NO_BOUND: Final = (
    "the mean of a loss without a bound has no valid limits; give --loss-bound B if the loss "
    "cannot exceed B"
)


def generalization_gap(one: Attacked, question: AttackQuestion, alpha: float) -> GeneralizationGap:
    """Return mean holdout loss less mean member loss, with limits where the loss is bounded.

    With a side that was looked for on the burn-in, the other rows count: the sign of the
    loss was then chosen by the burn-in.
    """
    bound = question.loss_bound
    rows = np.ones(one.judged.size, dtype=bool) if question.side_known else one.judged
    loss, member = real_loss(one, question)[rows], one.member[rows]
    if bound is not None:
        loss = np.clip(loss, 0.0, bound)
    if not np.isfinite(loss).all() or min(member.sum(), (~member).sum()) == 0:
        return GeneralizationGap(
            score=one.name, value=None, lower=None, upper=None, bound=bound, reason=NO_MEAN
        )
    value = float(loss[~member].mean() - loss[member].mean())
    if bound is None:
        return GeneralizationGap(
            score=one.name, value=value, lower=None, upper=None, bound=None, reason=_NO_BOUND
        )
    terms = loss / bound
    lower, upper = mean_difference(terms[~member], terms[member], alpha)
    return GeneralizationGap(
        score=one.name,
        value=value,
        lower=lower * bound,
        upper=upper * bound,
        bound=bound,
        reason=None,
    )
