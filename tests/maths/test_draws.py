"""Random draws: when they are seeded, and rows dropped by them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mipaudit.maths.draws import LateGenerator, in_proportion, proportional_sizes, thin


def test_draws_are_those_of_a_generator_seeded_at_once():
    late, prompt = LateGenerator([5, 3]), np.random.default_rng([5, 3])
    shape, shares = np.array([1.0, 4.0, 0.5]), np.array([0.2, 0.3, 0.5])
    for _ in range(3):
        assert late.standard_gamma(shape).tolist() == prompt.standard_gamma(shape).tolist()
        assert late.multinomial(9, shares).tolist() == prompt.multinomial(9, shares).tolist()


def test_nothing_is_seeded_before_the_first_draw(monkeypatch):
    made = []
    real = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed: made.append(seed) or real(seed))
    late = LateGenerator([5, 3])
    assert made == []
    late.standard_gamma(np.ones(2))
    late.standard_gamma(np.ones(2))
    assert made == [[5, 3]]


@given(
    sizes=st.tuples(st.integers(1, 5000), st.integers(1, 5000)),
    prior=st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
)
def test_the_largest_sizes_in_proportion(sizes, prior):
    found = proportional_sizes(*sizes, float(prior))
    fits = [
        (n1, n2)
        for total in range(prior.denominator, sum(sizes) + 1, prior.denominator)
        for n1 in [total * prior.numerator // prior.denominator]
        for n2 in [total - n1]
        if n1 <= sizes[0] and n2 <= sizes[1]
    ]
    if found is None:
        # Either nothing fits, or most of both classes would be lost.
        assert not fits or all(k < 0.25 * n for k, n in zip(fits[-1], sizes, strict=True))
    else:
        assert found == fits[-1]
        assert in_proportion(*found, float(prior))


def test_a_prior_that_is_no_simple_fraction_is_left_alone():
    assert proportional_sizes(1000, 1000, 1 / np.pi) is None
    assert proportional_sizes(1000, 1000, 1e-9) is None


def test_in_proportion():
    assert in_proportion(100, 900, 0.1)
    assert not in_proportion(101, 900, 0.1)


def test_thinning_keeps_so_many_and_invents_none():
    counts = np.array([5, 0, 40, 1])
    kept = thin(counts, 20, np.random.default_rng(0))
    assert kept.sum() == 20
    assert (kept <= counts).all()
    assert thin(counts, 46, np.random.default_rng(0)).tolist() == counts.tolist()


def test_thinning_is_hypergeometric():
    rng = np.random.default_rng(1)
    first = [int(thin(np.array([6, 3, 11]), 8, rng)[0]) for _ in range(4000)]
    expected = stats.hypergeom(20, 6, 8).pmf(range(7)) * 4000
    observed = np.bincount(first, minlength=7)
    assert stats.chisquare(observed, expected).pvalue > 1e-4
    assert np.corrcoef(observed, expected)[0, 1] == pytest.approx(1, abs=0.01)
