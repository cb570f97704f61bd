"""The finite-sample lower limit: bets on attackers who were fixed by the past.

One assignment of the rows to blocks. Before each block an attacker is fitted and chosen on
the rows of earlier ones, and the block's rows, dealt at random into steps, are bet on. At the
truth no such bet is favourable, whatever the attackers learn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Final

import numpy as np

from mipaudit.evidence.scores.assignments import (
    BLOCKS,
    HALVES,
    HOLDOUT,
    MEMBER,
    Reals,
    in_one_order,
)
from mipaudit.evidence.scores.attacker_choice import by_gain, caution_of, learnt, write_guesses
from mipaudit.evidence.scores.attacker_families import SURE, Lessons, families
from mipaudit.evidence.scores.averaged_lower import Averaged
from mipaudit.maths.arrays import Ints, Places
from mipaudit.maths.binomial import MeanRate
from mipaudit.maths.class_limits.capital import Round, betting_lower

# Of 64 micro-blocks, that only train.
_FEWEST_BURNT: Final = 10
# Steps of each block: stakes must follow the capital most closely where few rows are left.
_STEPS: Final = (8, 8, 8, 8, 8, 56)
_LARGEST_POOL: Final = 10**9  # numpy draws without replacement below this


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Betting(Averaged):
    """Rates of attackers fixed before the rows that they are bet on, and the bets.

    Attributes:
        rounds: bets on the blocks with rows of both classes.
    """

    rounds: tuple[Round, ...]
    _limits: dict[float, float] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """Name the method of the lower limit."""
        return "betting"

    def lower(self, alpha: float) -> float:
        """Return the lower limit at one-sided error alpha: valid at every sample size."""
        if alpha not in self._limits:
            limit = betting_lower(self.rounds, prior=self.prior, alpha=alpha)
            self._limits[alpha] = min(self.value, limit)
        return self._limits[alpha]


def betting(blocks: Ints, burn_in: int, prior: float, rng: np.random.Generator) -> Betting:
    """Return the bets on the best attacker so far.

    Args:
        blocks: int64, shape (64, K, 2), by micro-block, cell and (holdout, member).
        burn_in: micro-blocks that only train.
        prior: p in (0, 1).
        rng: deals the rows of each block into steps.
    """
    counts = in_one_order(blocks, max(burn_in, _FEWEST_BURNT))
    found = list(families(Lessons(counts=counts, prior=prior, even=False)))
    caution = np.array([caution_of(*blocks.sum(axis=(0, 1)).tolist())])
    sums = [(one.hits, one.unsure) for one in found]
    best, _, _ = learnt(sums, counts.sum(axis=-1), prior, by_gain(caution, prior))
    guesses, first = np.empty((1, BLOCKS, counts.shape[-1])), 0
    for family in found:
        first += write_guesses(family, best, first, guesses)
    past = np.concatenate([np.stack([one.hits, one.squares], axis=1) for one in found], axis=-1)[0]
    levels = np.rint(guesses[0] * SURE).astype(np.intp)
    rounds = tuple(_rounds(counts[0].astype(np.int64), levels, past[..., best[0]], rng))
    holdout, members = _rates(rounds, prior)
    sizes = sum((one.counts.sum(axis=(0, 2)) for one in rounds), np.zeros(2))
    return Betting(
        tpr=members,
        fpr=holdout,
        prior=prior,
        assignments=1,
        n_members=int(sizes[MEMBER]),
        n_holdout=int(sizes[HOLDOUT]),
        rounds=rounds,
    )


def _rounds(counts: Ints, levels: Places, past: Reals, rng: np.random.Generator) -> Iterator[Round]:
    """Yield the bets on each block that has rows of both classes.

    Args:
        counts: rows by half of the burn-in or block, class and cell.
        levels: h of each block's attacker in the cells, in `SURE`ths, shape (BLOCKS, K).
        past: sums of h, and of its square, over each of them by class, for each block's attacker.
        rng: deals the rows.
    """
    for block, level in enumerate(levels):
        before = slice(HALVES + block)
        table = counts[HALVES + block] @ (level[:, None] == np.arange(SURE + 1))
        if not table.any(axis=1).all():
            continue
        rows = counts[before].sum(axis=(0, 2))
        rates, squares = (past[:, before, :, block].sum(axis=1) + 0.5) / (rows + 1)
        yield Round(
            counts=_dealt(table, _STEPS[block], rng),
            guesses=np.arange(SURE + 1) / SURE,
            rates=rates,
            squares=squares,
            weight=((block + 0.5) / BLOCKS) ** 0.5,
        )


def _rates(rounds: tuple[Round, ...], prior: float) -> list[MeanRate]:
    """Return the rates of the holdout and of members: blocks weigh what they are precise."""
    if not rounds:
        return [MeanRate(value=0.0, variance=0.0, squares=0.0)] * 2
    tables = np.array([one.counts.sum(axis=0) for one in rounds])
    sizes = tables.sum(axis=-1)
    weights = 1 / (np.array([1 - prior, prior]) ** 2 / sizes).sum(axis=1, keepdims=True)
    each = weights / weights.sum() / sizes
    squares = (each**2 * sizes).sum(axis=0)
    first, second = ((each * (tables @ rounds[0].guesses ** power)).sum(axis=0) for power in (1, 2))
    return [
        MeanRate(value=min(value, 1.0), variance=max(square - value**2, 0.0) * part, squares=part)
        for value, square, part in zip(*(x.tolist() for x in (first, second, squares)), strict=True)
    ]


def _dealt(table: Ints, most: int, rng: np.random.Generator) -> Ints:
    """Deal a block's rows by class and guess into steps at random, about as many into each."""
    sizes = table.sum(axis=1).tolist()
    if max(sizes) >= _LARGEST_POOL:
        return table[None]
    steps = min(most, *sizes)
    dealt = np.zeros((steps, *table.shape), dtype=np.int64)
    left = table.copy()
    for step, side in product(range(steps), range(2)):
        take = int(left[side].sum()) // (steps - step)
        dealt[step, side] = rng.multivariate_hypergeometric(left[side], take, method="marginals")
        left[side] -= dealt[step, side]
    return dealt
