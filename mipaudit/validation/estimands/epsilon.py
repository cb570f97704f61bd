"""Epsilon as ``mipaudit epsilon`` certifies it, and what the counts of an attack rule out.

That attack was fixed before any file was drawn; its own epsilon and mu, from its true
rates, are the truth. The mechanism's are at least as large.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.epsilon.independent_runs.limit import Method, epsilon_runs
from mipaudit.commands.epsilon.one_run.limit import limit_one_run, one_run_from_scores
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import refuted_epsilon, refuted_mu
from mipaudit.validation.estimands.audited_file import ATTACK_CUT, CONFIDENCE, AuditedFile
from mipaudit.validation.estimands.estimand import ONE_SIDED, Estimand, Interval
from mipaudit.validation.scenarios.score_scenarios import mechanism_curve

if TYPE_CHECKING:
    from mipaudit.validation.laws.law import Law

DELTA: Final = 1e-5
# Standard errors of a fair coin between the canaries that are drawn and those at hand.
_SPARE: Final = 5.0


def _leaks_nothing(law: Law) -> bool:
    return law.name.startswith("null-") or law.name == "constant"


def _is_mechanism(law: Law) -> bool:
    return _leaks_nothing(law) or mechanism_curve(law.name) is not None


def _is_gaussian(law: Law) -> bool:
    return _leaks_nothing(law) or isinstance(mechanism_curve(law.name), GaussianDP)


def _epsilon(law: Law, _prior: float) -> float:
    """Return the epsilon of a mechanism, for adding or removing a record."""
    curve = mechanism_curve(law.name)
    return 0.0 if curve is None else curve.epsilon_at(DELTA)


def _of_runs(audited: AuditedFile, method: Method, label: str = "") -> Interval:
    """Return the limit where each row is one run of the mechanism."""
    found = epsilon_runs(
        audited.score[audited.member],
        audited.score[~audited.member],
        delta=DELTA,
        confidence=CONFIDENCE,
        method=method,
    )
    return Interval(lower=found.lower, value=found.estimate, nominal=found.confidence, label=label)


def _of_one_run(audited: AuditedFile) -> Iterator[Interval]:
    """Yield the limits of one run: guesses tried over a grid, and a number fixed before.

    Each row is a canary, included by its own fair coin.
    """
    included, scores = _canaries(audited)
    for label, guesses in (("", None), (", guesses fixed", scores.size // 4)):
        run = one_run_from_scores(included, scores, guesses=guesses, seed=audited.seed)
        found = limit_one_run(run, delta=DELTA, confidence=CONFIDENCE)
        yield Interval(lower=found.lower, nominal=found.confidence, label=label)


def _canaries(audited: AuditedFile) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return canaries that fair coins included, drawn from a file of given class sizes."""
    rng = np.random.default_rng([audited.seed, 3])
    fewer = min(audited.n_members, audited.n_holdout)
    # So few that the coins never ask for more of a class than there are.
    canaries = max(1, math.floor(2 * fewer - _SPARE * math.sqrt(2 * fewer)))
    inside = int(np.clip(rng.binomial(canaries, 0.5), canaries - fewer, fewer))
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(side), count, replace=False)
            for side, count in ((audited.member, inside), (~audited.member, canaries - inside))
        ]
    )
    rng.shuffle(rows)
    return audited.member[rows], audited.score[rows]


def _attack_epsilon(law: Law, _prior: float = 0.5) -> float:
    return refuted_epsilon(*_rates(law), 0.0)


def _attack_mu(law: Law, _prior: float = 0.5) -> float:
    return refuted_mu(*_rates(law))


def _rates(law: Law) -> tuple[float, float]:
    """Return the true TPR and FPR of the attack at `ATTACK_CUT`."""
    cut = np.array([ATTACK_CUT])
    return 1 - float(law.members.cdf(cut)[0]), 1 - float(law.holdout.cdf(cut)[0])


def _ruled_out(audited: AuditedFile, parameter: str) -> Iterator[Interval]:
    """Yield the Clopper-Pearson limits of the attack's parameter, two-sided and one-sided."""
    for limits in audited.refuted.limits:
        two_sided = limits.sides == 2  # noqa: PLR2004
        yield Interval(
            lower=getattr(limits, f"{parameter}_lower"),
            upper=getattr(limits, f"{parameter}_upper"),
            value=getattr(audited.refuted, parameter),
            nominal=ONE_SIDED if two_sided else limits.confidence,
            label="" if two_sided else ", one-sided",
        )


EPSILON: Final = (
    # Where the attack leaves any finite value standing.
    Estimand(
        name="attack_epsilon",
        truth=_attack_epsilon,
        said=lambda audited: _ruled_out(audited, "epsilon"),
        has_truth=lambda law: math.isfinite(_attack_epsilon(law)),
    ),
    Estimand(
        name="attack_mu",
        truth=_attack_mu,
        said=lambda audited: _ruled_out(audited, "mu"),
        has_truth=lambda law: math.isfinite(_attack_mu(law)),
    ),
    # Of another command, and dear: run when asked for by name. Every method that is valid for
    # all mechanisms, the default first.
    Estimand(
        name="epsilon_runs",
        truth=_epsilon,
        said=lambda audited: (
            _of_runs(audited, "conditional"),
            _of_runs(audited, "bands", ", bands"),
        ),
        has_truth=_is_mechanism,
        by_name_only=True,
    ),
    # The method that is valid for Gaussian mechanisms only.
    Estimand(
        name="epsilon_gdp",
        truth=_epsilon,
        said=lambda audited: (_of_runs(audited, "gdp"),),
        has_truth=_is_gaussian,
        by_name_only=True,
    ),
    Estimand(
        name="epsilon_one_run",
        truth=_epsilon,
        said=_of_one_run,
        has_truth=_is_mechanism,
        by_name_only=True,
    ),
)
