"""The registry of estimands: a new one is a class in a module beside it, and a name here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mipaudit.errors import UsageError
from mipaudit.validation.estimands.advantage import (
    Accuracy,
    Advantage,
    AdvantageBins,
    AdvantageIntervals,
    AdvantageThresholds,
    AdvantageVector,
    Auc,
    Eta,
    Excess,
    TprAtFpr,
)
from mipaudit.validation.estimands.difference import Difference, JointGain, LargestAdvantage
from mipaudit.validation.estimands.epsilon import (
    AttackEpsilon,
    AttackMu,
    EpsilonGaussian,
    EpsilonOneRun,
    EpsilonRuns,
)
from mipaudit.validation.estimands.less_seen import AdvantageBlind, AdvantageNoised
from mipaudit.validation.estimands.metric import MetricOptimum
from mipaudit.validation.estimands.named_attack import (
    AttributeAdvantage,
    AttributeMembership,
    BoundedLoss,
    GeneralizationGap,
    NamedAttack,
    NamedShortfall,
    NamedShortfallThresholds,
)
from mipaudit.validation.estimands.records import GroupAdvantage, LargestRisk, RecordRisk

if TYPE_CHECKING:
    from mipaudit.validation.estimands.estimand import Estimand

_ALL: Final[tuple[type[Estimand], ...]] = (
    Advantage,
    Excess,
    Eta,
    Accuracy,
    AdvantageThresholds,
    AdvantageIntervals,
    AdvantageBins,
    AdvantageNoised,
    Auc,
    TprAtFpr,
    MetricOptimum,
    RecordRisk,
    LargestRisk,
    GroupAdvantage,
    AdvantageVector,
    AdvantageBlind,
    AttackEpsilon,
    AttackMu,
    EpsilonRuns,
    EpsilonGaussian,
    EpsilonOneRun,
    Difference,
    JointGain,
    LargestAdvantage,
    NamedAttack,
    NamedShortfall,
    NamedShortfallThresholds,
    BoundedLoss,
    GeneralizationGap,
    AttributeAdvantage,
    AttributeMembership,
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
