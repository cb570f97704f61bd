"""All scores of a run: each search is made once, whatever asks for it."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Final, TypeAlias

import numpy as np

from mipaudit.commands.query.neighbours import Neighbours
from mipaudit.commands.query.options import BALLS, NEEDS_REFERENCE, Query
from mipaudit.commands.query.points import (
    Geometry,
    Points,
    Tick,
    dense_features,
    parts,
    released_rows,
)
from mipaudit.maths.arrays import Floats
from mipaudit.maths.learners import Boosting, fit_boosting, fit_logistic, robust_scale
from mipaudit.summaries.seed import SeedChoice

Progress = Callable[[int, int | None], None]
# Makes one number of each row of dense features.
Judge = Callable[[Floats], Floats]
# Scores and radii by column; how neighbours were found, what was fitted, and the seed of draws.
Asked: TypeAlias = tuple[dict[str, Floats], dict[str, float], str, str | None, int | None]

# Rows of either table that are learned from: more take longer and say little more.
MOST_ROWS: Final = 20_000
_BLOCK: Final = 1 << 17  # kernels computed at once: they stay in a core's cache
# Directions with less of the largest variance are taken for rounding errors.
_FLAT: Final = 1e-10
_JUDGED: Final = 1 << 14


def ask(
    queries: Sequence[Query],
    records: Points,
    synthetic: Points,
    reference: Points | None,
    geometry: Geometry,
    *,
    memory: int,
    seed: SeedChoice,
    progress: Progress | None = None,
) -> Asked:
    """Return what the queries say of each record.

    Args:
        queries: what is asked.
        records: members, then holdout.
        synthetic: what was released.
        reference: records of neither, for queries that compare with them.
        geometry: of the distances.
        memory: bytes that a search may take.
        seed: of all draws: what was asked for.
        progress: told how much of how much is done.

    Returns:
        Finite scores of shape (n,) and the radii of the balls, both by the query's column; how
        neighbours were found, ``none`` where nothing asked for them; what classifier was fitted,
        None for nothing; the seed in use for all draws, None where nothing was drawn.
    """
    done = 0

    def tick(pairs: int) -> None:
        nonlocal done
        done += pairs
        if progress is not None:
            progress(min(done, total), total)

    neighbours = Neighbours(synthetic, geometry, memory, tick)
    total = _steps(queries, len(records), neighbours.pairs_per_record)
    ranks, near, radii = _ranks(queries), dict[int, Floats](), dict[str, float]()
    if ranks:
        near = dict(zip(ranks, neighbours.nearest(records, ranks).T, strict=True))
    ball = cache(partial(neighbours.ball, records))
    released = cache(partial(released_rows, synthetic, reference, seed))
    columns, classifier, drawn = dict[str, Floats](), None, None
    for query in queries:
        match query.kind:
            case "nn" | "kth":
                found = near[query.neighbours].copy()
            case "lnr":
                # 0 for an exact copy, also where there are several.
                zeros = np.zeros(len(records))
                found = np.divide(near[1], near[query.neighbours], out=zeros, where=near[1] > 0)
            case "mc" | "share":
                radius = float(np.median(near[1])) if query.radius is None else query.radius
                radii[query.column] = radius
                found = ball(radius)[query.kind == "share"]
            case _:
                *tables, drawn = released()
                rng = np.random.default_rng([drawn, 1 if query.kind == "density" else 2])
                ours, theirs = (_learned_from(one, geometry, rng) for one in tables)
                if query.kind == "density":
                    judge = density_ratio(ours, theirs, components=query.components)
                else:
                    judge, classifier = synthetic_odds(ours, theirs, rng=rng)
                found = _judged(judge, records, geometry, tick)
        columns[query.column] = found
    return columns, radii, neighbours.method, classifier, drawn


def _steps(queries: Sequence[Query], records: int, pairs_per_record: int) -> int:
    """Return how many pairs are ahead."""
    radii = {query.radius for query in queries if query.kind in BALLS}
    near = bool(_ranks(queries))
    # A kernel or a leaf costs about as much as a hundred pairs of the others.
    models = sum(query.kind in NEEDS_REFERENCE for query in queries)
    return records * (pairs_per_record * (near + len(radii)) + models)


def _learned_from(points: Points, geometry: Geometry, rng: np.random.Generator) -> Floats:
    """Return features of records that are learned from: at most 20,000, drawn at random."""
    if len(points) > MOST_ROWS:
        points = points.take(np.sort(rng.choice(len(points), MOST_ROWS, replace=False)))
    return dense_features(points, geometry.levels)


def _judged(judge: Judge, records: Points, geometry: Geometry, tick: Tick) -> Floats:
    found = np.empty(len(records))
    for part in parts(len(records), _JUDGED):
        found[part] = judge(dense_features(records.take(part), geometry.levels))
        tick(part.stop - part.start)
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
