"""Epsilon, as ``mipaudit epsilon`` states it under the two designs that certify one."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.epsilon.canaries.limit import limit_one_run, one_run_from_scores
from mipaudit.commands.epsilon.runs.limit import epsilon_runs
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.validation.coverage.interval import Interval
from mipaudit.validation.estimands.estimand import Estimand, wrong_arguments
from mipaudit.validation.rivals.audited_file import CONFIDENCE
from mipaudit.validation.scenarios.scenario_families import mechanism_curve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mipaudit.commands.epsilon.runs.limit import Method
    from mipaudit.validation.coverage.interval import Args
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.rivals.audited_file import AuditedFile

DELTA: Final = 1e-5
_METHODS: Final[tuple[Method, ...]] = ("conditional", "split-cp", "grid-cp", "bands")
# Standard errors of a fair coin between the canaries that are drawn and those at hand.
_SPARE: Final = 5.0


class Epsilon(Estimand):
    """The epsilon at delta 1e-5 of a mechanism, for adding or removing a record."""

    # Of another command, and dear: run when asked for by name.
    by_name_only = True

    def applies(self, law: Law) -> bool:
        """Tell whether the law is a mechanism, or leaks nothing."""
        return _leaks_nothing(law) or mechanism_curve(law.name) is not None

    def truth(self, law: Law, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the mechanism's epsilon."""
        curve = mechanism_curve(law.name)
        if args or not self.applies(law):
            raise wrong_arguments(self)
        return 0.0 if curve is None else curve.epsilon_at(DELTA)

    def baseline(self, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return 0."""
        return 0.0

    @abstractmethod
    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the one-sided lower limits."""


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
            yield Interval(
                estimand=self.name,
                lower=found.epsilon,
                upper=None,
                nominal=found.confidence,
                label=label,
            )


def _runs(estimand: Estimand, audited: AuditedFile, method: Method) -> Interval:
    found = epsilon_runs(
        audited.score[audited.member],
        audited.score[~audited.member],
        delta=DELTA,
        confidence=CONFIDENCE,
        method=method,
        rng=np.random.default_rng(audited.seed),
    )
    return Interval(
        estimand=estimand.name,
        lower=found.lower,
        upper=None,
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
