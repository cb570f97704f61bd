"""How much larger the loss is on holdout records than on members."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.attack.report import GeneralizationGap
from mipaudit.commands.attack.target import NO_MEAN, no_mean, real_loss
from mipaudit.evidence.named_attackers.named_attack import mean_difference

if TYPE_CHECKING:
    from mipaudit.commands.attack.options import AttackOptions
    from mipaudit.commands.attack.target import Attacked

_NO_BOUND: Final = (
    "the mean of a loss without a bound has no valid limits; give --loss-bound B if the loss "
    "cannot exceed B"
)


def generalization_gap(one: Attacked, asked: AttackOptions, alpha: float) -> GeneralizationGap:
    """Return how far the mean losses of the classes are apart, with limits if the loss is bounded.

    Of a score that is high for members, members less holdout. With a side that was looked
    for on the burn-in, the other rows count: that decided which is taken from which.
    """
    bound = asked.loss_bound
    rows = np.ones(one.judged.size, dtype=bool) if asked.side_known else one.judged
    loss, member = real_loss(one, asked)[rows], one.member[rows]
    reason = no_mean(one, asked, rows)
    if reason is not None:
        return _gap(one, asked, None, (None, None), reason)
    if bound is not None:
        loss = np.clip(loss, 0.0, bound)
    with np.errstate(over="ignore", invalid="ignore"):
        value = float(loss[~member].mean() - loss[member].mean())
    if not math.isfinite(value):
        return _gap(one, asked, None, (None, None), NO_MEAN)
    if bound is None:
        return _gap(one, asked, value, (None, None), _NO_BOUND)
    terms = loss / bound
    lower, upper = mean_difference(terms[~member], terms[member], alpha)
    return _gap(one, asked, value, (lower * bound, upper * bound), None)


def _gap(
    one: Attacked,
    asked: AttackOptions,
    value: float | None,
    limits: tuple[float | None, float | None],
    reason: str | None,
) -> GeneralizationGap:
    return GeneralizationGap(
        score=one.name,
        value=value,
        lower=limits[0],
        upper=limits[1],
        bound=asked.loss_bound,
        reason=reason,
        order="holdout less members" if one.side == "low" else "members less holdout",
    )
