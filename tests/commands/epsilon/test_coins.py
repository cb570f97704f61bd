from __future__ import annotations

import math

import numpy as np
import pytest

from mipaudit.commands.epsilon.guesses import (
    check_fair_coin,
    coin_findings,
    require_fresh_coins,
    require_one_share,
)
from mipaudit.errors import InputError


def codes(canaries, included):
    coin = check_fair_coin(canaries=canaries, included=included)
    return [finding.code for finding in coin_findings(coin)]


@pytest.mark.parametrize("canaries", [1, 2, 7, 20])
def test_the_p_value_against_enumeration(canaries):
    for included in range(canaries + 1):
        extreme = abs(2 * included - canaries)
        expected = sum(
            math.comb(canaries, k) for k in range(canaries + 1) if abs(2 * k - canaries) >= extreme
        )
        found = check_fair_coin(canaries=canaries, included=included).p_value
        assert found == pytest.approx(expected / 2**canaries)


def test_an_unlikely_number_is_named():
    assert codes(1000, 447) == ["inclusion_not_fair"]
    assert codes(1000, 0) == ["inclusion_not_fair"]
    assert codes(1000, 460) == []


def test_exactly_half_of_many_is_named_and_of_few_is_not():
    assert codes(1000, 500) == ["inclusion_exactly_half"]
    assert codes(1001, 500) == []
    assert codes(100, 50) == []
    assert codes(2, 1) == []


def test_no_number_of_one_coin_is_suspicious():
    assert codes(1, 0) == codes(1, 1) == []


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


def unlike(runs, included):
    try:
        require_one_share(runs, included)
    except InputError as error:
        return error.code == "unlike_shares"
    return False


@pytest.mark.parametrize("sizes", [(40, 40), (500, 20, 3), (1, 1, 1, 200)])
def test_coins_of_one_share_are_refused_once_in_1000_whatever_the_sizes(sizes):
    rng = np.random.default_rng(4)
    runs = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
    refused = sum(unlike(runs, rng.random(runs.size) < 0.3) for _ in range(600))
    assert refused <= 4


def test_unlike_shares_are_refused_in_any_order_of_rows():
    # Null scores that differ from run to run would certify the difference of the coins.
    rng = np.random.default_rng(5)
    runs = rng.permutation(np.repeat(np.arange(2, dtype=np.uint64), 500))
    shares = np.where(runs == 0, 0.65, 0.35)
    assert unlike(runs, rng.random(1000) < shares)
    assert not unlike(np.zeros(1000, dtype=np.uint64), rng.random(1000) < shares)
    assert unlike(np.repeat(np.arange(2, dtype=np.uint64), 20), np.repeat([True, False], 20))
