"""Measure how much a release leaks about who was in its training data.

Each command of the command line is a function here, with the same settings::

    import mipaudit

    report = mipaudit.estimate("scores.parquet", max_advantage=0.1)
    report.verdict.status  # "met", "waived", "not_met", "inconclusive" or "no_policy"

Everything is loaded when first used: importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.version import __version__ as __version__

if TYPE_CHECKING:
    from mipaudit.commands.attack.report import AttackReport as AttackReport
    from mipaudit.commands.attack.run import attack as attack
    from mipaudit.commands.attribute.report import AttributeReport as AttributeReport
    from mipaudit.commands.attribute.run import attribute as attribute
    from mipaudit.commands.bounds.report import BoundsReport as BoundsReport
    from mipaudit.commands.bounds.run import bounds as bounds
    from mipaudit.commands.check.report import CheckReport as CheckReport
    from mipaudit.commands.check.run import check as check
    from mipaudit.commands.compare.queries.report import CompareReport as CompareReport
    from mipaudit.commands.compare.reports.report import ReportComparison as ReportComparison
    from mipaudit.commands.compare.run import compare as compare
    from mipaudit.commands.doctor.report import DoctorReport as DoctorReport
    from mipaudit.commands.doctor.run import doctor as doctor
    from mipaudit.commands.epsilon.report import EpsilonReport as EpsilonReport
    from mipaudit.commands.epsilon.run import epsilon as epsilon
    from mipaudit.commands.estimate.many import estimate_many as estimate_many
    from mipaudit.commands.estimate.report import Report as Report
    from mipaudit.commands.estimate.run import estimate as estimate
    from mipaudit.commands.history.report import HistoryReport as HistoryReport
    from mipaudit.commands.history.run import history as history
    from mipaudit.commands.noise.report import NoiseReport as NoiseReport
    from mipaudit.commands.noise.run import add_noise as add_noise
    from mipaudit.commands.noise.run import noise as noise
    from mipaudit.commands.query.model.lira import query_lira as query_lira
    from mipaudit.commands.query.model.losses import query_losses as query_losses
    from mipaudit.commands.query.model.report import ModelQueryReport as ModelQueryReport
    from mipaudit.commands.query.report import QueryReport as QueryReport
    from mipaudit.commands.query.run import query as query
    from mipaudit.commands.records.report import RecordsReport as RecordsReport
    from mipaudit.commands.records.run import RecordTable as RecordTable
    from mipaudit.commands.records.run import record_table as record_table
    from mipaudit.commands.records.run import records as records
    from mipaudit.commands.render.run import rejudge as rejudge
    from mipaudit.commands.render.run import render_report as render_report
    from mipaudit.commands.schema.run import schema as schema
    from mipaudit.commands.shift.report import ShiftReport as ShiftReport
    from mipaudit.commands.shift.run import shift as shift
    from mipaudit.commands.simulate.run import Simulated as Simulated
    from mipaudit.commands.simulate.run import list_scenarios as list_scenarios
    from mipaudit.commands.simulate.run import simulate as simulate
    from mipaudit.commands.summarize.run import summarize as summarize
    from mipaudit.commands.validate.run import validate as validate
    from mipaudit.commands.verify.report import VerifyReport as VerifyReport
    from mipaudit.commands.verify.run import verify as verify
    from mipaudit.data.summary_file import SummaryFile as SummaryFile
    from mipaudit.errors import InputError as InputError
    from mipaudit.errors import MipauditError as MipauditError
    from mipaudit.errors import MissingExtraError as MissingExtraError
    from mipaudit.errors import OutputError as OutputError
    from mipaudit.errors import UsageError as UsageError
    from mipaudit.model.row import Row as Row
    from mipaudit.report.codec import from_json as from_json
    from mipaudit.report.codec import to_json as to_json
    from mipaudit.statements.verdict import Verdict as Verdict
    from mipaudit.validation.report import ValidationReport as ValidationReport
    from mipaudit.validation.truth import ScenarioList as ScenarioList
    from mipaudit.validation.truth import TruthReport as TruthReport

# Where each public name is, by the module.
_HOMES: Final = {
    name: f"mipaudit.{home}"
    for home, names in {
        "commands.attack.report": "AttackReport",
        "commands.attack.run": "attack",
        "commands.attribute.report": "AttributeReport",
        "commands.attribute.run": "attribute",
        "commands.bounds.report": "BoundsReport",
        "commands.bounds.run": "bounds",
        "commands.check.report": "CheckReport",
        "commands.check.run": "check",
        "commands.compare.queries.report": "CompareReport",
        "commands.compare.reports.report": "ReportComparison",
        "commands.compare.run": "compare",
        "commands.doctor.report": "DoctorReport",
        "commands.doctor.run": "doctor",
        "commands.epsilon.report": "EpsilonReport",
        "commands.epsilon.run": "epsilon",
        "commands.estimate.many": "estimate_many",
        "commands.estimate.report": "Report",
        "commands.estimate.run": "estimate",
        "commands.history.report": "HistoryReport",
        "commands.history.run": "history",
        "commands.noise.report": "NoiseReport",
        "commands.noise.run": "add_noise noise",
        "commands.query.model.lira": "query_lira",
        "commands.query.model.losses": "query_losses",
        "commands.query.model.report": "ModelQueryReport",
        "commands.query.report": "QueryReport",
        "commands.query.run": "query",
        "commands.records.report": "RecordsReport",
        "commands.records.run": "RecordTable record_table records",
        "commands.render.run": "rejudge render_report",
        "commands.schema.run": "schema",
        "commands.shift.report": "ShiftReport",
        "commands.shift.run": "shift",
        "commands.simulate.run": "Simulated list_scenarios simulate",
        "commands.summarize.run": "summarize",
        "commands.validate.run": "validate",
        "commands.verify.report": "VerifyReport",
        "commands.verify.run": "verify",
        "data.summary_file": "SummaryFile",
        "errors": "InputError MipauditError MissingExtraError OutputError UsageError",
        "model.row": "Row",
        "report.codec": "from_json to_json",
        "statements.verdict": "Verdict",
        "validation.report": "ValidationReport",
        "validation.truth": "ScenarioList TruthReport",
    }.items()
    for name in names.split()
}
__all__ = ["__version__", *sorted(_HOMES)]  # noqa: PLE0604 - these are texts, too


def __getattr__(name: str) -> object:
    """Load a public name from its home on first use."""
    if name not in _HOMES:
        from mipaudit.options.commands import meant_key

        # Python itself asks for names with underscores.
        meant = None if name.startswith("_") else meant_key(name, _HOMES)
        hint = "" if meant is None else f"; did you mean {meant}?"
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
