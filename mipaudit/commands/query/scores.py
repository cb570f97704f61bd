"""All scores of a run: each search is made once, whatever asks for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.query.search.approximate import (
    ApproximateNeighbours,
    FoundNeighbours,
    recall,
)
from mipaudit.commands.query.search.neighbours import Neighbours
from mipaudit.commands.query.search.ratios import fit_classifier, fit_density_ratio
from mipaudit.commands.query.search.row_hashes import released_rows, row_hashes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.query.kind import Query
    from mipaudit.commands.query.search.points import Geometry, Points
    from mipaudit.commands.query.search.row_hashes import ReleasedRows
    from mipaudit.summaries.identity.seed import SeedChoice

    Floats = NDArray[np.float64]
    Progress = Callable[[int, int | None], None]

_BALLS = ("mc", "share")
# Records that are searched exactly beside an approximate search.
RECALL_RECORDS: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """What the queries say of each record.

    Attributes:
        columns: of shape (n,) each, finite, by the query's column.
        radii: of the balls, by the query's column.
        search: how neighbours were found; ``none`` where nothing asked for them.
        classifier: what was fitted, None for nothing.
        approximate: how neighbours were found approximately; None where they were not.
        seed: in use for all draws; None where nothing was drawn.
    """

    columns: dict[str, Floats]
    radii: dict[str, float]
    search: str
    classifier: str | None
    approximate: ApproximateNeighbours | None = None
    seed: int | None = None


@dataclass(slots=True, kw_only=True)
class _Work:
    """Counts what is done of the run's steps, each in units of its own."""

    total: int
    progress: Progress | None
    done: int = 0

    def tick(self, units: int) -> None:
        self.done += units
        if self.progress is not None:
            self.progress(min(self.done, self.total), self.total)


@dataclass(slots=True, kw_only=True)
class Scoring:
    """The tables of a run, and what was found already.

    Attributes:
        records: members, then holdout.
        synthetic: what was released.
        reference: records of neither, for queries that compare with them.
        geometry: of the distances.
        memory: bytes that a search may take.
        seed: of all draws: what was asked for.
        progress: told how much of how much is done.
        approximate: whether neighbours are searched approximately, if at all.
    """

    records: Points
    synthetic: Points
    reference: Points | None
    geometry: Geometry
    memory: int
    seed: SeedChoice
    progress: Progress | None = None
    approximate: bool = False
    _released: ReleasedRows | None = None
    _balls: dict[float, tuple[Floats, Floats]] = field(default_factory=dict)

    def run(self, queries: Sequence[Query]) -> Scored:
        """Return the scores of all queries."""
        neighbours = Neighbours(self.synthetic, self.geometry)
        work = self._work(queries, neighbours)
        ranks = _ranks(queries)
        distances = np.empty((len(self.records), 0))
        index = None
        if ranks and self.approximate:
            index = neighbours.approximate(seed=self._rows().seed, memory=self.memory)
        if ranks:
            distances = neighbours.nearest(
                self.records,
                ranks[-1],
                rng=_timing(),
                memory=self.memory,
                tick=work.tick,
                ranks=ranks,
            )
        near = dict(zip(ranks, distances.T, strict=True))
        scored = Scored(columns={}, radii={}, search="", classifier=None)
        said: list[str] = []
        for query in queries:
            scored.columns[query.column] = self._one(query, neighbours, near, work, scored, said)
        return Scored(
            columns=scored.columns,
            radii=scored.radii,
            search=neighbours.method,
            classifier=said[0] if said else None,
            approximate=None
            if index is None
            else ApproximateNeighbours(
                library=index.library,
                lists=index.lists,
                probes=index.probes,
                found=self._recall(ranks, distances),
            ),
            seed=None if self._released is None else self._released.seed,
        )

    def _recall(self, ranks: Sequence[int], distances: Floats) -> tuple[FoundNeighbours, ...]:
        """Search some of the records exactly."""
        count = min(len(self.records), RECALL_RECORDS)
        rng = self._rng(3)
        # Equal records have equal distances: whichever stands first, the answer is the same.
        order = np.argsort(row_hashes(self.records), kind="stable")
        some = np.sort(order[rng.choice(len(self.records), count, replace=False)])
        exact = Neighbours(self.synthetic, self.geometry).nearest(
            self.records.take(some), ranks[-1], rng=rng, memory=self.memory, ranks=ranks
        )
        return tuple(
            recall(rank, distances[some, at], exact[:, at]) for at, rank in enumerate(ranks)
        )

    def _work(self, queries: Sequence[Query], neighbours: Neighbours) -> _Work:
        one = len(self.records) * neighbours.pairs_per_record
        radii = {query.radius for query in queries if query.kind in _BALLS}
        near = any(query.neighbours for query in queries) or _needs_median(queries)
        # A kernel or a leaf costs about as much as a hundred pairs of the others.
        models = sum(query.kind in {"density", "classifier"} for query in queries)
        return _Work(
            total=one * (near + len(radii)) + models * len(self.records), progress=self.progress
        )

    def _one(
        self,
        query: Query,
        neighbours: Neighbours,
        near: Mapping[int, Floats],
        work: _Work,
        scored: Scored,
        said: list[str],
    ) -> Floats:
        match query.kind:
            case "nn" | "kth":
                return near[query.neighbours].copy()
            case "lnr":
                return _ratio(near[1], near[query.neighbours])
            case "mc" | "share":
                radius = float(np.median(near[1])) if query.radius is None else query.radius
                scored.radii[query.column] = radius
                return self._ball(neighbours, radius, work)[query.kind == "share"]
            case "density":
                ratio = fit_density_ratio(
                    self._rows().synthetic,
                    self._rows().reference,
                    self.geometry.levels,
                    components=query.components,
                    rng=self._rng(1),
                )
                return ratio.score(self.records, self.geometry.levels, work.tick)
            case "classifier":
                fitted = fit_classifier(
                    self._rows().synthetic,
                    self._rows().reference,
                    self.geometry.levels,
                    rng=self._rng(2),
                )
                said.append(fitted.method)
                return fitted.score(self.records, self.geometry.levels, work.tick)

    def _ball(self, neighbours: Neighbours, radius: float, work: _Work) -> tuple[Floats, Floats]:
        if radius not in self._balls:
            self._balls[radius] = neighbours.ball(
                self.records, radius, rng=_timing(), memory=self.memory, tick=work.tick
            )
        return self._balls[radius]

    def _rows(self) -> ReleasedRows:
        """Return the rows that are drawn from, with the seed that they decide."""
        if self._released is None:
            self._released = released_rows(self.synthetic, self.reference, self.seed)
        return self._released

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self._rows().seed, stream])


def _timing() -> np.random.Generator:
    """Return what chooses the rows that are timed: no answer depends on it."""
    return np.random.default_rng(0)


def _needs_median(queries: Sequence[Query]) -> bool:
    return any(query.kind in _BALLS and query.radius is None for query in queries)


def _ranks(queries: Sequence[Query]) -> tuple[int, ...]:
    """Return which neighbours are asked for, in order."""
    wanted = {query.neighbours for query in queries if query.neighbours}
    nearest = _needs_median(queries) or any(query.kind == "lnr" for query in queries)
    return tuple(sorted(wanted | ({1} if nearest else set())))


def _ratio(nearest: Floats, other: Floats) -> Floats:
    """Return nearest / other; 0 for an exact copy, also where there are several."""
    return np.divide(nearest, other, out=np.zeros_like(nearest), where=nearest > 0)
