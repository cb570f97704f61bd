"""Ridge logistic regression on coordinates, their squares and products: a learned score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_CROSSED: Final = 10  # coordinates; more have squares but no products
_PENALTIES: Final = (1.0, 10.0, 100.0, 1000.0)
_STEPS: Final = 25
_TOLERANCE: Final = 1e-6
_HALVINGS: Final = 20
_CHECKED_SHARE: Final = 4  # one row in four chooses the penalty
_ROWS_TO_CHOOSE: Final = 16_384
_WIDEST: Final = 30.0
_FEWEST: Final = 4


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


def fit_logistic(rows: Floats, member: NDArray[np.bool_]) -> Logistic:
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


def _path(design: Floats, member: NDArray[np.bool_]) -> Iterator[tuple[float, Floats]]:
    """Yield each penalty, the largest first, with its fit; each starts from the last."""
    weights = None
    for penalty in reversed(_PENALTIES):
        weights = _newton(design, member, penalty, weights)
        yield penalty, weights


def _balance(member: NDArray[np.bool_]) -> Floats:
    """Return row weights of mean 1 that give both classes the same weight."""
    inside = int(member.sum())
    outside = member.size - inside
    return np.where(member, member.size / (2 * max(inside, 1)), member.size / (2 * max(outside, 1)))


def _newton(
    design: Floats, member: NDArray[np.bool_], penalty: float, start: Floats | None
) -> Floats:
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


def _log_loss(design: Floats, member: NDArray[np.bool_], weights: Floats) -> Floats:
    return np.logaddexp(0, np.where(member, -1.0, 1.0) * (design @ weights))


def _penalised(
    design: Floats, member: NDArray[np.bool_], balance: Floats, ridge: Floats, weights: Floats
) -> float:
    loss = float(balance @ _log_loss(design, member, weights))
    return loss + float(ridge @ (weights * weights)) / 2


def _loss(design: Floats, member: NDArray[np.bool_], weights: Floats) -> float:
    """Return the mean loss with both classes of the same weight."""
    return float((_balance(member) * _log_loss(design, member, weights)).mean())
