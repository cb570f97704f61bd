from __future__ import annotations

import math

import pytest

from mipaudit.commands.epsilon.power import (
    curve_with_epsilon,
    size_needed,
    smallest_refutable_epsilon,
)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-5), (1.0, 1e-5), (4.0, 0.1), (30.0, 1e-9)])
def test_a_curve_costs_what_it_should(mechanism, epsilon, delta):
    curve = curve_with_epsilon(mechanism, epsilon=epsilon, delta=delta)
    assert curve.epsilon_at(delta) == pytest.approx(epsilon, rel=1e-6, abs=1e-6)


def test_a_gaussian_mechanism_has_no_epsilon_at_delta_zero():
    assert curve_with_epsilon("gaussian", epsilon=1.0, delta=0) is None
    assert curve_with_epsilon("laplace", epsilon=1.0, delta=0).shift == 1.0
    assert smallest_refutable_epsilon(lambda _: 1.0, "gaussian", claimed=1.0, delta=0) is None


def test_the_least_epsilon_is_where_the_power_is_reached():
    found = smallest_refutable_epsilon(
        lambda curve: min(1.0, curve.shift / 5), "laplace", claimed=1.0, delta=0, power=0.8
    )
    assert found == pytest.approx(4.0, rel=3e-4)
    assert smallest_refutable_epsilon(lambda _: 0.79, "laplace", claimed=1.0, delta=0) is None


@pytest.mark.parametrize("needed", [1, 2, 17, 1000, 123_456])
def test_sizes_are_found_to_two_digits(needed):
    found = size_needed(lambda size: float(size >= needed), start=1, most=10**7)
    assert needed <= found <= max(needed + 1, 1.011 * needed)


def test_a_size_out_of_reach_is_none():
    calls = []

    def power_of(size):
        calls.append(size)
        return 1 - math.exp(-size / 1e9)

    assert size_needed(power_of, start=1, most=10**7) is None
    assert max(calls) == 10**7
