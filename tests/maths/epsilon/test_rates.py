from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from mipaudit.maths.epsilon.rates import clopper_pearson_epsilon, credible_epsilon


@pytest.mark.parametrize(
    ("table", "alpha", "expected"),
    [((500, 0, 0, 500), 0.01, 4.541916), ((900, 100, 10, 990), 0.05, 3.871970)],
)
def test_published_clopper_pearson_limits(table, alpha, expected):
    assert clopper_pearson_epsilon(*table, delta=0, alpha=alpha) == pytest.approx(
        expected, abs=5e-7
    )


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.2])
@pytest.mark.parametrize("table", [(900, 100, 10, 990), (40, 60, 3, 97), (0, 10, 10, 0)])
def test_credible_limit_is_the_quantile_of_drawn_rates(table, delta):
    tp, fn, fp, tn = table
    rng = np.random.default_rng(1)
    tpr = rng.beta(tp + 0.5, fn + 0.5, 400_000)
    fpr = rng.beta(fp + 0.5, tn + 0.5, 400_000)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(np.maximum(tpr - delta, 0) / fpr)
        cleared = np.log(np.maximum(1 - fpr - delta, 0) / (1 - tpr))
    drawn = np.maximum(np.maximum(found, cleared), 0)
    assert credible_epsilon(*table, delta=delta, alpha=0.05) == pytest.approx(
        np.quantile(drawn, 0.05), abs=0.01
    )


def test_credible_limit_of_zero_and_of_huge_counts():
    separated = credible_epsilon(500, 0, 0, 500, delta=0, alpha=0.05)
    assert 5 < separated < 8
    huge = credible_epsilon(73_105_858, 26_894_142, 26_894_142, 73_105_858, delta=0, alpha=0.05)
    assert huge == pytest.approx(1, abs=1e-3)
    assert credible_epsilon(5, 5, 5, 5, delta=1.0, alpha=0.05) == 0.0


@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize("table", [(40, 60, 3, 97), (90, 10, 30, 70)])
def test_credible_limit_by_integration(table, delta):
    tp, fn, fp, tn = table
    found = credible_epsilon(*table, delta=delta, alpha=0.05)

    def both_allow(fpr):
        most = min(delta + math.exp(found) * fpr, 1 - (1 - fpr - delta) * math.exp(-found))
        return stats.beta.pdf(fpr, fp + 0.5, tn + 0.5) * stats.beta.cdf(most, tp + 0.5, fn + 0.5)

    below, _ = integrate.quad(both_allow, 0, 1, limit=400, points=[fp / (fp + tn)])
    assert below == pytest.approx(0.05, rel=2e-3)
