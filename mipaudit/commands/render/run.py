"""``mipaudit render``: a report in another form, or judged by other limits, without the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from mipaudit.commands.render.options import RejudgeOptions
from mipaudit.errors import UsageError
from mipaudit.formats.documents import Form, report_as
from mipaudit.options.plain_values import one_of, require
from mipaudit.options.public import public
from mipaudit.reading.report_file import read_report

if TYPE_CHECKING:
    from mipaudit.commands.estimate.report import Report


def render_report(
    report: Any,  # noqa: ANN401 - a path, bytes, or a report
    *,
    format: Literal["json", "csv", "markdown", "html", "junit"] = "html",  # noqa: A002
) -> str:
    """Return a report of any command in another form: what ``mipaudit render`` writes.

    Args:
        report: a path, ``"-"`` for standard input, the bytes of a JSON report, or what a
            command returned.
        format: the form. (The table of the command line fits a terminal: it is no form here.)

    Raises:
        UsageError: no such form.
        InputError: the file cannot be read, or holds no report.
    """
    one_of("format", format, ("json", *get_args(Form)))
    found = read_report(report)
    if format == "json":
        from mipaudit.statements.reports.codec import to_json

        return to_json(found).decode()
    return report_as(found, format)


def answer_rejudge(asked: RejudgeOptions) -> Report:
    """Return a report of ``estimate`` with the verdict of other limits, without the data.

    The limits that the report holds are all there is: a quantity that it does not hold is
    refused. The new limits take the place of the old; a claim stays as it was judged. Over q
    limits the verdict holds with confidence 1 - q (1 - confidence), and the report says so.

    Raises:
        UsageError: a limit is out of its range, about what the report does not hold, or
            there is none; or the report is not of ``estimate``.
        InputError: the file cannot be read, or holds no report.
    """
    from mipaudit.commands.estimate.report import Report
    from mipaudit.commands.render.rejudged import rejudged

    found = read_report(asked.report)
    if not isinstance(found, Report):
        raise UsageError(
            "not_an_estimate",
            f"A report of {found.command} cannot be judged again: only one of estimate holds "
            "limits that a policy names.",
            hint="Leave the limits out to write it in another form.",
        )
    _require_prior(found, asked.prior)
    _require_confidence(found, asked.confidence)
    return rejudged(found, asked)


rejudge = public(RejudgeOptions, answer_rejudge)


def _require_prior(report: Report, prior: float | None) -> None:
    if prior is not None:
        require(
            prior == report.design.prior,
            "not_in_report",
            f"The report is at prior {report.design.prior:g}: limits for another prior cannot be "
            "judged on it.",
            "Audit the scores at that prior: mipaudit estimate SCORES --prior P.",
        )


def _require_confidence(report: Report, confidence: float | None) -> None:
    if confidence is not None:
        require(
            confidence <= report.design.confidence,
            "not_in_report",
            f"The report's limits hold with confidence {report.design.confidence:g}: not enough "
            "for these limits.",
            "Audit the scores at that confidence: mipaudit estimate SCORES --confidence C.",
        )
