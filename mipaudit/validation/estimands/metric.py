"""The best value of a metric: of all attackers, and of the best of a class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, get_args

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.metrics.evidence import metric_evidence
from mipaudit.evidence.metrics.rows import metric_estimates
from mipaudit.evidence.scores.rows import ErrorShare
from mipaudit.maths.metrics.best_of_class import MetricClass, lower_edge, set_rates
from mipaudit.maths.metrics.limits import observed_metric
from mipaudit.maths.metrics.names import parse_metric
from mipaudit.statements.estimate import Attackers, Estimate
from mipaudit.validation.estimands.audited_file import CONFIDENCE, AuditedFile
from mipaudit.validation.estimands.estimand import Args, Estimand, Interval
from mipaudit.validation.laws.law import Law, ladder_of

if TYPE_CHECKING:
    from mipaudit.maths.metrics.metric import Metric

NAMES: Final = ("am", "f1", "fbeta:2", "ppv", "npv", "tpr", "wa:2,2,1,1", "cost:fp=1,fn=5")
_CLASSES: Final[tuple[Attackers, ...]] = (
    "any",
    "thresholds",
    "intervals-1",
    "intervals-4",
    "bins-16",
)
_PARTS_OF_UNIT: Final = 2**40  # masses as whole numbers, for counting code
_CHUNK: Final = 1e-12


class MetricOptimum(Estimand):
    """The optimum of a metric; ``args`` is (name, attackers), then cut points for bins."""

    name = "metric"
    meaning = "best value of a metric of an attacker's guesses"
    statements = frozenset({("metric", attackers) for attackers in _CLASSES})
    by_name_only = True

    def _accepts(self, args: Args) -> bool:
        """Tell whether there are a name, a class and numbers."""
        numbers = (isinstance(edge, float) for edge in args[2:])
        return len(args) > 1 and args[1] in get_args(Attackers) and all(numbers)

    def _value(self, law: Law, prior: float, name: str, attackers: str, *edges: float) -> float:
        metric = parse_metric(name, prior=prior)
        return max(_optimum(law, metric, attackers, list(edges)), metric.baseline)

    def baseline(self, prior: float, args: Args) -> float:
        """Return the trivial attacker's value."""
        return parse_metric(str(args[0]), prior=prior).baseline

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated of every metric against every class."""
        for name in NAMES:
            for estimate in stated_metrics(audited, name):
                edges = audited.bin_edges if estimate.attackers == "bins-16" else ()
                yield self.interval_of(
                    estimate,
                    args=(name, estimate.attackers, *edges),
                    label=f"metric {name}, {estimate.attackers}",
                )


def stated_metrics(audited: AuditedFile, name: str) -> list[Estimate]:
    """Return what ``estimate --metric NAME`` prints of the file, at 95% confidence."""
    metric = parse_metric(name, prior=audited.prior)
    found = metric_evidence(audited.evidence, metric)
    return metric_estimates(found, ErrorShare(confidence=CONFIDENCE, columns=1))


def _optimum(law: Law, metric: Metric, attackers: str, edges: list[float]) -> float:
    match attackers:
        case "any":
            return _best_of_all(law, metric)
        case "thresholds":
            ladder = ladder_of(law)
            return _best_mixed(_directions(ladder.members, ladder.holdout), metric)
        case "bins-16":
            return _best_mixed(_bin_sets(law, edges), metric)
        case _:
            return _best_intervals(law, metric, int(attackers.rpartition("-")[2]))


def _best_of_all(law: Law, metric: Metric) -> float:
    """Follow the ROC curve of the likelihood ratio."""
    ladder = ladder_of(law)
    order = np.argsort(np.arctan2(ladder.holdout, ladder.members), kind="stable")
    tpr = np.append(0.0, np.cumsum(ladder.members[order]))
    fpr = np.append(0.0, np.cumsum(ladder.holdout[order]))
    curve = np.stack([tpr, fpr], axis=1)
    # The other way round is a ROC curve too; it matters where errors are rewarded.
    return _best_mixed(np.concatenate([curve, 1 - curve]), metric)


def _best_mixed(rates: NDArray[np.float64], metric: Metric) -> float:
    """Return the best of listed attackers and of coin tosses between them.

    A quasi-linear metric is largest at one of them, or where the floor cuts their mixtures.
    """
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


def _directions(members: NDArray[np.float64], holdout: NDArray[np.float64]) -> NDArray[np.float64]:
    below = np.stack([np.cumsum(members), np.cumsum(holdout)], axis=1)
    below = np.concatenate([np.zeros((1, 2)), below])
    return np.concatenate([below, 1 - below])


def _bin_sets(law: Law, edges: list[float]) -> NDArray[np.float64]:
    cuts = np.asarray(edges, dtype=np.float64)
    masses = [np.diff(of.cdf(cuts), prepend=0.0, append=1.0) for of in (law.holdout, law.members)]
    table = np.rint(np.stack(masses, axis=1) * _PARTS_OF_UNIT).astype(np.int64)
    rates = set_rates(table)
    return np.concatenate([rates, 1 - rates])


def _best_intervals(law: Law, metric: Metric, count: int) -> float:
    """Return the best over unions of intervals, coins included, by the advantage at any prior."""
    of_law = MetricClass(
        advantage=lambda prior: law.advantage_intervals(prior, count), n_members=1, n_holdout=1
    )
    return observed_metric(metric, of_law)
