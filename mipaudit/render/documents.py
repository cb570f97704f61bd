"""From any report to its document; what draws the other kinds is not loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mipaudit.render.origin_blocks import origin_section

if TYPE_CHECKING:
    from mipaudit.render.document import Document
    from mipaudit.report.attack import AttackReport
    from mipaudit.report.attribute import AttributeReport
    from mipaudit.report.bounds import BoundsReport
    from mipaudit.report.codec import AnyReport
    from mipaudit.report.compare import CompareReport
    from mipaudit.report.compare_reports import ReportComparison
    from mipaudit.report.epsilon import EpsilonReport
    from mipaudit.report.model import CheckReport, Report
    from mipaudit.report.model_query import ModelQueryReport
    from mipaudit.report.noise import NoiseReport
    from mipaudit.report.query import QueryReport
    from mipaudit.report.records import RecordsReport
    from mipaudit.report.shift import ShiftReport
    from mipaudit.report.truth import ScenarioList, TruthReport
    from mipaudit.report.validation import ValidationReport
    from mipaudit.report.verification import VerifyReport


def document_of(report: AnyReport, *, illustrated: bool = False) -> Document:
    """Return all that a report shows, and where it comes from.

    Args:
        report: of any command.
        illustrated: with pictures, where there are any and they can be drawn.
    """
    document = _document(report, illustrated=illustrated)
    return document._replace(sections=(*document.sections, origin_section(report.provenance)))


def headline_of(report: AnyReport) -> str:
    """Return the outcome in a line; empty where nothing was to be decided."""
    return _document(report, illustrated=False).headline


def _document(  # noqa: C901, PLR0911, PLR0912 - one for each command
    report: AnyReport, *, illustrated: bool
) -> Document:
    match report.command:
        case "check":
            from mipaudit.render.check_document import check_document

            return check_document(cast("CheckReport", report))
        case "bounds":
            from mipaudit.render.bounds_document import bounds_document

            return bounds_document(cast("BoundsReport", report))
        case "epsilon":
            from mipaudit.render.epsilon_document import epsilon_document

            return epsilon_document(cast("EpsilonReport", report))
        case "records":
            from mipaudit.render.records_document import records_document

            return records_document(cast("RecordsReport", report))
        case "compare":
            from mipaudit.render.compare_document import compare_document

            return compare_document(cast("CompareReport", report))
        case "compare reports":
            from mipaudit.render.compare_reports_document import compare_reports_document

            return compare_reports_document(cast("ReportComparison", report))
        case "attack":
            from mipaudit.render.attack_document import attack_document

            return attack_document(cast("AttackReport", report))
        case "attribute":
            from mipaudit.render.attribute_document import attribute_document

            return attribute_document(cast("AttributeReport", report))
        case "query losses" | "query lira":
            from mipaudit.render.model_query_document import model_query_document

            return model_query_document(cast("ModelQueryReport", report))
        case "noise":
            from mipaudit.render.noise_document import noise_document

            return noise_document(cast("NoiseReport", report))
        case "shift":
            from mipaudit.render.shift_document import shift_document

            return shift_document(cast("ShiftReport", report))
        case "simulate" | "simulate --list":
            from mipaudit.render.truth_document import simulate_document

            return simulate_document(cast("TruthReport | ScenarioList", report))
        case "validate":
            from mipaudit.render.validation_document import validation_document

            return validation_document(cast("ValidationReport", report))
        case "query":
            from mipaudit.render.query_document import query_document

            return query_document(cast("QueryReport", report))
        case "verify":
            from mipaudit.render.verify_document import verify_document

            return verify_document(cast("VerifyReport", report))
        case _:
            from mipaudit.render.estimate_document import estimate_document

            return estimate_document(cast("Report", report), illustrated=illustrated)
