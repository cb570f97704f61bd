"""Coverage of the limits of differences, of gains and of the largest of several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from mipaudit.scenarios.audited_file import AuditedFile
from mipaudit.scenarios.estimand_difference import Difference, JointGain, LargestAdvantage
from mipaudit.scenarios.laws import law
from mipaudit.scenarios.paired_scores import PAIRED_SCORES

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
    for one in PAIRED_SCORES:
        first, second = one.draw(rng, member)
        assert np.corrcoef(first, second)[0, 1] == pytest.approx(one.correlation, abs=0.04)


def test_they_run_by_name_and_on_one_law_only():
    for one in (Difference(), JointGain(), LargestAdvantage()):
        assert one.by_name_only
        assert one.applies(law("null-gaussian"))
        assert not one.applies(law("gauss-shift-1"))
        with pytest.raises(ValueError, match="arguments"):
            one.truth(law("null-gaussian"), 0.5, ("no such thing",))
