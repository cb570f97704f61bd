"""Coverage of the limits of differences, of gains and of the largest of several."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm

from mipaudit.validation.estimands.estimand import AuditedFile
from mipaudit.validation.estimands.methods import ESTIMANDS
from mipaudit.validation.estimands.together import PAIRS, compared_pair
from mipaudit.validation.laws import law

FILES = 6
CORRELATIONS = {"alike": 0.8, "unrelated": 0.0, "opposed": -0.8, "apart": 0.0}


def audited(seed, n=200, prior=0.5):
    member = np.random.default_rng(seed).permutation(np.arange(n) < n // 2)
    return AuditedFile(member=member, score=np.zeros(n), prior=prior, seed=seed)


@pytest.mark.parametrize(("name", "prior"), [("difference", 0.5), ("joint_gain", 0.1)])
def test_limits_cover(name, prior):
    estimand = ESTIMANDS[name]
    misses = []
    host = law("null-gaussian")
    for seed in range(FILES):
        for one in estimand.intervals(audited(seed, prior=prior)):
            truth = estimand.truth(host, prior, *one.args)
            misses.append(one.lower is not None and one.lower > truth + 1e-12)
            misses.append(one.upper is not None and one.upper < truth - 1e-12)
    # Seen less than once in 10^5 such tests where every limit holds at 0.975.
    assert sum(misses) <= binom.isf(1e-5, len(misses), 0.025)


def test_the_largest_of_eight_that_leak_nothing_finds_nothing():
    estimand = ESTIMANDS["largest_advantage"]
    found = [estimand.intervals(audited(seed, n=400))[0].lower for seed in range(12)]
    assert sum(one > 1e-12 for one in found) <= binom.isf(1e-5, len(found), 0.025)


def difference(name, prior):
    return ESTIMANDS["difference"].truth(law("null-gaussian"), prior, name)


def test_truths_are_those_of_normal_shifts():
    for word in ("alike", "opposed", "apart"):
        expected = 2 * norm.cdf(0.75) - 2 * norm.cdf(0.25)
        assert difference(f"unequal-{word}", 0.5) == pytest.approx(expected, abs=1e-6)
        assert difference(f"null-{word}", 0.1) == pytest.approx(0.0, abs=1e-12)
    both = PAIRS["equal-unrelated"][1](0.5)[2]
    assert both == pytest.approx(2 * norm.cdf(np.sqrt(2) / 2) - 1, abs=1e-6)


def test_scores_are_correlated_as_named():
    rng = np.random.default_rng(0)
    member = np.zeros(20_000, dtype=bool)
    for kind, (word, correlation) in product(("null", "equal", "unequal"), CORRELATIONS.items()):
        first, second = PAIRS[f"{kind}-{word}"][0](rng, member)
        assert np.corrcoef(first, second)[0, 1] == pytest.approx(correlation, abs=0.04)


@pytest.mark.parametrize(("name", "n"), [("swing-rare", 200), ("swing-rarer", 1000)])
def test_a_swing_is_missed_no_oftener_than_promised(name, n):
    rng = np.random.default_rng(8)
    truth = difference(name, 0.5)
    missed = 0
    for seed in range(60):
        found = compared_pair(audited(seed, n=n), PAIRS[name], rng)
        missed += found.lower(0, 1, "thresholds", 0.025) > truth + 1e-12
    assert missed <= binom.isf(1e-3, 60, 0.025)


def test_truths_of_a_swing():
    rng = np.random.default_rng(0)
    member = rng.random(200_000) < 0.5
    gain = ESTIMANDS["joint_gain"].truth
    for name, share in (("swing-rare", 0.03), ("swing-rarer", 0.005)):
        first, second = PAIRS[name][0](rng, member)
        assert not (first * second).any()
        np.testing.assert_array_equal(first + second, member)
        assert second[member].mean() == pytest.approx(share, abs=0.003)
        assert difference(name, 0.5) == pytest.approx(1 - 2 * share)
        assert difference(name, 0.1) == pytest.approx(0.2 * (1 - 2 * share))
        # Both are worth no more than always guessing member, but for what the first adds.
        assert difference(name, 0.9) == pytest.approx(0.2 - 1.8 * share)
        assert gain(law("null-gaussian"), 0.5, name) == pytest.approx(share)


def test_they_run_by_name_and_on_one_law_only():
    for name in ("difference", "joint_gain", "largest_advantage"):
        assert ESTIMANDS[name].by_name_only
        assert ESTIMANDS[name].concerns(law("null-gaussian"))
        assert not ESTIMANDS[name].concerns(law("gauss-shift-1"))
