"""Which evidence a metric calls for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.audit.metric_linear import LinearEvidence
from mipaudit.audit.metric_ratio import RatioEvidence
from mipaudit.maths.metric_form import ordinary_form

if TYPE_CHECKING:
    from mipaudit.audit.evidence import Evidence
    from mipaudit.audit.metric_evidence import MetricEvidence
    from mipaudit.maths.metric import Metric


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
