from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from mipaudit.maths.class_limits.noncentrality import noncentrality_upper, noncentrality_weights


def test_vector():
    found = noncentrality_upper(
        np.array([30, 20, 25, 25]), np.array([20, 30, 25, 25]), np.full(4, 0.25), alpha=0.0125
    )
    assert found.estimate == pytest.approx(0.01979798, abs=1e-8)
    assert found.null_variance == pytest.approx(0.003136)
    assert found.slope == pytest.approx(0.02 + 0.003136 / 4)
    # 0.4739234 where the slope is 0.02 alone.
    root = found.upper
    z = stats.norm.isf(0.0125)
    assert root - found.estimate == pytest.approx(
        z * math.sqrt(0.003136 * (1 + root) + 0.08 * root)
    )
    assert 0.4739234 < root < 0.49
    assert found.total_variation_upper == pytest.approx(math.sqrt(root) / 2)


def by_hand(members, holdout, weights, alpha):
    """Cell by cell, and the root by bisection."""
    n1, n2 = sum(members), sum(holdout)
    estimate = slope = squares = 0.0
    for x, y, w in zip(members, holdout, weights, strict=True):
        p, q, pooled = x / n1, y / n2, (x + y) / (n1 + n2)
        estimate += ((p - q) ** 2 - p * (1 - p) / (n1 - 1) - q * (1 - q) / (n2 - 1)) / w
        v0 = pooled * (1 / n1 + 1 / n2)
        slope = max(slope, v0 / w)
        squares += max(v0**2 - pooled * (1 / n1 + 1 / n2) ** 2 / (n1 + n2), 0) / w**2
    null = 2 * max(squares, slope**2 / 2)
    z = stats.norm.isf(alpha)
    root = optimize.brentq(
        lambda lam: lam - estimate - z * math.sqrt(null * (1 + lam) + 4 * slope * lam),
        estimate + 1e-12,
        1e4,
    )
    return estimate, root


@pytest.mark.parametrize("cells", [2, 9, 60])
def test_is_the_sum_cell_by_cell(cells):
    rng = np.random.default_rng(cells)
    members = rng.multinomial(700, rng.dirichlet(np.ones(cells)))
    holdout = rng.multinomial(400, rng.dirichlet(np.ones(cells)))
    weights = noncentrality_weights(rng.multinomial(300, np.full(cells, 1 / cells)))
    found = noncentrality_upper(members, holdout, weights, alpha=0.025)
    estimate, root = by_hand(members.tolist(), holdout.tolist(), weights.tolist(), 0.025)
    assert found.estimate == pytest.approx(estimate, abs=1e-10)
    assert found.upper == pytest.approx(root, rel=1e-8)
    assert found.total_variation_upper == pytest.approx(min(1.0, math.sqrt(root) / 2), rel=1e-8)


def test_the_estimate_is_unbiased():
    rng = np.random.default_rng(0)
    p, q, w = (rng.dirichlet(np.ones(12)) for _ in range(3))
    truth = ((p - q) ** 2 / w).sum()
    found = [
        noncentrality_upper(
            rng.multinomial(150, p), rng.multinomial(90, q), w, alpha=0.025
        ).estimate
        for _ in range(3000)
    ]
    error = np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(found) - truth) < 4 * error
    # The plug-in is not, by far more than that.
    assert (p * (1 - p) / 150 / w).sum() > 8 * error


@pytest.mark.parametrize("cells", [20, 400])
@pytest.mark.parametrize("strength", [0.0, 0.4])
def test_coverage(cells, strength):
    rng = np.random.default_rng(1)
    uniform = np.full(cells, 1 / cells)
    leaky = uniform * (1 + strength * np.where(np.arange(cells) % 2, 1.0, -1.0))
    missed = 0
    for _ in range(500):
        found = noncentrality_upper(
            rng.multinomial(1500, leaky),
            rng.multinomial(1500, uniform),
            noncentrality_weights(rng.multinomial(1000, uniform)),
            alpha=0.05,
        )
        missed += found.total_variation_upper < strength / 2
    assert missed <= stats.binom.ppf(0.9999, 500, 0.05)


def test_beats_the_plug_in_bias_with_many_cells():
    rng = np.random.default_rng(2)
    uniform = np.full(1000, 1e-3)
    members, holdout = rng.multinomial(5000, uniform), rng.multinomial(5000, uniform)
    found = noncentrality_upper(members, holdout, uniform, alpha=0.0125)
    plugin = np.abs(members - holdout).sum() / 10_000
    assert found.total_variation_upper < 0.17 < plugin


def test_weights_sum_to_one_and_are_never_zero():
    weights = noncentrality_weights(np.array([0, 7, 26]))
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(weights, (np.array([1, 4, 9]) / 14 + 1 / 3) / 2)


def gathered(cells, share):
    """Members on part of an even alphabet."""
    members = np.zeros(cells)
    members[: int(cells * share)] = 1 / int(cells * share)
    return members, np.full(cells, 1 / cells)


def to_the_tail(common, rare, moved):
    """Few common values; part of the members goes to a tail of 3% of the holdout."""
    holdout = np.r_[np.full(common, 0.97 / common), np.full(rare, 0.03 / rare)]
    members = holdout * np.r_[np.full(common, 1 - moved), np.ones(rare)]
    members[common:] += (1 - members.sum()) / rare
    return members, holdout


def limit_of_0_1_0(members, holdout, pooled, alpha):
    """The limit as the first version had it, which must be caught."""
    w = (pooled + 1.0) ** (2 / 3)
    w /= w.sum()
    n1, n2 = members.sum(), holdout.sum()
    p, q = members / n1, holdout / n2
    estimate = (((p - q) ** 2 - p * (1 - p) / (n1 - 1) - q * (1 - q) / (n2 - 1)) / w).sum()
    v = (members + holdout) / (n1 * n2)
    slope = (v / w).max()
    null = 2 * max(((v**2 - v * (1 / n1 + 1 / n2) / (n1 + n2)) / w**2).sum(), slope**2 / 2)
    z = stats.norm.isf(alpha)
    inside = null + 4 * slope * estimate + 4 * slope**2 * z**2
    if inside < 0:
        return 1.0
    return min(1, math.sqrt(max(0, estimate + 2 * slope * z**2 + z * math.sqrt(inside))) / 2)


@pytest.mark.parametrize(
    ("laws", "sizes", "caught"),
    [
        (gathered(2000, 0.35), (113, 450_000), True),
        (gathered(700, 0.4), (70, 40_000), False),
        (gathered(1500, 0.7), (1000, 100_000), False),
        (to_the_tail(20, 200, 0.6), (60, 230_000), True),
        (to_the_tail(8, 1000, 0.4), (200, 200_000), True),
        (to_the_tail(5, 2000, 0.5), (4000, 100_000), False),
        (gathered(500, 0.5)[::-1], (20_000, 100), False),
    ],
)
def test_members_that_gather_where_few_holdout_records_are(laws, sizes, caught):
    rng = np.random.default_rng(3)
    alpha, draws = 0.0125, 250
    truth = np.abs(laws[0] - laws[1]).sum() / 2
    missed = missed_before = 0
    for _ in range(draws):
        counts = [rng.multinomial(n, law) for n, law in zip(sizes, laws, strict=True)]
        early = sum(rng.multinomial(n // 3, law) for n, law in zip(sizes, laws, strict=True))
        found = noncentrality_upper(*counts, noncentrality_weights(early), alpha=alpha)
        missed += found.total_variation_upper < truth - 1e-9
        missed_before += limit_of_0_1_0(*counts, early, alpha) < truth - 1e-9
    assert stats.binom.sf(missed - 1, draws, alpha) > 1e-3
    if caught:
        assert stats.binom.sf(missed_before - 1, draws, alpha) < 0.02
