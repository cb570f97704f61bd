"""The averaging attack on counting queries (Tramer, lecture notes, Theorem 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mipaudit.maths.normal import cdf


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingQueries:
    """The averaging attack on counting queries answered with Gaussian noise.

    Attributes:
        queries: how many, k.
        records: how many records each counts over, n.
        noise_sd: standard deviation of the noise of each answer.
        mu: sqrt(k) / (n sd), of Gaussian differential privacy.
        tpr: true-positive rate of the attack at the threshold k/n.
        fpr: its false-positive rate.
        fpr_bound: the tail bound exp(-k / (2 n^2 sd^2)) of the lecture notes.
    """

    queries: int
    records: int
    noise_sd: float
    mu: float
    tpr: float
    fpr: float
    fpr_bound: float


def averaging_attack(*, queries: int, records: int, noise_sd: float) -> CountingQueries:
    """Return the attack that adds up k noisy averages and compares with k/n.

    In the worst case the record answers 1 to every query and all others 0: the sum is
    N(k/n, k sd^2) with the record and N(0, k sd^2) without.

    Args:
        queries: k, at least 1.
        records: n, at least 1.
        noise_sd: above 0.
    """
    mu = math.sqrt(queries) / records / noise_sd
    return CountingQueries(
        queries=queries,
        records=records,
        noise_sd=noise_sd,
        mu=mu,
        tpr=0.5,
        fpr=cdf(-mu),
        fpr_bound=math.exp(-mu * mu / 2),
    )
