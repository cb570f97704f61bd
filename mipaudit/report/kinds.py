"""The kinds of report, by the schema that a file names."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# Where the class of each lives: only what a file holds is loaded.
_HOMES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "mipaudit.report/1": ("model", "Report"),
        "mipaudit.check/1": ("model", "CheckReport"),
        "mipaudit.bounds/1": ("bounds", "BoundsReport"),
        "mipaudit.epsilon/1": ("epsilon", "EpsilonReport"),
        "mipaudit.compare/1": ("compare", "CompareReport"),
        "mipaudit.compare-reports/1": ("compare_reports", "ReportComparison"),
        "mipaudit.attack/1": ("attack", "AttackReport"),
        "mipaudit.attribute/1": ("attribute", "AttributeReport"),
        "mipaudit.model-query/1": ("model_query", "ModelQueryReport"),
        "mipaudit.noise/1": ("noise", "NoiseReport"),
        "mipaudit.query/1": ("query", "QueryReport"),
        "mipaudit.records/1": ("records", "RecordsReport"),
        "mipaudit.shift/1": ("shift", "ShiftReport"),
        "mipaudit.truth/1": ("truth", "TruthReport"),
        "mipaudit.scenarios/1": ("truth", "ScenarioList"),
        "mipaudit.validation/1": ("validation", "ValidationReport"),
        "mipaudit.verification/1": ("verification", "VerifyReport"),
    }
)
# Every schema that is read.
SCHEMAS: Final = tuple(_HOMES)


def report_kind(schema: str) -> type[Any]:
    """Return the class of the reports of a schema, one of ``SCHEMAS``."""
    home, name = _HOMES[schema]
    module = import_module(f"mipaudit.report.{home}")
    if home == "bounds":
        module.complete()
    kind: type[Any] = getattr(module, name)
    return kind
