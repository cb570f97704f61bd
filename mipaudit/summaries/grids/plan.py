"""What the burn-in decides for kernel densities: bandwidths, and the grid that serves them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.kernel_density import (
    Grid,
    held_out_multiple,
    improved_sheather_jones,
    rounded,
    silverman,
    spread,
)
from mipaudit.summaries.cells.cells import atoms
from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS

if TYPE_CHECKING:
    from mipaudit.summaries.plan import Plan, ScoreKind
    from mipaudit.summaries.sample import BurnInSample, ClassSample

_INSIDE: Final = (1 << 16) - 3
# Fine enough for an error below 1e-4 of a kernel's peak: step^2/8 of its curvature.
_STEPS: Final = 40
_FEWEST_STEPS: Final = 8
_MARGIN: Final = 4.0
_LEAST_RESIDUE: Final = 20
_LEAST_SPREAD: Final = 1e-290  # the reciprocal of a far smaller step is no float
_LARGEST: Final = 1e306  # so that differences of scores are floats
_WIDEST_RATIO: Final = 100.0
_ISJ_EXTENT: Final = 20.0
_SELECTORS: Final = ("silverman", "isj", "held-out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """A bandwidth in units of the score, and the selectors that chose it."""

    width: float
    selectors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridPlan:
    """How one score column is counted for kernel densities.

    Attributes:
        grid: the nodes.
        bandwidths: common to both classes, for statements about noise; all different.
        common: Silverman's for both classes together, of all records.
        own: Silverman's for members, and for holdout records, or None where a class has
            no spread in the burn-in, or a hundredth of the other's.
        atoms: increasing values that recur in the burn-in, shape (a,).
    """

    grid: Grid
    bandwidths: tuple[Bandwidth, ...]
    common: float
    own: tuple[float, float] | None
    atoms: NDArray[np.float64]


def make_grid_plans(
    sample: BurnInSample, plan: Plan, kinds: Sequence[ScoreKind], *, prior: float
) -> tuple[GridPlan | None, ...]:
    """Return the grid of each score column, or None for one that has no spread or order.

    Only burn-in rows decide, so that statements about the others stay valid.

    Args:
        sample: settled.
        plan: of the counts.
        kinds: of each column.
        prior: p in (0, 1).
    """
    sides = sample.members, sample.holdout
    records = sum(one.rows for one in sides)
    plans: list[GridPlan | None] = []
    for index, kind in enumerate(kinds):
        parts = [_split(one, index, plan.burn_in) for one in sides]
        sizes = sample.members.rows, sample.holdout.rows
        ordered = kind in {"float", "integer"}
        late = records * (MICRO_BLOCKS - plan.burn_in) / MICRO_BLOCKS
        plans.append(_grid_plan(parts, sizes, late, prior) if ordered else None)
    return tuple(plans)


_Halves = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


def _split(one: ClassSample, index: int, burn_in: int) -> _Halves:
    """Return the finite burn-in scores of a class in even and in odd micro-blocks."""
    block = one.ranks >> np.uint64(58)
    scores = one.scores[:, index]
    usable = (block < burn_in) & np.isfinite(scores)
    odd = (block & np.uint64(1)) == 1
    return scores[usable & ~odd], scores[usable & odd]


def _grid_plan(
    parts: Sequence[_Halves], sizes: tuple[int, int], late: float, prior: float
) -> GridPlan | None:
    classes = [np.concatenate(part) for part in parts]
    everything = np.sort(np.concatenate(classes))
    recurring = atoms(everything, all_values=False)
    smooth = everything[~_among(everything, recurring)]
    if smooth.size < _LEAST_RESIDUE or spread(smooth) <= 0:
        smooth = everything
    width = spread(smooth)
    if width < _LEAST_SPREAD or not max(map(abs, everything[[0, -1]].tolist())) < _LARGEST:
        return None
    chosen = _bandwidths(parts, smooth, width, late, prior)
    own = tuple(
        rounded(silverman(spread(one), size)) for one, size in zip(classes, sizes, strict=True)
    )
    common = rounded(silverman(width, sum(sizes)))
    return GridPlan(
        grid=_grid(everything, min(one.width for one in chosen)),
        bandwidths=chosen,
        common=common,
        own=(own[0], own[1]) if 0 < max(own) <= _WIDEST_RATIO * min(own) else None,
        atoms=recurring,
    )


def _among(scores: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which scores are among some increasing values."""
    if not values.size:
        return np.zeros(scores.size, dtype=bool)
    at = np.minimum(np.searchsorted(values, scores), values.size - 1)
    return np.asarray(values[at] == scores)


def _bandwidths(
    parts: Sequence[_Halves],
    smooth: NDArray[np.float64],
    width: float,
    late: float,
    prior: float,
) -> tuple[Bandwidth, ...]:
    """Return what the three selectors choose for the rows outside the burn-in."""
    base = silverman(width, late)
    middle = float(np.median(smooth))
    near = smooth[np.abs(smooth - middle) <= _ISJ_EXTENT * width]
    (members_even, members_odd), (holdout_even, holdout_odd) = parts
    halves = [(members_even, holdout_even), (members_odd, holdout_odd)]
    found: dict[float, list[str]] = {}
    for name, value in zip(
        _SELECTORS,
        (
            base,
            improved_sheather_jones(near, late),
            base * held_out_multiple(halves, prior),
        ),
        strict=True,
    ):
        # Far below Silverman's it follows single values, which no grid resolves.
        if value is not None and value >= base / 100:
            found.setdefault(rounded(value), []).append(name)
    return tuple(
        Bandwidth(width=value, selectors=tuple(names)) for value, names in sorted(found.items())
    )


def _grid(scores: NDArray[np.float64], bandwidth: float) -> Grid:
    """Return nodes for burn-in scores: all of them, or as many as fine nodes reach.

    Heavy tails are left out: what falls there is counted, and held to be told apart.
    """
    low, high = float(scores[0]), float(scores[-1])
    floor, ceiling = _ends(low, high, _MARGIN * bandwidth)
    low = low - _MARGIN * bandwidth if floor is None else floor
    high = high + _MARGIN * bandwidth if ceiling is None else ceiling
    step = bandwidth / _STEPS
    # Idle nodes cost little, and a row outside the grid counts as told apart.
    idle = max(0.0, min(high - low, (_INSIDE * step - (high - low)) / 2 - step))
    low = low - idle if floor is None else floor
    high = high + idle if ceiling is None else ceiling
    if not (high - low) / step <= _INSIDE:
        step = min((high - low) / _INSIDE, bandwidth / _FEWEST_STEPS)
    if not (high - low) / step <= _INSIDE * (1 + 1e-9):
        low = _fullest(scores, _INSIDE * step)
        high, floor, ceiling = low + _INSIDE * step, None, None
    inside = math.ceil((high - low) / step - 1e-9)
    if floor is not None and ceiling is not None:
        step = (high - low) / inside
    elif ceiling is not None:
        low = high - inside * step
    return Grid(
        low=low - step,
        step=step,
        nodes=inside + 3,
        floor=None if floor is None else 1,
        ceiling=None if ceiling is None else inside + 1,
    )


def _ends(low: float, high: float, near: float) -> tuple[float | None, float | None]:
    """Return where the range of the score seems to end: 0 below or above, 1 above."""
    floor = 0.0 if 0 <= low <= near else None
    ceiling = 1.0 if low >= 0 and 1 - near <= high <= 1 else None
    return floor, 0.0 if -near <= high <= 0 and floor is None else ceiling


def _fullest(scores: NDArray[np.float64], extent: float) -> float:
    """Return where an interval of this extent starts that holds the most sorted scores."""
    ends = np.searchsorted(scores, scores + extent, side="right")
    best = int((ends - np.arange(scores.size)).argmax())
    last = float(scores[ends[best] - 1])
    return float(scores[best] - (extent - (last - scores[best])) / 2)
