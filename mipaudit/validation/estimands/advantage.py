"""The advantage and metrics of the best attacker: of all, of a class, and of those who see less.

What thresholds on one side of the score reach belongs to it: the AUC, and the TPR at an FPR.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.shift.learner import PRIOR, Learner, learn
from mipaudit.commands.shift.run import blind_evidence
from mipaudit.evidence.kernel import kernel_estimates
from mipaudit.evidence.metric_rows import metric_estimates
from mipaudit.evidence.metrics import metric_evidence
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.arrays import Floats
from mipaudit.maths.kernel_density import Grid, kernel_advantage, linear_weights
from mipaudit.maths.metrics.best_of_class import MetricClass, lower_edge, set_rates
from mipaudit.maths.metrics.limits import observed_metric
from mipaudit.maths.metrics.names import parse_metric
from mipaudit.summaries.grids import GridCounts, make_grid_plans
from mipaudit.summaries.plan import sample_size
from mipaudit.summaries.tally import Tally
from mipaudit.validation.estimands.estimand import (
    CONFIDENCE,
    AuditedFile,
    AuditedVector,
    Estimand,
    Interval,
    burn_in,
    interval_of,
    rows_of,
    trivial,
)
from mipaudit.validation.law import Law, Mixture, Side, ladder_of

if TYPE_CHECKING:
    from mipaudit.evidence.vectors import SeveralScores
    from mipaudit.maths.metrics.metric import Metric
    from mipaudit.model.row import Attackers

_INTERVALS: Final[Mapping[Attackers, int]] = {"intervals-1": 1, "intervals-4": 4}
_GUESSING: Final = 0.5  # the AUC of a score that tells nothing


def _excess(law: Law, prior: float) -> float:
    return law.advantage(prior) - trivial(prior)


def _interval_rows(audited: AuditedFile) -> Iterator[Interval]:
    for attackers, k in _INTERVALS.items():
        for estimate in audited.stated("advantage", attackers):
            yield interval_of(estimate, k, label=f"({k})")


def _bin_rows(audited: AuditedFile) -> Iterator[Interval]:
    for estimate in audited.stated("advantage", "bins-16"):
        yield interval_of(estimate, audited.bin_edges)


def _auc(law: Law, _prior: float, side: str) -> float:
    high = law.auc()
    return {"high": high, "low": 1 - high, "either": max(high, 1 - high)}[side]


def _auc_rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield the AUC of the side that its lower limit is stated of.

    A lower limit of 1/2 is one of the better side, whichever that is.
    """
    for estimate in audited.stated("auc", "thresholds"):
        shown = estimate.lower is not None and estimate.lower > _GUESSING
        yield interval_of(estimate, str(estimate.side) if shown else "either")


def _tpr(law: Law, _prior: float, fpr: float, side: str) -> float:
    sides: tuple[Side, ...] = ("high", "low")
    return max(law.tpr_at_fpr(fpr, one) for one in sides if side in {one, "either"})


def _tpr_rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield the lower limit on the chosen side, and the upper one for both."""
    for estimate in audited.stated("tpr_at_fpr", "thresholds"):
        fpr = float(estimate.fpr or 0)
        one = interval_of(estimate, fpr, str(estimate.side), label=f"@{fpr:g}")
        yield replace(one, upper=None)
        label = f"{one.label}, either side"
        yield replace(one, lower=None, value=None, args=(fpr, "either"), label=label)


def _vector(law: Law, prior: float, fitted: float | None = None) -> float:
    return law.advantage(prior) if fitted is None else fitted


def _vector_rows(audited: AuditedVector) -> Iterator[Interval]:
    """Yield what is stated of any attacker, of the learned score and of the grid.

    Which score was learned, and which cells were cut, differs from file to file, and so does
    what the best of these attackers has: the argument is that.
    """
    for estimate in audited.stated("advantage", "any"):
        yield interval_of(estimate)
    for estimate in audited.stated("advantage", "learned"):
        yield interval_of(estimate, audited.learned_truth, label=", learned")
    for estimate in audited.stated("advantage", "product-grid"):
        if audited.grid_truth is not None:
            yield interval_of(estimate, audited.grid_truth, label=", product grid")


ADVANTAGE: Final = (
    Estimand(
        name="advantage", truth=Law.advantage, statements=(("advantage", "any"),), baseline=trivial
    ),
    # The advantage on three other scales, whose limits miss exactly when its own do.
    Estimand(name="excess", truth=_excess, statements=(("excess", "any"),), by_name_only=True),
    Estimand(
        name="eta",
        truth=lambda law, prior: 0.5 * _excess(law, prior),
        statements=(("eta", "any"),),
        by_name_only=True,
    ),
    Estimand(
        name="accuracy",
        truth=lambda law, prior: (1 + law.advantage(prior)) / 2,
        statements=(("accuracy", "any"),),
        baseline=lambda prior: (1 + trivial(prior)) / 2,
        by_name_only=True,
    ),
    Estimand(
        name="advantage_thresholds",
        truth=Law.advantage_thresholds,
        statements=(("advantage", "thresholds"),),
        baseline=trivial,
    ),
    # Of the best union of at most k intervals, or its complement.
    Estimand(
        name="advantage_intervals",
        truth=Law.advantage_intervals,
        statements=tuple(("advantage", attackers) for attackers in _INTERVALS),
        said=_interval_rows,
        baseline=trivial,
    ),
    # Where only the bin is seen, of those that the burn-in cut.
    Estimand(
        name="advantage_bins",
        truth=Law.advantage_bins,
        statements=(("advantage", "bins-16"),),
        said=_bin_rows,
        baseline=trivial,
    ),
    Estimand(
        name="auc",
        truth=_auc,
        statements=(("auc", "thresholds"),),
        said=_auc_rows,
        baseline=lambda *_: _GUESSING,
    ),
    Estimand(
        name="tpr_at_fpr",
        title="tpr",
        truth=_tpr,
        statements=(("tpr_at_fpr", "thresholds"),),
        said=_tpr_rows,
        baseline=lambda _prior, fpr, _side: fpr,
    ),
    Estimand(
        name="advantage_vector",
        truth=_vector,
        said=_vector_rows,
        baseline=trivial,
        vectorial=True,
        by_name_only=True,
    ),
)


_NAMES: Final = ("am", "f1", "fbeta:2", "ppv", "npv", "tpr", "wa:2,2,1,1", "cost:fp=1,fn=5")
_CLASSES: Final[tuple[Attackers, ...]] = (
    *("any", "thresholds", "intervals-1", "intervals-4", "bins-16"),
)
_PARTS_OF_UNIT: Final = 2**40  # masses as whole numbers, for counting code
_CHUNK: Final = 1e-12


def _metric_rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield what ``estimate --metric`` prints of every metric against every class."""
    share = ErrorShare(confidence=CONFIDENCE, columns=1)
    for name in _NAMES:
        metric = parse_metric(name, prior=audited.prior)
        for estimate in metric_estimates(metric_evidence(audited.evidence, metric), share):
            edges = audited.bin_edges if estimate.attackers == "bins-16" else ()
            label = f" {name}, {estimate.attackers}"
            yield interval_of(estimate, name, estimate.attackers, edges, label=label)


def _metric_truth(
    law: Law, prior: float, name: str, attackers: str, edges: tuple[float, ...] = ()
) -> float:
    metric = parse_metric(name, prior=prior)
    ladder = ladder_of(law)
    match attackers:
        case "any":
            # Along the ROC curve of the likelihood ratio.
            order = np.argsort(np.arctan2(ladder.holdout, ladder.members), kind="stable")
            found = _best_mixed(_roc(ladder.members[order], ladder.holdout[order]), metric)
        case "thresholds":
            found = _best_mixed(_roc(ladder.members, ladder.holdout), metric)
        case "bins-16":
            found = _best_mixed(_bin_sets(law, edges), metric)
        case _:
            found = _best_intervals(law, metric, int(attackers.rpartition("-")[2]))
    return max(found, metric.baseline)


def _roc(members: Floats, holdout: Floats) -> Floats:
    """Return the (TPR, FPR) of attackers who say "member" up to each of these masses."""
    below = np.stack([np.cumsum(members), np.cumsum(holdout)], axis=1)
    return np.concatenate([np.zeros((1, 2)), below])


def _bin_sets(law: Law, edges: tuple[float, ...]) -> Floats:
    cuts = np.asarray(edges, dtype=np.float64)
    masses = [np.diff(of.cdf(cuts), prepend=0.0, append=1.0) for of in (law.holdout, law.members)]
    return set_rates(np.rint(np.stack(masses, axis=1) * _PARTS_OF_UNIT).astype(np.int64))


def _best_mixed(rates: Floats, metric: Metric) -> float:
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


def _best_listed(rates: Floats, metric: Metric) -> float:
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
        truth=_metric_truth,
        statements=tuple(("metric", attackers) for attackers in _CLASSES),
        said=_metric_rows,
        baseline=lambda prior, name, *_: parse_metric(name, prior=prior).baseline,
        by_name_only=True,
    ),
)


_STEPS: Final = 32
_MOST_CELLS: Final = 1 << 18
_QUANTILES: Final = 1 << 10


def _noised_rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield what ``estimate --method kde`` prints of the score with each bandwidth of noise."""
    rows, seed = audited.in_order
    sample, plan = audited.planned
    grids = make_grid_plans(sample, plan, ["float"], prior=audited.prior)
    counts = GridCounts(grids, burn_in=plan.burn_in, seed=seed)
    counts.add(rows)
    share = ErrorShare(confidence=CONFIDENCE, columns=1)
    found = kernel_estimates(
        "score", counts.columns()[0], share, prior=audited.prior, strict=audited.strict
    )
    noised = [one for one in found if one.attackers == "noised-query"]
    for rank, estimate in enumerate(noised, start=1):
        if estimate.bandwidth is not None:
            yield interval_of(estimate, estimate.bandwidth, label=f", bandwidth {rank}")


def noised_advantage(law: Law, prior: float, bandwidth: float) -> float:
    """Return the integral of |p P_h - (1-p) Q_h|, P_h the law of the score with noise.

    The masses of narrow cells, from the distribution functions, are spread by the noise.
    Heavy tails beyond as many cells as are practical keep their unsmoothed difference.

    Args:
        law: of the scores; infinite ones stay as they are.
        prior: p in (0, 1).
        bandwidth: standard deviation of the noise, above 0.
    """
    low, high, step = _window(law, bandwidth)
    cells = math.ceil((high - low) / step)
    grid = Grid(low=low, step=step, nodes=cells + 1)
    members, m_beyond = _masses(law.members, grid)
    holdout, h_beyond = _masses(law.holdout, grid)
    inside = kernel_advantage(prior * members - (1 - prior) * holdout, grid, bandwidth)
    outside = np.abs(prior * m_beyond - (1 - prior) * h_beyond).sum()
    return min(1.0, max(trivial(prior), inside + float(outside)))


def _window(law: Law, bandwidth: float) -> tuple[float, float, float]:
    """Return where nearly all scores lie, and the width of the cells there."""
    both = (law.members, law.holdout)
    points = np.concatenate([f for one in both for f in (one.edges(_QUANTILES), one.atoms()[0])])
    points = points[np.isfinite(points)]
    low, high = (float(points.min()), float(points.max())) if points.size else (0.0, 0.0)
    step = bandwidth / _STEPS
    low, high = low - bandwidth, high + bandwidth
    most = _MOST_CELLS * step
    if high - low > most:
        middle = float(np.median(points))
        low, high = max(low, middle - most / 2), min(high, middle + most / 2)
    return low, high, step


def _masses(law: Mixture, grid: Grid) -> tuple[Floats, Floats]:
    """Return the masses at the nodes of a class, and (continuous tails, infinities) off them."""
    last = grid.low + grid.step * (grid.nodes - 1)
    edges = np.concatenate([[-np.inf], grid.points() + grid.step / 2])
    edges[-1] = last
    levels = law.continuous_cdf(np.concatenate([[grid.low], edges[1:]]))
    total = float(law.continuous_cdf(np.array([np.inf]))[0])
    nodes = np.diff(levels, prepend=levels[0])[1:]
    values, masses = law.atoms()
    inside = np.isfinite(values) & (values >= grid.low) & (values <= last)
    nodes = nodes + linear_weights(values[inside], grid, masses[inside])
    sides = [
        float(masses[~inside & (values < grid.low)].sum()),
        float(masses[~inside & (values > last)].sum()),
    ]
    return nodes, np.array([float(levels[0]), total - float(levels[-1]), *sides])


def _blind(law: Law, _prior: float, fitted: float | None = None) -> float:
    return law.advantage(PRIOR) if fitted is None else fitted


def _blind_rows(audited: AuditedVector) -> Iterator[Interval]:
    """Yield what ``shift`` says of any attacker, and of thresholds on what it learned.

    The numbers of a vector score stand for a record's columns. What is learned differs from file
    to file, and so does what the best threshold on it has: the argument is that.
    """
    learned = _learned(audited) if audited.prior == PRIOR else None
    if learned is None:
        return
    learner, evidence = learned
    for estimate in advantage_estimates(evidence, ErrorShare(confidence=CONFIDENCE, columns=1)):
        if estimate.attackers == "any":
            yield interval_of(estimate)
        elif estimate.attackers == "thresholds":
            fitted = audited.threshold_truth(learner, PRIOR, stream=2)
            yield interval_of(estimate, fitted, label=", thresholds")


def _learned(audited: AuditedVector) -> tuple[Learner, SeveralScores] | None:
    """Return what ``shift`` learns of a file, and what it then counts."""
    rows = rows_of(audited.member, np.ascontiguousarray(audited.score.T))
    width = len(rows.scores)
    sample = burn_in(rows, audited.seed, sample_size(width))
    learner = learn(sample, [False] * width, seed=audited.seed)
    if learner is None:
        return None
    tally = Tally(learner.plan)
    tally.add(replace(rows, scores=learner.scores(rows.scores)))
    evidence = blind_evidence(tally.counts(), learner, strict=audited.strict, seed=audited.seed)
    return learner, evidence


LESS_SEEN: Final = (
    # The argument is the standard deviation of the noise.
    Estimand(
        name="advantage_noised",
        truth=noised_advantage,
        statements=(("advantage", "noised-query"),),
        said=_noised_rows,
        baseline=trivial,
        by_name_only=True,
    ),
    Estimand(name="advantage_blind", truth=_blind, said=_blind_rows, vectorial=True),
)
