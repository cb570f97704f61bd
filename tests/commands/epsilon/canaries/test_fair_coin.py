from __future__ import annotations

import math

import pytest

from mipaudit.commands.epsilon.canaries.fair_coin import check_fair_coin


def codes(canaries, included):
    return [f.code for f in check_fair_coin(canaries=canaries, included=included).findings]


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
