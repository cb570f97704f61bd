"""The advantage of attackers who see less: the score with Gaussian noise, or the records alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.shift.learner import PRIOR, Learner, learn
from mipaudit.commands.shift.run import blind_evidence
from mipaudit.evidence.kernel import kernel_estimates
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.kernel_density import Grid, kernel_advantage, linear_weights
from mipaudit.summaries.grids import GridCounts, make_grid_plans
from mipaudit.summaries.plan import sample_size
from mipaudit.summaries.tally import Tally
from mipaudit.validation.estimands.audited_file import CONFIDENCE, burn_in, rows_of
from mipaudit.validation.estimands.estimand import Estimand, Interval, interval_of, trivial

if TYPE_CHECKING:
    from mipaudit.evidence.vectors import SeveralScores
    from mipaudit.validation.estimands.audited_file import AuditedFile, AuditedVector
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.laws.mixture import Mixture

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


def _masses(law: Mixture, grid: Grid) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
