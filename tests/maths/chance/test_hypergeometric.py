from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.chance.hypergeometric import holm, independence_p


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
