"""Where a site's scores lie, told without a score: what several sites agree on cells by.

Cut points are round numbers between sampled values, written no finer than many records lie
apart, or atoms that enough records share; every cell between two of them holds enough records, or
is told as empty. The smallest and the largest value are never among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.cells.cells import ATOM_SHARE, distinct_values, fences
from mipaudit.summaries.plan import ScoreKind, is_discrete

if TYPE_CHECKING:
    from mipaudit.summaries.sample import BurnInSample

_LARGEST_EXACT_POWER: Final = 22
_HALF: Final = 0.5
LEAST_RECORDS: Final = 10
MOST_FINE: Final = 1 << 16
# Counts that are rounded to a multiple of a number are still of use from this many times it on.
RECORDS_PER_ROUNDING: Final = 4
_TRUTH_VALUES: Final = (0.0, 1.0)


def round_beside(
    values: NDArray[np.float64],
    span: NDArray[np.float64],
    *,
    above: NDArray[np.bool_],
    taken: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return a number of few digits beside each value, NaN where there is none.

    Its last digit is worth a half to a twentieth of ``span``, or a half of that for all of
    them: it says no more of where records lie, however close to each other two of them are.

    Args:
        values: shape (n,).
        span: the distance over which enough records lie, above 0, shape (n,).
        above: whether a number above is wanted, or one below, shape (n,).
        taken: increasing, shape (m,): none of them is returned.
    """
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log10(_HALF * span))
        points = _next_multiple(values, exponent, above, 1.0)
        # All of them move or none: one that moves alone would tell that a record was there.
        if np.isin(points, taken).any():
            points = _next_multiple(values, exponent, above, 1.0 + _HALF)
    return np.where(np.isfinite(points) & ~np.isin(points, taken), points, np.nan)


def _next_multiple(
    values: NDArray[np.float64],
    exponent: NDArray[np.float64],
    above: NDArray[np.bool_],
    steps: float,
) -> NDArray[np.float64]:
    """Return a multiple of 10**exponent beside each value, as its decimals read."""
    power = np.abs(exponent)
    # Powers up to 10**22 are exact, and one division rounds as a decimal literal does.
    fine = (exponent < 0) & (power <= _LARGEST_EXACT_POWER)
    scale = np.power(10.0, np.where(fine, power, exponent))
    scaled = np.where(fine, values * scale, values / scale)
    moved = np.where(above, np.floor(scaled) + steps, np.ceil(scaled) - steps)
    return np.where(fine, moved / scale, moved * scale)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnCuts:
    """The burn-in rows of one score at one site, in cells.

    Attributes:
        kind: of the score.
        edges: strictly increasing float64, shape (m-1,): cells (e[i-1], e[i]].
        atoms: increasing float64, shape (a,): values with a cell of their own.
        counts: int64, shape (m, 2): sampled burn-in rows per cell, (holdout, member); none
            where there are few, as between two atoms.
        discrete: whether every burn-in value is an atom.
    """

    kind: ScoreKind
    edges: NDArray[np.float64]
    atoms: NDArray[np.float64]
    counts: NDArray[np.int64]
    discrete: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cuts:
    """What one site tells the others before anybody counts.

    Attributes:
        columns: one per score, in the order of the input.
        n_members: rows of members, all of the site's.
        n_holdout: rows of holdout records.
        burn_in: micro-blocks that the sampled rows are from.
        seed: of the row assignment.
        least: fewest records that any count of this site may be of, where its tables leave
            a secure room; None where only cut points are kept from telling a record's value.
    """

    columns: tuple[ColumnCuts, ...]
    n_members: int
    n_holdout: int
    burn_in: int
    seed: int
    least: int | None


def make_cuts(
    sample: BurnInSample,
    kinds: Sequence[ScoreKind],
    *,
    discrete: bool,
    seed: int,
    burn_in: int,
    least: int | None,
) -> Cuts:
    """Return the cuts of a settled sample.

    Args:
        sample: of both classes.
        kinds: of each score.
        discrete: take every score as discrete.
        seed: of the row assignment.
        burn_in: micro-blocks whose rows are told of, at most those of the final burn-in.
        least: as `Cuts.least`.

    Raises:
        InputError: a score taken as discrete has too many values.
    """
    burned = [one.scores[one.within(burn_in)] for one in (sample.holdout, sample.members)]
    return Cuts(
        columns=tuple(
            column_cuts(burned[0][:, index], burned[1][:, index], kind, asked=discrete, least=least)
            for index, kind in enumerate(kinds)
        ),
        n_members=sample.members.rows,
        n_holdout=sample.holdout.rows,
        burn_in=burn_in,
        seed=seed,
        least=least,
    )


def column_cuts(
    holdout: NDArray[np.float64],
    members: NDArray[np.float64],
    kind: ScoreKind,
    *,
    asked: bool,
    least: int | None,
) -> ColumnCuts:
    """Return the cuts of one score.

    Args:
        holdout: burn-in scores, shape (b0,), no NaN.
        members: burn-in scores, shape (b1,).
        kind: of the score.
        asked: the user says that it is discrete.
        least: as `Cuts.least`.

    Raises:
        InputError: it is taken as discrete and has too many values.
    """
    fewest = LEAST_RECORDS if least is None else RECORDS_PER_ROUNDING * least
    values = np.sort(np.concatenate([holdout, members]))
    distinct, times = distinct_values(values)
    each_value = is_discrete(values, kind, asked=asked)
    if kind == "bool":
        points = np.array(_TRUTH_VALUES)
    else:
        share = 0 if each_value else ATOM_SHARE
        points = distinct[times >= max(fewest, share * values.size)]
    listed = bool(np.isin(distinct, points).all())
    edges = fence = fences(points)
    if not (each_value and listed):
        between = _cut_points(values, holdout, members, fewest, points)
        edges = _merge_small(np.union1d(fence, between), fence, values, fewest)
    counts = _count(edges, holdout, members)
    if least is None:
        counts[counts.sum(axis=1) < fewest] = 0
    else:
        counts = least * np.rint(counts / least).astype(np.int64)
    return ColumnCuts(
        kind=kind, edges=edges, atoms=points, counts=counts, discrete=each_value and listed
    )


def _cut_points(
    values: NDArray[np.float64],
    holdout: NDArray[np.float64],
    members: NDArray[np.float64],
    fewest: int,
    atoms: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return round points that cut both classes together into cells of about equal mass.

    Args:
        values: of both, sorted.
        holdout: shape (b0,).
        members: shape (b1,).
        fewest: records of a cell, and within what a point's last digit is worth.
        atoms: between which there is nothing to cut.
    """
    cells = max(1, min(values.size // fewest, MOST_FINE))
    distinct, times = distinct_values(values)
    mass = sum(
        np.searchsorted(np.sort(scores), distinct, side="right") / max(1, scores.size)
        for scores in (holdout, members)
    )
    wanted = np.searchsorted(mass, 2 * np.arange(1, cells) / cells, side="left")
    at = np.unique(wanted[wanted < distinct.size - 1])
    # An atom's fences part it from its neighbours already.
    at = at[~np.isin(distinct[at], atoms) & ~np.isin(distinct[at + 1], atoms)]
    below = np.cumsum(times)[at]
    start = np.clip(below - fewest // 2, 0, max(0, values.size - fewest))
    with np.errstate(all="ignore"):
        span = values[start + fewest - 1] - values[start] if at.size else np.empty(0)
    # Towards the middle: the last cells on both sides would be too small otherwise.
    above = 2 * at < distinct.size
    points = round_beside(distinct[at], span, above=above, taken=distinct)
    return np.unique(points[~np.isnan(points)])


def _merge_small(
    edges: NDArray[np.float64],
    fence: NDArray[np.float64],
    values: NDArray[np.float64],
    fewest: int,
) -> NDArray[np.float64]:
    """Drop cut points, but no atom's fence, until no cell between them is too small."""
    fixed = np.isin(edges, fence)
    rows = np.diff(np.searchsorted(values, edges, side="right"), prepend=0, append=values.size)
    kept: list[int] = []
    run = 0
    for at, (count, stays) in enumerate(zip(rows.tolist(), [*fixed.tolist(), True], strict=True)):
        run += count
        if run < fewest and stays and kept and not fixed[kept[-1]]:
            kept.pop()
        if at < edges.size and (stays or run >= fewest):
            kept.append(at)
            run = 0
    return edges[kept]


def _count(
    edges: NDArray[np.float64], holdout: NDArray[np.float64], members: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the rows of each class per cell, shape (m, 2)."""
    cells = edges.size + 1
    return np.column_stack(
        [
            np.bincount(np.searchsorted(edges, scores, side="left"), minlength=cells)
            for scores in (holdout, members)
        ]
    ).astype(np.int64)
