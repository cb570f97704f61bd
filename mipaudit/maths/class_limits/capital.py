"""What bets against a small advantage have made of a capital of 1, and the limit that shows.

An attacker h was fixed before the n1 members x and the n2 holdout records y of a step were
seen. For any numbers e and b, a = (e + (1-p) b) / p, and a stake k that leaves no factor below 0,

    K = product over x of (1 + k p/n1 (h(x) - a)) * product over y of (1 - k (1-p)/n2 (h(y) - b))

has the mean (1 + k p/n1 (T - a))^n1 (1 - k (1-p)/n2 (F - b))^n2 <= exp(k (pT - (1-p)F - e)),
at most 1 where pT - (1-p)F <= e. So if no attacker gains more than e, the product over steps
whose stakes follow from earlier ones has a mean of at most 1, and reaches 1/alpha with
a probability of at most alpha (Ville). Each stake is the one that would reach 1/alpha soonest
from where the capital stands, with the rows that are left (Voráček and Orabona 2025).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Floats, Ints

# Stakes are made for the upper end of a bin of e, so that within it the capital falls with e.
_BINS: Final = 256
# Bins are about as wide within so many standard errors of the first block, and wider beyond.
_EVEN: Final = 2.0
# Share of the stake at which a single row could take all.
_MOST: Final = 0.9
_HALVINGS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Round:
    """Steps in which one attacker is bet on.

    Attributes:
        counts: rows by step, class (holdout, member) and guess, both classes in each step,
            shape (n, 2, G), n at least 1.
        guesses: h of each column of the counts, in [0, 1], shape (G,).
        rates: mean of h in each class as the past has it, shape (2,).
        squares: likewise of h squared, above the squares of the rates.
        weight: of its bets beside those of other rounds, above 0.
    """

    counts: Ints
    guesses: Floats
    rates: Floats
    squares: Floats
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Step:
    """What the rows of a step make of a stake.

    Attributes:
        rows: how many rows there are of each class and guess, shape (G,).
        slopes: what a stake of 1 adds to the factor of such a row at each bin's end, (bins, G).
        below: how much more that is for each unit by which e is below the end, shape (G,).
        eager: the stake where the capital lacks a factor of `math.e`.
        most: the largest stake, shape (bins,).
    """

    rows: Ints
    slopes: Floats
    below: Floats
    eager: float
    most: Floats


def betting_lower(rounds: Sequence[Round], *, prior: float, alpha: float) -> float:
    """Return a lower limit of the best attacker's advantage, valid at every sample size.

    From the baseline on, e is refuted as long as its capital has reached 1/alpha. The limit
    is above the truth only if the one capital at the truth, with the stakes of its bin, has.

    Args:
        rounds: in order; an attacker, its rates and its weight follow from earlier rounds.
        prior: p in (0, 1).
        alpha: one-sided error in (0, 1).
    """
    guessing, least = baseline(prior), max(0.0, 2 * prior - 1)
    if not rounds:
        return guessing
    ends = _ends(rounds[0], prior, least)
    steps = list(_steps(rounds, ends, prior))
    missing = np.full(ends.size, -math.log(alpha))
    stakes = np.empty((len(steps), ends.size))
    for stake, step in zip(stakes, steps, strict=True):
        # Where the capital has got there nothing is staked any more.
        np.minimum(np.sqrt(np.maximum(missing, 0)) * step.eager, step.most, out=stake)
        missing -= np.log1p(stake[:, None] * step.slopes) @ step.rows
    at = int((missing > 0).argmax())
    start = least if at == 0 else float(ends[at - 1])
    reached = _within(steps, stakes[:, at], at, start, float(ends[at]), -math.log(alpha))
    return max(guessing, 1 - 2 * prior + 2 * reached)


def _within(
    steps: list[_Step], stakes: Floats, at: int, start: float, end: float, wanted: float
) -> float:
    """Return up to which e of a bin the logarithm of the capital is as wanted; else its start."""
    stake = np.repeat(stakes, [step.rows.size for step in steps])
    slopes = stake * np.concatenate([step.slopes[at] for step in steps])
    below = stake * np.concatenate([step.below for step in steps])
    rows = np.concatenate([step.rows for step in steps])
    low, high = start, end
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if np.log1p(slopes + (end - middle) * below) @ rows >= wanted:
            low = middle
        else:
            high = middle
    return low


def _ends(first: Round, prior: float, least: float) -> Floats:
    """Return the upper ends of bins of e: close together about what the past has seen."""
    share = np.array([1 - prior, prior])
    variance = (first.squares - first.rates**2) / first.counts.sum(axis=(0, 2))
    scale = _EVEN * math.sqrt(float(share**2 @ variance))
    seen = float(share @ (first.rates * (-1, 1)))
    first_end, last_end = (math.asinh((edge - seen) / scale) for edge in (least, prior))
    ends = seen + scale * np.sinh(np.linspace(first_end, last_end, _BINS + 1)[1:])
    ends[-1] = prior
    return np.asarray(np.clip(ends, least, prior))


def _steps(rounds: Sequence[Round], ends: Floats, prior: float) -> Iterator[_Step]:
    """Yield the steps in order: their stakes follow from the past, and from sizes to come."""
    share = np.array([1 - prior, prior])
    lengths = [len(one.counts) for one in rounds]
    sizes = np.concatenate([one.counts.sum(axis=2) for one in rounds])
    weights = np.repeat([one.weight for one in rounds], lengths)
    first = 0
    for one, length in zip(rounds, lengths, strict=True):
        # As if the attackers to come varied as this one does.
        variance = share**2 * (one.squares - one.rates**2)
        precision = 1 / (variance / sizes[first:]).sum(axis=1)
        weight = weights[first:]
        left = np.cumsum((weight**2 * precision)[::-1])[::-1]
        eager = weight * precision * np.sqrt(2 / left)
        centres = _centres(one, ends, prior)
        gains = np.concatenate([-one.guesses, one.guesses]) + np.repeat(
            centres * (1, -1), one.guesses.size, axis=1
        )
        losses = np.stack([1 - centres[:, 0], centres[:, 1]], axis=1)
        for step, counts in enumerate(one.counts):
            each = share / sizes[first + step]
            seen = counts.ravel() > 0
            yield _Step(
                rows=counts.ravel()[seen],
                slopes=(gains * np.repeat(each, one.guesses.size))[:, seen],
                below=np.repeat([0.0, each[1] / prior], one.guesses.size)[seen],
                eager=float(eager[step]),
                most=_MOST / (losses * each).max(axis=1),
            )
        first += length


def _centres(one: Round, ends: Floats, prior: float) -> Floats:
    """Return b and a of each bin, shape (bins, 2): where past rates cost least if they hold."""
    holdout, members = one.counts.sum(axis=(0, 2))
    silent, gained = (1 - prior) * one.rates[0], prior * one.rates[1] - ends
    found = (holdout * gained + members * silent) / (holdout + members) / (1 - prior)
    # No rate is beyond 0 or 1.
    below = np.clip(found, 0, np.minimum(1, (prior - ends) / (1 - prior)))
    return np.stack([below, (ends + (1 - prior) * below) / prior], axis=1)
