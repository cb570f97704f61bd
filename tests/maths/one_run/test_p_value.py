from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.one_run.p_value import critical_correct, pure_epsilon_one_run
from tests.maths.one_run.published import BOUNDS, epsilon_one_run, one_run_p_value


def p_value(m, r, v, epsilon, delta, bound="published"):
    return one_run_p_value(
        canaries=m, guesses=r, correct=v, epsilon=epsilon, delta=delta, bound=bound
    )


def limit(m, r, v, delta, alpha, bound="published"):
    return epsilon_one_run(canaries=m, guesses=r, correct=v, delta=delta, alpha=alpha, bound=bound)


# Slow twins, in exact fractions.


def tail_twin(r, v, q):
    return sum(
        (math.comb(r, j) * q**j * (1 - q) ** (r - j) for j in range(max(v, 0), r + 1)),
        start=Fraction(0),
    )


def published_twin(m, r, v, q, delta):
    beta = tail_twin(r, v, q)
    steepest = max((tail_twin(r, v - i, q) - beta) / i for i in range(1, v + 1))
    return min(Fraction(1), beta + 2 * m * delta * steepest)


def sharp_twin(m, r, v, q, delta):
    tail = tail_twin(r, v, q)
    term = math.comb(r, v) * q**v * (1 - q) ** (r - v)
    return min(Fraction(1), tail + m * delta / v * (1 - tail) * tail / term)


def guessing(r):
    """Tell the outputs with r guesses."""
    return lambda guess: sum(one is not None for one in guess) == r


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [((1000, 100, 80, 0.5, 1e-5), 8.69557e-4), ((1000, 100, 90, 1.0, 1e-5), 8.412886e-4)],
)
def test_published_p_values(numbers, expected):
    assert p_value(*numbers) == pytest.approx(expected, rel=1e-6)


def test_published_limit():
    assert limit(1000, 100, 80, 1e-5, 0.05) == pytest.approx(0.955319, abs=1e-6)


@pytest.mark.parametrize(
    ("guesses", "correct", "expected"),
    [
        (200, 114, 0.0365),
        (400, 223, 0.0602),
        (100, 54, 0.0),
        (200, 112, 0.0),
        (100, 62, 0.1308),
        (200, 171, 1.4325),
        (400, 314, 1.0895),
        (100, 88, 1.4644),
        (400, 227, 0.1004),
        (100, 58, 0.0),
        (200, 136, 0.4946),
        (400, 258, 0.4202),
        (100, 68, 0.3818),
        (200, 159, 1.0568),
        (400, 306, 0.9811),
        (100, 81, 1.0108),
    ],
)
def test_limits_of_another_implementation(guesses, correct, expected):
    found = limit(1000, guesses, correct, 1e-5, 0.05)
    assert found == pytest.approx(expected, abs=6e-5)
    assert limit(1000, guesses, correct, 1e-5, 0.05, "sharp") >= found


@pytest.mark.parametrize(("bound", "twin"), [("sharp", sharp_twin), ("published", published_twin)])
@pytest.mark.parametrize("odds", [1, 3, 40])
def test_p_values_against_exact_fractions(bound, twin, odds):
    q = Fraction(odds, odds + 1)
    for m, r in [(1, 1), (4, 3), (12, 12), (40, 25), (500, 30)]:
        for v, delta in itertools.product(range(1, r + 1), (0, Fraction(1, 10**5), Fraction(1, 9))):
            found = p_value(m, r, v, math.log(odds), float(delta), bound)
            assert found == pytest.approx(float(twin(m, r, v, q, delta)), rel=1e-11)


@pytest.mark.parametrize("size", [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize("claim", [(0.0, 0.05), (1.0, 0.02), (0.5, 0.2), (2.0, 0.0)])
def test_the_sharp_p_value_is_what_the_worst_mechanism_reaches(worst_mechanism, size, claim):
    for v in range(1, size[1] + 1):
        worst = worst_mechanism(size[0], guessing(size[1]), v, *claim)
        assert p_value(*size, v, *claim, "sharp") == pytest.approx(worst, abs=1e-8)


@given(
    r=st.integers(1, 3000),
    v_share=st.floats(0, 1),
    m_factor=st.floats(1, 1000),
    epsilon=st.floats(0, 8),
    delta=st.floats(0, 0.1),
)
def test_the_sharp_p_value_lies_between_the_binomial_and_the_published_one(
    r, v_share, m_factor, epsilon, delta
):
    v, m = round(v_share * r), int(r * m_factor)
    sharp, published = (p_value(m, r, v, epsilon, delta, bound) for bound in BOUNDS)
    assert p_value(m, r, v, epsilon, 0.0, "sharp") <= sharp
    if published <= 0.5:
        assert sharp <= published * (1 + 1e-9)


@pytest.mark.parametrize("bound", BOUNDS)
def test_limits_are_found_by_halves_because_p_values_rise_with_epsilon(bound):
    epsilons = np.linspace(0, 12, 241)
    for r, leak in itertools.product((1, 2, 3, 5, 8, 13, 30), (0, 0.01, 0.3, 2, 20)):
        for v in range(1, r + 1):
            found = p_value(1000 * r, r, v, epsilons, leak / (1000 * r), bound)
            refuted = found <= 0.25
            # Once not refuted, never refuted again.
            assert not np.any(refuted[1:] & ~refuted[:-1])


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_limit_is_where_the_p_value_passes_alpha(bound):
    for m, r, v, delta, alpha in [
        (1000, 100, 80, 1e-5, 0.05),
        (1000, 1000, 700, 1e-3, 0.01),
        (20, 3, 3, 0.0, 0.2),
        (10**6, 500, 500, 1e-7, 0.05),
    ]:
        found = limit(m, r, v, delta, alpha, bound)
        assert found > 0
        assert p_value(m, r, v, found * (1 - 1e-9), delta, bound) <= alpha
        assert p_value(m, r, v, found * (1 + 1e-9), delta, bound) > alpha


@pytest.mark.parametrize("bound", BOUNDS)
def test_edges(bound):
    assert p_value(10, 5, 0, 0.0, 0.0, bound) == 1
    assert p_value(10, 5, 5, 0.0, 1.0, bound) == 1
    assert p_value(10, 5, 5, math.inf, 1e-5, bound) == 1
    assert p_value(10, 5, 5, 0.0, 0.0, bound) == 2**-5
    assert limit(10, 5, 0, 1e-5, 0.05, bound) == 0
    assert limit(10, 4, 4, 0.0, 0.05, bound) == 0  # 2^-4 does not pass
    assert limit(10, 5, 5, 1 - 1e-9, 0.05, bound) == 0
    assert limit(1, 1, 1, 0.0, 0.6, bound) == pytest.approx(math.log(0.6 / 0.4))
    assert 0 < limit(1000, 1000, 1000, 0.0, 0.05, bound) < 8


def test_perfect_guesses_give_the_clopper_pearson_odds():
    root = 0.05 ** (1 / 250)
    expected = math.log(root / (1 - root))
    assert pure_epsilon_one_run(guesses=250, correct=250, alpha=0.05) == pytest.approx(expected)
    assert limit(900, 250, 250, 0.0, 0.05, "sharp") == pytest.approx(expected)


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_million_canaries(bound):
    million = 10**6
    for r, v in [(million, million), (million, 700_000), (million, 1), (1000, 1000)]:
        for epsilon in (0.0, 1.0, 50.0):
            assert 0 <= p_value(million, r, v, epsilon, 1e-5, bound) <= 1
    found = limit(million, million, 700_000, 1e-5, 0.05, bound)
    assert math.log(7 / 3) - 0.01 < found < math.log(7 / 3)


def test_where_binomial_terms_underflow_the_sharp_p_value_is_the_leak_alone():
    # 2^-10000 is no float; all guesses right cost m delta / r.
    assert p_value(10**6, 10**4, 10**4, 0.0, 1e-5, "sharp") == pytest.approx(1e-3)
    # One wrong guess: the tail is 10001 times the last term, the term 10000 times.
    expected = 10 / 9999 * (10001 / 10000)
    assert p_value(10**6, 10**4, 9999, 0.0, 1e-5, "sharp") == pytest.approx(expected)


def test_the_critical_number_is_the_first_that_refutes():
    numbers = {"canaries": 1000, "guesses": 100, "epsilon": 1.0, "delta": 1e-5}
    found = critical_correct(**numbers, alpha=0.05)
    assert p_value(1000, 100, found, 1.0, 1e-5, "sharp") <= 0.05
    assert p_value(1000, 100, found - 1, 1.0, 1e-5, "sharp") > 0.05
    assert critical_correct(**numbers | {"guesses": 4}, alpha=0.05) is None
