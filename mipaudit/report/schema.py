"""The JSON Schema of what mipaudit writes, derived from the dataclasses."""

from __future__ import annotations

from typing import Any, Final

from mipaudit.report import bounds
from mipaudit.report.attack import ATTACK_SCHEMA, AttackReport
from mipaudit.report.attribute import ATTRIBUTE_SCHEMA, AttributeReport
from mipaudit.report.bounds import BOUNDS_SCHEMA, BoundsReport
from mipaudit.report.compare import COMPARE_SCHEMA, CompareReport
from mipaudit.report.compare_reports import COMPARE_REPORTS_SCHEMA, ReportComparison
from mipaudit.report.epsilon import EPSILON_SCHEMA, EpsilonReport
from mipaudit.report.model import SCHEMA, CheckReport, Report
from mipaudit.report.model_query import MODEL_QUERY_SCHEMA, ModelQueryReport
from mipaudit.report.noise import NOISE_SCHEMA, NoiseReport
from mipaudit.report.query import QUERY_SCHEMA, QueryReport
from mipaudit.report.records import RECORDS_SCHEMA, RecordsReport
from mipaudit.report.shift import SHIFT_SCHEMA, ShiftReport
from mipaudit.report.truth import SCENARIOS_SCHEMA, TRUTH_SCHEMA, ScenarioList, TruthReport
from mipaudit.report.validation import VALIDATION_SCHEMA, ValidationReport
from mipaudit.report.verification import VERIFICATION_SCHEMA, VerifyReport

CHECK_SCHEMA: Final = "mipaudit.check/1"


def report_schema() -> dict[str, Any]:
    """Return one JSON Schema (2020-12) for the reports of all commands.

    Unknown fields are allowed: the format is additive within a major version.
    """
    import msgspec

    bounds.complete()
    kinds: dict[type, str] = {
        Report: SCHEMA,
        CheckReport: CHECK_SCHEMA,
        BoundsReport: BOUNDS_SCHEMA,
        EpsilonReport: EPSILON_SCHEMA,
        CompareReport: COMPARE_SCHEMA,
        ReportComparison: COMPARE_REPORTS_SCHEMA,
        AttackReport: ATTACK_SCHEMA,
        AttributeReport: ATTRIBUTE_SCHEMA,
        ModelQueryReport: MODEL_QUERY_SCHEMA,
        NoiseReport: NOISE_SCHEMA,
        QueryReport: QUERY_SCHEMA,
        RecordsReport: RECORDS_SCHEMA,
        ShiftReport: SHIFT_SCHEMA,
        TruthReport: TRUTH_SCHEMA,
        ScenarioList: SCENARIOS_SCHEMA,
        ValidationReport: VALIDATION_SCHEMA,
        VerifyReport: VERIFICATION_SCHEMA,
    }
    _, components = msgspec.json.schema_components(tuple(kinds), ref_template="#/$defs/{name}")
    for kind, name in kinds.items():
        _name_the_format(components[kind.__name__], name)
    return {
        "title": "mipaudit reports",
        "description": "What `mipaudit estimate`, `records`, `epsilon`, `compare`, `attack`, "
        "`attribute`, `query`, `query losses`, `query lira`, `check`, `bounds`, `noise`, "
        "`shift`, `simulate`, `validate` and `verify` write as JSON.",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds],
        "$defs": components,
    }


def _name_the_format(component: dict[str, Any], name: str) -> None:
    # The field has a default in Python; in a file it is what tells the formats apart.
    component["properties"]["schema"] = {"const": name}
    component["required"] = ["schema", *component["required"]]
