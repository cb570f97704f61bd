"""U_N, the kernel estimator of MACE (Liu et al., Theorem 3), for reproduction only.

Its band surrounds the mean of U_N, not the advantage, and forgets the smoothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.kernel_density import Grid, kernel_advantage, linear_weights, smooth
from mipaudit.statements.estimate import Estimate
from mipaudit.summaries.grids.counts import HOLDOUT, MEMBER, beyond, gains_of

if TYPE_CHECKING:
    from mipaudit.evidence.scores.rows import ErrorShare
    from mipaudit.summaries.grids.counts import GridColumn

_PUBLISHED: Final = "as published; not a valid interval for the advantage"
_STEPS: Final = 40


def published_estimates(
    score: str, column: GridColumn, share: ErrorShare, prior: float
) -> list[Estimate]:
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
        Estimate(
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
