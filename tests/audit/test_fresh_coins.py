from __future__ import annotations

import numpy as np
import pytest

from mipaudit.audit.fresh_coins import require_fresh_coins
from mipaudit.errors import InputError


def rows(coins):
    """Return runs, canaries and inclusion of a table of coins, shape (runs, canaries)."""
    runs, canaries = np.indices(coins.shape).reshape(2, -1).astype(np.uint64)
    return runs, canaries, coins.ravel()


def refused(coins, **kept):
    try:
        require_fresh_coins(*(part[kept.get("keep", slice(None))] for part in rows(coins)))
    except InputError as error:
        return error.code == "shared_coins"
    return False


@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize(("runs", "canaries"), [(2, 30), (10, 100), (50, 8)])
def test_the_same_coins_in_every_run_are_refused_and_fresh_ones_are_not(runs, canaries, share):
    rng = np.random.default_rng(1)
    shared = np.tile(rng.random(canaries) < share, (runs, 1))
    assert refused(shared)
    assert sum(refused(rng.random((runs, canaries)) < share) for _ in range(60)) <= 1


def test_some_shared_coins_are_refused_and_fewer_runs_with_a_canary_are_fine():
    rng = np.random.default_rng(2)
    coins = rng.random((10, 300)) < 0.5
    coins[:, :60] = coins[0, :60]
    assert refused(coins)
    fresh = rng.random((10, 300)) < 0.5
    assert not refused(fresh, keep=rng.random(3000) < 0.4)
    assert not refused(fresh[:1])


def test_the_order_of_rows_changes_nothing_and_two_canaries_show_nothing():
    rng = np.random.default_rng(3)
    shared = np.tile(rng.random(40) < 0.5, (3, 1))
    assert refused(shared, keep=rng.permutation(120))
    assert not refused(np.array([[True, False], [True, False]]))
