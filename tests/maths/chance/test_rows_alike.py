"""The rank test of counts: its level by enumeration and simulation, its power, a control."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom, mannwhitneyu

from mipaudit.maths.chance import rows_alike
from mipaudit.maths.chance.rows_alike import counts_alike


def test_against_all_permutations(monkeypatch):
    """With many draws the p-value is that of the enumeration of labels."""
    monkeypatch.setattr(rows_alike, "DRAWS", 40_000)
    first, second = np.array([1, 2, 5, 5]), np.array([1, 1, 2, 2, 1])
    every = np.concatenate((first, second))
    ranks = np.argsort(np.argsort(every, kind="stable")) + 0.0
    ranks = np.array([ranks[every == one].mean() for one in every])
    middle = (ranks + 0.5) / every.size - 0.5
    weights = np.column_stack((middle, np.abs(middle)))
    weights = (weights - weights.mean(axis=0)) / weights.std(axis=0)
    found = np.abs(weights[:4].sum(axis=0)).max()
    every_sum = [np.abs(weights[list(c)].sum(axis=0)).max() for c in combinations(range(9), 4)]
    exact = np.mean(np.array(every_sum) >= found - 1e-9)
    p = counts_alike(first, second, np.random.default_rng(0))
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000))


@pytest.mark.parametrize("law", ["poisson", "geometric", "two values"])
def test_level(law):
    rng = np.random.default_rng(5)
    draw = {
        "poisson": lambda n: 1 + rng.poisson(2, n),
        "geometric": lambda n: rng.geometric(0.1, n),
        "two values": lambda n: 1 + (rng.random(n) < 0.1),
    }[law]
    files = 400
    small = sum(counts_alike(draw(30), draw(90), rng) <= 0.05 for _ in range(files))
    assert small <= binom.ppf(0.9999, files, 0.05)


def test_it_sees_a_shift_and_a_spread():
    rng = np.random.default_rng(6)
    alike = 1 + rng.poisson(4, 300)
    assert counts_alike(alike, 2 + rng.poisson(4, 300), rng) <= 0.01
    spread = np.where(rng.random(300) < 0.5, 1, 9)
    level = np.full(300, 5)
    assert counts_alike(spread, level, rng) <= 0.01
    # The rank sum alone does not.
    assert mannwhitneyu(spread, level).pvalue > 0.05


def test_nothing_to_compare():
    rng = np.random.default_rng(7)
    assert counts_alike(np.full(9, 3), np.full(5, 3), rng) == 1.0
    assert counts_alike(np.array([], dtype=int), np.array([1, 2]), rng) == 1.0
