"""What rows of a report imply about the advantage, so that no headline is silent on them.

An attacker with TPR T at FPR F has advantage (1-2p) + 2 (p T - (1-p) F), and no attacker has
less than |2p-1|. Of the AUC: every point of the ROC lies on or below the line
p T - (1-p) F = (Adv - 1 + 2p) / 2. The area under that line and under 1 is
1 - (1 - Adv)^2 / (8 p (1-p)), hence Adv >= 1 - 2 sqrt(2 p (1-p) (1 - AUC)), ties included.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from mipaudit.maths.advantage import advantage, baseline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mipaudit.model.row import Row

_CHANCE: Final = 0.5


def advantage_of_auc(auc: float, prior: float) -> float:
    """Return the least advantage of a score with this AUC on either side.

    Args:
        auc: in [0, 1].
        prior: p in (0, 1).
    """
    implied = 1 - 2 * math.sqrt(2 * prior * (1 - prior) * (1 - max(auc, 1 - auc)))
    return max(baseline(prior), implied)


def advantage_of_point(tpr: float, fpr: float, prior: float) -> float:
    """Return the least advantage of a score whose ROC has a point at or above (fpr, tpr)."""
    return max(baseline(prior), advantage(tpr, fpr, prior))


def strongest_implication(estimates: Iterable[Row], prior: float) -> tuple[Row, float] | None:
    """Return the row that implies most among those that show a difference; None if none does.

    Args:
        estimates: rows of one report, the strongest score first; the first of equals counts.
        prior: p in (0, 1), of all rows.

    Returns:
        The AUC, or the TPR at an FPR, whose lower limit is above chance, and the advantage that
        follows, in [|2p-1|, 1], at the row's own confidence: not jointly with any other row.
    """
    found = ((row, _implied(row, prior)) for row in estimates)
    shown = [(row, implied) for row, implied in found if implied is not None]
    return max(shown, key=lambda one: one[1], default=None)


def _implied(row: Row, prior: float) -> float | None:
    """Return what a row implies, None unless its lower limit is above chance."""
    if row.lower is None or row.group is not None or row.versus is not None:
        return None
    if row.quantity == "auc" and row.lower > _CHANCE:
        return advantage_of_auc(row.lower, prior)
    if row.quantity == "tpr_at_fpr" and row.fpr is not None and row.lower > row.fpr:
        return advantage_of_point(row.lower, row.fpr, prior)
    return None
