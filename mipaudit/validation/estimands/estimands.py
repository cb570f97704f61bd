"""The registry of estimands: a new one is a class in a module beside it, and a name here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mipaudit.errors import UsageError
from mipaudit.validation.estimands import (
    advantage,
    difference,
    epsilon,
    less_seen,
    metric,
    named_attack,
    records,
)

if TYPE_CHECKING:
    from mipaudit.validation.estimands.estimand import Estimand

_ALL: Final[tuple[type[Estimand], ...]] = (
    advantage.Advantage,
    advantage.Excess,
    advantage.Eta,
    advantage.Accuracy,
    advantage.AdvantageThresholds,
    advantage.AdvantageIntervals,
    advantage.AdvantageBins,
    less_seen.AdvantageNoised,
    advantage.Auc,
    advantage.TprAtFpr,
    metric.MetricOptimum,
    records.RecordRisk,
    records.LargestRisk,
    records.GroupAdvantage,
    advantage.AdvantageVector,
    less_seen.AdvantageBlind,
    epsilon.AttackEpsilon,
    epsilon.AttackMu,
    epsilon.EpsilonRuns,
    epsilon.EpsilonGaussian,
    epsilon.EpsilonOneRun,
    difference.Difference,
    difference.JointGain,
    difference.LargestAdvantage,
    named_attack.NamedAttack,
    named_attack.NamedShortfall,
    named_attack.NamedShortfallThresholds,
    named_attack.BoundedLoss,
    named_attack.GeneralizationGap,
    named_attack.AttributeAdvantage,
    named_attack.AttributeMembership,
)
ESTIMANDS: Final[Mapping[str, Estimand]] = MappingProxyType({one.name: one() for one in _ALL})


def estimand(name: str) -> Estimand:
    """Return the estimand of this name.

    Raises:
        UsageError: ``unknown_estimand``, with the nearest names.
    """
    found = ESTIMANDS.get(name)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(name, ESTIMANDS, n=3) or list(ESTIMANDS)
        hint = f"Try {', '.join(near)}."
        raise UsageError("unknown_estimand", "There is no estimand of that name.", hint=hint)
    return found


def default_estimands() -> tuple[str, ...]:
    """Return the names of all that are run without being asked for."""
    return tuple(
        name for name, one in ESTIMANDS.items() if one.restates is None and not one.by_name_only
    )
