"""The finite-sample lower limit: guesses on fresh labels, dominated by a binomial.

If each trial draws a label from the prior and scores the next unused record of that
class with a set that depends on the past only, every guess is right with
probability at most (1 + advantage) / 2 given the past, so the number of right
guesses is stochastically below a binomial, although the sets adapt. The number of
trials is fixed before any label is drawn; a trial whose pool has run dry is wrong.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.scores.prequential_sets import burn_in_halves, evaluation_blocks, fit
from mipaudit.maths.binomial import clopper_pearson_lower

_EXHAUSTION: Final = 0.01
_MOST_TRIALS: Final = 10**8
_LARGEST_POOL: Final = 10**9  # numpy draws without replacement below this
_MEMBER, _HOLDOUT = 1, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactBlocks:
    """Right guesses out of a fixed number of trials."""

    method: ClassVar[str] = "exact blocks"

    correct: int
    trials: int
    prior: float

    @property
    def value(self) -> float:
        """Return the observed advantage, clipped at the baseline: biased downward."""
        baseline = abs(2 * self.prior - 1)
        return max(baseline, 2 * self.correct / self.trials - 1) if self.trials else baseline

    @property
    def standard_error(self) -> float:
        """Return the standard error of the value; 1 where there was no trial."""
        if not self.trials:
            return 1.0
        # Half a success and half a failure keep it above 0 at rates of 0 and 1.
        spread = (self.correct + 0.5) * (self.trials - self.correct + 0.5)
        return float(2 * np.sqrt(spread / (self.trials + 1) ** 3))

    def lower(self, alpha: float) -> float:
        """Return the lower limit at one-sided error alpha: valid at every sample size."""
        baseline = abs(2 * self.prior - 1)
        if not self.trials:
            return baseline
        limit = 2 * float(clopper_pearson_lower(self.correct, self.trials, alpha)) - 1
        return max(baseline, limit)


def trial_count(n_members: int, n_holdout: int, prior: float) -> int:
    """Return the most trials whose labels exhaust a pool with probability at most 1%."""
    from scipy.special import bdtr, bdtrc

    def exhausts(trials: int) -> bool:
        members_short = bdtrc(n_members, trials, prior) if trials > n_members else 0.0
        least = trials - n_holdout - 1
        holdout_short = bdtr(least, trials, prior) if least >= 0 else 0.0
        return float(members_short + holdout_short) > _EXHAUSTION

    most = min(n_members + n_holdout, _MOST_TRIALS)
    return bisect_left(range(1, most + 1), x=True, key=exhausts)


def exact_blocks(
    blocks: NDArray[np.int64], burn_in: int, prior: float, rng: np.random.Generator
) -> ExactBlocks:
    """Return the right guesses of the best attacker so far, on freshly labelled trials.

    Args:
        blocks: int64, shape (64, K, 2), by micro-block, cell and (holdout, member).
        burn_in: micro-blocks that only train.
        prior: p in (0, 1).
        rng: draws the labels, and the rows of each block without replacement.
    """
    halves = burn_in_halves(blocks, burn_in)
    later = evaluation_blocks(blocks, burn_in)
    sizes = later.sum(axis=1)
    total = trial_count(int(sizes[:, _MEMBER].sum()), int(sizes[:, _HOLDOUT].sum()), prior)
    quota = _shares(total, sizes.sum(axis=1))
    mass = halves.sum(axis=(0, 2)) / max(1, int(halves.sum()))
    payoff = _seed_payoff(halves, mass, prior)
    trained = halves.sum(axis=0)
    pool = np.zeros_like(trained)
    correct = 0
    for block, trials in zip(later, quota, strict=True):
        pool = pool + block if pool.sum() + block.sum() < _LARGEST_POOL else block
        wanted = int(rng.binomial(trials, prior))
        drawn = _draw(pool, (trials - wanted, wanted), rng)
        sets = fit(trained[None], mass, prior)[0]
        right = sets @ drawn[:, _MEMBER] + ~sets @ drawn[:, _HOLDOUT]
        correct += int(right[payoff.argmax()])
        payoff = payoff + right
        trained, pool = trained + drawn, pool - drawn
    return ExactBlocks(correct=correct, trials=total, prior=prior)


def _shares(total: int, sizes: NDArray[np.int64]) -> list[int]:
    """Split the trials in proportion to the blocks' rows; the sum is exactly the total."""
    ends = np.cumsum(sizes) * (total / max(1, int(sizes.sum())))
    ends[-1] = total
    return [int(share) for share in np.diff(np.floor(ends).astype(np.int64), prepend=0)]


def _seed_payoff(
    halves: NDArray[np.int64], mass: NDArray[np.float64], prior: float
) -> NDArray[np.float64]:
    """Return what each attacker earns on the other half of the burn-in, in trials."""
    totals = np.maximum(halves.sum(axis=1), 1)
    weight = np.array([1 - prior, prior]) * halves.sum() / 2
    payoff = np.zeros(1)
    for half, other in ((0, 1), (1, 0)):
        sets = fit(halves[half][None], mass, prior)[0]
        share = halves[other] / totals[other] * weight
        payoff = payoff + sets @ share[:, _MEMBER] + ~sets @ share[:, _HOLDOUT]
    return payoff


def _draw(
    pool: NDArray[np.int64], wanted: tuple[int, int], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw rows of each class without replacement, as counts per cell; fewer if it runs dry."""
    drawn = np.zeros_like(pool)
    for side in (_HOLDOUT, _MEMBER):
        available = pool[:, side]
        take = min(wanted[side], int(available.sum()))
        if take:
            drawn[:, side] = rng.multivariate_hypergeometric(available, take, method="marginals")
    return drawn
