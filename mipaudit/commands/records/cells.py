"""Cells of records: cut on the burn-in, their risk, and the risk of a cell for every record in it.

The risk that can be estimated is that of a cell: the average over the records whose scores
fall into it. Few cells blur the exposed records with others, many leave few rows in each,
so their number grows with the cube root of the rows, the usual balance of blur and noise
in a histogram. Leaks of a few records show at the ends of the score, so the outermost
cells are halved as long as enough rows are left.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.records.options import MOST_CELLS
from mipaudit.commands.records.report import CellRisk, Direction, RiskBand
from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Bools, Floats, Ints, Places
from mipaudit.maths.cell_risk import (
    RiskLimits,
    above_p_values,
    conditional_limits,
    discoveries,
    error_for_selected,
    melded_limits,
)
from mipaudit.maths.finite_population import Population, finite_limits, finite_p_values
from mipaudit.model.row import Row
from mipaudit.summaries.cells import atoms
from mipaudit.summaries.plan import BurnInSample, burn_in_blocks, is_discrete
from mipaudit.summaries.rows import Rows, ScoreKind, micro_blocks, rank_bytes

FoundT = TypeVar("FoundT")
# Among more cells each holds too little of a class for melding to gain anything.
MOST_MELDED: Final = 64
_BANDS: Final = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_MEMBER: Final = 1
_EARLY: Final = 1
DIRECTIONS: Final[tuple[Direction, ...]] = ("holdout", "unclear", "member")


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordRisks:
    """Counts by cell, and what they show.

    Attributes:
        counts: int64, shape (m, 2, 2): cell, in burn-in, (holdout, member).
        single: bool, shape (m,): cells that are one value. No label chose them, so all rows count
            there; in other cells those outside the burn-in, which cut them.
        prior: p in (0, 1).
        confidence: of all limits together, and of each pointwise one, in [0.5, 1).
        tau: risk above which records are listed, in [0, 1).
        rate: false-discovery rate of the list, in (0, 1).
        population: n training records, of which the members are a sample; None where the
            members stand for all that might have been members.
        limit: on the risk, of the policy; None for ``tau``.
    """

    counts: Ints
    single: Bools
    prior: float
    confidence: float
    tau: float = 0.5
    rate: float = 0.05
    population: int | None = None
    limit: float | None = None

    @cached_property
    def everyone(self) -> Ints:
        """Return all rows of each cell, (holdout, member), shape (m, 2)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def counted(self) -> Ints:
        """Return the counted rows of each cell, likewise."""
        return np.where(self.single[:, None], self.everyone, self.counts[:, 0])

    @property
    def members(self) -> Ints:
        """Return the counted members of each cell."""
        return self.counted[:, _MEMBER]

    @property
    def holdout(self) -> Ints:
        """Return the counted holdout records of each cell."""
        return self.counted[:, 1 - _MEMBER]

    @cached_property
    def filled(self) -> Bools:
        """Tell in which cells there is any record, of the burn-in too."""
        return np.asarray(self.everyone.any(axis=1))

    @cached_property
    def occupied(self) -> Bools:
        """Tell in which cells a record was counted: only those share the error."""
        return np.asarray(self.counted.any(axis=1))

    @property
    def cells(self) -> int:
        """Return the number of cells in which a record was counted."""
        return int(self.occupied.sum())

    @property
    def melded(self) -> bool:
        """Tell whether the limits are melded, rather than conditional."""
        return self.population is not None or self.cells <= MOST_MELDED

    @cached_property
    def together(self) -> RiskLimits:
        """Return the limits that hold for all cells together (Bonferroni)."""
        return self.limits((1 - self.confidence) / max(1, self.cells))

    @cached_property
    def alone(self) -> RiskLimits:
        """Return the limits of each cell alone, which do not hold together."""
        return self.limits(1 - self.confidence)

    @cached_property
    def listed(self) -> Bools:
        """Tell which cells are listed as having a risk above tau."""
        above = np.ones(self.members.size)
        for cells, values in self._counted(above_p_values, finite_p_values, tau=self.tau):
            above[cells] = values
        chosen = np.zeros(above.size, dtype=np.bool_)
        chosen[self.occupied] = discoveries(above[self.occupied], self.rate)
        return chosen

    @cached_property
    def adjusted(self) -> RiskLimits:
        """Return limits for the listed cells, adjusted for having been selected."""
        count = int(self.listed.sum())
        return self.limits(error_for_selected(1 - self.confidence, count, self.cells))

    @cached_property
    def table(self) -> dict[str, NDArray[Any]]:
        """Return what is known of every cell: arrays of shape (m,) by the fields of `CellRisk`."""
        together, alone = self.together, self.alone
        adjusted = self.adjusted if self.listed.any() else together
        holdout, members = self.everyone.T
        unlisted = np.full(members.size, None)
        return {
            "cell": np.arange(members.size, dtype=np.int32),
            "members": members,
            "holdout": holdout,
            "counted_members": self.members,
            "counted_holdout": self.holdout,
            "signed": together.signed,
            "risk": together.risk,
            "lower": together.risk_lower,
            "upper": together.risk_upper,
            "lower_pointwise": alone.risk_lower,
            "upper_pointwise": alone.risk_upper,
            "speaks_for": np.array(DIRECTIONS)[together.direction + 1],
            "in_list": self.listed,
            "adjusted_lower": np.where(self.listed, adjusted.risk_lower, unlisted),
            "adjusted_upper": np.where(self.listed, adjusted.risk_upper, unlisted),
        }

    def rows(
        self, cells: NDArray[np.integer], names: Sequence[str] | None = None
    ) -> Iterator[Mapping[str, Any]]:
        """Yield what is known of some cells, by the fields of `CellRisk`, or some of them."""
        names = tuple(self.table) if names is None else names
        columns = [self.table[name][cells].tolist() for name in names]
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))

    def cell_risks(self, least: int) -> tuple[CellRisk, ...]:
        """Return the cells of so many records, the most exposed first."""
        shown = self.order[self.everyone[self.order].sum(axis=1) >= least]
        return tuple(CellRisk(**one) for one in self.rows(shown))

    def bands(self) -> tuple[RiskBand, ...]:
        """Return how many records have a risk within each band."""
        risk, lower = self.together.risk, self.together.risk_lower
        found = []
        for low, high in pairwise(_BANDS):
            inside = (risk >= low) & ((risk < high) | (high == _BANDS[-1]))
            counts = [self.everyone[cells].sum(axis=0).tolist() for cells in (inside, lower >= low)]
            (holdout, members), (surely, as_members) = counts
            sure = {"at_least_members": as_members, "at_least_holdout": surely}
            found.append(RiskBand(low=low, high=high, members=members, holdout=holdout, **sure))
        return tuple(found)

    @cached_property
    def _ranked(self) -> Places:
        """Return all cells: the largest lower limit first, then the largest risk, then in order."""
        first = -np.arange(self.members.size)
        by = (first, self.together.risk, self.together.risk_lower)
        return np.asarray(np.lexsort(by)[::-1])

    @property
    def largest(self) -> int:
        """Return the cell whose risk has the largest lower limit, then the largest risk."""
        return int(self._ranked[0])

    @property
    def order(self) -> Places:
        """Return the occupied cells, the most exposed first."""
        return np.asarray(self._ranked[self.occupied[self._ranked]])

    @property
    def members_first(self) -> Places:
        """Return the same, those that surely give members away above the limit before others."""
        limits, limit = self.together, self.tau if self.limit is None else self.limit
        away = (limits.direction > 0) & (limits.risk_lower > limit)
        return np.asarray(self.order[np.argsort(~away[self.order], kind="stable")])

    @cached_property
    def uncounted(self) -> int:
        """Return the records in cells without a counted record: all from the burn-in."""
        return int(self.everyone[~self.occupied].sum())

    def largest_row(self, score: str) -> Row:
        """Return the largest risk: what MACE's Definition 8 asks to be at most alpha.

        A cell's risk is an average over its values, so that its lower limit is one of the largest
        risk of a single value too. The best estimate is that of the cell that attains the limit.
        Both are at least the average risk, the baseline. The upper limit is over the cells that
        hold records; it is 1 where records are in cells without a counted one: nothing limits
        their risk.
        """
        method = f"{'melded' if self.melded else 'conditional'} Clopper-Pearson"
        if self.population is not None:
            method = "melded, members without replacement"
        n_holdout, n_members = self.counted.sum(axis=0).tolist()
        found, least = self.together, baseline(self.prior)
        limited = self.cells and not self.uncounted
        return Row(
            quantity="risk",
            score=score,
            method=method,
            attackers="any",
            value=max(least, float(found.risk[self.largest])),
            plugin=float(found.risk[self.occupied].max()) if self.cells else None,
            lower=max(least, float(found.risk_lower.max())),
            upper=float(found.risk_upper[self.occupied].max()) if limited else 1.0,
            confidence=self.confidence,
            selection="all rows of cells of one value; cells of more, cut on the burn-in, are "
            "counted on the other rows",
            validity="approximate",
            n_members=n_members,
            n_holdout=n_holdout,
        )

    def limits(self, alpha: float) -> RiskLimits:
        """Return limits of two-sided error alpha for each cell."""
        by = melded_limits if self.melded else conditional_limits
        # What is known of a cell where no row of a class was counted in any.
        signed, lower, upper = (
            np.full(self.members.size, x) for x in (2 * self.prior - 1, -1.0, 1.0)
        )
        for cells, some in self._counted(by, finite_limits, alpha=alpha):
            signed[cells], lower[cells], upper[cells] = some.signed, some.lower, some.upper
        return RiskLimits(signed=signed, lower=lower, upper=upper)

    def _counted(
        self, unlimited: Callable[..., FoundT], finite: Callable[..., FoundT], **at: float
    ) -> Iterator[tuple[Bools, FoundT]]:
        """Yield cells whose counts are of the same rows, and what a function finds in them.

        Of two functions it is the one that suits the members.
        """
        late, early = self.counts[:, 0], self.counts[:, _EARLY, _MEMBER]
        for cells, rows, known in (
            (self.single, self.everyone, np.zeros_like(early)),
            (~self.single, late, early),
        ):
            holdout, members = np.ascontiguousarray(rows[cells].T)
            n_holdout, n_members = rows.sum(axis=0).tolist()
            if not members.size or min(n_holdout, n_members) == 0:
                continue
            common = {"n_holdout": n_holdout, "prior": self.prior, **at}
            if self.population is None:
                yield cells, unlimited(members, holdout, n_members=n_members, **common)
                continue
            training = Population(
                records=self.population, known=int(known.sum()), sampled=n_members
            )
            yield cells, finite(members, holdout, known[cells], population=training, **common)


_CELLS_PER_CUBE_ROOT: Final = 2.0
_FEWEST: Final = 4
_END_ROWS: Final = 400
_MOST_HALVINGS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordCells:
    """Cells of one score, and which rows may count.

    Attributes:
        edges: increasing float64, shape (k-1,): pieces (e[i-1], e[i]] of the score axis.
        cell: int32, shape (k,), the cell of each piece; several pieces may share one.
        count: m, the number of cells; the last holds what the burn-in hardly saw.
        single: bool, shape (m,): cells that hold one value.
        burn_in: micro-blocks whose rows chose the cells and are in no count.
        seed: of the row assignment.
        discrete: whether every value that the burn-in has often enough is a cell.
    """

    edges: Floats
    cell: NDArray[np.int32]
    count: int
    single: Bools
    burn_in: int
    seed: int
    discrete: bool

    def of(self, scores: Floats) -> NDArray[np.int32]:
        """Return the cell of each score, shape (n,)."""
        return self.cell[np.searchsorted(self.edges, scores, side="left")]


def cells_wanted(n_members: int, n_holdout: int) -> int:
    """Return the number of cells for class sizes above 0: twice the cube root of the less."""
    wanted = round(_CELLS_PER_CUBE_ROOT * np.cbrt(min(n_members, n_holdout)))
    return int(min(max(wanted, _FEWEST), MOST_CELLS))


def cut_cells(
    sample: BurnInSample,
    kind: ScoreKind,
    *,
    seed: int,
    discrete: bool = False,
    cells: int | None = None,
    least: int = 10,
) -> RecordCells:
    """Return the cells that the burn-in calls for.

    Args:
        sample: settled, of one score column, neither class empty.
        kind: of the column.
        seed: of the row assignment.
        discrete: take the score as discrete.
        cells: how many; None for as many as the rows bear.
        least: rows that a cell should have at least; with fewer it joins its neighbour.

    Raises:
        InputError: a score taken as discrete has too many values.
    """
    sizes = sample.members.rows, sample.holdout.rows
    burn_in = burn_in_blocks(*sizes)
    sides = (sample.members, sample.holdout)
    scores = [one.scores[one.within(burn_in), 0] for one in sides]
    values = np.concatenate(scores)
    order = np.argsort(values)
    values = values[order]
    each = is_discrete(values, kind, asked=discrete)
    # Both classes weigh the same, or the larger one alone would place the cells.
    weights = np.concatenate([np.full(one.size, 1 / max(1, one.size)) for one in scores])[order]
    levels = None if each else _levels(cells or cells_wanted(*sizes), sum(sizes))
    edges, points = _pieces(values, weights, levels)
    single = _holds_one(edges, points)
    mass = np.bincount(np.searchsorted(edges, values, side="left"), minlength=edges.size + 1)
    need = max(1.0, least * values.size / sum(sizes))
    cell, alone = _gather(mass, single, need)
    return RecordCells(
        edges=edges,
        cell=cell,
        count=int(cell.max()) + 1,
        single=alone,
        burn_in=burn_in,
        seed=seed,
        discrete=each,
    )


def _pieces(values: Floats, weights: Floats, levels: Floats | None) -> tuple[Floats, Floats]:
    """Return the cut points, and the values that stand alone between two of them.

    Args:
        values: sorted burn-in scores.
        weights: of each.
        levels: quantile levels to cut at; None for a cell for every value.
    """
    points = atoms(values, all_values=levels is None) if values.size else values
    fences = np.concatenate([np.nextafter(points, -np.inf), points])
    if levels is not None and values.size:
        reached = np.cumsum(weights)
        at = np.searchsorted(reached, levels * reached[-1])
        fences = np.concatenate([fences, values[np.minimum(at, values.size - 1)]])
    return np.unique(fences[fences < np.inf]), points


def _levels(cells: int, rows: int) -> Floats:
    """Return quantile levels of equal mass, the outermost cells halved while rows last."""
    even = np.arange(1, cells) / cells
    halved = 0.5 ** np.arange(1, _MOST_HALVINGS + 1) / cells
    halved = halved[halved * rows >= _END_ROWS]
    return np.sort(np.concatenate([even, halved, 1 - halved]))


def _holds_one(edges: Floats, points: Floats) -> Bools:
    """Tell which pieces hold exactly one float."""
    upper = np.concatenate([edges, [np.inf]])
    below = np.concatenate([[-np.inf], edges])
    single = np.isin(upper, points) & (below == np.nextafter(upper, -np.inf))
    if edges.size and edges[0] == -np.inf:
        single[0] = True  # the value minus infinity
    return np.asarray(single)


def _gather(mass: Ints, single: Bools, need: float) -> tuple[NDArray[np.int32], Bools]:
    """Return the cell of each piece, and which cells hold one value.

    Values with enough rows stay alone; between two of them, pieces are joined from the
    left until they have enough. What is left over joins the cell before it, or, where there
    is none, a last cell for all that the burn-in hardly saw.
    """
    cell = np.full(mass.size, -1, dtype=np.int32)
    alone: list[bool] = []
    run: list[int] = []
    rows, before = 0, -1  # of the open run; the last cell of joined pieces since a lone value
    for at, (count, one) in enumerate(zip(mass.tolist(), single.tolist(), strict=True)):
        if one and count >= need:
            cell[run], cell[at] = before, len(alone)
            run, rows, before = [], 0, -1
            alone.append(True)
            continue
        run.append(at)
        rows += count
        if rows >= need:
            before = len(alone)
            cell[run] = before
            alone.append(False)
            run, rows = [], 0
    cell[run] = before
    if (cell < 0).any():
        cell[cell < 0] = len(alone)
        alone.append(False)
    return cell, np.array(alone, dtype=np.bool_)


class RecordTally:
    """Rows by cell, class, and whether they were in the burn-in; mergeable.

    Attributes:
        counts: int64, shape (m, 2, 2): cell, in burn-in, (holdout, member).
    """

    __slots__ = ("_cells", "counts")

    def __init__(self, cells: RecordCells) -> None:
        """Start empty."""
        self._cells = cells
        self.counts = np.zeros((cells.count, 2, 2), dtype=np.int64)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        early = micro_blocks(rank_bytes(rows, self._cells.seed)) < self._cells.burn_in
        code = self._cells.of(rows.scores[0]) << 2
        code += (early.view(np.uint8) << np.uint8(1)) + rows.member.view(np.uint8)
        self.counts += np.bincount(code, minlength=self.counts.size).reshape(self.counts.shape)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.counts += other.counts
