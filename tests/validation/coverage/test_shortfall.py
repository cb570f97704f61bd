"""Tests of coverage, Holm's correction, and what they would find."""

from __future__ import annotations

import math

import pytest

from mipaudit.validation.coverage.shortfall import detectable_coverage, failures, miss_p_value


def tail(n, k, rate):
    return sum(math.comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(k, n + 1))


def test_p_value_is_the_exact_binomial_tail():
    assert miss_p_value(5, 20, 0.9) == pytest.approx(tail(20, 5, 0.1))
    assert miss_p_value(20, 20, 0.9) == pytest.approx(1e-20)
    assert miss_p_value(0, 1000, 0.975) == 1.0


def test_holm_divides_the_level_among_the_rows_that_remain(row):
    # 38 and 41 misses of 1000 at 2.5%: p-values .0089 and .0019.
    one, two = row(38, label="one"), row(41, label="two")
    assert 0.005 < one.p_value < 0.01
    assert 0.001 < two.p_value < 0.005
    assert failures((one,)) == (one,)
    assert failures((one, row(25))) == ()
    assert failures((one, two)) == (two, one)
    assert failures((two, *[row(25)] * 9)) == ()
    assert failures(()) == ()


@pytest.mark.parametrize(("n", "level"), [(100, 0.01), (100, 1e-4), (30, 1e-3)])
def test_a_detectable_shortfall_is_found_with_its_probability(n, level):
    nominal = 0.975
    enough = next(k for k in range(n + 1) if tail(n, k, 1 - nominal) <= level)
    coverage = detectable_coverage(n, nominal, level)
    assert tail(n, enough, 1 - coverage) == pytest.approx(0.8)
    assert coverage < nominal


def test_too_few_files_find_nothing():
    assert detectable_coverage(2, 0.975, 1e-4) == 0.0
    assert detectable_coverage(4000, 0.975, 1e-5) > detectable_coverage(1000, 0.975, 1e-5) > 0.9
