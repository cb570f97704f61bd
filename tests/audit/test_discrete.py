from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mipaudit.maths.oracle import oracle_upper


def scattered(size, strength):
    """A law with a leak that no interval collects, and the law without it."""
    uniform = np.full(size, 1 / size)
    signs = np.where(np.arange(size) * 7 % size < size // 2, 1.0, -1.0)
    leaky = uniform * (1 + strength * signs)
    return leaky / leaky.sum(), uniform


def test_few_values_get_the_oracle_limit_on_the_rows_outside_the_burn_in(evidence_from):
    rng = np.random.default_rng(0)
    members, holdout = rng.random(800) < 0.7, rng.random(600) < 0.3
    evidence = evidence_from(members.astype(float), holdout.astype(float))
    assert evidence.discrete
    table = evidence.counts.scored
    n2, n1 = (int(n) for n in table.sum(axis=0))
    plugin = np.abs(table[:, 1] / n1 - table[:, 0] / n2).sum() / 2
    expected = oracle_upper(plugin, n1, n2, prior=0.5, alpha=0.025)
    assert evidence.upper("any", 0.025) == pytest.approx(expected)


@pytest.mark.parametrize("prior", [0.1, 0.3, 0.5])
@pytest.mark.parametrize(("size", "strength"), [(4, 0.3), (40, 0.0), (40, 0.5), (200, 0.3)])
def test_coverage(evidence_from, size, strength, prior):
    """Values that the burn-in lacks are among these: 200 of them in 150 rows."""
    leaky, uniform = scattered(size, strength)
    truth = np.abs(prior * leaky - (1 - prior) * uniform).sum()
    rng = np.random.default_rng(1)
    missed = 0
    for seed in range(100):
        evidence = evidence_from(
            rng.choice(size, 250, p=leaky),
            rng.choice(size, 250, p=uniform),
            prior=prior,
            seed=seed,
            kind="integer",
        )
        missed += evidence.upper("any", 0.1) < truth - 1e-12
    assert missed <= stats.binom.ppf(0.999, 100, 0.1)


def test_many_values_without_a_leak_profit_from_the_chi_square_distance(evidence_from):
    rng = np.random.default_rng(2)
    evidence = evidence_from(
        rng.integers(0, 500, 10_000), rng.integers(0, 500, 10_000), kind="integer"
    )
    ladder = evidence.counts.evaluated
    plain = oracle_upper(
        evidence.observed("any")[0],
        ladder.n_members,
        ladder.n_holdout,
        prior=0.5,
        alpha=0.025,
    )
    assert evidence.upper("any", 0.025) < plain - 0.02


def test_a_continuous_score_has_no_upper_limit_for_all(evidence_from):
    rng = np.random.default_rng(3)
    evidence = evidence_from(rng.normal(size=200), rng.normal(size=200))
    assert evidence.upper("any", 0.025) is None
