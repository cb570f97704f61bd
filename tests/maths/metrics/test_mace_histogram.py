from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mipaudit.maths.metrics.mace_histogram import mace_histogram

MEMBERS, HOLDOUT = np.array([12, 0, 988]), np.array([3, 7, 1990])


def interval(count, total, delta):
    return stats.binomtest(int(count), total).proportion_ci(1 - delta, "exact")


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_is_the_published_formula_bin_by_bin(prior):
    found = mace_histogram(MEMBERS, HOLDOUT, prior=prior, delta=0.05)
    gaps = [
        abs(prior * x / 1000 - (1 - prior) * y / 2000)
        for x, y in zip(MEMBERS, HOLDOUT, strict=True)
    ]
    assert found.value == pytest.approx(sum(gaps))
    assert found.half_width == pytest.approx(math.sqrt(2 * math.log(40) / 3000))
    for bin_, (x, y) in enumerate(zip(MEMBERS, HOLDOUT, strict=True)):
        p, q = interval(x, 1000, 0.05), interval(y, 2000, 0.05)

        def risk(p, q):
            return (prior * p - (1 - prior) * q) / (prior * p + (1 - prior) * q)

        assert found.risk[bin_] == pytest.approx(risk(x / 1000, y / 2000))
        assert found.risk_lower[bin_] == pytest.approx(risk(p.low, q.high))
        assert found.risk_upper[bin_] == pytest.approx(risk(p.high, q.low))


def test_its_band_misses_the_truth_on_a_private_model():
    """Why it never decides anything: 100 bins, no leak, and the band excludes 0."""
    rng = np.random.default_rng(0)
    bins = np.full(100, 0.01)
    missed = 0
    for _ in range(50):
        found = mace_histogram(
            rng.multinomial(500, bins), rng.multinomial(500, bins), prior=0.5, delta=0.05
        )
        missed += found.value - found.half_width > 0
    assert missed == 50
