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
    from mipaudit.commands.attack.report import AttackReport
    from mipaudit.commands.attack.run import attack
    from mipaudit.commands.attribute.report import AttributeReport
    from mipaudit.commands.attribute.run import attribute
    from mipaudit.commands.bounds.report import BoundsReport
    from mipaudit.commands.bounds.run import bounds
    from mipaudit.commands.check.report import CheckReport
    from mipaudit.commands.check.run import check
    from mipaudit.commands.compare.queries.report import CompareReport
    from mipaudit.commands.compare.reports.report import ReportComparison
    from mipaudit.commands.compare.run import compare
    from mipaudit.commands.doctor.report import DoctorReport
    from mipaudit.commands.doctor.run import doctor
    from mipaudit.commands.epsilon.report import EpsilonReport
    from mipaudit.commands.epsilon.run import epsilon
    from mipaudit.commands.estimate.many.run import estimate_many
    from mipaudit.commands.estimate.report import Report
    from mipaudit.commands.estimate.run import estimate
    from mipaudit.commands.history.report import HistoryReport
    from mipaudit.commands.history.run import history
    from mipaudit.commands.noise.report import NoiseReport
    from mipaudit.commands.noise.run import add_noise, noise
    from mipaudit.commands.query.model.lira import query_lira
    from mipaudit.commands.query.model.losses import query_losses
    from mipaudit.commands.query.report import ModelQueryReport, QueryReport
    from mipaudit.commands.query.run import query
    from mipaudit.commands.records.report import RecordsReport
    from mipaudit.commands.records.run import RecordTable, record_table, records
    from mipaudit.commands.render.run import rejudge, render_report
    from mipaudit.commands.schema.run import schema
    from mipaudit.commands.shift.report import ShiftReport
    from mipaudit.commands.shift.run import shift
    from mipaudit.commands.simulate.run import Simulated, list_scenarios, simulate
    from mipaudit.commands.summarize.run import summarize
    from mipaudit.commands.validate.run import validate
    from mipaudit.commands.verify.report import VerifyReport
    from mipaudit.commands.verify.run import verify
    from mipaudit.errors import (
        InputError,
        MipauditError,
        MissingExtraError,
        OutputError,
        UsageError,
    )
    from mipaudit.reading.summaries.file import SummaryFile
    from mipaudit.reproductions.report import ReproducedFigure
    from mipaudit.reproductions.run import list_reproductions, reproduce
    from mipaudit.statements.estimate import Estimate
    from mipaudit.statements.reports.codec import from_json, to_json
    from mipaudit.statements.verdict import Verdict
    from mipaudit.validation.report import ValidationReport
    from mipaudit.validation.truth import ScenarioList, TruthReport

__all__ = [
    "AttackReport",
    "AttributeReport",
    "BoundsReport",
    "CheckReport",
    "CompareReport",
    "DoctorReport",
    "EpsilonReport",
    "Estimate",
    "HistoryReport",
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
    "doctor",
    "epsilon",
    "estimate",
    "estimate_many",
    "from_json",
    "history",
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
    "AttackReport": "mipaudit.commands.attack.report",
    "AttributeReport": "mipaudit.commands.attribute.report",
    "ModelQueryReport": "mipaudit.commands.query.report",
    "BoundsReport": "mipaudit.commands.bounds.report",
    "CheckReport": "mipaudit.commands.check.report",
    "CompareReport": "mipaudit.commands.compare.queries.report",
    "ReportComparison": "mipaudit.commands.compare.reports.report",
    "DoctorReport": "mipaudit.commands.doctor.report",
    "EpsilonReport": "mipaudit.commands.epsilon.report",
    "Estimate": "mipaudit.statements.estimate",
    "HistoryReport": "mipaudit.commands.history.report",
    "InputError": "mipaudit.errors",
    "MipauditError": "mipaudit.errors",
    "MissingExtraError": "mipaudit.errors",
    "NoiseReport": "mipaudit.commands.noise.report",
    "OutputError": "mipaudit.errors",
    "QueryReport": "mipaudit.commands.query.report",
    "RecordTable": "mipaudit.commands.records.run",
    "RecordsReport": "mipaudit.commands.records.report",
    "Report": "mipaudit.commands.estimate.report",
    "ReproducedFigure": "mipaudit.reproductions.report",
    "ScenarioList": "mipaudit.validation.truth",
    "ShiftReport": "mipaudit.commands.shift.report",
    "Simulated": "mipaudit.commands.simulate.run",
    "SummaryFile": "mipaudit.reading.summaries.file",
    "TruthReport": "mipaudit.validation.truth",
    "UsageError": "mipaudit.errors",
    "ValidationReport": "mipaudit.validation.report",
    "Verdict": "mipaudit.statements.verdict",
    "VerifyReport": "mipaudit.commands.verify.report",
    "add_noise": "mipaudit.commands.noise.run",
    "attack": "mipaudit.commands.attack.run",
    "attribute": "mipaudit.commands.attribute.run",
    "query_losses": "mipaudit.commands.query.model.losses",
    "query_lira": "mipaudit.commands.query.model.lira",
    "bounds": "mipaudit.commands.bounds.run",
    "check": "mipaudit.commands.check.run",
    "compare": "mipaudit.commands.compare.run",
    "doctor": "mipaudit.commands.doctor.run",
    "epsilon": "mipaudit.commands.epsilon.run",
    "estimate": "mipaudit.commands.estimate.run",
    "estimate_many": "mipaudit.commands.estimate.many.run",
    "from_json": "mipaudit.statements.reports.codec",
    "history": "mipaudit.commands.history.run",
    "list_reproductions": "mipaudit.reproductions.run",
    "list_scenarios": "mipaudit.commands.simulate.run",
    "noise": "mipaudit.commands.noise.run",
    "query": "mipaudit.commands.query.run",
    "record_table": "mipaudit.commands.records.run",
    "records": "mipaudit.commands.records.run",
    "rejudge": "mipaudit.commands.render.run",
    "render_report": "mipaudit.commands.render.run",
    "reproduce": "mipaudit.reproductions.run",
    "schema": "mipaudit.commands.schema.run",
    "shift": "mipaudit.commands.shift.run",
    "simulate": "mipaudit.commands.simulate.run",
    "summarize": "mipaudit.commands.summarize.run",
    "to_json": "mipaudit.statements.reports.codec",
    "validate": "mipaudit.commands.validate.run",
    "verify": "mipaudit.commands.verify.run",
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
