"""The upper limit for all attackers of a discrete score: the better of two methods.

Both use only rows outside the burn-in, because the burn-in's values are the cells and
its number of values decides how the error is shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.binomial import clopper_pearson_upper
from mipaudit.maths.class_limits.best_attackers import best_sets
from mipaudit.maths.class_limits.upper import (
    noncentrality_upper,
    noncentrality_weights,
    oracle_upper,
)
from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS

if TYPE_CHECKING:
    from mipaudit.summaries.tally import ColumnCounts

_FEW_CELLS: Final = 8
_MIDDLE_PRIORS: Final = (0.25, 0.75)
_WEIGHT_BLOCKS: Final = MICRO_BLOCKS // 4
# Shares of the noncentrality limit's error for the mass of values that the burn-in lacks.
_UNSEEN_SHARE: Final = 0.05


def discrete_upper(counts: ColumnCounts, prior: float, alpha: float) -> float:
    """Return an upper limit of the advantage over all attackers, one-sided alpha.

    With few values, or a prior far from 1/2, the oracle limit on W_N alone; otherwise
    the smaller of that and the noncentrality limit, at half the error each.

    Args:
        counts: of a discrete score.
        prior: p in (0, 1).
        alpha: one-sided error in (0, 1).
    """
    both = int(counts.single.sum()) > _FEW_CELLS and _MIDDLE_PRIORS[0] <= prior <= _MIDDLE_PRIORS[1]
    share = alpha / 2 if both else alpha
    ladder = counts.evaluated
    by_oracle = oracle_upper(
        best_sets(ladder, prior), ladder.n_members, ladder.n_holdout, prior=prior, alpha=share
    )
    return min(by_oracle, _by_noncentrality(counts, prior, share)) if both else by_oracle


def _by_noncentrality(counts: ColumnCounts, prior: float, alpha: float) -> float:
    """Return the limit from the weighted chi-square distance, values unseen set apart.

    Total variation over the burn-in's values misses what happens among the values that
    it lacks: at most twice the smaller weighted mass of those.
    """
    first = max(counts.burn_in, _WEIGHT_BLOCKS)
    pooled = counts.blocks[:first].sum(axis=(0, 2))
    late = counts.blocks[first:].sum(axis=0)
    holdout, members = late[:, 0], late[:, 1]
    n_members, n_holdout = int(members.sum()), int(holdout.sum())
    if min(n_members, n_holdout) < 2:  # noqa: PLR2004 - a variance needs two
        return 1.0
    known = counts.single
    unseen_members, unseen_holdout = int(members[~known].sum()), int(holdout[~known].sum())
    limit = noncentrality_upper(
        np.append(members[known], unseen_members),
        np.append(holdout[known], unseen_holdout),
        noncentrality_weights(np.append(pooled[known], pooled[~known].sum())),
        alpha=alpha * (1 - 2 * _UNSEEN_SHARE),
    )
    error = alpha * _UNSEEN_SHARE
    unseen = min(
        prior * float(clopper_pearson_upper(unseen_members, n_members, error)),
        (1 - prior) * float(clopper_pearson_upper(unseen_holdout, n_holdout, error)),
    )
    baseline = abs(1 - 2 * prior)
    total = 2 * min(prior, 1 - prior) * limit.total_variation_upper
    return min(1.0, baseline + total + 2 * unseen)
