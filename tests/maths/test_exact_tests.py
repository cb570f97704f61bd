"""Exact tests of what chance alone would do.

How often values repeat: an inequality by exact means, its level on laws, its power.

The rank test of counts: its level by enumeration and simulation, its power, a control.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binom, mannwhitneyu

from mipaudit.maths import exact_tests
from mipaudit.maths.class_limits.roc_counts import Ladder, exact_ladder
from mipaudit.maths.exact_tests import (
    _cells,
    _least,
    copied,
    counts_alike,
    deficit,
    difference_p_value,
    holm,
    independence_p,
    sequence_bits,
)

LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "rounded": lambda rng, n: np.round(rng.normal(size=n), 2),
    "saturated": lambda rng, n: np.minimum(rng.normal(size=n), 0.3),
    "leaves": lambda rng, n: rng.integers(0, 500, n),
    "few": lambda rng, n: rng.integers(0, 3, n),
    "zipf": lambda rng, n: rng.zipf(1.5, n),
}
NULLS = {
    "continuous": lambda rng, n, _: rng.normal(size=n),
    "ties": lambda rng, n, _: rng.integers(0, 4, n).astype(float),
    "two values": lambda rng, n, _: (rng.random(n) < 0.1).astype(float),
    "heavy": lambda rng, n, _: rng.standard_cauchy(n),
}


def masses(cell, members, rows):
    """Return the law of the members in a cell, as fractions."""
    low, high = max(0, cell - (rows - members)), min(cell, members)
    ways = {k: comb(members, k) * comb(rows - members, cell - k) for k in range(low, high + 1)}
    return {k: Fraction(way, comb(rows, cell)) for k, way in ways.items()}


def twin(inside, cell, members, rows):
    law = masses(cell, members, rows)
    above = sum(mass for k, mass in law.items() if k >= inside)
    below = sum(mass for k, mass in law.items() if k <= inside)
    return float(min(Fraction(1), 2 * min(above, below)))


def p_value(inside, cell, members, rows):
    return float(independence_p(np.array(inside), np.array(cell), members, rows))


@st.composite
def tables(draw):
    rows = draw(st.integers(2, 120))
    members = draw(st.integers(1, rows - 1))
    cell = draw(st.integers(0, rows))
    inside = draw(st.integers(max(0, cell - (rows - members)), min(cell, members)))
    return inside, cell, members, rows


@given(tables())
def test_exact_at_small_sizes(table):
    exact = twin(*table)
    found = p_value(*table)
    assert exact <= found * (1 + 1e-12)
    assert found <= min(1.0, exact * (1 + 3e-5))


@pytest.mark.parametrize(("cell", "members", "rows"), [(7, 9, 20), (30, 10, 60), (12, 50, 100)])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_rejects_no_more_often_than_it_says(cell, members, rows, alpha):
    """Over all outcomes, each with its own chance: no simulation."""
    law = masses(cell, members, rows)
    assert sum(mass for k, mass in law.items() if p_value(k, cell, members, rows) <= alpha) <= alpha


@pytest.mark.parametrize("z", [0.0, 1.0, 2.0, 4.0, 8.0])
def test_conservative_and_close_at_large_sizes(z):
    from scipy.stats import hypergeom

    rows, members, cell = 2_000_000, 800_000, 500_000
    law = hypergeom(rows, members, cell)
    inside = int(law.mean() + z * law.std())
    exact = min(1.0, 2 * min(law.sf(inside - 1), law.cdf(inside)))
    found = p_value(inside, cell, members, rows)
    assert exact <= found * (1 + 1e-6)
    assert found <= max(1.35 * exact, 1.35 * exact + 1e-300)


def test_impossible_neighbours_cost_nothing():
    assert p_value(5, 5, 5, 10) == pytest.approx(2 / 252, rel=1e-4)
    assert p_value(0, 0, 5, 10) == 1.0


def test_holm_against_its_definition():
    values = np.array([0.01, 0.04, 0.03, 0.005])
    # 4 x 0.005, 3 x 0.01, 2 x 0.03, then the largest so far.
    assert holm(values).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.zeros(0)).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_slow_twin(values):
    ordered = sorted(values)
    adjusted = {
        value: max(min(1.0, ordered[j] * (len(values) - j)) for j in range(i + 1))
        for i, value in enumerate(ordered)
    }
    assert holm(np.array(values)).tolist() == pytest.approx([adjusted[v] for v in values])


@given(weights=st.lists(st.floats(0.001, 1), min_size=1, max_size=8), n=st.integers(3, 60))
def test_the_inequality_of_the_means(weights, n):
    p = np.array(weights) / (sum(weights) * 1.01)

    def mean(r):
        return math.comb(n, r) * (p**r * (1 - p) ** (n - r)).sum()

    for r in range(2, n):
        rho = r * (n - r) / ((r + 1) * (n - r + 1))
        assert mean(r - 1) * mean(r + 1) >= rho * mean(r) ** 2 * (1 - 1e-9)


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


def p_values(draw, sizes, files=200, **settings):
    """p-values of files in which nothing differs but what ``draw`` makes differ."""
    rng = np.random.default_rng(1)
    return np.array(
        [
            difference_p_value(
                exact_ladder(draw(rng, sizes[0], 1), draw(rng, sizes[1], 0)), seed=[n], **settings
            )
            for n in range(files)
        ]
    )


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("law", NULLS)
@pytest.mark.parametrize("sizes", [(20, 20), (8, 300), (300, 300)])
def test_uniform_or_above_where_nothing_differs(law, sizes, ordered):
    found = p_values(NULLS[law], sizes, ordered=ordered)
    for level in (0.01, 0.05, 0.1, 0.3, 0.7):
        below = int((found <= level + 1e-12).sum())
        assert stats.binom.sf(below - 1, found.size, level) > 1e-4


def test_uniform_over_every_labelling_of_one_file():
    """Exact by enumeration: of all labellings, a share of at most t has a p-value up to t."""
    scores = np.array([0.0, 0, 1, 2, 2, 2, 3, 4, 5])
    found = []
    for chosen in combinations(range(9), 4):
        member = np.isin(np.arange(9), chosen)
        ladder = exact_ladder(scores[member], scores[~member])
        found += [difference_p_value(ladder, seed=[seed, *chosen]) for seed in range(3)]
    found = np.array(found)
    for level in (0.05, 0.1, 0.2, 0.5):
        assert (found <= level).mean() <= level + 3 * np.sqrt(level / found.size)
    # Not powerless either: the extreme labellings are told.
    extreme = exact_ladder(scores[5:], scores[:5])
    assert difference_p_value(extreme, seed=[0]) < 0.15


@pytest.mark.parametrize(
    ("leak", "power"),
    [
        (lambda rng, n, member: rng.normal(0.3 * member, 1, n), 0.85),
        (lambda rng, n, member: rng.normal(0, 1 + 0.3 * member, n), 0.85),
        (lambda rng, n, m: np.where(rng.random(n) < 0.05 * m, 9, rng.normal(size=n)), 0.7),
        (lambda rng, n, m: (rng.integers(0, 40, n) * 2 + m * (rng.random(n) < 0.8)) % 80.0, 0.9),
    ],
    ids=["shift", "scale", "tail", "many modes"],
)
def test_power_at_300_and_300(leak, power):
    assert (p_values(leak, (300, 300), files=80) <= 0.05).mean() > power


def test_cells_do_not_know_the_labels():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=700).round(1)
    member = rng.random(700) < 0.3
    _, pooled = _cells(exact_ladder(scores[member], scores[~member]))
    _, again = _cells(exact_ladder(scores[~member], scores[member]))
    np.testing.assert_array_equal(pooled, again)
    members, total = _cells(exact_ladder(np.arange(3000.0), np.arange(3000.0) + 0.5))
    assert total.sum() == 6000
    assert members.sum() == 3000
    assert total.size == 40


def test_the_direction_does_not_matter():
    rng = np.random.default_rng(3)
    ladder = exact_ladder(rng.normal(0.2, 1, 90), rng.normal(size=140))
    swapped = Ladder(members=ladder.holdout, holdout=ladder.members, single=ladder.single)
    here, there, turned = (
        _least(one[0][None], one[1], ordered=True)[0]
        for one in map(_cells, (ladder, swapped, ladder.reversed()))
    )
    assert here == pytest.approx(there)
    # Steps that end at the middle of a cell turn to the other side.
    assert here == pytest.approx(turned, rel=0.2)


def test_nothing_to_tell(ladder_from):
    assert difference_p_value(ladder_from([9], [7]), seed=[0]) == 1
    assert difference_p_value(ladder_from([9, 3], [0, 0]), seed=[0]) == 1
    assert difference_p_value(ladder_from([1, 0], [0, 1]), seed=[0]) == 1


def test_many_rows_cost_no_more(ladder_from):
    half = 4 * 10**8
    same = ladder_from([half // 2, half // 2], [half // 2, half // 2])
    assert difference_p_value(same, seed=[0]) == 1
    moved = ladder_from([half // 2 + 10**5, half // 2 - 10**5], [half // 2, half // 2])
    assert difference_p_value(moved, seed=[0]) == 0.001


def test_against_all_permutations(monkeypatch):
    """With many draws the p-value is that of the enumeration of labels."""
    monkeypatch.setattr(exact_tests, "ROW_DRAWS", 40_000)
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
