"""What several sites agree on without showing a score: cuts of each, and the plan made of all.

A cut point is a round number between sampled values, written no finer than many records lie
apart, or an atom that enough records share; every cell between two of them holds enough records, or
is told as empty. The smallest and the largest value are never among them.

All who have the same cuts make the same plan, whatever their order: nobody coordinates. Between
cut points every count is large enough to leave a secure room.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.summaries.cells import (
    ATOM_SHARE,
    Cells,
    choose_buckets,
    distinct_values,
    divide,
    fences,
    quantile_edges,
)
from mipaudit.summaries.plan import (
    FEWEST_BURN_IN_BLOCKS,
    BurnInSample,
    ColumnPlan,
    Plan,
    burn_in_blocks,
    coarse_cells,
    is_discrete,
)
from mipaudit.summaries.rows import MICRO_BLOCKS, ScoreKind

_LARGEST_EXACT_POWER: Final = 22
_HALF: Final = 0.5
LEAST_RECORDS: Final = 10
MOST_FINE: Final = 1 << 16
# Counts that are rounded to a multiple of a number are still of use from this many times it on.
RECORDS_PER_ROUNDING: Final = 4
_TRUTH_VALUES: Final = (0.0, 1.0)


def round_beside(values: Floats, span: Floats, *, above: Bools, taken: Floats) -> Floats:
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


def _next_multiple(values: Floats, exponent: Floats, above: Bools, steps: float) -> Floats:
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
    edges: Floats
    atoms: Floats
    counts: Ints
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
    holdout: Floats, members: Floats, kind: ScoreKind, *, asked: bool, least: int | None
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
    values: Floats, holdout: Floats, members: Floats, fewest: int, atoms: Floats
) -> Floats:
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


def _merge_small(edges: Floats, fence: Floats, values: Floats, fewest: int) -> Floats:
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


def _count(edges: Floats, holdout: Floats, members: Floats) -> Ints:
    """Return the rows of each class per cell, shape (m, 2)."""
    cells = edges.size + 1
    return np.column_stack(
        [
            np.bincount(np.searchsorted(edges, scores, side="left"), minlength=cells)
            for scores in (holdout, members)
        ]
    ).astype(np.int64)


# Standard deviations that a count is expected to lie above the least that is allowed, and
# that the sample, from which this is foretold, is taken to have been lucky.
_SPREADS: Final = 6
_SAMPLE_SPREADS: Final = 4
# Over all scores of a summary, so that its file stays below 10 MiB.
_COARSE_AT_MOST: Final = 1 << 14
_FINE_AT_MOST: Final = 1 << 17
_ROUND_ROWS: Final = 100
# What a draw of the sampled rows nearly never falls short by, of what is expected.
_DRAW_SPREADS: Final = 3
# Of a class, on the other's side of where two normals a standard deviation apart cross.
_SMALLER_SHARE: Final = NormalDist().cdf(-0.5)
_SAMPLED: Final = FEWEST_BURN_IN_BLOCKS / MICRO_BLOCKS
_MOST_DIVISIONS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteCounts:
    """One site's sampled rows per cell.

    Attributes:
        edges: increasing, shape (m-1,).
        counts: int64, shape (m, 2), (holdout, member), known to within ``least``.
        rows: of the site, (holdout, member).
    """

    edges: Floats
    counts: Ints
    rows: tuple[int, int]

    def below(self, points: Floats, side: str) -> Ints:
        """Return the sampled rows below each point, from the own edge next to it.

        Args:
            points: shape (k,).
            side: ``"at most"`` for the last own edge up to a point, ``"at least"`` for the
                first one from it on.
        """
        total = np.zeros((self.edges.size + 2, 2), dtype=np.int64)
        total[1:] = self.counts.cumsum(axis=0)
        if side == "at most":
            return total[np.searchsorted(self.edges, points, side="right")]
        return total[np.searchsorted(self.edges, points, side="left") + 1]

    def per_block(self, sampled: Ints, least: int) -> Floats:
        """Return the rows to expect per micro-block, at the least, of sampled ones by class."""
        sure = np.maximum(sampled - _SAMPLE_SPREADS * np.sqrt(np.maximum(sampled, 0)) - least, 0)
        whole = np.maximum(self.counts.sum(axis=0), 1)
        return np.asarray(sure * (np.array(self.rows) / whole / MICRO_BLOCKS))


def safe_edges(sites: Sequence[SiteCounts], least: int) -> Floats:
    """Return as many edges as leave every micro-block's count of a class at ``least`` or more.

    Only burn-in rows decide, so that limits from the counts stay valid; what they foretell
    can still fail, and those who count have to look.

    Args:
        sites: of the same score.
        least: fewest records of a count.
    """
    enough = _enough(least)
    points = np.unique(np.concatenate([one.edges for one in sites]))
    ends = [(one, one.below(points, "at most"), one.below(points, "at least")) for one in sites]

    def filled(start: int | None, end: int | None) -> bool:
        for one, at_most, at_least in ends:
            top = one.counts.sum(axis=0) if end is None else at_most[end]
            bottom = 0 if start is None else at_least[start]
            if (one.per_block(top - bottom, least) < enough).any():
                return False
        return True

    kept: list[int] = []
    for at in range(points.size):
        if filled(kept[-1] if kept else None, at):
            kept.append(at)
    while kept and not filled(kept[-1], None):
        kept.pop()
    return points[kept]


def enough_rows(least: int) -> int:
    """Return the rows of a class with which a site nearly always has two cells, in round hundreds.

    For members and holdout records of two normals a standard deviation apart: up to five such
    sites had cells of all in more than 99 of 100 draws. Scores that lie closer need fewer rows,
    down to about 6 of 10; at two standard deviations it takes twice as many.

    Args:
        least: fewest records of a count.
    """
    sure = _enough(least) * FEWEST_BURN_IN_BLOCKS + least
    sampled = _surpassing(sure, _SAMPLE_SPREADS)
    # Cells of other sites end elsewhere: a shared cut point costs each of them up to a cell.
    drawn = _surpassing(sampled + RECORDS_PER_ROUNDING * least, _DRAW_SPREADS)
    return math.ceil(drawn / _SMALLER_SHARE / _SAMPLED / _ROUND_ROWS) * _ROUND_ROWS


def _enough(least: int) -> float:
    """Return the rows to expect in a count that has ``least`` of them all but surely."""
    return _surpassing(least, _SPREADS)


def _surpassing(count: float, spreads: float) -> float:
    """Return the expectation of a count that is so many standard deviations above another."""
    return (spreads / 2 + math.sqrt(spreads**2 / 4 + count)) ** 2


def shared_plan(sites: Sequence[Cuts], *, prior: float) -> Plan:
    """Return the plan by which every site counts.

    The cut points rest on burn-in rows alone: ``burn_in`` covers every site's.

    Args:
        sites: with the same scores in the same order; each has a seed of its own.
        prior: p in (0, 1), the weight of the members in the coarse cells.

    Returns:
        A plan without a seed: those who count by it give every row's rank.
    """
    least = least_of(sites)
    totals = (sum(one.n_members for one in sites), sum(one.n_holdout for one in sites))
    columns = range(len(sites[0].columns))
    return Plan(
        columns=tuple(
            _counted_plan(sites, index, prior=prior)
            if least is None
            else _released_plan(sites, index, least)
            for index in columns
        ),
        burn_in=max(burn_in_blocks(*totals), *(one.burn_in for one in sites)),
        seed=0,  # of no row: see `drawn_seed`
        exact=False,
    )


def least_of(sites: Sequence[Cuts]) -> int | None:
    """Return the fewest records that any count of any site may be of, None for no bound."""
    return max((one.least for one in sites if one.least is not None), default=None)


def _counted_plan(sites: Sequence[Cuts], index: int, *, prior: float) -> ColumnPlan:
    """Return the cells of one score: of equal mass over all sites, atoms apart."""
    found = [one.columns[index] for one in sites]
    points = np.unique(np.concatenate([one.atoms for one in found]))
    width = len(sites[0].columns)
    if all(one.discrete for one in found):
        none = points[:0]
        return ColumnPlan(cells=divide(points, none, none, buckets=None), discrete=True)
    rows = sum(one.n_members + one.n_holdout for one in sites)
    most = max(1, min(MOST_FINE, _FINE_AT_MOST // width, rows // LEAST_RECORDS))
    tops, mass = _divided(*_mass(sites, index), most)
    fewer = min(coarse_cells(rows), _COARSE_AT_MOST // width, most)
    coarse = quantile_edges(tops, mass @ [1 - prior, prior], fewer)
    fine = quantile_edges(tops, mass @ [_HALF, _HALF], most)
    grid = choose_buckets(fine, fine) if fine.size else None
    return ColumnPlan(cells=divide(points, coarse, fine, buckets=grid), discrete=False)


def _released_plan(sites: Sequence[Cuts], index: int, least: int) -> ColumnPlan:
    """Return cells of which no site's table is likely to hold fewer rows than ``least``."""
    found = [one.columns[index] for one in sites]
    points = np.unique(np.concatenate([one.atoms for one in found]))
    counts = [
        SiteCounts(
            edges=one.columns[index].edges,
            counts=one.columns[index].counts,
            rows=(one.n_holdout, one.n_members),
        )
        for one in sites
    ]
    edges = safe_edges(counts, least)
    cells = _parted_by(edges, points)
    every_atom = int(np.count_nonzero(cells.single)) == points.size
    return ColumnPlan(cells=cells, discrete=every_atom and all(one.discrete for one in found))


def _parted_by(edges: Floats, points: Floats) -> Cells:
    """Return cells with these edges only; an atom is one where both its fences are among them."""
    fenced = np.isin(points, edges) & np.isin(np.nextafter(points, -np.inf), edges)
    return divide(points[fenced], edges, edges, buckets=None)


def _divided(tops: Floats, mass: Floats, most: int) -> tuple[Floats, Floats]:
    """Return about ``most`` cells instead: those with two finite ends, cut into equal widths.

    The new cut points say nothing that the old ones do not, and a whole input has more rows
    between two of them than its sample has.

    Args:
        tops: upper ends of cells, in order, shape (m,).
        mass: shape (m, 2).
        most: cells wanted.
    """
    times = min(-(-most // tops.size), _MOST_DIVISIONS)
    finite = np.flatnonzero(np.isfinite(tops))
    if times == 1 or finite.size <= 1:
        return tops, mass
    start, stop = finite[0] + 1, finite[-1] + 1
    widths = np.diff(tops[finite])[:, None]
    inner = tops[start:stop, None] - widths * (np.arange(times)[::-1] / times)
    shares = np.repeat(mass[start:stop] / times, times, axis=0)
    return (
        np.concatenate([tops[:start], inner.ravel(), tops[stop:]]),
        np.concatenate([mass[:start], shares, mass[stop:]]),
    )


def _mass(sites: Sequence[Cuts], index: int) -> tuple[Floats, Floats]:
    """Return the upper ends of all sites' cells in order, and each class's mass in them.

    The order of the sites does not matter, not even to the last bit: equal ends are put in
    order by their mass.
    """
    # All cuts may be of one class: another site's are missing, or it has nothing to add.
    totals = np.array(
        [max(1, sum(one.n_holdout for one in sites)), max(1, sum(one.n_members for one in sites))],
        dtype=np.float64,
    )
    tops, mass = [], []
    for one in sites:
        cuts = one.columns[index]
        share = np.array([one.n_holdout, one.n_members]) / totals
        tops.append(np.append(cuts.edges, np.inf))
        mass.append(cuts.counts * (share / np.maximum(cuts.counts.sum(axis=0), 1)))
    ends, shares = np.concatenate(tops), np.concatenate(mass)
    order = np.lexsort((shares[:, 1], shares[:, 0], ends))
    return ends[order], shares[order]
