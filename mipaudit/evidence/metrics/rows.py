"""The rows of the report for one metric of one score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.maths.metrics.metric import closed_threshold, posterior_threshold
from mipaudit.statements.estimate import Estimate
from mipaudit.statements.text.rounding import number_text, value_text

if TYPE_CHECKING:
    from mipaudit.evidence.metrics.evidence import MetricEvidence
    from mipaudit.evidence.scores.rows import ErrorShare
    from mipaudit.maths.metrics.metric import Metric
    from mipaudit.statements.estimate import Attackers, Validity

_NO_CLASS_LOWER: Final = "the lower limit stands in the row of any attacker"
_NO_UPPER: Final = (
    "a continuous score has no upper limit for all attackers; see the classes of attackers"
)
_FEW_BINS: Final = "too few rows in the burn-in to cut 16 bins"
_NO_INFORMATION: Final = (
    "the data allow no limit below the largest value that there is; with a floor, a larger one may"
)
_SAME_DATA: Final = "only the same-data optimum is known; it is biased upward (plugin)"


def metric_estimates(found: MetricEvidence, share: ErrorShare) -> list[Estimate]:
    """Return the rows of one metric: any attacker first, then the named classes."""
    return [
        _any_attacker(found, share),
        *(_class(found, share, attackers) for attackers in found.evidence.classes),
    ]


def attacker_words(metric: Metric, level: float) -> str:
    """Say where the best attacker guesses 'member'."""
    closed = closed_threshold(metric)
    threshold = posterior_threshold(metric, level) if closed is None else closed
    parts = []
    if threshold is None or not 0 < threshold < 1:
        parts.append("a constant guess is best")
    else:
        how = "Theorem 1" if closed is not None else "at the best estimate"
        parts.append(f"best where P(member | score) is at least {value_text(threshold)} ({how})")
    return "; ".join(parts)


def floor_words(metric: Metric) -> str:
    """Say which attackers count; empty where all do."""
    match metric.floor:
        case "recall":
            return f"over attackers with a TPR of at least {number_text(metric.least)}"
        case "specificity":
            return f"over attackers with a TNR of at least {number_text(metric.least)}"
        case None:
            return ""


def _any_attacker(found: MetricEvidence, share: ErrorShare) -> Estimate:
    evidence, metric = found.evidence, found.metric
    upper = found.upper("any", share.one_sided)
    reason = _NO_UPPER
    if metric.trivial:
        upper = metric.most
    elif upper is not None and upper >= metric.most:
        upper, reason = None, _NO_INFORMATION
    plugin, n_members, n_holdout = found.observed("any")
    return Estimate(
        quantity="metric",
        metric=metric.name,
        score=evidence.score,
        method=_over(found.method, metric),
        attackers="any",
        value=found.value,
        lower=found.lower(share.one_sided),
        upper=upper,
        upper_reason=reason if upper is None else None,
        confidence=share.confidence,
        plugin=plugin,
        selection=f"{found.selection}; {attacker_words(metric, found.value)}",
        validity=_validity(found),
        n_members=n_members,
        n_holdout=n_holdout,
    )


def _class(found: MetricEvidence, share: ErrorShare, attackers: Attackers) -> Estimate:
    metric = found.metric
    plugin, n_members, n_holdout = found.observed(attackers)
    upper = found.upper(attackers, share.one_sided)
    reason = _FEW_BINS
    if upper is not None and upper >= metric.most and not metric.trivial:
        upper, reason = None, _NO_INFORMATION
    on = "16 cells of equal mass cut on the burn-in, the other rows counted"
    selection = on if attackers == "bins-16" else "all rows; the class was fixed before"
    if found.evidence.vectorial:
        selection = "fitted and chosen on the burn-in, the rows outside the burn-in counted"
    return Estimate(
        quantity="metric",
        metric=metric.name,
        score=found.evidence.score,
        method=_over(found.class_method, metric),
        attackers=attackers,
        value=None,
        value_reason=_SAME_DATA,
        plugin=plugin,
        lower=None,
        lower_reason=_NO_CLASS_LOWER,
        upper=upper,
        upper_reason=reason if upper is None else None,
        confidence=share.confidence,
        selection=selection,
        validity=_validity(found),
        n_members=n_members,
        n_holdout=n_holdout,
    )


def _over(method: str, metric: Metric) -> str:
    """Add the floor to a method: the methods are what every form of the report shows."""
    floor = floor_words(metric)
    return f"{method}, {floor}" if floor else method


def _validity(found: MetricEvidence) -> Validity:
    return "finite-sample" if found.evidence.strict else "approximate"
