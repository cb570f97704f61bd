from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.special import betainc, gammaln, xlogy

from mipaudit.maths.epsilon.conditional import (
    GuessCounts,
    Slack,
    conditional_estimate,
    conditional_lower,
    epsilon_of_share,
    slacks,
    usual_slack,
)


def table(tp=0, fp=0, tn=0, fn=0, rows=(1000, 1000)):
    return GuessCounts(tp=tp, fp=fp, tn=tn, fn=fn, n_members=rows[0], n_holdout=rows[1])


def test_published_vectors():
    counts = table(tp=120, fp=20)
    assert conditional_lower(counts, Slack(guesses=0, alpha=0.05)) == pytest.approx(
        1.381425, abs=5e-7
    )
    slack = usual_slack(1000, 0.001, 0.05)
    assert slack.guesses == 5
    assert conditional_lower(counts, slack) == pytest.approx(1.331892, abs=5e-7)


def test_perfect_separation_is_finite_and_exact():
    limit = conditional_lower(table(tp=500, tn=500, rows=(500, 500)), Slack(guesses=0, alpha=0.05))
    share = 0.05 ** (1 / 1000)
    assert limit == pytest.approx(math.log(share / (1 - share)), rel=1e-9)


def test_guesses_of_both_kinds_are_one_sample_where_classes_are_equal():
    slack = Slack(guesses=2, alpha=0.04)
    one = conditional_lower(table(tp=150, fp=30), slack)
    two = conditional_lower(table(tp=100, fp=10, tn=50, fn=20), slack)
    assert one == two > 0


def test_unequal_classes_shift_the_odds():
    slack = Slack(guesses=0, alpha=0.05)
    equal = conditional_lower(table(tp=120, fp=20), slack)
    more_members = conditional_lower(table(tp=120, fp=20, rows=(2000, 1000)), slack)
    as_holdout = conditional_lower(table(tn=120, fn=20, rows=(1000, 2000)), slack)
    assert more_members == pytest.approx(equal - math.log(2), abs=1e-9)
    assert as_holdout == pytest.approx(more_members, abs=1e-9)


def test_the_share_of_a_mixture_is_inverted():
    epsilon = float(epsilon_of_share(1.2, 70, 30, math.log(3)))
    mean = 0.7 / (1 + math.exp(-epsilon) / 3) + 0.3 / (1 + 3 * math.exp(-epsilon))
    assert math.log(mean / (1 - mean)) == pytest.approx(1.2, abs=1e-12)


def test_one_right_guess_uses_the_greater_odds():
    slack = Slack(guesses=0, alpha=0.05)
    mixed = conditional_lower(table(tp=1, fn=1, rows=(3000, 1000)), slack)
    assert mixed == 0.0
    rare = conditional_lower(table(tp=1, rows=(1, 10_000)), slack)
    assert rare == pytest.approx(math.log(0.05 / 0.95 * 10_000), abs=1e-9)


@pytest.mark.parametrize("counts", [table(), table(fp=9), table(tp=5, fp=5), table(tp=4)])
def test_no_evidence_beyond_the_slack_gives_zero(counts):
    assert conditional_lower(counts, Slack(guesses=4, alpha=0.05)) == 0.0


def test_slack_is_exceeded_as_rarely_as_it_says():
    ways = slacks(20_000, 1e-4, 0.05)
    assert [way.guesses for way in ways] == list(range(ways[0].guesses, ways[-1].guesses + 1))
    for way in ways:
        exceeded = 1 - sum(
            math.comb(20_000, k) * 1e-4**k * (1 - 1e-4) ** (20_000 - k)
            for k in range(way.guesses + 1)
        )
        assert way.alpha + exceeded == pytest.approx(0.05, abs=1e-12)


@pytest.mark.parametrize("delta", [0.3, 1 - 1e-9, 1.0])
def test_a_large_delta_leaves_a_way(delta):
    for way in slacks(100_000, delta, 0.05):
        assert 0 < way.alpha <= 0.05
        assert conditional_lower(table(tp=100_000, rows=(100_000, 10)), way) >= 0
    assert len(slacks(100_000, delta, 0.05)) <= 24


def test_estimate_is_finite_and_near_the_ratio():
    assert conditional_estimate(table(tp=200, fp=20), 0.0, 1000) == pytest.approx(
        math.log(200.5 / 20.5)
    )
    assert math.isfinite(conditional_estimate(table(tp=200), 0.0, 1000))
    assert conditional_estimate(table(tp=2), 0.01, 1000) == 0.0


def guesses_of_class(rows, right, wrong):
    """Return the joint law of right and wrong guesses in one class."""
    k, w = np.arange(rows + 1)[:, None], np.arange(rows + 1)
    rest = rows - k - w
    kept = np.maximum(rest, 0)
    log_pmf = gammaln(rows + 1) - gammaln(k + 1) - gammaln(w + 1) - gammaln(kept + 1)
    log_pmf = log_pmf + xlogy(k, right) + xlogy(w, wrong)
    log_pmf = log_pmf + xlogy(kept, max(0.0, 1 - right - wrong))
    return np.where(rest >= 0, np.exp(log_pmf), 0.0)


@pytest.mark.parametrize("rows", [12, 40])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 2.0])
def test_exact_size_at_fixed_class_sizes(rows, epsilon):
    odds = math.exp(epsilon)
    corner = 1 / (1 + odds)  # where both inequalities are tight and no guess is withheld
    rates = (0.0, 0.003, 0.03, 0.1, corner, 0.3, 0.5, 0.9)
    right, wrong = np.arange(2 * rows + 1)[:, None], np.arange(2 * rows + 1)
    tail = np.where(right > 0, betainc(np.maximum(right, 1), wrong + 1, odds / (1 + odds)), 1)
    sizes = []
    for fp in rates:
        for fn in rates:
            tp, tn = odds * fp, odds * fn
            if max(tp + fn, tn + fp) <= 1 + 1e-12:
                law = fftconvolve(guesses_of_class(rows, tp, fn), guesses_of_class(rows, tn, fp))
                assert law.sum() == pytest.approx(1)
                sizes.append(law[tail <= 0.05].sum())
    assert 0.01 < max(sizes) <= 0.05


def exact_size_of_unequal_classes(n1, n0, epsilon, rates):
    """Enumerate attacks with two sets: (tp, fn) of members times (tn, fp) of holdout."""
    odds = math.exp(epsilon)
    slack = Slack(guesses=0, alpha=0.05)
    cells = [
        (tp, fn, tn, fp)
        for tp in range(n1 + 1)
        for fn in range(n1 + 1 - tp)
        for tn in range(n0 + 1)
        for fp in range(n0 + 1 - tn)
    ]
    rejected = np.array(
        [
            conditional_lower(table(tp, fp, tn, fn, rows=(n1, n0)), slack) > epsilon
            for tp, fn, tn, fp in cells
        ]
    )
    tp, fn, tn, fp = np.array(cells).T
    sizes = []
    for f in rates:
        for g in rates:
            if max(odds * f + g, odds * g + f) <= 1:
                members = guesses_of_class(n1, odds * f, g)
                holdout = guesses_of_class(n0, odds * g, f)
                sizes.append((members[tp, fn] * holdout[tn, fp])[rejected].sum())
    return max(sizes)


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_exact_size_of_unequal_classes(epsilon):
    assert exact_size_of_unequal_classes(4, 11, epsilon, (0.01, 0.1, 0.2, 0.4, 0.5)) <= 0.05
