from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mipaudit.evidence.scores.discrete import _by_noncentrality
from mipaudit.maths.class_limits.roc_counts import Ladder
from mipaudit.maths.class_limits.upper import (
    noncentrality_upper,
    noncentrality_weights,
    oracle_upper,
)
from mipaudit.summaries.tally import ColumnCounts


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


def counts_with_unseen(burn_in):
    """Twelve known values without a leak, and a last cell of values that are all unseen."""
    rng = np.random.default_rng(4)
    law = np.append(np.full(12, 0.7 / 12), 0.3)
    blocks = np.stack([rng.multinomial(60, law, size=64) for _ in range(2)], axis=2)
    blocks[:burn_in, 12] = 0
    table = blocks[burn_in:].sum(axis=0)
    single = np.append(np.ones(12, bool), values=False)
    ladder = Ladder(members=table[:, 1], holdout=table[:, 0], single=single)
    return ColumnCounts(
        blocks=blocks,
        burn_in=burn_in,
        single=single,
        everyone=ladder,
        evaluated=ladder,
        infinite=0,
        discrete=True,
    )


@pytest.mark.parametrize("prior", [0.3, 0.5])
@pytest.mark.parametrize("burn_in", [7, 20])
def test_noncentrality_by_hand(burn_in, prior):
    """Neither the weights nor the cells come from the rows that are estimated with."""
    counts = counts_with_unseen(burn_in)
    first = max(burn_in, 16)
    late = counts.blocks[first:].sum(axis=0)
    weights = noncentrality_weights(counts.blocks[:first].sum(axis=(0, 2)))
    limit = noncentrality_upper(late[:, 1], late[:, 0], weights, alpha=0.9 * 0.025)
    unseen = [
        share * stats.beta.isf(0.05 * 0.025, count + 1, total - count)
        for share, count, total in zip((1 - prior, prior), late[12], late.sum(axis=0), strict=True)
    ]
    expected = abs(2 * prior - 1) + 2 * min(prior, 1 - prior) * limit.total_variation_upper
    expected += 2 * min(unseen)
    found = _by_noncentrality(counts, prior, 0.025)
    assert found == pytest.approx(min(1.0, expected))
    # The classes may share none of the unseen values: 30% of each.
    assert found > abs(2 * prior - 1) + 2 * min(prior, 1 - prior) * 0.3
