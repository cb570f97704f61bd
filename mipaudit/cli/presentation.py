"""A report as the bytes that are written, in the form asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, cast

from mipaudit.cli.terminal import table_width, use_color

if TYPE_CHECKING:
    from mipaudit.cli.options import Format
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

# What the tables draw with, where the terminal's character set lacks it.
_PLAIN: Final = {ord("─"): "-"}


def encode(report: AnyReport, format: Format, *, to_file: bool) -> bytes:  # noqa: A002
    """Return the report in the form asked for.

    Args:
        report: what was found.
        format: ``table`` and ``html`` are for people, ``markdown`` for job summaries, ``json``
            and ``csv`` for programs, ``junit`` for servers that run pipelines.
        to_file: whether it goes to a file: UTF-8, no colour, fixed width.
    """
    if format == "json":
        from mipaudit.report.codec import to_json

        return to_json(report)
    if format != "table":
        return _written(report, format).encode()
    text = _table(report, width=table_width(to_file=to_file), color=use_color(to_file=to_file))
    charset = "utf-8" if to_file else (sys.stdout.encoding or "utf-8")
    try:
        return text.encode(charset)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(charset, errors="backslashreplace")


def _written(report: AnyReport, format: Format) -> str:  # noqa: A002
    if format == "csv":
        from mipaudit.render.report_csv import report_csv

        return report_csv(report)
    from mipaudit.render.documents import document_of

    document = document_of(report, illustrated=format == "html")
    match format:
        case "markdown":
            from mipaudit.render.document_markdown import document_markdown

            return document_markdown(document)
        case "html":
            from mipaudit.render.document_html import document_html

            return document_html(document)
        case _:
            from mipaudit.render.document_junit import document_junit

            return document_junit(document)


def _table(  # noqa: C901, PLR0911, PLR0912 - one for each command
    report: AnyReport, *, width: int, color: bool
) -> str:
    """Draw the report; what draws the other kinds is not loaded."""
    match report.command:
        case "bounds":
            from mipaudit.render.bounds_document import render_bounds

            return render_bounds(cast("BoundsReport", report), width=width)
        case "epsilon":
            from mipaudit.render.epsilon_document import render_epsilon

            return render_epsilon(cast("EpsilonReport", report), width=width)
        case "records":
            from mipaudit.render.records_document import render_records

            return render_records(cast("RecordsReport", report), width=width)
        case "compare":
            from mipaudit.render.compare_document import render_compare

            return render_compare(cast("CompareReport", report), width=width)
        case "compare reports":
            from mipaudit.render.compare_reports_document import render_compare_reports

            return render_compare_reports(cast("ReportComparison", report), width=width)
        case "attack":
            from mipaudit.render.attack_document import render_attack

            return render_attack(cast("AttackReport", report), width=width)
        case "attribute":
            from mipaudit.render.attribute_document import render_attribute

            return render_attribute(cast("AttributeReport", report), width=width)
        case "query losses" | "query lira":
            from mipaudit.render.model_query_document import render_model_query

            return render_model_query(cast("ModelQueryReport", report), width=width)
        case "noise":
            from mipaudit.render.noise_document import render_noise

            return render_noise(cast("NoiseReport", report), width=width)
        case "shift":
            from mipaudit.render.shift_document import render_shift

            return render_shift(cast("ShiftReport", report), width=width)
        case "simulate" | "simulate --list":
            from mipaudit.render.truth_document import render_simulate

            return render_simulate(cast("TruthReport | ScenarioList", report), width=width)
        case "validate":
            from mipaudit.render.validation_document import render_validation

            return render_validation(cast("ValidationReport", report), width=width)
        case "query":
            from mipaudit.render.query_document import render_query

            return render_query(cast("QueryReport", report), width=width)
        case "verify":
            from mipaudit.render.verify_document import render_verify

            return render_verify(cast("VerifyReport", report), width=width)
        case "check":
            from mipaudit.render.check_table import render_check

            return render_check(cast("CheckReport", report), width=width, color=color)
        case _:
            from mipaudit.render.table import render_table

            return render_table(cast("Report", report), width=width, color=color)
