from __future__ import annotations

import numpy as np
import pytest

from mipaudit.maths.learners.boosting import Boosting, fit_boosting

threadpoolctl = pytest.importorskip("threadpoolctl")


class Trees:
    """What counts the threads that its library would take."""

    threads: tuple[int, ...] = ()

    def decision_function(self, rows):
        pools = threadpoolctl.threadpool_info()
        self.threads = tuple(p["num_threads"] for p in pools if p["user_api"] == "openmp")
        return np.zeros(len(rows))


def test_trees_score_in_one_thread():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(100, 2))
    assert fit_boosting(rows, rows[:, 0] > 0, seed=1) is not None
    trees = Trees()
    with threadpoolctl.threadpool_limits(limits=2, user_api="openmp"):
        Boosting(trees=trees, library="").score([rows[:, 0], rows[:, 1]])
        assert set(trees.threads) == {1}
        trees.decision_function(rows)
        assert set(trees.threads) == {2}  # the others' threads are theirs
