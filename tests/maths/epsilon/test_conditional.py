from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.special import bdtrc, betainc, expit, gammaln, xlogy

from mipaudit.maths.epsilon.conditional import (
    Exposed,
    GuessCounts,
    Slack,
    conditional_estimate,
    conditional_lower,
    epsilon_of_share,
    lower_either_way,
    most_exposed,
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


def test_a_rare_class_needs_one_right_guess():
    rare = conditional_lower(table(tp=1, rows=(1, 10_000)), Slack(guesses=0, alpha=0.05))
    assert rare == pytest.approx(math.log(0.05 / 0.95 * 10_000), abs=1e-9)


def law_of(guesses, log_odds):
    """Return the law of right guesses among so many, each with these log-odds."""
    found = np.arange(guesses + 1)
    logs = gammaln(guesses + 1) - gammaln(found + 1) - gammaln(guesses - found + 1)
    return np.exp(logs + found * log_odds - guesses * np.logaddexp(0, log_odds))


@pytest.mark.parametrize(
    ("counts", "rows"),
    [((40, 12, 90, 7), (60, 700)), ((90, 7, 40, 12), (700, 60)), ((3, 0, 2, 0), (20, 21))],
)
@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_unlike_guesses_are_refuted_by_the_sum_of_two_binomials(counts, rows, alpha):
    tp, fp, tn, fn = counts
    lower = conditional_lower(table(tp, fp, tn, fn, rows=rows), Slack(guesses=0, alpha=alpha))
    ratio = math.log(rows[0] / rows[1])

    def tail(epsilon):
        sum_of_two = np.convolve(law_of(tp + fp, epsilon + ratio), law_of(tn + fn, epsilon - ratio))
        return sum_of_two[tp + tn :].sum()

    if lower > 0:
        assert tail(lower) <= alpha * (1 + 1e-9)
        assert tail(lower + 1e-6) > alpha
    else:
        assert tail(0.0) > alpha


def test_a_limit_that_does_not_beat_another_is_not_worked_out():
    for rows in ((1000, 1000), (900, 1100)):
        counts, slack = table(80, 20, 70, 30, rows=rows), Slack(guesses=1, alpha=0.01)
        lower = conditional_lower(counts, slack)
        assert lower > 0
        assert conditional_lower(counts, slack, beat=lower + 1e-6) == 0
        assert conditional_lower(counts, slack, beat=lower - 1e-6) == pytest.approx(lower, abs=2e-9)


@pytest.mark.parametrize("counts", [table(), table(fp=9), table(tp=5, fp=5), table(tp=4)])
def test_no_evidence_beyond_the_slack_gives_zero(counts):
    assert conditional_lower(counts, Slack(guesses=4, alpha=0.05)) == 0.0


@pytest.mark.parametrize("sizes", [(20_000, 20_000), (300, 20_000), (50, 50)])
@pytest.mark.parametrize("delta", [1e-6, 1e-4, 0.02])
def test_what_delta_exposes_is_paid_with_what_its_counts_are_exceeded(sizes, delta):
    found, left = most_exposed(*sizes, delta, 0.05)
    paid = bdtrc(found.members, sizes[0], delta) + bdtrc(found.holdout, sizes[1], delta)
    if found.rows < found.members + found.holdout:
        paid += bdtrc(found.rows, sum(sizes), delta)
    assert left == pytest.approx(0.05 - paid, abs=1e-12)
    assert 0.025 <= left < 0.05
    assert found.rows <= found.members + found.holdout


def test_guesses_of_one_class_lose_what_delta_exposes_of_it():
    exposed = Exposed(members=4, holdout=30, rows=31)
    assert exposed.slack(table(tp=9, fp=1), 0.01).guesses == 4
    assert exposed.slack(table(tn=9, fn=1), 0.01).guesses == 30
    both = exposed.slack(table(tp=90, fp=100, tn=900, fn=9, rows=(100, 1000)), 0.01)
    assert (both.guesses, both.members, both.holdout) == (31, 4, 30)


def test_no_more_right_guesses_of_a_class_are_taken_off_than_delta_exposes_of_it():
    # Guesses of *member* have the lesser odds; all 31 would be taken from them.
    counts = table(tp=73, fp=269, tn=731, fn=27, rows=(100, 1000))
    by_class = Exposed(members=4, holdout=30, rows=31).slack(counts, 0.01)
    assert conditional_lower(counts, by_class) > conditional_lower(
        counts, Slack(guesses=31, alpha=0.01)
    )


@pytest.mark.parametrize("delta", [0.3, 1 - 1e-9, 1.0])
def test_a_large_delta_leaves_an_error(delta):
    exposed, left = most_exposed(100_000, 10, delta, 0.05)
    assert 0 < left <= 0.05
    assert lower_either_way(table(tp=100_000, rows=(100_000, 10)), exposed, left) >= 0


@pytest.mark.parametrize("rows", [6, 15, 40])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4, 1.0])
def test_both_ways_round_share_an_error_that_is_kept_exactly(rows, epsilon):
    # Labels are drawn row by row; every law of right guesses between both extremes is tried.
    refuted = [
        lower_either_way(table(tp=v, fp=rows - v, rows=(50, 50)), Exposed(), 0.05) > epsilon
        for v in range(rows + 1)
    ]
    either = np.array(refuted) | np.array(refuted[::-1])
    sizes = [law_of(rows, odds)[either].sum() for odds in np.linspace(-epsilon, epsilon, 41)]
    assert max(sizes) <= 0.05


def test_the_way_that_the_rows_show_costs_little_where_epsilon_is_large():
    counts = table(tp=730, fp=270)
    alone = conditional_lower(counts, Slack(guesses=0, alpha=0.05))
    half = conditional_lower(counts, Slack(guesses=0, alpha=0.025))
    both = lower_either_way(counts, Exposed(), 0.05)
    assert alone > both > alone - 0.1 * (alone - half)
    weak = table(tp=12, fp=3)
    assert lower_either_way(weak, Exposed(), 0.05) == pytest.approx(
        conditional_lower(weak, Slack(guesses=0, alpha=0.025))
    )


def test_estimate_is_finite_and_near_the_ratio():
    assert conditional_estimate(table(tp=200, fp=20), 0.0, 1000) == pytest.approx(
        math.log(200.5 / 20.5)
    )
    assert math.isfinite(conditional_estimate(table(tp=200), 0.0, 1000))
    assert conditional_estimate(table(tp=2), 0.01, 1000) == 0.0


def test_estimate_of_unlike_guesses_is_the_epsilon_of_their_mean_share():
    counts = table(tp=60, fp=10, tn=40, fn=20, rows=(400, 1600))
    epsilon = conditional_estimate(counts, 0.0, 0)
    right = 70 * expit(epsilon + math.log(1 / 4)) + 60 * expit(epsilon - math.log(1 / 4))
    assert right / 130 == pytest.approx(100.5 / 131)


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
