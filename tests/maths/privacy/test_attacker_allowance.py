from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.privacy import attacker_allowance as dp
from mipaudit.maths.privacy.approximate import ApproximateDP
from mipaudit.maths.privacy.attacker_allowance import published_bounds, to_substitution

EPSILONS = st.floats(0, 30)
DELTAS = st.floats(0, 1)
PRIORS = st.floats(0.001, 0.999)


def advantage_bound(epsilon, delta, prior):
    return dp.advantage_bound(ApproximateDP(epsilon=epsilon, delta=delta), prior)


@pytest.mark.parametrize(
    ("prior", "epsilon", "delta", "expected"),
    [
        (0.3, 1, 0.01, 0.4674960),
        (0.1, 3, 0.01, 0.9060968),
        (0.1, 1, 0, 0.8),
        (0.9, 1, 0.05, 0.81),
        # Humphries et al.: 0.4621 at epsilon 1, delta 1e-5, and 0.2449 at 0.5.
        (0.5, 1, 1e-5, 0.4621225),
        (0.5, 0.5, 1e-5, 0.2449262),
    ],
)
def test_vectors(prior, epsilon, delta, expected):
    assert advantage_bound(epsilon, delta, prior) == pytest.approx(expected, abs=1e-6)


def over_the_curve(epsilon, delta, prior):
    """Maximise over a dense grid of FPRs on the trade-off curve of Kairouz et al."""
    fpr = np.linspace(0, 1, 200_001)
    fnr = np.maximum.reduce(
        [
            np.zeros_like(fpr),
            1 - delta - math.exp(epsilon) * fpr,
            math.exp(-epsilon) * (1 - delta - fpr),
        ]
    )
    return (1 - 2 * prior + 2 * (prior * (1 - fnr) - (1 - prior) * fpr)).max()


@pytest.mark.parametrize("prior", [0.01, 0.1, 0.3, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.05, 0.6])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 4.0])
def test_is_the_maximum_over_the_trade_off_curve(epsilon, delta, prior):
    exact = over_the_curve(epsilon, delta, prior)
    assert advantage_bound(epsilon, delta, prior) == pytest.approx(exact, abs=1e-4)
    assert advantage_bound(epsilon, delta, prior) >= exact - 1e-12


@given(epsilon=EPSILONS, delta=DELTAS)
def test_closed_form_at_the_even_prior(epsilon, delta):
    expected = (math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1)
    assert advantage_bound(epsilon, delta, 0.5) == pytest.approx(expected, abs=1e-12)


@given(epsilon=EPSILONS, delta=DELTAS, prior=PRIORS)
def test_range_symmetry_and_growth(epsilon, delta, prior):
    bound = advantage_bound(epsilon, delta, prior)
    assert abs(2 * prior - 1) - 1e-12 <= bound <= 1
    assert bound == pytest.approx(advantage_bound(epsilon, delta, 1 - prior), abs=1e-12)
    assert bound <= advantage_bound(epsilon + 0.5, delta, prior) + 1e-12
    assert bound <= advantage_bound(epsilon, min(1, delta + 0.1), prior) + 1e-12
    assert bound <= advantage_bound(*to_substitution(epsilon, delta), prior) + 1e-12


@given(epsilon=st.floats(0, 5), prior=st.floats(0.01, 0.99))
def test_no_guess_beats_the_trivial_one_at_priors_far_from_even(epsilon, prior):
    odds = max(prior, 1 - prior) / min(prior, 1 - prior)
    bound = advantage_bound(epsilon, 0, prior)
    if odds > math.exp(epsilon) + 1e-9:
        assert bound == pytest.approx(abs(2 * prior - 1), abs=1e-12)


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_extreme_claims(prior):
    assert advantage_bound(math.inf, 0, prior) == 1
    assert advantage_bound(1e6, 0, prior) == 1
    assert advantage_bound(0, 1, prior) == 1
    assert advantage_bound(0, 0, prior) == pytest.approx(abs(2 * prior - 1))


def test_conversion_from_add_or_remove():
    assert to_substitution(1, 1e-5) == pytest.approx((2, (1 + math.e) * 1e-5))
    assert to_substitution(1, 0.5) == (2, 1.0)


@given(epsilon=EPSILONS, delta=DELTAS)
def test_published_bounds_side_by_side(epsilon, delta):
    bounds = {bound.name: bound.advantage for bound in published_bounds(epsilon, delta, 0.5)}
    assert set(bounds) == {"yeom", "erlingsson", "mace", "izzo", "humphries"}
    same = math.tanh(epsilon / 2) if delta == 0 else 1
    assert bounds["izzo"] == pytest.approx(same)
    assert bounds["mace"] == pytest.approx(same)
    assert bounds["erlingsson"] == pytest.approx(1 - math.exp(-epsilon) * (1 - delta))
    assert bounds["yeom"] == pytest.approx(min(1, math.expm1(epsilon)) if delta == 0 else 1)
    assert all(0 <= bound <= 1 for bound in bounds.values())
    # The exact bound is the least of them.
    assert bounds["humphries"] == pytest.approx(min(bounds.values()))


def test_bounds_for_the_even_prior_are_not_shown_at_others():
    assert [bound.name for bound in published_bounds(1, 0, 0.3)] == ["mace", "humphries"]


def test_the_bound_of_one_record_is_loose_for_their_mean():
    # At epsilon 1 and p = 0.1 it allows .92 where .80 is exact.
    mace, humphries = published_bounds(1, 0, 0.1)
    assert mace.advantage == pytest.approx(0.92, abs=0.005)
    assert humphries.advantage == pytest.approx(0.8)
