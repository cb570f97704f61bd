"""How much noise DP-SGD needs for an epsilon."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from mipaudit.maths.bisection import crossing
from mipaudit.maths.privacy.accountant import account
from mipaudit.maths.privacy.composition import Composition, DpSgd
from mipaudit.maths.privacy.mechanism import GaussianDP

DELTA: Final = 1e-5
_CLOSE: Final = 0.93
_ENOUGH: Final = 6
_MOST_TRIALS: Final = 50


@lru_cache(maxsize=64)
def noise_multiplier(epsilon: float, share: float, steps: int) -> tuple[float, float]:
    """Return a noise multiplier, and the epsilon that it gives: at most what was asked.

    The epsilon is by substitution of a record, as bounds on the advantage need it, at delta
    1e-5, by privacy loss distributions.

    Args:
        epsilon: above 0.
        share: probability of each record to be in a batch.
        steps: batches.

    Raises:
        MissingExtraError: dp-accounting is not installed.
    """
    wanted, best = epsilon, (math.inf, 0.0)
    for trial in range(_MOST_TRIALS):
        noise = _by_central_limit(wanted, share, steps)
        part = DpSgd(noise_multiplier=noise, q=share, steps=steps)
        found = account(Composition(parts=(part,)), "substitution").epsilon_at(DELTA)
        if found <= epsilon and noise < best[0]:
            best = (noise, found)
        if found <= epsilon and (found >= _CLOSE * epsilon or trial >= _ENOUGH):
            break
        wanted *= 0.98 * epsilon / found
    return best


def _by_central_limit(epsilon: float, share: float, steps: int) -> float:
    """Return the noise at which the limit of many steps has this epsilon."""
    mu = crossing(lambda mu: GaussianDP(mu=mu).epsilon_at(DELTA) >= epsilon, start=1.0, limit=1e3)
    # By substitution a record's effect is twice that of adding it.
    return (
        2 / math.sqrt(math.log1p((mu / share) ** 2 / steps))
        if share < 1
        else 2 * math.sqrt(steps) / mu
    )
