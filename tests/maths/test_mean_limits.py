"""Limits of means and of weighted sums, valid at every sample size."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.special import betainc, betaincinv
from scipy.stats import binom

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.mean_limits import (
    _SHORT,
    Term,
    _Spans,
    mean_lower,
    mean_upper,
    melded_lower,
    melded_lowers,
    stakes,
)


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


def terms(weights, counts, sizes):
    return [
        Term(weight=w, successes=x, trials=n)
        for w, x, n in zip(weights, counts, sizes, strict=True)
    ]


@pytest.mark.parametrize(("x", "n"), [(0, 9), (3, 9), (9, 9), (40, 900)])
def test_one_proportion_has_clopper_pearsons_limit(x, n):
    lower = melded_lower(terms([2.0], [x], [n]), 0.025)
    assert lower == pytest.approx(2 * clopper_pearson_lower(x, n, 0.025), abs=2e-3)
    upper = -melded_lower(terms([-2.0], [x], [n]), 0.025)
    assert upper == pytest.approx(2 * clopper_pearson_upper(x, n, 0.025), abs=2e-3)


@pytest.mark.parametrize("counts", [(7, 1, 20, 3), (0, 4, 5, 30), (8, 0, 0, 40)])
def test_it_is_a_quantile_of_draws(counts):
    weights, sizes = (1.0, -1.0, -1.0, 1.0), (8, 9, 40, 40)
    rng = np.random.default_rng(1)
    total = np.zeros(400_000)
    for w, x, n in zip(weights, counts, sizes, strict=True):
        a, b = (x, n - x + 1) if w > 0 else (x + 1, n - x)
        total += w * (0.0 if a == 0 else 1.0 if b == 0 else rng.beta(a, b, total.size))
    for alpha in (0.2, 0.025, 0.002):
        found = melded_lower(terms(weights, counts, sizes), alpha)
        # Rounded down by 4 steps at most; the draws have an error of their own.
        assert found == pytest.approx(np.quantile(total, alpha), abs=0.012)
        assert found <= np.quantile(total, alpha) + 0.01


@pytest.mark.parametrize("alpha", [0.025, 0.0025])
@pytest.mark.parametrize(("sizes", "prior"), [((5, 5, 5, 5), 0.5), ((6, 2, 7, 3), 0.9)])
def test_the_error_is_below_nominal_at_every_rate(sizes, prior, alpha):
    weights = (2 * prior, -2 * (1 - prior), -2 * prior, 2 * (1 - prior))
    limits = np.empty([n + 1 for n in sizes])
    for counts in itertools.product(*[range(n + 1) for n in sizes]):
        limits[counts] = melded_lower(terms(weights, counts, sizes), alpha)
    every = (0.0, 0.02, 0.15, 0.5, 0.9, 0.99, 1.0)
    laws = {(n, rate): binom.pmf(np.arange(n + 1), n, rate) for n in sizes for rate in every}
    for rates in itertools.product(every, repeat=4):
        truth = sum(w * rate for w, rate in zip(weights, rates, strict=True))
        wrong = (limits > truth + 1e-9).astype(float)
        for n, rate in zip(sizes, rates, strict=True):
            wrong = np.tensordot(laws[n, rate], wrong, (0, 0))
        assert wrong <= alpha, rates


def test_many_trials_leave_the_normal_limit():
    weights, sizes = (1.0, -1.0), (10**8, 10**8)
    counts = (6 * 10**7, 5 * 10**7)
    spread = np.sqrt(0.6 * 0.4 / 1e8 + 0.25 / 1e8)
    found = melded_lower(terms(weights, counts, sizes), 0.025)
    assert found == pytest.approx(0.1 - 1.96 * spread, rel=1e-4)


@pytest.mark.parametrize("steps", [_SHORT, 2 * _SHORT - 1, 16 * _SHORT - 30])
@pytest.mark.parametrize("weight", [1.0, -1.8])
@pytest.mark.parametrize("alpha", [0.3, 0.025, 1e-8])
@pytest.mark.parametrize(("x", "n"), [(1, 1), (1, 2), (1, 900), (3, 90_000), (899, 900), (70, 150)])
def test_steps_have_the_masses_of_the_distribution_function(x, n, alpha, weight, steps):
    table = np.array([[[weight, x, n]]])
    spans = _Spans.of(table, alpha * 1e-4)
    start, stop = float(spans.start[0, 0]), float(spans.stop[0, 0])
    if start == stop:
        assert weight < 0
        assert x == n
        return
    step = np.array([(stop - start) / steps])
    (found,) = spans.masses(0, spans.start[:, 0], step, np.array([steps]))
    below = betainc(
        *(one[0, 0] for one in spans.shapes), np.linspace(start, stop, steps + 1) / weight
    )
    below = np.abs(below - below[0])[1:]
    assert not found[steps:].any()
    np.testing.assert_allclose(found[:steps].cumsum(), below / below[-1], atol=5e-7, rtol=0)


def drawn_terms(rng):
    """Terms with the hard counts: none, one, all, all but one; of very unlike sizes."""
    found = []
    for _ in range(4):
        n = int(10 ** rng.uniform(0.1, 4))
        x = int(np.clip(rng.choice([0, 1, n - 1, n, n // 3]), 0, n))
        weight = rng.choice([1.0, -1.0]) * rng.choice([1.0, 0.2, 1.8])
        found.append(Term(weight=float(weight), successes=x, trials=n))
    return found


def fine_lower(parts, alpha, steps=1 << 15):
    """The same quantile of masses of many steps, each rounded down; and the width of all."""
    tail = alpha * 1e-4
    ranges = []
    for one in parts:
        x, n = one.successes, one.trials
        first, second = (x, n - x + 1) if one.weight > 0 else (x + 1, n - x)
        if not first or not second:
            ends = (one.weight * (first > 0),) * 2
        else:
            ends = sorted(one.weight * betaincinv(first, second, np.array([tail, 1 - tail])))
        ranges.append((first, second, *ends))
    width = sum(stop - start for _, _, start, stop in ranges)
    low = sum(start for _, _, start, _ in ranges)
    if not width:
        return low, 0.0
    total = np.ones(1)
    for one, (first, second, start, stop) in zip(parts, ranges, strict=True):
        if start < stop:
            count = int(np.ceil((stop - start) / width * steps))
            edges = np.minimum(start + width / steps * np.arange(count + 1), stop) / one.weight
            masses = np.abs(np.diff(betainc(first, second, np.clip(edges, 0, 1))))
            total = fftconvolve(total, masses)
    at = np.searchsorted(np.maximum(total, 0).cumsum(), alpha)
    return low + width / steps * at, width


def test_the_limit_is_that_of_many_steps_or_just_outside():
    rng = np.random.default_rng(5)
    for _ in range(150):
        parts, alpha = drawn_terms(rng), float(rng.choice([0.2, 0.025, 1e-5]))
        exact, width = fine_lower(parts, alpha)
        found = melded_lower(parts, alpha)
        # Each of four terms is rounded down by a step there, and the answer by another.
        assert found <= exact + 5 * width / (1 << 15) + 1e-12, (parts, alpha)
        assert found >= exact - 2e-3 * width - 1e-12, (parts, alpha)


def test_many_sums_have_the_limits_of_each():
    rng = np.random.default_rng(6)
    sums = [drawn_terms(rng) for _ in range(70)]
    alone = [melded_lower(one, 1e-4) for one in sums]
    np.testing.assert_allclose(melded_lowers(sums, 1e-4), alone, rtol=0, atol=1e-12)
    assert melded_lowers([], 1e-4) == []
