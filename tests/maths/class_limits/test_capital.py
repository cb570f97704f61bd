"""Bets against a small advantage: by hand, row by row, and with every outcome enumerated."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from mipaudit.maths.class_limits.capital import Round, betting_lower


def a_round(counts, rates=(0.25, 0.75), squares=None, guesses=(0.0, 1.0), weight=1.0):
    return Round(
        counts=np.array(counts),
        guesses=np.array(guesses),
        rates=np.array(rates),
        squares=np.array(rates if squares is None else squares),
        weight=weight,
    )


def test_one_member_and_one_holdout_record_by_hand():
    # Centres b = 1/2 - e and a = 1/2 + e; the stake is the largest, so that a member who is
    # found and a holdout record who is not each make 1 + .9 (1/2 - e) / (1/2 + e).
    found = betting_lower([a_round([[[1, 0], [0, 1]]])], prior=0.5, alpha=0.5)

    grown = math.sqrt(2) - 1
    assert found == pytest.approx(2 * (0.45 - grown / 2) / (0.9 + grown), abs=0.01)
    assert betting_lower([a_round([[[0, 1], [1, 0]]])], prior=0.5, alpha=0.5) == 0


class RowByRow:
    """Bets on every row by itself, for every bin and then within one, without an array."""

    def __init__(self, rounds, prior, alpha):
        self.rounds, self.p, self.q, self.wanted = rounds, prior, 1 - prior, -math.log(alpha)
        self.steps = [(one, step) for one in rounds for step in one.counts]

    def limit(self, within=1e-9):
        low = max(0.0, self.p - self.q)
        for end in self.bin_ends(low):
            if self.log_capital(end, end) < self.wanted:
                break
            low = end
        high = end
        while high - low > within:
            middle = (low + high) / 2
            low, high = (
                (middle, high) if self.log_capital(end, middle) >= self.wanted else (low, middle)
            )
        return 1 - 2 * self.p + 2 * low

    def bin_ends(self, least):
        first = self.rounds[0]
        seen = self.p * first.rates[1] - self.q * first.rates[0]
        scale = 2 * math.sqrt(self.spread(first, first.counts.sum(axis=0)))
        low, high = (math.asinh((edge - seen) / scale) for edge in (least, self.p))
        for number in range(1, 256):
            yield seen + scale * math.sinh(low + (high - low) * number / 256)
        yield self.p

    def spread(self, one, step):
        holdout, members = (one.squares[side] - one.rates[side] ** 2 for side in (0, 1))
        return self.q**2 * holdout / step[0].sum() + self.p**2 * members / step[1].sum()

    def centres(self, one, end):
        n2, n1 = one.counts.sum(axis=(0, 2))
        best = (n2 * (self.p * one.rates[1] - end) + n1 * self.q * one.rates[0]) / (n1 + n2)
        below = min(max(best / self.q, 0), 1, (self.p - end) / self.q)
        return below, (end + self.q * below) / self.p

    def log_capital(self, end, e):
        """Return the logarithm at e of what the stakes for the end of its bin have made."""
        lacking, total = self.wanted, 0.0
        for at, (one, step) in enumerate(self.steps):
            below, above = self.centres(one, end)
            left = sum(two.weight**2 / self.spread(one, later) for two, later in self.steps[at:])
            k = one.weight / self.spread(one, step) * math.sqrt(2 * max(lacking, 0) / left)
            n2, n1 = step.sum(axis=1)
            k = min(k, 0.9 / max(self.q / n2 * (1 - below), self.p / n1 * above))
            for guess, holdout, members in zip(one.guesses, *step, strict=True):
                for _ in range(holdout):
                    lacking -= math.log(1 - k * self.q / n2 * (guess - below))
                    total += math.log(1 - k * self.q / n2 * (guess - below))
                for _ in range(members):
                    lacking -= math.log(1 + k * self.p / n1 * (guess - above))
                    total += math.log(1 + k * self.p / n1 * (guess - above + (end - e) / self.p))
        return total


@pytest.mark.parametrize("prior", [0.5, 0.35, 0.65])
def test_arrays_are_what_rows_one_by_one_give(prior):
    rng = np.random.default_rng(4)
    rounds = []
    for rates, weight in (((0.3, 0.6), 0.5), ((0.2, 0.7), 0.9)):
        members = rng.multinomial(9, [0.05, 0.05, 0.9], size=2)
        holdout = rng.multinomial(7, [0.85, 0.1, 0.05], size=2)
        counts = np.stack([holdout, members], axis=1)
        rounds.append(a_round(counts, rates, np.array(rates) - 0.05, (0.0, 0.5, 1.0), weight))

    found = betting_lower(rounds, prior=prior, alpha=0.05)

    assert found == pytest.approx(RowByRow(rounds, prior, 0.05).limit(), abs=1e-7)
    assert found > abs(2 * prior - 1) + 0.05


N = 5
HELD = list(product(range(N + 1), repeat=2))  # rows at 1: of the holdout, of members


def limit_of(first, second, prior, alpha, *, peeks):
    """Bet on "1 is a member", then on what the past says; or on what its rows are about to say."""

    def a_bet(rows, seen):
        learnt = sum(members - holdout for holdout, members in seen)
        guesses = ((1.0, 0.0), (0.5, 0.75), (0.0, 1.0))[1 + (learnt > 0) - (learnt < 0)]
        counts = [[[N - at_one, at_one] for at_one in rows]]
        return a_round(counts, rates=(0.3, 0.7), guesses=guesses)

    past = [[first], [second]] if peeks else [[(0, 1)], [first]]
    rounds = [a_bet(rows, seen) for rows, seen in zip((first, second), past, strict=True)]
    return betting_lower(rounds, prior=prior, alpha=alpha)


def most_missed(prior, alpha, *, peeks=False):
    """Return the greatest probability of a limit above the truth, over laws of two values."""
    limits = np.array(
        [[limit_of(one, two, prior, alpha, peeks=peeks) for two in HELD] for one in HELD]
    )
    worst = 0.0
    for fpr, tpr in product(np.linspace(0, 1, 11), repeat=2):
        truth = abs(prior * tpr - (1 - prior) * fpr)
        truth += abs(prior * (1 - tpr) - (1 - prior) * (1 - fpr))
        each = [stats.binom.pmf(np.arange(N + 1), N, rate) for rate in (fpr, tpr)]
        chances = np.array([each[0][x] * each[1][y] for x, y in HELD])
        worst = max(worst, float(chances @ (limits > truth + 1e-9) @ chances))
    return worst


@pytest.mark.parametrize(("prior", "alpha"), [(0.5, 0.2), (0.5, 0.05), (0.35, 0.2)])
def test_no_law_is_missed_more_often_than_stated(prior, alpha):
    assert alpha / 4 < most_missed(prior, alpha) <= alpha


def test_an_attacker_chosen_by_the_rows_that_are_bet_on_is_caught():
    assert most_missed(0.5, 0.2, peeks=True) > 0.2
