from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

from mipaudit.evidence.judgement.implication import (
    advantage_of_auc,
    advantage_of_point,
    strongest_implication,
)
from mipaudit.evidence.scores.rows import ErrorShare, score_estimates


def of_law(p, q, prior):
    """Return the AUC and the advantage of two laws on ordered values."""
    auc = p @ (q.cumsum() - q / 2)
    return auc, np.abs(prior * p - (1 - prior) * q).sum()


@pytest.mark.parametrize("prior", [0.03, 0.3, 0.5, 0.8])
def test_no_law_has_less_advantage_than_its_auc_implies(prior):
    rng = np.random.default_rng(0)
    for _ in range(2000):
        values = int(rng.integers(2, 8))
        p, q = rng.dirichlet(np.full(values, rng.choice([0.1, 0.5, 2])), 2)
        auc, advantage = of_law(p, q, prior)
        assert advantage >= advantage_of_auc(auc, prior) - 1e-12


@pytest.mark.parametrize("prior", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("advantage", [0.65, 0.8, 0.95])
def test_a_law_on_many_values_comes_near(prior, advantage):
    """The ROC that is the line, and 1 behind it, has the largest area at its advantage."""
    level = (advantage - 1 + 2 * prior) / 2
    fprs = np.append(np.linspace(0, (prior - level) / (1 - prior), 2001), 1.0)
    tprs = np.minimum(1, ((1 - prior) * fprs + level) / prior)
    q, p = np.diff(fprs, prepend=0), np.diff(tprs, prepend=0)
    auc, found = of_law(p[::-1], q[::-1], prior)
    assert found == pytest.approx(advantage, abs=1e-9)
    assert advantage_of_auc(auc, prior) == pytest.approx(advantage, abs=1e-3)


def test_the_least_advantage_found_by_search_is_the_formula():
    prior, auc = 0.4, 0.9
    rng = np.random.default_rng(1)

    def cost(free):
        p, q = (np.exp(half) / np.exp(half).sum() for half in np.split(free, 2))
        found, advantage = of_law(p, q, prior)
        return advantage + 30 * max(0, auc - found)

    starts = (rng.normal(0, 1, 24) for _ in range(3))
    best = min(optimize.minimize(cost, one, method="Powell").fun for one in starts)
    formula = advantage_of_auc(auc, prior)
    assert formula - 1e-6 <= best < formula + 0.05


def test_closed_forms():
    assert advantage_of_auc(0.5, 0.5) == 0
    assert advantage_of_auc(0.68, 0.5) == pytest.approx(advantage_of_auc(0.32, 0.5))
    assert advantage_of_auc(0.68, 0.5) == pytest.approx(1 - math.sqrt(0.64))
    assert advantage_of_auc(0.55, 0.1) == pytest.approx(0.8)
    assert advantage_of_point(0.3, 0.1, 0.5) == pytest.approx(0.2)
    assert advantage_of_point(0.3, 0.1, 0.1) == pytest.approx(0.8)


def test_the_strongest_row_is_told(evidence_from):
    rng = np.random.default_rng(2)
    share = ErrorShare(confidence=0.95, columns=1)
    rows = score_estimates(evidence_from(rng.normal(1, 1, 900), rng.normal(0, 1, 900)), share)
    _, advantage = strongest_implication(rows, 0.5)
    by_hand = [advantage_of_auc(r.lower, 0.5) for r in rows if r.quantity == "auc"]
    by_hand += [r.lower - r.fpr for r in rows if r.fpr and r.lower is not None]
    assert advantage == pytest.approx(max(by_hand))
    assert strongest_implication(rows[:1], 0.5) is None
    same = rng.normal(0, 1, 400)
    flat = score_estimates(evidence_from(same, same + 1e-9), share)
    assert strongest_implication(flat, 0.5) is None
