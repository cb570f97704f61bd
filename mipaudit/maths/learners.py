"""Learned scores: what is fitted on one part of the burn-in, and scores the rest.

On coordinates brought to one scale that no extreme value can spoil: ridge logistic regression
with squares and products, the share of members among the nearest rows, and gradient-boosted trees
where scikit-learn is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.maths.arrays import Bools, Floats

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


# The interquartile range of a normal law, in standard deviations.
_NORMAL_RANGE: Final = 1.3489795003921634
_LINEAR: Final = 4.0
_LARGEST: Final = 12.0
MOST_CROSSED: Final = 10  # coordinates; more have squares but no products
_PENALTIES: Final = (1.0, 10.0, 100.0, 1000.0)
_STEPS: Final = 25
_TOLERANCE: Final = 1e-6
_HALVINGS: Final = 20
_CHECKED_SHARE: Final = 4  # one row in four chooses the penalty
_ROWS_TO_CHOOSE: Final = 16_384
_WIDEST: Final = 30.0
_FEWEST: Final = 4
MOST_COORDINATES: Final = 5
MOST_REFERENCES: Final = 4096
_FEWEST_NEIGHBOURS: Final = 8
_FEWEST_ROWS: Final = 60  # fewer do not fill a leaf on either side
_SMALL: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RobustScale:
    """Centre and width of each coordinate; beyond 4 widths the scale is logarithmic.

    Attributes:
        centre: shape (d,), finite.
        width: shape (d,), finite and above 0.
    """

    centre: Floats
    width: Floats

    def column(self, values: Floats, index: int) -> Floats:
        """Return coordinate ``index`` on the common scale, in [-12, 12]; infinities allowed.

        Element by element, so that a row's figure does not depend on its batch.
        """
        with np.errstate(over="ignore"):
            scaled = (values - self.centre[index]) / self.width[index]
        size = np.abs(scaled)
        beyond = size > _LINEAR
        if beyond.any():
            far = np.minimum(_LINEAR + np.log(size[beyond] - (_LINEAR - 1)), _LARGEST)
            scaled[beyond] = np.copysign(far, scaled[beyond])
        return np.asarray(scaled)

    def matrix(self, values: Floats) -> Floats:
        """Return rows of shape (n, d) on the common scale."""
        columns = [self.column(values[:, index], index) for index in range(values.shape[1])]
        return np.stack(columns, axis=1)


def robust_scale(values: Floats) -> RobustScale:
    """Return the scale of rows of shape (n, d), n at least 1; infinities allowed, no NaN.

    The width is the interquartile range; where that is 0, the standard deviation of the
    finite values; where that is 0 too, 1.
    """
    finite = [column[np.isfinite(column)] for column in values.T]
    pairs = [_centre_and_width(column) for column in finite]
    return RobustScale(
        centre=np.array([centre for centre, _ in pairs]),
        width=np.array([width for _, width in pairs]),
    )


def _centre_and_width(values: Floats) -> tuple[float, float]:
    if not values.size:
        return 0.0, 1.0
    low, centre, high = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    with np.errstate(over="ignore", invalid="ignore"):
        for width in ((high - low) / _NORMAL_RANGE, float(values.std())):
            if np.isfinite(width) and width > np.finfo(float).tiny:
                return centre, width
    return centre, 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Logistic:
    """A fitted score: an intercept, and a weight for each pair of coordinates.

    Attributes:
        intercept: of the linear predictor.
        linear: weights of the coordinates, shape (d,).
        pairs: (i, j) with i <= j: the products that have a weight.
        products: weight of each pair, shape (len(pairs),).
        penalty: of the ridge, in units of rows.
    """

    intercept: float
    linear: Floats
    pairs: tuple[tuple[int, int], ...]
    products: Floats
    penalty: float

    def score(self, columns: list[Floats]) -> Floats:
        """Return the log odds of membership, shape (n,), up to a constant.

        A sum over coordinates, element by element: a row's score does not depend on the
        batch that it is read in, which a matrix product does not promise.

        Args:
            columns: d coordinates on the common scale, each of shape (n,).
        """
        total = np.full(columns[0].size, self.intercept)
        for weight, column in zip(self.linear.tolist(), columns, strict=True):
            total += weight * column
        for weight, (i, j) in zip(self.products.tolist(), self.pairs, strict=True):
            total += weight * (columns[i] * columns[j])
        return total


def fit_logistic(rows: Floats, member: Bools) -> Logistic:
    """Return the fit whose features and penalty do best on a quarter of the rows held out.

    Args:
        rows: on the common scale, shape (n, d), in an order that tells nothing.
        member: shape (n,); both classes weigh the same whatever their sizes. With fewer
            than 4 rows of one, nothing is fitted: the score is the sum of the coordinates.
    """
    d = rows.shape[1]
    if min(int(member.sum()), int((~member).sum())) < _FEWEST:
        return Logistic(
            intercept=0.0, linear=np.ones(d), pairs=(), products=np.empty(0), penalty=np.inf
        )
    few = rows[:_ROWS_TO_CHOOSE], member[:_ROWS_TO_CHOOSE]
    checked = np.arange(len(few[0])) % _CHECKED_SHARE == 0
    best: tuple[float, tuple[tuple[int, int], ...], float] | None = None
    for pairs in _feature_sets(d):
        design = _design(few[0], pairs)
        for penalty, weights in _path(design[~checked], few[1][~checked]):
            loss = _loss(design[checked], few[1][checked], weights)
            if best is None or loss < best[0]:
                best = (loss, pairs, penalty)
    assert best is not None  # noqa: S101 - there is always the linear set
    _, pairs, penalty = best
    weights = _newton(_design(rows, pairs), member, penalty, None)
    return Logistic(
        intercept=float(weights[0]),
        linear=weights[1 : d + 1],
        pairs=pairs,
        products=weights[d + 1 :],
        penalty=penalty,
    )


def _feature_sets(d: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield no products, squares, and for few coordinates all products."""
    yield ()
    yield tuple((i, i) for i in range(d))
    if 1 < d <= MOST_CROSSED:
        yield tuple((i, j) for i in range(d) for j in range(i, d))


def _design(rows: Floats, pairs: tuple[tuple[int, int], ...]) -> Floats:
    products = [rows[:, i] * rows[:, j] for i, j in pairs]
    return np.column_stack([np.ones(len(rows)), rows, *products])


def _path(design: Floats, member: Bools) -> Iterator[tuple[float, Floats]]:
    """Yield each penalty, the largest first, with its fit; each starts from the last."""
    weights = None
    for penalty in reversed(_PENALTIES):
        weights = _newton(design, member, penalty, weights)
        yield penalty, weights


def _balance(member: Bools) -> Floats:
    """Return row weights of mean 1 that give both classes the same weight."""
    inside = int(member.sum())
    outside = member.size - inside
    return np.where(member, member.size / (2 * max(inside, 1)), member.size / (2 * max(outside, 1)))


def _newton(design: Floats, member: Bools, penalty: float, start: Floats | None) -> Floats:
    """Return the ridge fit by Newton steps, halved where the loss would rise."""
    balance = _balance(member)
    ridge = np.full(design.shape[1], penalty)
    ridge[0] = 1e-6  # the intercept is free
    weights = np.zeros(design.shape[1]) if start is None else start
    value = _penalised(design, member, balance, ridge, weights)
    for _ in range(_STEPS):
        chance = _chance(design @ weights)
        gradient = design.T @ (balance * (chance - member)) + ridge * weights
        curvature = balance * chance * (1 - chance)
        hessian = (design * curvature[:, None]).T @ design + np.diag(ridge)
        step = np.linalg.solve(hessian, gradient)
        for _ in range(_HALVINGS):
            moved = weights - step
            found = _penalised(design, member, balance, ridge, moved)
            if found <= value:
                break
            step = step / 2
        else:
            return weights
        gain, weights, value = value - found, moved, found
        if gain <= _TOLERANCE * max(1.0, value):
            break
    return weights


def _chance(log_odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -_WIDEST, _WIDEST))))


def _log_loss(design: Floats, member: Bools, weights: Floats) -> Floats:
    return np.logaddexp(0, np.where(member, -1.0, 1.0) * (design @ weights))


def _penalised(
    design: Floats, member: Bools, balance: Floats, ridge: Floats, weights: Floats
) -> float:
    loss = float(balance @ _log_loss(design, member, weights))
    return loss + float(ridge @ (weights * weights)) / 2


def _loss(design: Floats, member: Bools, weights: Floats) -> float:
    """Return the mean loss with both classes of the same weight."""
    return float((_balance(member) * _log_loss(design, member, weights)).mean())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeighbourShare:
    """Reference rows in a tree, and how many of the nearest vote.

    Attributes:
        coordinates: which coordinates distances are taken in.
        tree: a k-d tree of the reference rows.
        weight: of each reference row, shape (m,), that of a holdout record negative.
        neighbours: how many vote, at least 1.
    """

    coordinates: tuple[int, ...]
    tree: Any
    weight: Floats
    neighbours: int

    def score(self, columns: list[Floats]) -> Floats:
        """Return the difference of both classes' weights among the nearest, shape (n,).

        Args:
            columns: all coordinates on the common scale, each of shape (n,).
        """
        points = np.stack([columns[index] for index in self.coordinates], axis=1)
        _, nearest = self.tree.query(points, k=self.neighbours)
        return np.asarray(self.weight[nearest.reshape(len(points), -1)].sum(axis=1))


def fit_neighbour_share(
    rows: Floats, member: Bools, coordinates: tuple[int, ...]
) -> NeighbourShare:
    """Return the score for these rows as references.

    Args:
        rows: on the common scale, shape (n, d), in an order that tells nothing; at most
            2,048 of each class are kept.
        member: shape (n,), both classes present; each class votes with the same total weight.
        coordinates: at most 5, or neighbours are no longer near.
    """
    from scipy.spatial import cKDTree

    half = MOST_REFERENCES // 2
    kept = np.sort(np.concatenate([np.flatnonzero(member)[:half], np.flatnonzero(~member)[:half]]))
    inside = member[kept]
    members = int(inside.sum())
    weight = np.where(inside, 1 / max(1, members), -1 / max(1, kept.size - members))
    count = max(_FEWEST_NEIGHBOURS, round(kept.size**0.5))
    return NeighbourShare(
        coordinates=coordinates,
        tree=cKDTree(rows[kept][:, list(coordinates)]),
        # In units of the larger vote, so that sums of equal votes are exact.
        weight=weight / np.abs(weight).max() if kept.size else weight,
        neighbours=min(count, kept.size),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boosting:
    """Fitted trees, and the library that grew them, such as ``scikit-learn 1.7.0``."""

    trees: Any
    library: str

    def score(self, columns: list[Floats]) -> Floats:
        """Return the log odds of membership, shape (n,).

        Args:
            columns: coordinates on the common scale, each of shape (n,).
        """
        rows = np.stack(columns, axis=1)
        with _one_thread():
            return np.asarray(self.trees.decision_function(rows))


def _one_thread() -> AbstractContextManager[Any]:
    """Return a context in which trees take one thread of their library.

    More wait for each other longer than they compute, on few rows by far; and parts of a
    large input have threads of their own.
    """
    found: AbstractContextManager[Any] = _pools().limit(limits=1, user_api="openmp")
    return found


@cache
def _pools() -> Any:  # noqa: ANN401 - threadpoolctl has no types
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def fit_boosting(rows: Floats, member: Bools, *, seed: int) -> Boosting | None:
    """Return boosted trees, or None without scikit-learn or with fewer than 60 rows.

    Args:
        rows: on the common scale, shape (n, d).
        member: shape (n,), both classes present; both weigh the same.
        seed: of the trees, at least 0.
    """
    if len(rows) < _FEWEST_ROWS:
        return None
    try:
        import sklearn
        import threadpoolctl  # noqa: F401 - needed later
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        return None
    small = len(rows) < _SMALL
    trees = HistGradientBoostingClassifier(
        max_iter=40 if small else 100,
        learning_rate=0.15 if small else 0.1,
        max_leaf_nodes=6 if small else 15,
        min_samples_leaf=max(5, min(50, len(rows) // 20)),
        l2_regularization=1.0,
        early_stopping=False,
        class_weight="balanced",
        random_state=seed % 2**32,
    )
    with _one_thread():
        trees.fit(rows, member)
    return Boosting(trees=trees, library=f"scikit-learn {sklearn.__version__}")
