"""The best value of a metric: of all attackers, and of the best of a class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.metric_rows import metric_estimates
from mipaudit.evidence.metrics import metric_evidence
from mipaudit.evidence.scores.rows import ErrorShare
from mipaudit.maths.metrics.best_of_class import MetricClass, lower_edge, set_rates
from mipaudit.maths.metrics.limits import observed_metric
from mipaudit.maths.metrics.names import parse_metric
from mipaudit.validation.estimands.audited_file import CONFIDENCE
from mipaudit.validation.estimands.estimand import Estimand, Interval, interval_of
from mipaudit.validation.laws.law import Law, ladder_of

if TYPE_CHECKING:
    from mipaudit.maths.metrics.metric import Metric
    from mipaudit.model.row import Attackers
    from mipaudit.validation.estimands.audited_file import AuditedFile

_NAMES: Final = ("am", "f1", "fbeta:2", "ppv", "npv", "tpr", "wa:2,2,1,1", "cost:fp=1,fn=5")
_CLASSES: Final[tuple[Attackers, ...]] = (
    *("any", "thresholds", "intervals-1", "intervals-4", "bins-16"),
)
_PARTS_OF_UNIT: Final = 2**40  # masses as whole numbers, for counting code
_CHUNK: Final = 1e-12


def _rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield what ``estimate --metric`` prints of every metric against every class."""
    share = ErrorShare(confidence=CONFIDENCE, columns=1)
    for name in _NAMES:
        metric = parse_metric(name, prior=audited.prior)
        for estimate in metric_estimates(metric_evidence(audited.evidence, metric), share):
            edges = audited.bin_edges if estimate.attackers == "bins-16" else ()
            label = f" {name}, {estimate.attackers}"
            yield interval_of(estimate, name, estimate.attackers, edges, label=label)


def _truth(
    law: Law, prior: float, name: str, attackers: str, edges: tuple[float, ...] = ()
) -> float:
    metric = parse_metric(name, prior=prior)
    ladder = ladder_of(law)
    match attackers:
        case "any":
            # Along the ROC curve of the likelihood ratio.
            order = np.argsort(np.arctan2(ladder.holdout, ladder.members), kind="stable")
            found = _best_mixed(_curve(ladder.members[order], ladder.holdout[order]), metric)
        case "thresholds":
            found = _best_mixed(_curve(ladder.members, ladder.holdout), metric)
        case "bins-16":
            found = _best_mixed(_bin_sets(law, edges), metric)
        case _:
            found = _best_intervals(law, metric, int(attackers.rpartition("-")[2]))
    return max(found, metric.baseline)


def _curve(members: NDArray[np.float64], holdout: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (TPR, FPR) of whoever says "member" up to each of these masses."""
    below = np.stack([np.cumsum(members), np.cumsum(holdout)], axis=1)
    return np.concatenate([np.zeros((1, 2)), below])


def _bin_sets(law: Law, edges: tuple[float, ...]) -> NDArray[np.float64]:
    cuts = np.asarray(edges, dtype=np.float64)
    masses = [np.diff(of.cdf(cuts), prepend=0.0, append=1.0) for of in (law.holdout, law.members)]
    return set_rates(np.rint(np.stack(masses, axis=1) * _PARTS_OF_UNIT).astype(np.int64))


def _best_mixed(rates: NDArray[np.float64], metric: Metric) -> float:
    """Return the best of listed attackers, of their opposites and of coin tosses between them.

    A quasi-linear metric is largest at one of them, or where the floor cuts their mixtures. The
    opposites matter where errors are rewarded.
    """
    rates = np.concatenate([rates, 1 - rates])
    if metric.floor is None:
        return _best_listed(rates, metric)
    picked, against = rates.T if metric.floor == "recall" else 1 - rates[:, ::-1].T
    point = np.array([metric.least, np.interp(metric.least, *lower_edge(picked, against))])
    cut = point if metric.floor == "recall" else 1 - point[::-1]
    return _best_listed(np.append(rates, [cut], axis=0), metric)


def _best_listed(rates: NDArray[np.float64], metric: Metric) -> float:
    """Return the best value over listed (TPR, FPR) that keep the floor."""
    tpr, fpr = rates[:, 0], rates[:, 1]
    kept = np.ones(len(rates), dtype=bool)
    if metric.floor == "recall":
        kept = tpr >= metric.least - _CHUNK
    if metric.floor == "specificity":
        kept = 1 - fpr >= metric.least - _CHUNK
    top = metric.top[0] + metric.top[1] * tpr[kept] + metric.top[2] * fpr[kept]
    bottom = metric.bottom[0] + metric.bottom[1] * tpr[kept] + metric.bottom[2] * fpr[kept]
    return float((top / bottom).max())


def _best_intervals(law: Law, metric: Metric, count: int) -> float:
    """Return the best over unions of intervals, coins included, by the advantage at any prior."""
    of_law = MetricClass(
        advantage=lambda prior: law.advantage_intervals(prior, count), n_members=1, n_holdout=1
    )
    return observed_metric(metric, of_law)


METRIC: Final = (
    # The arguments are the metric, the attackers, and the cut points of the bins.
    Estimand(
        name="metric",
        truth=_truth,
        statements=tuple(("metric", attackers) for attackers in _CLASSES),
        said=_rows,
        baseline=lambda prior, name, *_: parse_metric(name, prior=prior).baseline,
        by_name_only=True,
    ),
)
