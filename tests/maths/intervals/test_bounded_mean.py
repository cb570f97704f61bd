import math

import numpy as np
import pytest

from mipaudit.maths.intervals.bounded_mean import mean_lower, mean_upper, stakes


def slow_upper(terms, alpha):
    """The largest mean on a fine grid that the bets have not ruled out."""
    chosen = stakes(terms.size, alpha)
    for mean in np.arange(10_000, -1, -1) / 10_000:
        products = [math.prod(1 + stake * (mean - x) for x in terms) for stake in chosen]
        if sum(products) / len(products) < 1 / alpha:
            return mean
    raise AssertionError


@pytest.mark.parametrize("alpha", [0.025, 0.2])
@pytest.mark.parametrize("size", [5, 40])
def test_limit_is_that_of_the_slow_twin(size, alpha):
    terms = np.random.default_rng(size).beta(0.5, 2, size)
    # The twin's grid, and the outward rounding of terms.
    assert mean_upper(terms, alpha) == pytest.approx(slow_upper(terms, alpha), abs=3e-4)


def test_zeros_have_a_closed_form_with_one_stake():
    # So few terms that the only stake is 1: (1 + m)^n = 1 / alpha.
    assert stakes(4, 0.1).tolist() == [1.0]
    assert mean_upper(np.zeros(4), 0.1) == pytest.approx(0.1 ** (-1 / 4) - 1, abs=1e-9)


def test_the_limits_of_terms_and_of_their_complements_mirror_each_other():
    terms = np.random.default_rng(3).random(50)
    assert mean_lower(terms, 0.05) == pytest.approx(1 - mean_upper(1 - terms, 0.05))
    assert mean_lower(terms, 0.05) < terms.mean() < mean_upper(terms, 0.05)


def test_nothing_is_known_without_terms():
    assert mean_upper(np.empty(0), 0.05) == 1.0
    assert mean_lower(np.empty(0), 0.05) == 0.0


def test_the_limit_grows_with_every_term():
    terms = np.random.default_rng(4).random(30)
    less = terms.copy()
    less[7] = 0.0
    assert mean_upper(less, 0.05) <= mean_upper(terms, 0.05)


@pytest.mark.parametrize("law", ["rare", "even", "beta", "constant"])
@pytest.mark.parametrize("size", [4, 30, 300])
def test_the_limit_covers_the_mean(law, size):
    rng = np.random.default_rng([size, len(law)])
    draw, mean = {
        "rare": (lambda: (rng.random(size) < 0.02).astype(float), 0.02),
        "even": (lambda: (rng.random(size) < 0.5).astype(float), 0.5),
        "beta": (lambda: rng.beta(0.2, 1.8, size), 0.1),
        "constant": (lambda: np.full(size, 0.7), 0.7),
    }[law]
    runs, alpha = 400, 0.1
    missed = sum(mean_upper(draw(), alpha) < mean for _ in range(runs))
    assert missed / runs <= alpha + 3 * math.sqrt(alpha * (1 - alpha) / runs)
