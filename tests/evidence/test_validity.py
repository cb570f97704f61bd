"""Hostile settings: laws and sizes chosen to break the limits, by enumeration or seeded draws."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binom, norm

from mipaudit.maths.binomial import mover_lower
from mipaudit.maths.class_limits.area_limits import area_of
from mipaudit.maths.class_limits.class_upper import (
    noncentrality_upper,
    noncentrality_weights,
    oracle_upper,
)
from mipaudit.maths.class_limits.roc_counts import exact_ladder
from mipaudit.maths.class_limits.threshold_limits import tpr_at_fpr, tpr_upper

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What 1, 10 and 20 score columns leave of the error, one-sided.
ERRORS = (0.025, 0.0025, 0.00125)
PRIORS = (0.001, 0.1, 0.5, 0.9)
SIZES = ((10, 10), (5, 400), (30, 30), (20, 200))
RATES = np.unique(np.concatenate([np.linspace(0, 1, 21), 10.0 ** np.arange(-4, -1)]))
NEAR = 1e-9


def _mover_table(n1: int, n2: int, prior: float, alpha: float) -> NDArray[np.float64]:
    return np.array(
        [
            [mover_lower(x / n1, y / n2, n1, n2, prior=prior, alpha=alpha) for y in range(n2 + 1)]
            for x in range(n1 + 1)
        ]
    )


def _oracle_table(n1: int, n2: int, prior: float, alpha: float) -> NDArray[np.float64]:
    x, y = np.arange(n1 + 1)[:, None] / n1, np.arange(n2 + 1) / n2
    observed = np.maximum(1 - 2 * prior + 2 * (prior * x - (1 - prior) * y), abs(2 * prior - 1))
    values, where = np.unique(np.round(observed, 12), return_inverse=True)
    limits = [oracle_upper(float(v), n1, n2, prior=prior, alpha=alpha) for v in values]
    return np.array(limits)[where].reshape(n1 + 1, n2 + 1)


def _worst_miss(table: NDArray[np.float64], prior: float, *, is_lower: bool) -> float:
    """Return the largest probability of a miss over all sets that beat the trivial attacker."""
    n1, n2 = table.shape[0] - 1, table.shape[1] - 1
    worst = 0.0
    for tpr, fpr in product(RATES, RATES):
        truth = 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)
        if truth < abs(2 * prior - 1) - NEAR:
            continue
        missed = table > truth + NEAR if is_lower else table < truth - NEAR
        members = binom.pmf(np.arange(n1 + 1), n1, tpr)
        holdout = binom.pmf(np.arange(n2 + 1), n2, fpr)
        worst = max(worst, float(members @ missed @ holdout))
    return worst


@pytest.mark.parametrize(("alpha", "prior"), list(product(ERRORS, PRIORS)))
def test_lower_limit_of_a_fixed_set_at_bonferroni_errors(alpha: float, prior: float) -> None:
    for n1, n2 in SIZES:
        table = _mover_table(n1, n2, prior, alpha)
        assert _worst_miss(table, prior, is_lower=True) <= 1.01 * alpha


@pytest.mark.parametrize(("alpha", "prior"), list(product(ERRORS, PRIORS)))
def test_upper_limit_of_a_fixed_set_at_bonferroni_errors(alpha: float, prior: float) -> None:
    for n1, n2 in SIZES:
        table = _oracle_table(n1, n2, prior, alpha)
        assert _worst_miss(table, prior, is_lower=False) <= 1.01 * alpha


def test_noncentrality_on_random_sparse_and_unbalanced_tables() -> None:
    rng = np.random.default_rng(3)
    alpha, designs, draws = 0.01125, 60, 60
    misses = 0
    for _ in range(designs):
        size = int(rng.integers(9, 40))
        q = rng.dirichlet(np.full(size, rng.choice([0.2, 1.0, 1000.0])))
        p = q * (1 + rng.choice([0.3, 0.9, 1.0]) * rng.choice([-1, 1], size))
        p = (p + 1e-12) / (p + 1e-12).sum()
        n1, n2 = rng.choice([8, 30, 1000], 2)
        truth = 0.5 * np.abs(p - q).sum()
        for _ in range(draws):
            early = rng.multinomial(n1 // 3 + 1, p) + rng.multinomial(n2 // 3 + 1, q)
            limit = noncentrality_upper(
                rng.multinomial(n1, p),
                rng.multinomial(n2, q),
                noncentrality_weights(early),
                alpha=alpha,
            )
            misses += limit.total_variation_upper < truth - NEAR
    assert binom.sf(misses - 1, designs * draws, alpha) > 1e-3


def _steep(rng: np.random.Generator, size: int, cut: float) -> NDArray[np.float64]:
    """Return members: 30% at the top, 30% clustered at ``cut``, the rest at the bottom."""
    centre = rng.choice([8.0, cut, -8.0], size, p=[0.3, 0.3, 0.4])
    return centre + 1e-9 * rng.random(size)


def test_tpr_upper_limit_where_the_roc_curve_is_steep() -> None:
    fpr, size, alpha, draws = 0.1, 1000, 0.025, 600
    cut = float(norm.isf(fpr - 0.05 * np.sqrt(fpr * (1 - fpr) / size)))
    rng = np.random.default_rng(0)
    misses = 0
    for _ in range(draws):
        ladder = exact_ladder(_steep(rng, size, cut), rng.normal(size=size))
        misses += tpr_upper(ladder, fpr, alpha=alpha) < 0.6
    assert binom.sf(misses - 1, draws, alpha) > 1e-3


def test_tpr_lower_limit_where_the_roc_curve_is_steep() -> None:
    fpr, size, alpha, draws = 0.1, 1000, 0.025, 600
    cut = float(norm.isf(fpr + 0.05 * np.sqrt(fpr * (1 - fpr) / size)))
    rng = np.random.default_rng(0)
    misses = 0
    for _ in range(draws):
        ladder = exact_ladder(_steep(rng, size, cut), rng.normal(size=size))
        lower = tpr_at_fpr(ladder, fpr, alpha=alpha).lower
        misses += lower is not None and lower > 0.3 + NEAR
    assert binom.sf(misses - 1, draws, alpha) > 1e-3


def test_auc_limits_with_rare_extremes_in_the_small_class() -> None:
    n_members, n_holdout, rare, alpha, draws = 50, 5000, 0.04, 0.05, 400
    truth = 0.5 * (1 - rare)
    rng = np.random.default_rng(0)
    missed_below = missed_above = 0
    for _ in range(draws):
        members = np.where(rng.random(n_members) < rare, -9.0, 0.0)
        ladder = exact_ladder(members, rng.normal(size=n_holdout))
        area = area_of(ladder).limits(alpha / 2)
        missed_below += area.lower > truth
        missed_above += area.upper < truth
    assert binom.sf(missed_above - 1, draws, alpha / 2) > 1e-3
    assert binom.sf(missed_below - 1, draws, alpha / 2) > 1e-3
