"""``mipaudit render``: a report in another form, or judged by other limits, without the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from mipaudit.errors import UsageError
from mipaudit.formats.documents import Form, report_as
from mipaudit.options.plain_values import number, one_of, require
from mipaudit.reading.report_file import read_report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mipaudit.commands.estimate.report import Report
    from mipaudit.statements.estimate import Against
    from mipaudit.statements.origin import Setting


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


def rejudge(  # noqa: PLR0913 - one keyword for each option of the command
    report: Any,  # noqa: ANN401 - a path, bytes, or a report
    *,
    max_advantage: float | None = None,
    max_eta: float | None = None,
    max_copies: int | None = None,
    max_tpr_at_fpr: tuple[float, float] | None = None,
    max_metric: Mapping[str, float] | str | Sequence[str] = (),
    against: Against | None = None,
    limits: Sequence[Mapping[str, Any]] = (),
    waivers: Sequence[Mapping[str, Any]] = (),
    on_inconclusive: Literal["fail", "review", "pass"] = "review",
    prior: float | None = None,
    confidence: float | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> Report:
    """Return a report of ``estimate`` with the verdict of other limits, without the data.

    The limits that the report holds are all there is: a quantity that it does not hold is
    refused. The new limits take the place of the old; a claim stays as it was judged. Over q
    limits the verdict holds with confidence 1 - q (1 - confidence), and the report says so.

    Args:
        report: a path, ``"-"``, the bytes of a JSON report, or a report of ``estimate``.
        max_advantage: limit on the advantage, in (|2p-1|, 1].
        max_eta: limit on eta, in (0, 1/2].
        max_copies: members that may stand in the release word for word, at least 0.
        max_tpr_at_fpr: limit (TPR, FPR), both in (0, 1).
        max_metric: limits on metrics, ``{"ppv": 0.6}`` or ``"ppv=0.6"``.
        against: class of attackers whose upper limit must keep the policy.
        limits: limits on any quantity, as the policy file lists them.
        waivers: of limits that are not shown to be kept, as the policy file lists them.
        on_inconclusive: what the exit code makes of an open answer.
        prior: that the limits are meant for; another than the report's is an error.
        confidence: that the limits are meant for; more than the report's is an error.
        settings: recorded in the report; None records the arguments.

    Raises:
        UsageError: a limit is out of its range, about what the report does not hold, or
            there is none; or the report is not of ``estimate``.
        InputError: the file cannot be read, or holds no report.
    """
    from mipaudit.commands.render.rejudged import rejudged
    from mipaudit.options.policy.keys import listed
    from mipaudit.options.policy.metrics import limits_of

    found = read_report(report)
    if found.schema != "mipaudit.report/1":
        raise UsageError(
            "not_an_estimate",
            f"A report of {found.command} cannot be judged again: only one of estimate holds "
            "limits that a policy names.",
            hint="Leave the limits out to write it in another form.",
        )
    given: dict[str, Any] = {
        "max_advantage": max_advantage,
        "max_eta": max_eta,
        "max_copies": max_copies,
        "max_tpr_at_fpr": max_tpr_at_fpr,
        "max_metric": limits_of(max_metric),
        "against": against,
        "limits": listed("limits", limits),
        "waivers": listed("waivers", waivers),
        "on_inconclusive": on_inconclusive,
    }
    _require_prior(found, prior)  # type: ignore[arg-type]
    _require_confidence(found, confidence)  # type: ignore[arg-type]
    return rejudged(found, given, settings=settings)  # type: ignore[arg-type]


def _require_prior(report: Report, prior: float | None) -> None:
    if prior is not None:
        require(
            number("prior", prior) == report.design.prior,
            "not_in_report",
            f"The report is at prior {report.design.prior:g}: limits for another prior cannot be "
            "judged on it.",
            "Audit the scores at that prior: mipaudit estimate SCORES --prior P.",
        )


def _require_confidence(report: Report, confidence: float | None) -> None:
    if confidence is not None:
        require(
            number("confidence", confidence) <= report.design.confidence,
            "not_in_report",
            f"The report's limits hold with confidence {report.design.confidence:g}: not enough "
            "for these limits.",
            "Audit the scores at that confidence: mipaudit estimate SCORES --confidence C.",
        )
