from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from mipaudit.validation import scenarios as split_scenario
from mipaudit.validation.scenarios import half_mean, quantiles, scenario


def brute_moments(count, release):
    """Return the moments of a release over every half, the long way."""
    outputs = {frozenset(half): release(half) for half in combinations(range(count), count // 2)}
    values = np.array(list(outputs.values()))
    moves = [[] for _ in range(count)]
    for half, value in outputs.items():
        for left, came in product(half, set(range(count)) - half):
            moves[left].append(abs(value - outputs[half - {left} | {came}]))
    means = [np.mean(found) for found in moves]
    return {
        "sigma_1": np.abs(values - np.median(values)).mean(),
        "sigma_2": values.std(),
        "sensitivity": max(map(max, moves)),
        "swap_distance": max(means),
        "swap_distance_average": np.mean(means),
    }


def inverse_sum(count):
    half = count // 2
    powers = [2.0**power for power in range(1, count)]
    last = 1 / math.sqrt(math.comb(count, half)) - sum(powers[: half - 1])
    records = [*powers, last]
    return lambda chosen: 1 / math.fsum(records[i] for i in chosen)


def stated(name):
    return {truth.quantity: truth.value for truth in scenario(name).truths(0.5)}


@pytest.mark.parametrize("count", [4, 8, 10])
def test_proposition_9_against_every_half(count):
    assert stated(f"izzo-prop9-{count}") == pytest.approx(
        brute_moments(count, inverse_sum(count)), rel=1e-8
    )


def test_proposition_9_of_fourteen_records():
    found = stated("izzo-prop9-14")
    assert found["sigma_1"] == pytest.approx(0.01723, abs=5e-6)
    assert found["sigma_2"] == pytest.approx(1.0, abs=5e-4)
    assert found["sensitivity"] == pytest.approx(58.583, abs=5e-4)
    assert found["swap_distance"] == pytest.approx(2 * found["sigma_1"], rel=1e-8)


@pytest.mark.parametrize("count", [8, 10])
def test_half_means_against_every_half(count):
    # So few records are below what is offered: the integral of sigma_1 is for many.
    values = quantiles(count)
    expected = brute_moments(count, lambda chosen: values[list(chosen)].mean())
    found = half_mean(count).moments()
    for name in ("sigma_2", "sensitivity", "swap_distance", "swap_distance_average"):
        assert found[name] == pytest.approx(expected[name], rel=1e-9)
    assert found["sigma_1"] == pytest.approx(expected["sigma_1"], rel=1e-2)


def test_the_integral_has_converged_where_it_is_offered(monkeypatch):
    first = half_mean(40).moments()["sigma_1"]
    monkeypatch.setattr(split_scenario, "_CUTOFF", 20.0)
    monkeypatch.setattr(split_scenario, "_NODES", 400)
    assert half_mean(40).moments()["sigma_1"] == pytest.approx(first, rel=1e-7)


def test_many_half_means_are_nearly_normal():
    found = half_mean(400).moments()
    assert found["sigma_1"] / found["sigma_2"] == pytest.approx(math.sqrt(2 / math.pi), rel=1e-3)


def test_half_means_are_drawn_with_those_moments():
    small = half_mean(40)
    known = small.moments()
    drawn = small.draw(np.random.default_rng(1), np.zeros(40_000, bool))["release"]
    assert np.abs(drawn).mean() == pytest.approx(known["sigma_1"], rel=0.02)
    assert drawn.std() == pytest.approx(known["sigma_2"], rel=0.02)
