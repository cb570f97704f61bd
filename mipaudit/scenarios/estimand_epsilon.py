"""The epsilon that independent runs refute, as ``epsilon --design independent-runs`` states it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.audit.epsilon_runs import epsilon_runs
from mipaudit.scenarios.audited_file import CONFIDENCE
from mipaudit.scenarios.estimand import Estimand, wrong_arguments
from mipaudit.scenarios.interval import Interval
from mipaudit.scenarios.scenario_families import mechanism_curve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.scenarios.audited_file import AuditedFile
    from mipaudit.scenarios.interval import Args
    from mipaudit.scenarios.law import Law

_DELTA: Final = 1e-5


class EpsilonRuns(Estimand):
    """The epsilon at delta 1e-5 of a mechanism, each row being one run of it."""

    name = "epsilon_runs"
    meaning = "epsilon at delta 1e-5 of the mechanism (epsilon, independent runs)"
    # Of another command, and dear: run when asked for by name.
    by_name_only = True

    def applies(self, law: Law) -> bool:
        """Tell whether the law is a mechanism, or leaks nothing."""
        return _epsilon(law) is not None

    def truth(self, law: Law, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the mechanism's epsilon."""
        epsilon = _epsilon(law)
        if args or epsilon is None:
            raise wrong_arguments(self)
        return epsilon

    def baseline(self, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return 0."""
        return 0.0

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the one-sided lower limit of the default method."""
        found = epsilon_runs(
            audited.score[audited.member],
            audited.score[~audited.member],
            delta=_DELTA,
            confidence=CONFIDENCE,
            method="conditional",
            rng=np.random.default_rng(audited.seed),
        )
        yield Interval(
            estimand=self.name,
            lower=found.lower,
            upper=None,
            nominal=found.confidence,
            value=found.estimate,
        )


def _epsilon(law: Law) -> float | None:
    """Return the epsilon of the mechanism that a law is the output of, if it is one."""
    if law.name.startswith("null-") or law.name == "constant":
        return 0.0
    curve = mechanism_curve(law.name)
    return None if curve is None else curve.epsilon_at(_DELTA)
