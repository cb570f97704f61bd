"""All scores of a run: each search is made once, whatever asks for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np

from mipaudit.commands.query.neighbours import Neighbours
from mipaudit.commands.query.options import BALLS, NEEDS_REFERENCE, Query
from mipaudit.commands.query.points import (
    Floats,
    Geometry,
    Points,
    dense_features,
    parts,
    released_rows,
)
from mipaudit.maths.learners import Boosting, fit_boosting, fit_logistic, robust_scale
from mipaudit.summaries.seed import SeedChoice

Progress = Callable[[int, int | None], None]
# Makes one number of each row of dense features.
Judge = Callable[[Floats], Floats]

# Rows of either table that are learned from: more take longer and say little more.
MOST_ROWS: Final = 20_000
_BLOCK: Final = 1 << 17  # kernels computed at once: they stay in a core's cache
# Directions with less of the largest variance are taken for rounding errors.
_FLAT: Final = 1e-10
_JUDGED: Final = 1 << 14


@dataclass(slots=True, kw_only=True)
class Scoring:
    """The tables of a run, and what the queries say of each record.

    Attributes:
        records: members, then holdout.
        synthetic: what was released.
        reference: records of neither, for queries that compare with them.
        geometry: of the distances.
        memory: bytes that a search may take.
        seed: of all draws: what was asked for.
        progress: told how much of how much is done.
        columns: finite scores of shape (n,) each, by the query's column.
        radii: of the balls, by the query's column.
        search: how neighbours were found; ``none`` where nothing asked for them.
        classifier: what was fitted, None for nothing.
    """

    records: Points
    synthetic: Points
    reference: Points | None
    geometry: Geometry
    memory: int
    seed: SeedChoice
    progress: Progress | None = None
    columns: dict[str, Floats] = field(default_factory=dict)
    radii: dict[str, float] = field(default_factory=dict)
    search: str = "none"
    classifier: str | None = None
    _released: tuple[Points, Points, int] | None = None
    _balls: dict[float, tuple[Floats, Floats]] = field(default_factory=dict)
    _done: int = 0
    _total: int = 0

    @property
    def drawn(self) -> int | None:
        """The seed in use for all draws; None where nothing was drawn."""
        return None if self._released is None else self._released[2]

    def run(self, queries: Sequence[Query]) -> Self:
        """Find the scores of all queries."""
        neighbours = Neighbours(self.synthetic, self.geometry, self.memory, self._tick)
        self._total = self._steps(queries, neighbours)
        ranks = _ranks(queries)
        near: dict[int, Floats] = {}
        if ranks:
            distances = neighbours.nearest(self.records, ranks)
            near = dict(zip(ranks, distances.T, strict=True))
        for query in queries:
            if query.kind in BALLS:
                radius = float(np.median(near[1])) if query.radius is None else query.radius
                self.radii[query.column] = radius
            self.columns[query.column] = self._one(query, neighbours, near)
        self.search = neighbours.method
        return self

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

    def _one(self, query: Query, neighbours: Neighbours, near: Mapping[int, Floats]) -> Floats:
        match query.kind:
            case "nn" | "kth":
                return near[query.neighbours].copy()
            case "lnr":
                # 0 for an exact copy, also where there are several.
                zeros = np.zeros(len(self.records))
                return np.divide(near[1], near[query.neighbours], out=zeros, where=near[1] > 0)
            case "mc" | "share":
                radius = self.radii[query.column]
                if radius not in self._balls:
                    self._balls[radius] = neighbours.ball(self.records, radius)
                return self._balls[radius][query.kind == "share"]
            case "density":
                ours, theirs, _ = self._learned_from(1)
                return self._judged(density_ratio(ours, theirs, components=query.components))
            case "classifier":
                ours, theirs, rng = self._learned_from(2)
                judge, self.classifier = synthetic_odds(ours, theirs, rng=rng)
                return self._judged(judge)

    def _learned_from(self, stream: int) -> tuple[Floats, Floats, np.random.Generator]:
        """Return features of synthetic and of reference records, and what draws from here on.

        At most 20,000 of each, drawn at random, are learned from. The rows decide the seed.
        """
        if self._released is None:
            self._released = released_rows(self.synthetic, self.reference, self.seed)
        *tables, seed = self._released
        rng = np.random.default_rng([seed, stream])
        features = []
        for points in tables:
            few = points
            if len(points) > MOST_ROWS:
                few = points.take(np.sort(rng.choice(len(points), MOST_ROWS, replace=False)))
            features.append(dense_features(few, self.geometry.levels))
        return features[0], features[1], rng

    def _judged(self, judge: Judge) -> Floats:
        found = np.empty(len(self.records))
        for part in parts(len(self.records), _JUDGED):
            found[part] = judge(dense_features(self.records.take(part), self.geometry.levels))
            self._tick(part.stop - part.start)
        return found


def _ranks(queries: Sequence[Query]) -> tuple[int, ...]:
    """Return which neighbours are asked for, in order."""
    wanted = {query.neighbours for query in queries if query.neighbours}
    median = any(query.kind in BALLS and query.radius is None for query in queries)
    if median or any(query.kind == "lnr" for query in queries):
        wanted.add(1)
    return tuple(sorted(wanted))


def density_ratio(synthetic: Floats, reference: Floats, *, components: int) -> Judge:
    """Return what tells log(density of synthetic / density of reference) of features.

    One bandwidth serves both tables: different ones would make a ratio of equal densities
    differ from 1. It is Scott's for the smaller table.

    Args:
        synthetic: features of records that carry a kernel, shape (s, d).
        reference: likewise, shape (r, d).
        components: main directions of the reference at most, at least 1. In each of them the
            reference has variance 1.
    """
    centre = reference.mean(axis=0)
    variances, axes = np.linalg.eigh(
        np.cov(reference, rowvar=False, ddof=0).reshape(2 * (len(centre),))
    )
    kept = np.argsort(variances)[::-1][:components]
    kept = kept[variances[kept] > _FLAT * max(variances.max(), _FLAT)]
    axes = axes[:, kept] / np.sqrt(variances[kept])
    kernels = [np.ascontiguousarray(((rows - centre) @ axes).T) for rows in (synthetic, reference)]
    bandwidth = min(len(synthetic), len(reference)) ** (-1.0 / (kept.size + 4))

    def judge(features: Floats) -> Floats:
        # Column by column, and so are squares summed below: a matrix product rounds a row by
        # where it stands, and members and holdout stand in different places.
        rows = np.zeros((len(features), axes.shape[1]))
        for column, middle, weights in zip(features.T, centre, axes, strict=True):
            rows += (column - middle)[:, None] * weights
        ours, theirs = (_log_density(rows, one, bandwidth) for one in kernels)
        return ours - theirs

    return judge


def _log_density(rows: Floats, kernels: Floats, bandwidth: float) -> Floats:
    """Return the log of the mean kernel, up to a constant of both tables.

    Args:
        rows: shape (n, m).
        kernels: where they stand, shape (m, k).
        bandwidth: of all.
    """
    found = np.empty(len(rows))
    for part in parts(len(rows), max(1, _BLOCK // kernels.shape[1])):
        exponents = np.zeros((part.stop - part.start, kernels.shape[1]))
        for own, theirs in zip(rows[part].T, kernels, strict=True):
            apart = own[:, None] - theirs
            apart *= apart
            exponents -= apart
        exponents /= 2.0 * bandwidth**2
        top = exponents.max(axis=1)
        exponents -= top[:, None]
        np.exp(exponents, out=exponents)
        found[part] = top + np.log(exponents.mean(axis=1))
    return found


def synthetic_odds(
    synthetic: Floats, reference: Floats, *, rng: np.random.Generator
) -> tuple[Judge, str]:
    """Return what tells the log odds that features are those of a synthetic record, and by what.

    Args:
        synthetic: features that a classifier is taught, shape (s, d).
        reference: likewise, shape (r, d).
        rng: shuffles the rows.
    """
    rows = np.concatenate([synthetic, reference])
    scale = robust_scale(rows)
    order = rng.permutation(len(rows))
    label = (np.arange(len(rows)) < len(synthetic))[order]
    scaled = scale.matrix(rows)[order]
    trees = fit_boosting(scaled, label, seed=int(rng.integers(2**31)))
    model = fit_logistic(scaled, label) if trees is None else trees
    method = "ridge logistic regression (no scikit-learn, or few records)"
    if isinstance(model, Boosting):
        method = f"gradient-boosted trees ({model.library})"
    return lambda features: model.score(list(scale.matrix(features).T)), method
