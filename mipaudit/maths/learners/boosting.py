"""Gradient-boosted trees by scikit-learn, where it is installed: a learned score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

_FEWEST_ROWS: Final = 60  # fewer do not fill a leaf on either side
_SMALL: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boosting:
    """Fitted trees, and the library that grew them, such as ``scikit-learn 1.7.0``."""

    trees: Any
    library: str

    def score(self, columns: list[NDArray[np.float64]]) -> NDArray[np.float64]:
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


def fit_boosting(
    rows: NDArray[np.float64], member: NDArray[np.bool_], *, seed: int
) -> Boosting | None:
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
