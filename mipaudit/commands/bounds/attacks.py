"""Attacks: one that was carried out, with the guarantees that it rules out, and a published one.

The published one averages the answers to counting queries (Tramer, lecture notes, Theorem 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from mipaudit.maths.normal import cdf
from mipaudit.maths.privacy.tradeoff import refuted_epsilon, refuted_mu
from mipaudit.model.message import Message

Method = Literal["clopper-pearson", "jeffreys"]
Sides = Literal[1, 2]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefutedLimits:
    """Confidence limits of what an attack's counts rule out.

    The lower limits are of the guarantee: with the confidence, no smaller epsilon or mu
    holds. The upper limits (two-sided only) are of this attack: a better one may exist.

    Attributes:
        method: ``clopper-pearson`` is exact; ``jeffreys`` is approximate.
        sides: 1 or 2.
        confidence: of the lower limit, or of both limits together.
        tpr: limits of the true-positive rate.
        fpr: limits of the false-positive rate.
        epsilon_lower: at the attack's delta.
        epsilon_upper: None where there is none, with a reason.
        mu_lower: of Gaussian differential privacy.
        mu_upper: likewise.
        upper_reason: why there is no upper limit.
    """

    method: Method
    sides: Sides
    confidence: float
    tpr: tuple[float, float]
    fpr: tuple[float, float]
    epsilon_lower: float
    epsilon_upper: float | None
    mu_lower: float
    mu_upper: float | None
    upper_reason: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refutation:
    """What an attack rules out: no guarantee below ``epsilon`` (at ``delta``) or ``mu``.

    None where such rates are consistent with no finite value. ``counts`` are how often the attack
    answered: members called members (tp) or not (fn), holdout records so (fp) or not (tn).
    """

    tpr: float
    fpr: float
    delta: float
    epsilon: float | None
    mu: float | None
    counts: dict[str, int] | None
    limits: tuple[RefutedLimits, ...]


def refutation(
    *,
    tpr: float,
    fpr: float,
    delta: float,
    counts: dict[str, int] | None,
    confidence: float,
    methods: tuple[Method, ...] = get_args(Method),
) -> Refutation:
    """Return what an attack rules out.

    Args:
        tpr: true-positive rate in [0, 1].
        fpr: false-positive rate in [0, 1].
        delta: in [0, 1].
        counts: what the rates were counted from, if known; both classes not empty.
        confidence: in [0.5, 1).
        methods: of the limits.
    """
    epsilon, mu = refuted_epsilon(tpr, fpr, delta), refuted_mu(tpr, fpr)
    return Refutation(
        tpr=tpr,
        fpr=fpr,
        delta=delta,
        epsilon=_finite(epsilon),
        mu=_finite(mu),
        counts=counts,
        limits=tuple(
            _limit(method, sides, counts, delta, confidence)
            for method in methods
            for sides in get_args(Sides)
            if counts is not None
        ),
    )


def _limit(
    method: Method, sides: Sides, counts: dict[str, int], delta: float, confidence: float
) -> RefutedLimits:
    """Return the limits of one method; the error is shared among all that are used."""
    from mipaudit.maths.binomial import (
        clopper_pearson_lower,
        clopper_pearson_upper,
        jeffreys_lower,
        jeffreys_upper,
    )

    exact = method == "clopper-pearson"
    lower = clopper_pearson_lower if exact else jeffreys_lower
    upper = clopper_pearson_upper if exact else jeffreys_upper
    # One side needs the TPR from below and the FPR from above; two sides need all four.
    alpha = (1 - confidence) / (2 * sides)
    tpr, fpr = (
        (float(lower(said, of, alpha)), float(upper(said, of, alpha)))
        for said, of in (
            (counts["tp"], counts["tp"] + counts["fn"]),
            (counts["fp"], counts["fp"] + counts["tn"]),
        )
    )
    epsilon_upper, mu_upper = refuted_epsilon(tpr[1], fpr[0], delta), refuted_mu(tpr[1], fpr[0])
    missing = "one_sided" if sides == 1 else "perfect_not_excluded"
    known = sides == 2 and math.isfinite(max(epsilon_upper, mu_upper))  # noqa: PLR2004
    return RefutedLimits(
        method=method,
        sides=sides,
        confidence=confidence,
        tpr=tpr,
        fpr=fpr,
        epsilon_lower=refuted_epsilon(tpr[0], fpr[1], delta),
        epsilon_upper=epsilon_upper if known else None,
        mu_lower=refuted_mu(tpr[0], fpr[1]),
        mu_upper=mu_upper if known else None,
        upper_reason=None if known else Message(missing),
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


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


def averaging_attack(*, queries: float, records: float, noise_sd: float) -> CountingQueries:
    """Return the attack that adds up k noisy averages and compares with k/n.

    In the worst case the record answers 1 to every query and all others 0: the sum is
    N(k/n, k sd^2) with the record and N(0, k sd^2) without.

    Args:
        queries: k, a whole number of at least 1.
        records: n, likewise.
        noise_sd: above 0.
    """
    mu = math.sqrt(queries) / records / noise_sd
    return CountingQueries(
        queries=int(queries),
        records=int(records),
        noise_sd=noise_sd,
        mu=mu,
        tpr=0.5,
        fpr=cdf(-mu),
        fpr_bound=math.exp(-mu * mu / 2),
    )
