from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.maths.one_run.coins import (
    coin_claim_p_value,
    coin_epsilon,
    coin_p_value,
    coin_refutes,
)
from mipaudit.maths.one_run.p_value import FAIR, CanaryCount, CoinShares, coin_shares
from tests.maths.one_run.published import one_run_p_value


def counted(m, top, bottom, v):
    return CanaryCount(canaries=m, guesses=top + bottom, correct=v, guessed_in=top)


def at(share):
    return CoinShares(low=share, high=share)


def slow_twin(m, top, bottom, v, epsilon, delta, share):
    """Return the theorem's bound from the two laws term by term."""
    odds = math.exp(epsilon) * share / (1 - share), math.exp(epsilon) * (1 - share) / share
    law = np.ones(1)
    for guesses, x in ((top, odds[0]), (bottom, odds[1])):
        for _ in range(guesses):
            law = np.convolve(law, [1 / (1 + x), x / (1 + x)])
    tail, head = law[v:].sum(), law[:v].sum()
    larger = max(share, 1 - share)
    worth = larger / (1 - larger) if top and bottom else share if top else 1 - share
    return min(1.0, tail + m * delta * worth / v * head * tail / law[v]) if v else 1.0


def kinds(top, bottom):
    """Tell the outputs with so many guesses of each kind."""
    return lambda guess: guess.count(1) == top and guess.count(0) == bottom


@settings(deadline=None, max_examples=200)
@given(
    top=st.integers(0, 12),
    bottom=st.integers(0, 12),
    more=st.integers(0, 30),
    right=st.floats(0, 1),
    epsilon=st.floats(0, 3),
    delta=st.sampled_from([0, 1e-5, 1e-3, 1e-2]),
    share=st.floats(0.1, 0.9),
)
def test_the_bound_is_that_of_two_laws_term_by_term(
    top, bottom, more, right, epsilon, delta, share
):
    guesses = max(1, top + bottom)
    top = top if top + bottom else 1
    v = round(right * guesses)
    numbers = (top + bottom + more, top, bottom, v)
    found = coin_p_value(counted(*numbers), epsilon=epsilon, delta=delta, shares=at(share))
    expected = slow_twin(*numbers, epsilon, delta, share)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.6, 0.3, 0.8])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.05), (1.0, 0.02), (0.5, 0.1), (0.7, 0.0)])
def test_no_private_mechanism_beats_the_bound(worst_mechanism, share, epsilon, delta):
    for m, top, bottom in [(2, 1, 0), (2, 1, 1), (3, 2, 0), (3, 0, 1), (3, 2, 1), (3, 1, 2)]:
        for v in range(1, top + bottom + 1):
            numbers = (m, top, bottom, v)
            bound = coin_p_value(counted(*numbers), epsilon=epsilon, delta=delta, shares=at(share))
            assert worst_mechanism(m, kinds(top, bottom), v, epsilon, delta, share) <= bound + 1e-9


@pytest.mark.parametrize("share", [0.5, 0.6, 0.3])
def test_a_mechanism_reaches_the_bound_for_guesses_of_one_kind(worst_mechanism, share):
    for m, top, bottom, v in [(3, 1, 0, 1), (3, 0, 1, 1), (2, 1, 0, 1)]:
        numbers = (m, top, bottom, v)
        bound = coin_p_value(counted(*numbers), epsilon=0.0, delta=0.05, shares=at(share))
        assert worst_mechanism(m, kinds(top, bottom), v, 0.0, 0.05, share) == pytest.approx(bound)


def test_guesses_of_one_kind_pay_half_of_delta():
    numbers = {"guesses": 50, "correct": 48, "epsilon": 1.5, "delta": 1e-5}
    found = coin_p_value(counted(10_000, 50, 0, 48), epsilon=1.5, delta=1e-5)
    assert found == pytest.approx(one_run_p_value(canaries=5000, **numbers))
    both = coin_p_value(counted(10_000, 25, 25, 48), epsilon=1.5, delta=1e-5)
    assert both == pytest.approx(one_run_p_value(canaries=10_000, **numbers))


@settings(deadline=None, max_examples=40)
@given(
    top=st.integers(1, 200),
    bottom=st.integers(1, 200),
    right=st.floats(0.5, 1),
    low=st.floats(0.3, 0.6),
    width=st.floats(0, 0.1),
    inside=st.floats(0, 1),
    delta=st.sampled_from([0, 1e-5, 1e-3]),
    epsilon=st.floats(0, 2),
)
def test_an_interval_of_shares_is_no_weaker_than_any_share_in_it(
    top, bottom, right, low, width, inside, delta, epsilon
):
    count = counted(1000, top, bottom, round(right * (top + bottom)))
    shares = CoinShares(low=low, high=low + width)
    one = coin_p_value(count, epsilon=epsilon, delta=delta, shares=at(low + inside * width))
    whole = coin_claim_p_value(count, epsilon=epsilon, delta=delta, shares=shares)
    assert one <= whole * (1 + 1e-9)
    refuted = coin_refutes(count, epsilon=epsilon, delta=delta, alpha=0.05, shares=shares)
    assert refuted == (whole <= 0.05)


def test_it_rises_in_epsilon_and_delta():
    for top, bottom, v in [(30, 10, 35), (5, 40, 40), (25, 0, 25), (0, 7, 6)]:
        count = counted(300, top, bottom, v)
        shares = CoinShares(low=0.48, high=0.57)
        rows = [
            [coin_p_value(count, epsilon=e, delta=d, shares=shares) for e in np.linspace(0, 4, 60)]
            for d in (0.0, 1e-6, 1e-4, 1e-2)
        ]
        assert (np.diff(rows, axis=1) >= -1e-12).all()
        assert (np.diff(rows, axis=0) >= -1e-12).all()


@pytest.mark.parametrize(("top", "bottom", "v"), [(250, 250, 366), (50, 0, 48), (0, 50, 47)])
def test_the_limit_is_where_the_p_value_crosses(top, bottom, v):
    count, shares = counted(1000, top, bottom, v), CoinShares(low=0.47, high=0.55)
    numbers = {"delta": 1e-5, "shares": shares}
    limit = coin_epsilon(count, alpha=0.01, **numbers)
    assert coin_claim_p_value(count, epsilon=0.998 * limit, **numbers) <= 0.01
    assert coin_claim_p_value(count, epsilon=1.005 * limit, **numbers) > 0.01
    # Each kind has its own odds at the same share: the worst odds for all cost far more.
    if top and bottom:
        fair = coin_epsilon(count, delta=1e-5, alpha=0.01)
        assert fair - 0.01 < limit <= fair
    assert coin_epsilon(count, delta=1.0, alpha=0.01) == 0


def test_the_interval_of_shares_misses_as_often_as_said():
    rng = np.random.default_rng(5)
    found = [coin_shares(canaries=300, included=int(k), error=0.1) for k in range(301)]
    for share in (0.03, 0.5, 0.9):
        drawn = rng.binomial(300, share, 4000)
        missed = np.mean([not found[k].low <= share <= found[k].high for k in drawn])
        assert missed <= 0.1 + 3 * math.sqrt(0.09 / 4000)
    assert coin_shares(canaries=5, included=0, error=0.1).low > 0
    assert coin_shares(canaries=5, included=5, error=0.1).high < 1
    assert FAIR.low == FAIR.high == 0.5


# Few canaries, few of them guessed, all of one kind.
FEW, GUESSED = 48, 6


def weighed(kind, right, others, epsilon, delta):
    """Return the p-value; ``others`` are the canaries not guessed that are as guessed."""
    alike = right + others
    included = alike if kind == "in" else FEW - alike
    count = counted(FEW, *((GUESSED, 0) if kind == "in" else (0, GUESSED)), right)
    shares = coin_shares(canaries=FEW, included=included, error=0.005)
    return coin_claim_p_value(count, epsilon=epsilon, delta=delta, shares=shares)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (1.0, 2e-3)])
def test_guesses_weighed_with_the_others_keep_their_error_by_enumeration(epsilon, delta):
    # Guesses are right at their largest odds whatever the other coins say: the worst at delta 0;
    # with delta some are given away besides.
    m, r = FEW, GUESSED
    p_values = np.ones((r + 1, m - r + 1))
    for right in range(r + 1):
        for others in range(m - r + 1):
            p_values[right, others] = weighed("in", right, others, epsilon, delta)
            # Guesses left out are the mirror image, so their error is that at the other shares.
            if right == others % (r + 1):
                mirrored = weighed("out", right, others, epsilon, delta)
                assert mirrored == pytest.approx(p_values[right, others], rel=1e-6)
    for share in (0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8):
        odds = math.exp(epsilon) * share / (1 - share)
        rate = odds / (1 + odds)
        rate += (1 - rate) * delta
        law = np.outer(binomial(r, rate), binomial(m - r, share))
        for alpha in (0.01, 0.045, 0.2):
            assert law[p_values <= alpha].sum() <= alpha + 0.005


def binomial(trials, rate):
    counts = np.arange(trials + 1)
    choose = np.array([math.comb(trials, int(k)) for k in counts], dtype=float)
    return choose * rate**counts * (1 - rate) ** (trials - counts)


def test_what_the_others_say_of_the_share_saves_most_of_its_price():
    count = counted(1000, 49, 0, 45)
    shares = coin_shares(canaries=1000, included=505, error=0.005)
    blind = CoinShares(low=shares.low, high=shares.high)
    weighed, worst, fair = (
        coin_epsilon(count, delta=1e-5, alpha=0.0125, shares=one) for one in (shares, blind, FAIR)
    )
    assert worst < fair - 0.15
    assert fair - 0.08 < weighed < fair
    mirrored = coin_shares(canaries=1000, included=495, error=0.005)
    out = coin_epsilon(counted(1000, 0, 49, 45), delta=1e-5, alpha=0.0125, shares=mirrored)
    assert out == pytest.approx(weighed, rel=1e-3)


@settings(deadline=None, max_examples=150)
@given(
    guesses=st.integers(1, 120),
    right=st.floats(0.3, 1),
    included=st.integers(440, 560),
    delta=st.sampled_from([0, 1e-5, 1e-3, 1e-2]),
    start=st.floats(0, 3),
    width=st.floats(0, 0.5),
    inside=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    kind=st.sampled_from(["in", "out"]),
)
def test_the_bound_of_a_piece_is_no_smaller_than_at_any_point_in_it(
    guesses, right, included, delta, start, width, inside, kind
):
    kinds = (guesses, 0) if kind == "in" else (0, guesses)
    count = counted(1000, *kinds, max(1, round(right * guesses)))
    whole = coin_shares(canaries=1000, included=included, error=0.005)
    share = whole.low + inside[0] * (whole.high - whole.low)
    point = CoinShares(low=share, high=share, included=included, error=0.005)
    epsilon = start + inside[1] * width
    one = coin_p_value(count, epsilon=epsilon, delta=delta, shares=point)
    piece = coin_p_value(count, epsilon=start + width, least=start, delta=delta, shares=whole)
    assert one <= piece * (1 + 1e-9)


@pytest.mark.parametrize(
    ("m", "guesses", "right", "delta", "alpha"),
    [
        (1000, 49, 45, 1e-5, 0.002),
        (1000, 100, 93, 1e-3, 0.02),
        (300, 12, 12, 1e-4, 0.01),
        (10_000, 155, 150, 1e-4, 0.01),
    ],
)
def test_no_epsilon_below_the_limit_stands(m, guesses, right, delta, alpha):
    # The bound falls here and there in epsilon, so halving alone would prove nothing.
    count = counted(m, guesses, 0, right)
    shares = coin_shares(canaries=m, included=m // 2, error=0.005)
    limit = coin_epsilon(count, delta=delta, alpha=alpha, shares=shares)
    assert limit > 0
    for epsilon in np.linspace(0, limit, 60):
        assert coin_refutes(count, epsilon=epsilon, delta=delta, alpha=alpha, shares=shares)
    above = 1.005 * limit + 1e-3
    assert coin_claim_p_value(count, epsilon=above, delta=delta, shares=shares) > alpha
