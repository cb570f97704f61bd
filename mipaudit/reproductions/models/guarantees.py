"""What ``bounds`` and ``noise`` say of a guarantee, an attack or a scale, as plain numbers."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import mipaudit


def epsilon_of_mu(mu: float, delta: float) -> float:
    """Return the epsilon at ``delta`` of Gaussian differential privacy."""
    guarantee = mipaudit.bounds(mu=mu, delta=delta).guarantee
    return _number(None if guarantee is None else guarantee.epsilon)


def epsilon_of_dp_sgd(noise: float, share: float, steps: int, delta: float) -> float:
    """Return the epsilon of DP-SGD by substitution of a record.

    Args:
        noise: the noise multiplier, above 0.
        share: probability of each record to be in a batch, in (0, 1].
        steps: batches.
        delta: in (0, 1).

    Raises:
        MissingExtraError: dp-accounting is not installed.
    """
    made = {"noise_multiplier": noise, "q": share, "steps": steps}
    guarantee = mipaudit.bounds(dp_sgd=made, delta=delta, adjacency="substitution").guarantee
    return _number(None if guarantee is None else guarantee.epsilon)


def refuted_epsilon(tpr: float, fpr: float, delta: float) -> float:
    """Return the greatest epsilon at ``delta`` that an attack with these rates rules out."""
    refuted = mipaudit.bounds(tpr=tpr, fpr=fpr, delta=delta).refuted
    return _number(None if refuted is None else refuted.epsilon)


def published_bounds(epsilon: float, delta: float) -> dict[str, float]:
    """Return the bounds of the advantage at prior 1/2, by the names that ``bounds`` gives.

    The papers' neighbours differ by substitution of a record.
    """
    report = mipaudit.bounds(epsilon=epsilon, delta=delta, adjacency="substitution")
    return {one.name: one.value for one in report.bounds}


@lru_cache(maxsize=1024)
def equivalent_epsilon(eta: float) -> float:
    """Return the epsilon that allows exactly ``eta`` where half of the records are trained on."""
    return _number(mipaudit.noise(eta=eta).equivalent_epsilon)


@lru_cache(maxsize=64)
def equivalent_mu(eta: float) -> float:
    """Return the mu of Gaussian differential privacy that allows exactly ``eta``."""
    return _number(mipaudit.bounds(eta=eta).needed[0].mu)


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
