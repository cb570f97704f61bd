"""The shape behind a score's figures: its ROC with limits, and counts from low to high.

Nothing here is on the axis of the score, so that no record's score can be read from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.class_limits.roc_counts import Ladder, exact_ladder
from mipaudit.statements.choices import Side  # noqa: TC001 - the codec reads it

if TYPE_CHECKING:
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.maths.arrays import Bools, Floats

ROC_FPRS: Final = (
    *(1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3),
    *(0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9),
)
_BINS: Final = 20
_SMALLEST_BIN: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RocPoint:
    """TPR at one FPR: the observed one, and limits that hold for this point alone.

    None where there are too few holdout records to say.
    """

    fpr: float
    tpr: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreBin:
    """Records between two quantiles of all scores, which are not said."""

    members: int
    holdout: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCurves:
    """What a score's figures are read off.

    Attributes:
        score: its name.
        side: where members are guessed, for the ROC.
        roc: from the least FPR up; empty for labels, which have no order, and where nothing
            is estimated.
        bins: from the lowest scores to the highest, of about equal size, at least 10 records
            each. A description of all rows; no limit rests on them.
    """

    score: str
    side: Side | None
    roc: tuple[RocPoint, ...]
    bins: tuple[ScoreBin, ...]


def score_curves(evidence: Evidence, alpha: float) -> ScoreCurves:
    """Return the curves of one score.

    Args:
        evidence: of the score.
        alpha: one-sided error of each limit of each point.
    """
    return ScoreCurves(
        score=evidence.score,
        side=evidence.area[1] if evidence.ordered else None,
        roc=tuple(_point(evidence, fpr, alpha) for fpr in ROC_FPRS) if evidence.ordered else (),
        bins=_bins(evidence.counts.everyone),
    )


def spread_alone(
    score: str, values: Floats, member: Bools, side: Side | None = None
) -> ScoreCurves:
    """Return the counts of a score from low to high, without anything that has limits.

    Args:
        score: its name.
        values: no NaN.
        member: whose they are.
        side: where members are expected.
    """
    ladder = exact_ladder(values[member], values[~member])
    return ScoreCurves(score=score, side=side, roc=(), bins=_bins(ladder))


def _bins(ladder: Ladder) -> tuple[ScoreBin, ...]:
    return tuple(ScoreBin(members=members, holdout=holdout) for members, holdout in _binned(ladder))


def _point(evidence: Evidence, fpr: float, alpha: float) -> RocPoint:
    point = evidence.tpr(fpr, alpha)
    upper = evidence.tpr_upper(fpr, alpha)
    seen = fpr * evidence.one_sided.n_holdout >= 1
    return RocPoint(
        fpr=fpr,
        tpr=point.value if seen else None,
        lower=point.lower,
        upper=upper if upper < 1 else None,
    )


def _binned(ladder: Ladder) -> list[tuple[int, int]]:
    """Return members and holdout records by bin; equal scores are in the same one."""
    members, holdout = (np.cumsum(one) for one in (ladder.members, ladder.holdout))
    total = (members + holdout).astype(np.float64)  # as what is sought in it
    size = max(float(_SMALLEST_BIN), total[-1] / _BINS)
    ends = [-1]
    while ends[-1] < total.size - 1:
        behind = total[ends[-1]] if ends[-1] >= 0 else 0
        end = min(int(np.searchsorted(total, behind + size - 0.5)), total.size - 1)
        # What is left must fill a bin of its own, or joins this one.
        ends.append(end if total[-1] - total[end] >= _SMALLEST_BIN else total.size - 1)
    edges = np.array(ends[1:], dtype=np.intp)
    counts = (np.diff(one[edges], prepend=0).tolist() for one in (members, holdout))
    return list(zip(*counts, strict=True))
