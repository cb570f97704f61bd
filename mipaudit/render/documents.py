"""From any report to its document; what draws the other kinds is not loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from mipaudit.render.origin_blocks import origin_section

if TYPE_CHECKING:
    from mipaudit.render.document import Document
    from mipaudit.report.bounds import BoundsReport
    from mipaudit.report.codec import AnyReport
    from mipaudit.report.epsilon import EpsilonReport
    from mipaudit.report.model import CheckReport, Report
    from mipaudit.report.noise import NoiseReport
    from mipaudit.report.truth import ScenarioList, TruthReport
    from mipaudit.report.validation import ValidationReport


def document_of(report: AnyReport) -> Document:
    """Return all that a report shows, and where it comes from."""
    document = _document(report)
    return replace(document, sections=(*document.sections, origin_section(report.provenance)))


def _document(  # noqa: PLR0911 - one for each command
    report: AnyReport,
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
        case "noise":
            from mipaudit.render.noise_document import noise_document

            return noise_document(cast("NoiseReport", report))
        case "simulate" | "simulate --list":
            from mipaudit.render.truth_document import simulate_document

            return simulate_document(cast("TruthReport | ScenarioList", report))
        case "validate":
            from mipaudit.render.validation_document import validation_document

            return validation_document(cast("ValidationReport", report))
        case _:
            from mipaudit.render.estimate_document import estimate_document

            return estimate_document(cast("Report", report))
