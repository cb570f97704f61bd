"""Epsilon as ``mipaudit epsilon`` certifies it, and what the counts of an attack rule out.

That attack was fixed before any file was drawn; its own epsilon and mu, from its true
rates, are the truth. The mechanism's are at least as large.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.epsilon.independent_runs.limit import Method, epsilon_runs
from mipaudit.commands.epsilon.one_run.limit import limit_one_run, one_run_from_scores
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import refuted_epsilon, refuted_mu
from mipaudit.validation.estimands.audited_file import ATTACK_CUT, CONFIDENCE, AuditedFile
from mipaudit.validation.estimands.estimand import Estimand, Interval, one_sided
from mipaudit.validation.scenarios.score_scenarios import mechanism_curve

if TYPE_CHECKING:
    from mipaudit.validation.laws.law import Law

DELTA: Final = 1e-5
_METHODS: Final[tuple[Method, ...]] = ("conditional", "bands")
# Standard errors of a fair coin between the canaries that are drawn and those at hand.
_SPARE: Final = 5.0


class Epsilon(Estimand):
    """The epsilon at delta 1e-5 of a mechanism, for adding or removing a record."""

    # Of another command, and dear: run when asked for by name.
    by_name_only = True

    def applies(self, law: Law) -> bool:
        """Tell whether the law is a mechanism, or leaks nothing."""
        return _leaks_nothing(law) or mechanism_curve(law.name) is not None

    def _value(self, law: Law, _prior: float) -> float | None:
        curve = mechanism_curve(law.name)
        if curve is not None and self.applies(law):
            return curve.epsilon_at(DELTA)
        return 0.0 if self.applies(law) else None


class EpsilonRuns(Epsilon):
    """Each row is one run of the mechanism; every method that is valid for all of them."""

    name = "epsilon_runs"
    meaning = "epsilon at delta 1e-5 of the mechanism (epsilon, independent runs)"

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the lower limit of each method, the default first."""
        for method in _METHODS:
            yield _runs(self, audited, method)


class EpsilonGaussian(Epsilon):
    """The same, by the method that is valid for Gaussian mechanisms only."""

    name = "epsilon_gdp"
    meaning = "epsilon at delta 1e-5 of a Gaussian mechanism (epsilon --assume-gdp)"

    def applies(self, law: Law) -> bool:
        """Tell whether the assumption is true: Gaussian noise, or no leak at all."""
        return _leaks_nothing(law) or isinstance(mechanism_curve(law.name), GaussianDP)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the lower limit."""
        yield _runs(self, audited, "gdp")


class EpsilonOneRun(Epsilon):
    """Each row is a canary of one run, included by its own fair coin."""

    name = "epsilon_one_run"
    meaning = "epsilon at delta 1e-5 of the mechanism (epsilon, one run)"

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the lower limits: guesses tried over a grid, and a number fixed before."""
        included, scores = _canaries(audited)
        for label, guesses in (("", None), (f"{self.name}, guesses fixed", scores.size // 4)):
            run = one_run_from_scores(included, scores, guesses=guesses, seed=audited.seed)
            found = limit_one_run(run, delta=DELTA, confidence=CONFIDENCE)
            yield self.interval(found.lower, None, nominal=found.confidence, label=label)


def _runs(estimand: Estimand, audited: AuditedFile, method: Method) -> Interval:
    found = epsilon_runs(
        audited.score[audited.member],
        audited.score[~audited.member],
        delta=DELTA,
        confidence=CONFIDENCE,
        method=method,
    )
    return estimand.interval(
        found.lower,
        None,
        nominal=found.confidence,
        value=found.estimate,
        label="" if method in {"conditional", "gdp"} else f"{estimand.name}, {method}",
    )


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


def _leaks_nothing(law: Law) -> bool:
    return law.name.startswith("null-") or law.name == "constant"


class _RuledOut(Estimand):
    """A parameter of differential privacy that an attack rules out."""

    parameter: ClassVar[Literal["epsilon", "mu"]]

    def applies(self, law: Law) -> bool:
        """Tell whether the attack leaves any finite value standing."""
        return math.isfinite(self._at(*_rates(law)))

    def _value(self, law: Law, _prior: float) -> float:
        return self._at(*_rates(law))

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the Clopper-Pearson limits, two-sided and one-sided."""
        for limits in audited.refuted.limits:
            two_sided = limits.sides == 2  # noqa: PLR2004
            yield self.interval(
                getattr(limits, f"{self.parameter}_lower"),
                getattr(limits, f"{self.parameter}_upper"),
                nominal=one_sided(limits.confidence) if two_sided else limits.confidence,
                value=getattr(audited.refuted, self.parameter),
                label=self.name if two_sided else f"{self.name}, one-sided",
            )

    @staticmethod
    @abstractmethod
    def _at(tpr: float, fpr: float) -> float:
        """Return the least value that is consistent with these rates."""


class AttackEpsilon(_RuledOut):
    """The epsilon, at delta 0, that an attack rules out."""

    name = "attack_epsilon"
    meaning = "epsilon that a fixed attack rules out (bounds, from counts)"
    parameter = "epsilon"

    @staticmethod
    def _at(tpr: float, fpr: float) -> float:
        return refuted_epsilon(tpr, fpr, 0.0)


class AttackMu(_RuledOut):
    """The mu of Gaussian differential privacy that an attack rules out."""

    name = "attack_mu"
    meaning = "mu that a fixed attack rules out (bounds, from counts)"
    parameter = "mu"

    @staticmethod
    def _at(tpr: float, fpr: float) -> float:
        return refuted_mu(tpr, fpr)


def _rates(law: Law) -> tuple[float, float]:
    """Return the true TPR and FPR of the attack at `ATTACK_CUT`."""
    cut = np.array([ATTACK_CUT])
    return 1 - float(law.members.cdf(cut)[0]), 1 - float(law.holdout.cdf(cut)[0])
