"""Kernel densities of one score: what noise would leave of the advantage, and MACE's U_N.

A density smoothed with one bandwidth for both classes is the density of the score
with Gaussian noise. So its advantage, always too high on average on the data, gives
an upper limit for every attacker who sees the noised score; never for the score itself.

U_N is the kernel estimator of MACE (Liu et al., Theorem 3), for reproduction only: its band
surrounds the mean of U_N, not the advantage, and forgets the smoothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.advantage import baseline
from mipaudit.maths.class_limits.class_upper import oracle_upper
from mipaudit.maths.kernel_density import (
    Grid,
    bounded_upper,
    grid_slack,
    kernel_advantage,
    linear_weights,
    smooth,
)
from mipaudit.model.message import Message
from mipaudit.model.row import Row
from mipaudit.summaries.grids import HOLDOUT, MEMBER, PLACES, GridColumn, beyond, gains_of

if TYPE_CHECKING:
    from mipaudit.evidence.scores.rows import ErrorShare

_PUBLISHED: Final = "as published; not a valid interval for the advantage"
_STEPS: Final = 40
_SAYS: Final = {
    "silverman": "Silverman's rule",
    "isj": "Botev et al. (2010)",
    "held-out": "the payoff of one half of the burn-in on the other",
}
_ONLY_UPPER: Final = Message("noise_only_lowers")
_NO_VALUE: Final = Message("same_data")
_NO_SPREAD: Final = Message("no_spread")
_METHOD: Final = "oracle limit of the kernel density's advantage"
_STRICT_METHOD: Final = "Chernoff's bound of the kernel density's advantage"


def published_estimates(
    score: str, column: GridColumn, share: ErrorShare, prior: float
) -> list[Row]:
    """Return U_N with one bandwidth, atoms and ends minded, and with one for each class."""
    members, holdout = (column.side(one, everyone=True) for one in (MEMBER, HOLDOUT))
    plan = column.plan
    records = members.records + holdout.records
    half = math.sqrt(2 * math.log(2 / (1 - share.confidence)) / max(1, records))
    minded = "atoms apart, " if plan.atoms.size else ""
    if plan.grid.floor is not None or plan.grid.ceiling is not None:
        minded += "reflected at the ends of the range, "
    found: list[tuple[float, str, float | None, str]] = [
        (
            common_advantage(column, prior),
            f"MACE kernel density with one bandwidth, {minded}{_PUBLISHED}",
            plan.common,
            "Silverman's bandwidth of both classes together, on the burn-in; all rows counted",
        )
    ]
    if plan.own is not None:
        widths = f"{plan.own[0]:g} for members and {plan.own[1]:g} for holdout"
        found.append(
            (
                own_advantage(column, prior),
                f"MACE kernel density with a bandwidth per class, {_PUBLISHED}",
                None,
                f"Silverman's bandwidth of each class on the burn-in, {widths}; all rows counted",
            )
        )
    return [
        Row(
            quantity="advantage",
            score=score,
            method=method,
            attackers="any",
            value=value,
            lower=value - half,
            upper=value + half,
            confidence=share.confidence,
            plugin=value,
            selection=selection,
            validity="not-an-interval",
            n_members=members.records,
            n_holdout=holdout.records,
            bandwidth=bandwidth,
        )
        for value, method, bandwidth, selection in found
    ]


def common_advantage(column: GridColumn, prior: float) -> float:
    """Return U_N with one bandwidth for both classes, on all rows.

    Recurring values are a discrete part of their own, and what the kernels carry over an
    end of the range is reflected.
    """
    plan = column.plan
    members, holdout = (column.side(one, everyone=True) for one in (MEMBER, HOLDOUT))
    last = plan.grid.low + plan.grid.step * (plan.grid.nodes - 1)
    inside = (plan.atoms >= plan.grid.low) & (plan.atoms <= last)
    counts, residues = [], []
    for side in (members, holdout):
        atoms = side.atoms[inside].astype(np.float64)
        counts.append(atoms)
        # A share that was rounded may leave less than nothing.
        residue = side.nodes - linear_weights(plan.atoms[inside], plan.grid, atoms)
        residues.append(np.maximum(residue, 0.0))
    discrete = gains_of(counts[0], counts[1], members, holdout, prior)
    smooth_part = gains_of(residues[0], residues[1], members, holdout, prior)
    total = float(np.abs(discrete).sum())
    total += kernel_advantage(smooth_part, plan.grid, plan.common, fold=True)
    return min(1.0, total + beyond(members, holdout, prior))


def _no_finer(grid: Grid, step: float) -> Grid:
    """Return a grid over the same range whose step is no less: wide kernels need few nodes."""
    times = int(step / grid.step)
    if times <= 1:
        return grid
    return Grid(low=grid.low, step=times * grid.step, nodes=-(-grid.nodes // times) + 2)


def own_advantage(column: GridColumn, prior: float) -> float:
    """Return U_N with each class's own bandwidth, on all rows, as published."""
    plan = column.plan
    sides = [column.side(one, everyone=True) for one in (MEMBER, HOLDOUT)]
    weights = (prior, 1 - prior)
    widths = plan.own or (plan.common, plan.common)
    grid = _no_finer(plan.grid, min(widths) / _STEPS)
    points = plan.grid.points()
    parts = [
        smooth(
            linear_weights(points, grid, weight / max(1, side.records) * side.nodes), grid, width
        )
        for weight, side, width in zip(weights, sides, widths, strict=True)
    ]
    reach = max(part.masses.size for part in parts)
    wide = [np.pad(part.masses, (reach - part.masses.size) // 2) for part in parts]
    total = float(np.abs(wide[0] - wide[1]).sum())
    return min(1.0, total + beyond(sides[0], sides[1], prior))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisedLimit:
    """What is seen, and at most true, of a score with Gaussian noise of one bandwidth.

    Attributes:
        observed: best advantage on the data, biased upward.
        upper: limit of the best advantage of all attackers who see the noised score.
        n_members: rows behind it.
        n_holdout: likewise.
    """

    observed: float
    upper: float
    n_members: int
    n_holdout: int


def noised_limit(
    column: GridColumn, bandwidth: float, *, prior: float, alpha: float, strict: bool
) -> NoisedLimit:
    """Return the upper limit of the advantage after noise, one-sided alpha.

    Rows outside the grid are held to be told apart, infinite ones stay as they are, and
    the limit is widened by all that the grid may hide.

    Args:
        column: counts; the rows outside the burn-in are used.
        bandwidth: standard deviation of the noise, chosen on the burn-in.
        prior: p in (0, 1).
        alpha: one-sided error in (0, 1).
        strict: by Chernoff's bound, proved for guesses that are shares; otherwise the
            binomial limit, whose coverage is measured.
    """
    members, holdout = (column.side(one, everyone=False) for one in (MEMBER, HOLDOUT))
    grid = column.plan.grid
    in_sum, in_truth = grid_slack(grid.step, bandwidth, PLACES)
    gains = gains_of(members.nodes, holdout.nodes, members, holdout, prior)
    observed = kernel_advantage(gains, grid, bandwidth)
    observed += beyond(members, holdout, prior)
    observed = min(1.0, max(observed, baseline(prior)) + in_sum)
    limit = bounded_upper if strict else oracle_upper
    upper = limit(observed, members.records, holdout.records, prior=prior, alpha=alpha)
    return NoisedLimit(
        observed=observed,
        upper=min(1.0, upper + in_truth),
        n_members=members.records,
        n_holdout=holdout.records,
    )


def kernel_estimates(
    score: str, column: GridColumn | None, share: ErrorShare, *, prior: float, strict: bool
) -> list[Row]:
    """Return the rows of one score: a limit for each bandwidth, then U_N as published.

    Args:
        score: name of the column.
        column: its counts; None where it has no kernel density.
        share: of the error.
        prior: p in (0, 1).
        strict: finite-sample limits.
    """
    none = Row(
        quantity="advantage",
        score=score,
        method=_STRICT_METHOD if strict and column is not None else _METHOD,
        attackers="noised-query",
        value_reason=_NO_SPREAD if column is None else _NO_VALUE,
        lower_reason=_ONLY_UPPER,
        upper_reason=_NO_SPREAD,
        confidence=share.confidence,
        selection="no bandwidth could be chosen on the burn-in",
        validity="finite-sample" if strict and column is not None else "approximate",
        n_members=0,
        n_holdout=0,
    )
    if column is None:
        return [none]
    rows = []
    for bandwidth in column.plan.bandwidths:
        width, chosen = bandwidth.width, ", ".join(_SAYS[name] for name in bandwidth.selectors)
        found = noised_limit(column, width, prior=prior, alpha=share.one_sided, strict=strict)
        row = replace(
            none,
            plugin=found.observed,
            upper=found.upper,
            upper_reason=None,
            selection=f"bandwidth chosen on the burn-in by {chosen}; the other rows counted",
            n_members=found.n_members,
            n_holdout=found.n_holdout,
            bandwidth=width,
        )
        rows.append(row)
    return [*rows, *published_estimates(score, column, share, prior)]
