"""How often values repeat: an inequality by exact means, its level on laws, its power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.chance.multiplicities import copied, deficit, sequence_bits


@given(weights=st.lists(st.floats(0.001, 1), min_size=1, max_size=8), n=st.integers(3, 60))
def test_the_inequality_of_the_means(weights, n):
    p = np.array(weights) / (sum(weights) * 1.01)

    def mean(r):
        return math.comb(n, r) * (p**r * (1 - p) ** (n - r)).sum()

    for r in range(2, n):
        rho = r * (n - r) / ((r + 1) * (n - r + 1))
        assert mean(r - 1) * mean(r + 1) >= rho * mean(r) ** 2 * (1 - 1e-9)


LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "rounded": lambda rng, n: np.round(rng.normal(size=n), 2),
    "saturated": lambda rng, n: np.minimum(rng.normal(size=n), 0.3),
    "leaves": lambda rng, n: rng.integers(0, 500, n),
    "few": lambda rng, n: rng.integers(0, 3, n),
    "zipf": lambda rng, n: rng.zipf(1.5, n),
}


def counts(values):
    return np.unique(values, return_counts=True)[1]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [50, 1000, 20_000])
def test_independent_rows_are_never_called_copied(law, n):
    for seed in range(40):
        assert copied(counts(LAWS[law](np.random.default_rng(seed), n)), n) == 0


@pytest.mark.parametrize("law", ["normal", "saturated", "leaves"])
@pytest.mark.parametrize("times", [2, 3, 30])
def test_copies_are_seen(law, times):
    rng = np.random.default_rng(1)
    values = np.tile(LAWS[law](rng, 2000), times)
    assert copied(counts(values), values.size)


def test_some_copies_among_many():
    rng = np.random.default_rng(2)
    values = rng.normal(size=5000)
    assert copied(counts(np.append(values, values[:800])), 5800) == 800


@pytest.mark.parametrize("cells", [(0, 20, 0), (80, 30, 1), (3, 50, 9), (0, 8, 100)])
def test_the_constrained_means_are_the_likeliest(cells):
    rho = 0.65
    found = deficit(*cells, rho)
    below, middle, above = cells
    grid = [
        2 * sum(x * math.log(x / m) - x + m for x, m in zip(cells, means, strict=True) if x)
        + 2 * sum(m for x, m in zip(cells, means, strict=True) if not x)
        for a in np.linspace(0.01, 2 * (below + middle), 150)
        for b in np.linspace(0.01, 2 * middle, 150)
        for means in [(a, b, rho * b * b / a)]
    ]
    if below * above >= rho * middle**2:
        assert found == 0
    else:
        assert found <= min(grid) + 1e-6
        assert found == pytest.approx(min(grid), abs=0.5)


def test_bits_of_a_sequence():
    rng = np.random.default_rng(3)
    assert sequence_bits(np.zeros(1000, dtype=int)) < 10
    assert sequence_bits(np.arange(1000) % 2) < 25
    assert sequence_bits(np.repeat([0, 1], 500)) < 30
    assert sequence_bits(rng.integers(0, 2, 1000)) == pytest.approx(1000, rel=0.05)
    assert sequence_bits(rng.permutation(1000)) > 5000
    assert sequence_bits(np.array([0])) == 0


def test_the_code_is_honest():
    """The chances that the code stands for add up to little more than 1 for each of two codes.

    The second leaves the first symbol out, which at most doubles it, and both the alphabet.
    """
    every = [np.array([at >> bit & 1 for bit in range(12)]) for at in range(4096)]
    assert sum(2 ** -sequence_bits(one) for one in every) <= 4
