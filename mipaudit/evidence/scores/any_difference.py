"""The exact test of whether the groups differ at all along a score: one row, no limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.maths.chance import MOST_ROWS, difference_p_value
from mipaudit.statements.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.maths.class_limits.roc_counts import Ladder

# The stream of the report's seed from which labels are drawn.
_STREAM: Final = 7
_NO_LIMIT: Final = "a p-value has no limits; a verdict rests on it only if a policy asks"


def any_difference(evidence: Evidence, confidence: float) -> Estimate:
    """Return the p-value of 'membership tells nothing about this score' as a row.

    Exact, for this score alone. What it finds may be membership, or any other difference of
    the groups.

    Args:
        evidence: of the score.
        confidence: of the report; the p-value does not depend on it.
    """
    ladder, selection = _rows(evidence)
    too_many = ladder.n_members + ladder.n_holdout > MOST_ROWS
    return Estimate(
        quantity="any_difference",
        score=evidence.score,
        method="labels permuted: ranks, scale, tails and chi-squared by the least p-value",
        attackers="any",
        value=None
        if too_many
        else difference_p_value(ladder, seed=[evidence.seed, _STREAM], ordered=evidence.ordered),
        value_reason=f"counted up to {MOST_ROWS:,} rows" if too_many else None,
        lower=None,
        lower_reason=_NO_LIMIT,
        upper=None,
        upper_reason=_NO_LIMIT,
        confidence=confidence,
        selection=selection,
        validity="finite-sample",
        n_members=ladder.n_members,
        n_holdout=ladder.n_holdout,
    )


def difference_shown(p_value: float | None, error: float) -> float | None:
    """Return a lower limit of 'the groups differ' (1 if they do, 0 if not), one-sided error.

    Args:
        p_value: of the test; None where it was not counted.
        error: in (0, 1).
    """
    return None if p_value is None else float(p_value <= error)


def joint_p_value(rows: Iterable[Estimate]) -> float | None:
    """Return a p-value of 'no score shows anything' (Bonferroni); None without any row."""
    found = [
        row.value for row in rows if row.quantity == "any_difference" and row.value is not None
    ]
    return min(1.0, len(found) * min(found)) if found else None


def _rows(evidence: Evidence) -> tuple[Ladder, str]:
    """Return the rows whose labels are exchangeable given the steps they are counted on.

    Single values depend on no label. The fine cells of large inputs, and a learned score,
    depend on the labels of burn-in rows, which then do not count.
    """
    everyone = evidence.counts.everyone
    if everyone.single.all() and not evidence.vectorial:
        return everyone, "all rows"
    return evidence.counts.evaluated, "rows outside the burn-in, which chose the cells"
