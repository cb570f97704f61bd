"""Measure how much a release leaks about who was in its training data.

Each command of the command line is a function here, with the same settings::

    import mipaudit

    report = mipaudit.estimate("scores.parquet", max_advantage=0.1)
    report.verdict.status  # "met", "not_met", "inconclusive" or "no_policy"

Everything is loaded when first used: importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.version import __version__

if TYPE_CHECKING:
    from mipaudit.api.attack import attack
    from mipaudit.api.attribute import attribute
    from mipaudit.api.bounds import bounds
    from mipaudit.api.check import check
    from mipaudit.api.compare import compare
    from mipaudit.api.epsilon import epsilon
    from mipaudit.api.estimate import estimate
    from mipaudit.api.noise import add_noise, noise
    from mipaudit.api.query import query
    from mipaudit.api.query_lira import query_lira
    from mipaudit.api.query_losses import query_losses
    from mipaudit.api.records import RecordTable, record_table, records
    from mipaudit.api.render import rejudge, render_report
    from mipaudit.api.reproduce import list_reproductions, reproduce
    from mipaudit.api.schema import schema
    from mipaudit.api.shift import shift
    from mipaudit.api.simulate import Simulated, list_scenarios, simulate
    from mipaudit.api.summarize import summarize
    from mipaudit.api.validate import validate
    from mipaudit.api.verify import verify
    from mipaudit.audit.estimate import Estimate
    from mipaudit.audit.verdict import Verdict
    from mipaudit.errors import (
        InputError,
        MipauditError,
        MissingExtraError,
        OutputError,
        UsageError,
    )
    from mipaudit.report.attack import AttackReport
    from mipaudit.report.attribute import AttributeReport
    from mipaudit.report.bounds import BoundsReport
    from mipaudit.report.codec import from_json, to_json
    from mipaudit.report.compare import CompareReport
    from mipaudit.report.compare_reports import ReportComparison
    from mipaudit.report.epsilon import EpsilonReport
    from mipaudit.report.model import CheckReport, Report
    from mipaudit.report.model_query import ModelQueryReport
    from mipaudit.report.noise import NoiseReport
    from mipaudit.report.query import QueryReport
    from mipaudit.report.records import RecordsReport
    from mipaudit.report.reproduction import ReproducedFigure
    from mipaudit.report.shift import ShiftReport
    from mipaudit.report.truth import ScenarioList, TruthReport
    from mipaudit.report.validation import ValidationReport
    from mipaudit.report.verification import VerifyReport
    from mipaudit.tables.summary_file import SummaryFile

__all__ = [
    "AttackReport",
    "AttributeReport",
    "BoundsReport",
    "CheckReport",
    "CompareReport",
    "EpsilonReport",
    "Estimate",
    "InputError",
    "MipauditError",
    "MissingExtraError",
    "ModelQueryReport",
    "NoiseReport",
    "OutputError",
    "QueryReport",
    "RecordTable",
    "RecordsReport",
    "Report",
    "ReportComparison",
    "ReproducedFigure",
    "ScenarioList",
    "ShiftReport",
    "Simulated",
    "SummaryFile",
    "TruthReport",
    "UsageError",
    "ValidationReport",
    "Verdict",
    "VerifyReport",
    "__version__",
    "add_noise",
    "attack",
    "attribute",
    "bounds",
    "check",
    "compare",
    "epsilon",
    "estimate",
    "from_json",
    "list_reproductions",
    "list_scenarios",
    "noise",
    "query",
    "query_lira",
    "query_losses",
    "record_table",
    "records",
    "rejudge",
    "render_report",
    "reproduce",
    "schema",
    "shift",
    "simulate",
    "summarize",
    "to_json",
    "validate",
    "verify",
]

_HOMES: Final = {
    "AttackReport": "mipaudit.report.attack",
    "AttributeReport": "mipaudit.report.attribute",
    "ModelQueryReport": "mipaudit.report.model_query",
    "BoundsReport": "mipaudit.report.bounds",
    "CheckReport": "mipaudit.report.model",
    "CompareReport": "mipaudit.report.compare",
    "ReportComparison": "mipaudit.report.compare_reports",
    "EpsilonReport": "mipaudit.report.epsilon",
    "Estimate": "mipaudit.audit.estimate",
    "InputError": "mipaudit.errors",
    "MipauditError": "mipaudit.errors",
    "MissingExtraError": "mipaudit.errors",
    "NoiseReport": "mipaudit.report.noise",
    "OutputError": "mipaudit.errors",
    "QueryReport": "mipaudit.report.query",
    "RecordTable": "mipaudit.api.records",
    "RecordsReport": "mipaudit.report.records",
    "Report": "mipaudit.report.model",
    "ReproducedFigure": "mipaudit.report.reproduction",
    "ScenarioList": "mipaudit.report.truth",
    "ShiftReport": "mipaudit.report.shift",
    "Simulated": "mipaudit.api.simulate",
    "SummaryFile": "mipaudit.tables.summary_file",
    "TruthReport": "mipaudit.report.truth",
    "UsageError": "mipaudit.errors",
    "ValidationReport": "mipaudit.report.validation",
    "Verdict": "mipaudit.audit.verdict",
    "VerifyReport": "mipaudit.report.verification",
    "add_noise": "mipaudit.api.noise",
    "attack": "mipaudit.api.attack",
    "attribute": "mipaudit.api.attribute",
    "query_losses": "mipaudit.api.query_losses",
    "query_lira": "mipaudit.api.query_lira",
    "bounds": "mipaudit.api.bounds",
    "check": "mipaudit.api.check",
    "compare": "mipaudit.api.compare",
    "epsilon": "mipaudit.api.epsilon",
    "estimate": "mipaudit.api.estimate",
    "from_json": "mipaudit.report.codec",
    "list_reproductions": "mipaudit.api.reproduce",
    "list_scenarios": "mipaudit.api.simulate",
    "noise": "mipaudit.api.noise",
    "query": "mipaudit.api.query",
    "record_table": "mipaudit.api.records",
    "records": "mipaudit.api.records",
    "rejudge": "mipaudit.api.render",
    "render_report": "mipaudit.api.render",
    "reproduce": "mipaudit.api.reproduce",
    "schema": "mipaudit.api.schema",
    "shift": "mipaudit.api.shift",
    "simulate": "mipaudit.api.simulate",
    "summarize": "mipaudit.api.summarize",
    "to_json": "mipaudit.report.codec",
    "validate": "mipaudit.api.validate",
    "verify": "mipaudit.api.verify",
}


def __getattr__(name: str) -> object:
    """Load a public name from its home on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
