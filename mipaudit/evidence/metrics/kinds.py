"""Which evidence a metric calls for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.evidence.metrics.linear import LinearEvidence
from mipaudit.evidence.metrics.ratio import RatioEvidence
from mipaudit.maths.metrics.metric import ordinary_form

if TYPE_CHECKING:
    from mipaudit.evidence.metrics.evidence import MetricEvidence
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.maths.metrics.metric import Metric


def metric_evidence(evidence: Evidence, metric: Metric) -> MetricEvidence:
    """Return the evidence about a metric.

    A metric whose denominator does not depend on the guesses is the advantage at another
    prior, on another scale; it has that advantage's limits.
    """
    form = ordinary_form(metric, 0.0)
    constant = metric.bottom[1] == metric.bottom[2] == 0
    if constant and form is not None and min(form.c1, form.c2) > 0:
        return LinearEvidence(evidence=evidence, metric=metric, form=form)
    return RatioEvidence(evidence=evidence, metric=metric)
