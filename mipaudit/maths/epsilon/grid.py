"""Clopper-Pearson limits at ranks fixed beforehand, with Bonferroni's correction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.epsilon.bands import BandPart, RocBand, counts_beyond

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RANKS: Final = 32
_EVEN_RANKS: Final = 16
_DIRECTIONS: Final = 2


def grid_band(
    members: NDArray[np.floating], holdout: NDArray[np.floating], *, alpha: float
) -> RocBand:
    """Return points that the ROC is jointly above, at log-spaced ranks of both classes.

    A class's own rank bounds its rate from one side by the beta law of an order
    statistic, ties included; the other class, which the threshold does not depend on,
    has a binomial count beyond it.

    Args:
        members: scores, shape (n1,), no NaN.
        holdout: scores, shape (n0,), no NaN.
        alpha: joint error in (0, 1), divided equally among all limits.
    """
    ordered = np.sort(members), np.sort(holdout)
    ranks = [_ranks(c.size) for c in ordered]
    each = alpha / (2 * _DIRECTIONS * sum(r.size for r in ranks))
    parts = [
        part
        for high in (True, False)
        for part in (
            _at_member_ranks(*ordered, ranks[0], each, high=high),
            _at_holdout_ranks(*ordered, ranks[1], each, high=high),
        )
    ]
    sizes = [ranks[0].size + ranks[1].size] * _DIRECTIONS
    return RocBand(
        tpr=np.concatenate([p[0] for p in parts]),
        fpr=np.concatenate([p[1] for p in parts]),
        tp=np.concatenate([p[2] for p in parts]),
        fp=np.concatenate([p[3] for p in parts]),
        members_high=np.repeat([True, False], sizes),
    )


def _at_member_ranks(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    ranks: NDArray[np.int64],
    alpha: float,
    *,
    high: bool,
) -> BandPart:
    """Guess *member* from the member of each rank on."""
    thresholds = members[members.size - ranks if high else ranks - 1]
    found = counts_beyond(holdout, thresholds, high=high)
    return (
        _lower(ranks, members.size, alpha),
        1 - _lower(holdout.size - found, holdout.size, alpha),
        ranks,
        found,
    )


def _at_holdout_ranks(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    ranks: NDArray[np.int64],
    alpha: float,
    *,
    high: bool,
) -> BandPart:
    """Guess *holdout* from the holdout record of each rank, counted at the other end, on."""
    thresholds = holdout[ranks - 1 if high else holdout.size - ranks]
    found = counts_beyond(members, thresholds, high=not high)
    return (
        _lower(members.size - found, members.size, alpha),
        1 - _lower(ranks, holdout.size, alpha),
        members.size - found,
        holdout.size - ranks,
    )


def _ranks(size: int) -> NDArray[np.int64]:
    spread = np.concatenate([np.geomspace(1, size, _RANKS), np.linspace(1, size, _EVEN_RANKS)])
    return np.unique(spread.round().astype(np.int64))


def _lower(counts: NDArray[np.int64], trials: int, alpha: float) -> NDArray[np.float64]:
    """Return Clopper-Pearson lower limits of whole counts."""
    from scipy.special import betaincinv

    safe = np.maximum(counts, 1)
    return np.where(counts > 0, betaincinv(safe, trials - safe + 1, alpha), 0.0)
