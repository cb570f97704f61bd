"""Coverage of the limits of differences, of gains and of the largest of several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from mipaudit.validation.estimands.audited_file import AuditedFile
from mipaudit.validation.estimands.difference import (
    CORRELATED,
    PAIRED_SCORES,
    SWINGS,
    Difference,
    JointGain,
    LargestAdvantage,
    compared_pair,
)
from mipaudit.validation.laws.catalogue import law

FILES = 6


def audited(seed, n=200, prior=0.5):
    member = np.random.default_rng(seed).permutation(np.arange(n) < n // 2)
    return AuditedFile(member=member, score=np.zeros(n), prior=prior, seed=seed)


@pytest.mark.parametrize(("estimand", "prior"), [(Difference(), 0.5), (JointGain(), 0.1)])
def test_limits_cover(estimand, prior):
    misses = []
    host = law("null-gaussian")
    for seed in range(FILES):
        for one in estimand.intervals(audited(seed, prior=prior)):
            truth = estimand.truth(host, prior, one.estimand_args)
            misses.append(one.lower is not None and one.lower > truth + 1e-12)
            misses.append(one.upper is not None and one.upper < truth - 1e-12)
    # Seen less than once in 10^5 such tests where every limit holds at 0.975.
    assert sum(misses) <= binom.isf(1e-5, len(misses), 0.025)


def test_the_largest_of_eight_that_leak_nothing_finds_nothing():
    estimand = LargestAdvantage()
    found = [next(iter(estimand.intervals(audited(seed, n=400)))).lower for seed in range(12)]
    assert sum(one > 1e-12 for one in found) <= binom.isf(1e-5, len(found), 0.025)


def test_truths_are_those_of_normal_shifts():
    by_name = {one.name: one for one in PAIRED_SCORES}
    for word in ("alike", "opposed", "apart"):
        unequal = by_name[f"unequal-{word}"]
        expected = 2 * norm.cdf(0.75) - 2 * norm.cdf(0.25)
        assert unequal.difference(0.5) == pytest.approx(expected, abs=1e-6)
        assert by_name[f"null-{word}"].difference(0.1) == pytest.approx(0.0, abs=1e-12)
    both = by_name["equal-unrelated"].joint_advantage(0.5)
    assert both == pytest.approx(2 * norm.cdf(np.sqrt(2) / 2) - 1, abs=1e-6)


def test_scores_are_correlated_as_named():
    rng = np.random.default_rng(0)
    member = np.zeros(20_000, dtype=bool)
    for one in CORRELATED:
        first, second = one.draw(rng, member)
        assert np.corrcoef(first, second)[0, 1] == pytest.approx(one.correlation, abs=0.04)


@pytest.mark.parametrize(("swing", "n"), list(zip(SWINGS, (200, 1000), strict=True)))
def test_a_swing_is_missed_no_oftener_than_promised(swing, n):
    rng = np.random.default_rng(8)
    truth = swing.difference(0.5)
    missed = 0
    for seed in range(60):
        found = compared_pair(audited(seed, n=n), swing, rng)
        missed += found.lower(0, 1, "thresholds", 0.025) > truth + 1e-12
    assert missed <= binom.isf(1e-3, 60, 0.025)


def test_truths_of_a_swing():
    rng = np.random.default_rng(0)
    member = rng.random(200_000) < 0.5
    for one in SWINGS:
        first, second = one.draw(rng, member)
        assert not (first * second).any()
        np.testing.assert_array_equal(first + second, member)
        assert second[member].mean() == pytest.approx(one.share, abs=0.003)
        assert one.difference(0.5) == pytest.approx(1 - 2 * one.share)
        assert one.difference(0.1) == pytest.approx(0.2 * (1 - 2 * one.share))
        # Both are worth no more than always guessing member, but for what the first adds.
        assert one.difference(0.9) == pytest.approx(0.2 - 1.8 * one.share)
        assert one.joint_advantage(0.5) - one.larger_advantage(0.5) == pytest.approx(one.share)


def test_they_run_by_name_and_on_one_law_only():
    for one in (Difference(), JointGain(), LargestAdvantage()):
        assert one.by_name_only
        assert one.applies(law("null-gaussian"))
        assert not one.applies(law("gauss-shift-1"))
        with pytest.raises(ValueError, match="arguments"):
            one.truth(law("null-gaussian"), 0.5, ("no such thing",))
