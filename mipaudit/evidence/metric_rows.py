"""The rows of a score's metric in the report, MACE's for reproduction, and what to know of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.evidence.scores.rows import ErrorShare, any_attacker, of_class
from mipaudit.maths.metrics.mace import algorithm2
from mipaudit.maths.metrics.metric import Metric, closed_threshold, posterior_threshold
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Attackers, Row
from mipaudit.statements.rounding import number_text, upper_text, value_text

if TYPE_CHECKING:
    from mipaudit.evidence.metrics import MetricEvidence
    from mipaudit.evidence.scores.evidence import Evidence

_PARTS: Final = 3
_UNDEFINED: Final = Message("nobody_guessed")


def metric_estimates(found: MetricEvidence, share: ErrorShare) -> list[Row]:
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


def _any_attacker(found: MetricEvidence, share: ErrorShare) -> Row:
    metric = found.metric
    upper = metric.most if metric.trivial else found.upper("any", share.one_sided)
    selection = f"{found.selection}; {attacker_words(metric, found.value)}"
    row = any_attacker(
        found.evidence, share, upper, found.judged, method=found.method, selection=selection
    )
    return replace(
        _of_metric(row, metric),
        value=found.value,
        lower=found.lower(share.one_sided),
        plugin=found.observed("any")[0],
    )


def _class(found: MetricEvidence, share: ErrorShare, attackers: Attackers) -> Row:
    observed = found.observed(attackers)
    upper = found.upper(attackers, share.one_sided)
    method = found.class_method
    row = of_class(found.evidence, share, attackers, observed, upper, method=method)
    if found.evidence.vectorial:
        outside = "fitted and chosen on the burn-in, the rows outside the burn-in counted"
        row = replace(row, selection=outside)
    return _of_metric(row, found.metric)


def _of_metric(row: Row, metric: Metric) -> Row:
    """Return a row as one of a metric, without an upper limit that says nothing."""
    if row.upper is not None and not metric.trivial and _says_nothing(row.upper, metric):
        row = replace(row, upper=None, upper_reason=Message("vacuous_metric"))
    # The methods are what every form of the report shows: they say which attackers count.
    method = ", ".join(filter(None, (row.method, floor_words(metric))))
    return replace(row, quantity="metric", metric=metric.name, method=method)


def _says_nothing(upper: float, metric: Metric) -> bool:
    """Tell whether a limit is the largest value that there is, in the digits that are shown."""
    return upper_text(upper) == upper_text(metric.most) or upper >= metric.most


def published_metric(evidence: Evidence, metric: Metric, confidence: float) -> Row | None:
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
    return Row(
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


def metric_findings(metric: Metric) -> list[Finding]:
    """Return a finding where a guess without looking reaches the largest value."""
    if not metric.trivial:
        return []
    return [Finding.of("trivial_metric", metric=metric.name)]


def unused_floor(least: float) -> Finding:
    """Return that a least recall was asked for, and no metric takes one."""
    return Finding.of("min_recall_unused", least=least)


def leaking_metrics(found: Iterable[MetricEvidence], error: float) -> Message | None:
    """Say of which score a metric is surely above what blind guessing has; None if of none.

    Args:
        found: every metric of every score.
        error: one-sided, of each lower limit.
    """
    beyond = [(one, one.lower(error)) for one in found]
    beyond = [(one, lower) for one, lower in beyond if lower > one.metric.baseline]
    if not beyond:
        return None
    # The metrics have no common scale: of the first that shows anything, the largest.
    named = [pair for pair in beyond if pair[0].metric.name == beyond[0][0].metric.name]
    one, lower = max(named, key=lambda pair: pair[1])
    return Message.of(
        "metric_leaks",
        metric=one.metric.name,
        score=one.evidence.score,
        lower=lower,
        baseline=one.metric.baseline,
    )
