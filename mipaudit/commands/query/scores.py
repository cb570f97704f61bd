"""All scores of a run: each search is made once, whatever asks for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from mipaudit.commands.query.options import BALLS, NEEDS_REFERENCE, Query
from mipaudit.commands.query.search.neighbours import Neighbours
from mipaudit.commands.query.search.points import (
    Floats,
    Geometry,
    Points,
    ReleasedRows,
    Tick,
    dense_features,
    parts,
    released_rows,
)
from mipaudit.maths.learners import (
    Boosting,
    Logistic,
    RobustScale,
    fit_boosting,
    fit_logistic,
    robust_scale,
)
from mipaudit.summaries.identity.seed import SeedChoice

Progress = Callable[[int, int | None], None]


# Rows of either table that are learned from: more take longer and say little more.
MOST_ROWS: Final = 20_000
_BLOCK: Final = 1 << 17  # kernels computed at once: they stay in a core's cache
# Directions with less of the largest variance are taken for rounding errors.
_FLAT: Final = 1e-10
_JUDGED: Final = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """What the queries say of each record.

    Attributes:
        columns: of shape (n,) each, finite, by the query's column.
        radii: of the balls, by the query's column.
        search: how neighbours were found; ``none`` where nothing asked for them.
        classifier: what was fitted, None for nothing.
        seed: in use for all draws; None where nothing was drawn.
    """

    columns: dict[str, Floats]
    radii: dict[str, float]
    search: str
    classifier: str | None
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
    """

    records: Points
    synthetic: Points
    reference: Points | None
    geometry: Geometry
    memory: int
    seed: SeedChoice
    progress: Progress | None = None
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
        if ranks:
            distances = neighbours.nearest(self.records, ranks, self._tick)
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
            seed=None if self._released is None else self._released.seed,
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DensityRatio:
    """Kernel densities of both tables on their main directions.

    Attributes:
        centre: shape (d,).
        axes: shape (d, m): onto m directions, in each of which the reference has variance 1.
        synthetic: projected rows, shape (s, m).
        reference: projected rows, shape (r, m).
        bandwidth: of all kernels, one for both tables: different ones would make a ratio of
            equal densities differ from 1.
    """

    centre: Floats
    axes: Floats
    synthetic: Floats
    reference: Floats
    bandwidth: float

    def score(self, records: Points, levels: Sequence[int], tick: Tick | None = None) -> Floats:
        """Return log(density of synthetic / density of reference) at each record, shape (n,)."""

        def judged(features: Floats) -> Floats:
            rows = self._projected(features)
            ours = self._log_density(rows, self.synthetic)
            return ours - self._log_density(rows, self.reference)

        return _in_parts(records, levels, judged, tick)

    def _projected(self, features: Floats) -> Floats:
        """Return features on the main directions.

        Column by column, and so are squares summed below: a matrix product rounds a row by
        where it stands, and members and holdout stand in different places.
        """
        found = np.zeros((len(features), self.axes.shape[1]))
        for column, centre, weights in zip(features.T, self.centre, self.axes, strict=True):
            found += (column - centre)[:, None] * weights
        return found

    def _log_density(self, rows: Floats, kernels: Floats) -> Floats:
        """Return the log of the mean kernel, up to a constant of both tables."""
        size = max(1, _BLOCK // len(kernels))
        columns = np.ascontiguousarray(kernels.T)
        return np.concatenate(
            [self._of_few(rows[part], columns) for part in parts(len(rows), size)]
        )

    def _of_few(self, rows: Floats, kernels: Floats) -> Floats:
        exponents = np.zeros((len(rows), kernels.shape[1]))
        for own, theirs in zip(rows.T, kernels, strict=True):
            apart = own[:, None] - theirs
            apart *= apart
            exponents -= apart
        exponents /= 2.0 * self.bandwidth**2
        top = exponents.max(axis=1)
        exponents -= top[:, None]
        np.exp(exponents, out=exponents)
        return np.asarray(top + np.log(exponents.mean(axis=1)))


def fit_density_ratio(
    synthetic: Points,
    reference: Points,
    levels: Sequence[int],
    *,
    components: int,
    rng: np.random.Generator,
) -> DensityRatio:
    """Return the ratio of both tables' densities.

    Args:
        synthetic: at least 2 records; at most 20,000, drawn at random, carry a kernel.
        reference: likewise.
        levels: of each category.
        components: main directions of the reference at most, at least 1. The bandwidth is
            Scott's for the smaller table.
        rng: draws the rows.
    """
    ours, theirs = (_features(one, levels, rng) for one in (synthetic, reference))
    centre = theirs.mean(axis=0)
    variances, axes = np.linalg.eigh(
        np.cov(theirs, rowvar=False, ddof=0).reshape(2 * (len(centre),))
    )
    kept = np.argsort(variances)[::-1][:components]
    kept = kept[variances[kept] > _FLAT * max(variances.max(), _FLAT)]
    axes = axes[:, kept] / np.sqrt(variances[kept])
    fewer = min(len(ours), len(theirs))
    return DensityRatio(
        centre=centre,
        axes=axes,
        synthetic=(ours - centre) @ axes,
        reference=(theirs - centre) @ axes,
        bandwidth=fewer ** (-1.0 / (kept.size + 4)),
    )


def _features(points: Points, levels: Sequence[int], rng: np.random.Generator) -> Floats:
    """Return the features of the records, or of as many as are learned from, drawn at random."""
    if len(points) > MOST_ROWS:
        points = points.take(np.sort(rng.choice(len(points), MOST_ROWS, replace=False)))
    return dense_features(points, levels)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticClassifier:
    """A classifier that was taught synthetic against reference records."""

    scale: RobustScale
    model: Boosting | Logistic

    @property
    def method(self) -> str:
        """What was fitted."""
        if isinstance(self.model, Boosting):
            return f"gradient-boosted trees ({self.model.library})"
        return "ridge logistic regression (no scikit-learn, or few records)"

    def score(self, records: Points, levels: Sequence[int], tick: Tick | None = None) -> Floats:
        """Return the log odds that each record is synthetic, shape (n,)."""

        def judged(features: Floats) -> Floats:
            return self.model.score(list(self.scale.matrix(features).T))

        return _in_parts(records, levels, judged, tick)


def _in_parts(
    records: Points, levels: Sequence[int], judge: Callable[[Floats], Floats], tick: Tick | None
) -> Floats:
    found = np.empty(len(records))
    for part in parts(len(records), _JUDGED):
        found[part] = judge(dense_features(records.take(part), levels))
        if tick is not None:
            tick(part.stop - part.start)
    return found


def fit_classifier(
    synthetic: Points, reference: Points, levels: Sequence[int], *, rng: np.random.Generator
) -> SyntheticClassifier:
    """Teach a classifier to tell synthetic from reference records.

    Args:
        synthetic: at most 20,000, drawn at random, are used.
        reference: likewise.
        levels: of each category.
        rng: draws and shuffles the rows.
    """
    ours, theirs = (_features(one, levels, rng) for one in (synthetic, reference))
    rows = np.concatenate([ours, theirs])
    scale = robust_scale(rows)
    order = rng.permutation(len(rows))
    label = np.arange(len(rows)) < len(ours)
    scaled = scale.matrix(rows)[order]
    model = fit_boosting(scaled, label[order], seed=int(rng.integers(2**31)))
    return SyntheticClassifier(
        scale=scale, model=fit_logistic(scaled, label[order]) if model is None else model
    )
