"""What ``estimate``, ``bounds`` and ``noise`` say, as plain numbers."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import pandas as pd

import mipaudit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

DELTA: Final = 1e-5


def draws(*stream: int) -> np.random.Generator:
    """Return a generator of its own for each stream."""
    return np.random.default_rng([0, *stream])


def audit(members: Array, holdout: Array) -> tuple[float, float]:
    """Return the lower limit of any attacker, and MACE's kernel estimate U_N.

    The scores are high for members, of shape (n,), or (n, d) taken together; without a kernel
    estimate, as for several numbers, that is NaN.
    """
    if members.ndim == 1:
        report = mipaudit.estimate(members=members, holdout=holdout, prior=0.5, method="kde")
    else:
        names = [f"score_{place}" for place in range(members.shape[1])]
        report = mipaudit.estimate(
            members=pd.DataFrame(members, columns=names),
            holdout=pd.DataFrame(holdout, columns=names),
            prior=0.5,
            score_col=(",".join(names),),
        )
    rows = [row for row in report.estimates if row.quantity == "advantage"]
    published = [row.value for row in rows if row.validity == "not-an-interval"]
    lower = next(
        row.lower
        for row in rows
        if row.validity != "not-an-interval" and row.attackers == "any" and row.lower is not None
    )
    kernel = published[0] if published and members.ndim == 1 else None
    return lower, math.nan if kernel is None else kernel


def epsilon_of_mu(mu: float) -> float:
    """Return the epsilon of Gaussian differential privacy at delta 1e-5."""
    guarantee = mipaudit.bounds(mu=mu, delta=DELTA).guarantee
    return _number(None if guarantee is None else guarantee.epsilon)


def epsilon_of_dp_sgd(noise: float, share: float, steps: int) -> float:
    """Return the epsilon of DP-SGD by substitution of a record, at delta 1e-5."""
    made = {"noise_multiplier": noise, "q": share, "steps": steps}
    guarantee = mipaudit.bounds(dp_sgd=made, delta=DELTA, adjacency="substitution").guarantee
    return _number(None if guarantee is None else guarantee.epsilon)


def refuted_epsilon(tpr: float, fpr: float, delta: float = DELTA) -> float:
    """Return the greatest epsilon that an attack with these rates rules out."""
    refuted = mipaudit.bounds(tpr=tpr, fpr=fpr, delta=delta).refuted
    return _number(None if refuted is None else refuted.epsilon)


def bounds_at(epsilon: float, delta: float) -> tuple[float, float, float]:
    """Return bounds (5) (for delta = 0, as drawn), (6) and (8) of Humphries et al."""

    def published(delta: float) -> dict[str, float]:
        report = mipaudit.bounds(epsilon=epsilon, delta=delta, adjacency="substitution")
        return {one.name: one.advantage for one in report.bounds}

    both = published(delta)
    return published(0.0)["yeom"], both["erlingsson"], both["humphries"]


@lru_cache(maxsize=64)
def equivalent_mu(eta: float) -> float:
    """Return the mu of Gaussian differential privacy that allows exactly ``eta``."""
    return _number(mipaudit.bounds(eta=eta).needed[0].mu)


@lru_cache(maxsize=1024)
def equivalent_epsilon(eta: float) -> float:
    """Return the epsilon that allows exactly ``eta`` where half of the records are trained on."""
    return _number(mipaudit.noise(eta=eta).equivalent_epsilon)


@lru_cache(maxsize=1024)
def published_scale(eta: float, k: float) -> float:
    """Return the published scale of the noise for each unit of sigma_k."""
    found = (one for one in mipaudit.noise(eta=eta, k=k).calibrations if one.calibration == "paper")
    return _number(next(found).multiplier)


@lru_cache(maxsize=1024)
def moment_scale(eta: float, mechanism: Literal["laplace", "gaussian"]) -> float:
    """Return the scale of the noise for each unit of sigma_1 that leaves exactly ``eta``."""
    found = (one for one in mipaudit.noise(eta=eta).calibrations if one.calibration == "moment")
    return _number(next(one.multiplier for one in found if one.mechanism == mechanism))


def _number(value: float | None) -> float:
    """Return a number that a report leaves out where it is infinite."""
    return math.inf if value is None else value
