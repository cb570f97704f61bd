"""MACE's Algorithm 2 as a row of the report, for reproduction; it decides nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.metrics.mace import algorithm2
from mipaudit.statements.estimate import Estimate
from mipaudit.statements.text.rounding import value_text

if TYPE_CHECKING:
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.maths.metrics.metric import Metric

_PARTS: Final = 3
_UNDEFINED: Final = "0/0 on this part: nobody was guessed to be a member"


def published_metric(evidence: Evidence, metric: Metric, confidence: float) -> Estimate | None:
    """Return Algorithm 2's estimate with the mean of Lemma 7's limits.

    The micro-blocks, a random split of the rows, are dealt out into three parts; the score
    is taken as discrete, in the cells of the audit.

    Returns:
        None where a part lacks a class.
    """
    blocks = evidence.counts.blocks
    tables = np.stack([blocks[part::_PARTS].sum(axis=0) for part in range(_PARTS)])
    if not tables.sum(axis=1).all():
        return None
    found = algorithm2(tables, metric, 1 - confidence)
    n_holdout, n_members = (int(n) for n in tables[2].sum(axis=0))
    reason = _UNDEFINED if math.isnan(found.value) else None
    no_limits = _UNDEFINED if math.isnan(found.lower) else None
    return Estimate(
        quantity="metric",
        metric=metric.name,
        score=evidence.score,
        method="MACE Algorithm 2, as published; not a valid interval for the metric",
        attackers="any",
        value=None if reason else found.value,
        value_reason=reason,
        lower=None if no_limits else found.lower,
        lower_reason=no_limits,
        upper=None if no_limits else found.upper,
        upper_reason=no_limits,
        confidence=confidence,
        selection="three parts of the rows: the posterior by cell, its threshold "
        f"({value_text(found.threshold)}), the value; limits are means of Lemma 7's",
        validity="not-an-interval",
        n_members=n_members,
        n_holdout=n_holdout,
    )
