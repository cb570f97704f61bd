"""All scores of a run: each search is made once, whatever asks for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.query.options import BALLS, NEEDS_REFERENCE
from mipaudit.commands.query.search.approximate import ApproximateNeighbours, recall
from mipaudit.commands.query.search.neighbours import Neighbours
from mipaudit.commands.query.search.points import released_rows, row_hashes
from mipaudit.commands.query.search.ratios import fit_classifier, fit_density_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.query.options import Query
    from mipaudit.commands.query.search.approximate import ApproximateSearch
    from mipaudit.commands.query.search.points import Geometry, Points, ReleasedRows
    from mipaudit.summaries.identity.seed import SeedChoice

    Floats = NDArray[np.float64]
    Progress = Callable[[int, int | None], None]

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
    _classifier: str | None = None
    _done: int = 0
    _total: int = 0

    def run(self, queries: Sequence[Query]) -> Scored:
        """Return the scores of all queries."""
        neighbours = Neighbours(self.synthetic, self.geometry, self.memory)
        self._total = self._steps(queries, neighbours)
        ranks = _ranks(queries)
        distances = np.empty((len(self.records), 0))
        approximate = None
        if ranks:
            index = neighbours.approximate(self._rows().seed) if self.approximate else None
            distances = neighbours.nearest(self.records, ranks, self._tick)
            approximate = None if index is None else self._recall(index, ranks, distances)
        near = dict(zip(ranks, distances.T, strict=True))
        radii = {
            query.column: float(np.median(near[1])) if query.radius is None else query.radius
            for query in queries
            if query.kind in BALLS
        }
        columns = {
            query.column: self._one(query, neighbours, near, radii.get(query.column, 0.0))
            for query in queries
        }
        return Scored(
            columns=columns,
            radii=radii,
            search=neighbours.method,
            classifier=self._classifier,
            approximate=approximate,
            seed=None if self._released is None else self._released.seed,
        )

    def _recall(
        self, index: ApproximateSearch, ranks: Sequence[int], distances: Floats
    ) -> ApproximateNeighbours:
        """Search some of the records exactly."""
        count = min(len(self.records), RECALL_RECORDS)
        # Equal records have equal distances: whichever stands first, the answer is the same.
        order = np.argsort(row_hashes(self.records), kind="stable")
        some = np.sort(order[self._rng(3).choice(len(self.records), count, replace=False)])
        search = Neighbours(self.synthetic, self.geometry, self.memory)
        exact = search.nearest(self.records.take(some), ranks)
        return ApproximateNeighbours(
            library=index.library,
            lists=index.lists,
            probes=index.probes,
            found=tuple(
                recall(rank, distances[some, at], exact[:, at]) for at, rank in enumerate(ranks)
            ),
        )

    def _steps(self, queries: Sequence[Query], neighbours: Neighbours) -> int:
        """Return how many pairs are ahead."""
        one = len(self.records) * neighbours.pairs_per_record
        radii = {query.radius for query in queries if query.kind in BALLS}
        near = bool(_ranks(queries))
        # A kernel or a leaf costs about as much as a hundred pairs of the others.
        models = sum(query.kind in NEEDS_REFERENCE for query in queries)
        return one * (near + len(radii)) + models * len(self.records)

    def _tick(self, pairs: int) -> None:
        self._done += pairs
        if self.progress is not None:
            self.progress(min(self._done, self._total), self._total)

    def _one(
        self, query: Query, neighbours: Neighbours, near: Mapping[int, Floats], radius: float
    ) -> Floats:
        levels = self.geometry.levels
        match query.kind:
            case "nn" | "kth":
                return near[query.neighbours].copy()
            case "lnr":
                # 0 for an exact copy, also where there are several.
                zeros = np.zeros(len(self.records))
                return np.divide(near[1], near[query.neighbours], out=zeros, where=near[1] > 0)
            case "mc" | "share":
                if radius not in self._balls:
                    self._balls[radius] = neighbours.ball(self.records, radius, self._tick)
                return self._balls[radius][query.kind == "share"]
            case "density":
                ours, theirs, _ = self._rows()
                ratio = fit_density_ratio(
                    ours, theirs, levels, components=query.components, rng=self._rng(1)
                )
                return ratio.score(self.records, levels, self._tick)
            case "classifier":
                ours, theirs, _ = self._rows()
                fitted = fit_classifier(ours, theirs, levels, rng=self._rng(2))
                self._classifier = fitted.method
                return fitted.score(self.records, levels, self._tick)

    def _rows(self) -> ReleasedRows:
        """Return the rows that are drawn from, with the seed that they decide."""
        if self._released is None:
            self._released = released_rows(self.synthetic, self.reference, self.seed)
        return self._released

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self._rows().seed, stream])


def _ranks(queries: Sequence[Query]) -> tuple[int, ...]:
    """Return which neighbours are asked for, in order."""
    wanted = {query.neighbours for query in queries if query.neighbours}
    median = any(query.kind in BALLS and query.radius is None for query in queries)
    if median or any(query.kind == "lnr" for query in queries):
        wanted.add(1)
    return tuple(sorted(wanted))
