"""What the reader must know about a metric, or about a prior that hides what leaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.statements.finding import Finding
from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.maths.metrics.metric import Metric
    from mipaudit.statements.claim import Claim

_HALF: Final = 0.5
_ROUNDING: Final = 1e-12


def metric_findings(metric: Metric) -> list[Finding]:
    """Return a finding where a guess without looking reaches the largest value."""
    if not metric.trivial:
        return []
    text = (
        f"The metric '{metric.name}' is at its largest for an attacker who guesses the same of "
        "everybody: it says nothing about the score. Look at PPV, AM or TPR at FPR."
    )
    return [Finding(code="trivial_metric", text=text)]


def unused_floor(least: float) -> Finding:
    """Return that a least recall was asked for, and no metric takes one."""
    text = (
        f"The least recall of {number_text(least)} (--min-recall) changes nothing: none of the "
        "metrics asked for needs one. PPV and NPV do."
    )
    return Finding(code="min_recall_unused", text=text)


def prior_findings(prior: float, lowers: Sequence[float], claims: Sequence[Claim]) -> list[Finding]:
    """Return advice where at this prior nobody beats the trivial attacker.

    With an epsilon claim that is so wherever p < 1/(1 + e^epsilon), or 1-p is: the
    likelihood ratio cannot outweigh the prior (MACE, Theorem 4, where f_p keeps its sign).

    Args:
        prior: p in (0, 1).
        lowers: lower limit of the advantage for each score.
        claims: the judged claims, if any.
    """
    if prior == _HALF:
        return []
    baseline = abs(2 * prior - 1)
    advice = "Look at PPV (--metric ppv), at TPR at FPR, or at --prior 0.5."
    allowed = [claim.allowed_advantage for claim in claims]
    if allowed and all(bound is not None and bound <= baseline + _ROUNDING for bound in allowed):
        text = (
            f"At a prior of {number_text(prior)} no mechanism that keeps the claim lets any "
            f"attacker beat the trivial one, so the advantage tests nothing. {advice}"
        )
        return [Finding(code="prior_excludes_attackers", text=text)]
    if lowers and max(lowers) <= baseline:
        text = (
            f"At a prior of {number_text(prior)} nobody is shown to beat blind guessing; "
            f"the scores may leak all the same. {advice}"
        )
        return [Finding(code="prior_hides_leaks", text=text)]
    return []
