"""Old reports against new ones: what ``compare`` does with JSON files of ``estimate``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, cast, get_args

from mipaudit.commands.compare.options import OF_REPORTS, CompareOptions, NamedInput, check_increase
from mipaudit.commands.compare.reports.inputs import (
    common_prior,
    decoded,
    encoded,
    joint_confidence,
    report_findings,
    require_other_scores,
)
from mipaudit.commands.compare.reports.page import REPORT_LIMITATIONS, reports_summary
from mipaudit.commands.compare.reports.report import (
    Change,
    ComparedReport,
    CompareReportsDesign,
    MatchedScore,
    Pairing,
    ReportComparison,
    ScoreIncrease,
    ScoreStatus,
    beside_any,
    changes,
)
from mipaudit.commands.estimate.report import Report
from mipaudit.errors import InputError, UsageError
from mipaudit.model.message import Message
from mipaudit.options.plain_values import require
from mipaudit.report.verdict_sentence import led
from mipaudit.statements.choices import Against
from mipaudit.statements.estimate import Attackers, Estimate
from mipaudit.statements.policy import check_status, limit_reason
from mipaudit.statements.provenance import provenance
from mipaudit.statements.sources import InputFile
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.verdict import INCOMPLETE, PARTS_SKIPPED, Verdict, plain_verdict, settled


def judge_change(
    score: MatchedScore, change: Change | None, limit: float, against: Attackers
) -> ScoreIncrease:
    """Return the check of a score, by the change of its advantage.

    Args:
        score: of a new report, of the old one, or of both.
        change: None for a score that only one report has: nobody can tell.
        limit: the most that the advantage may have grown.
        against: the class of attackers.
    """
    limits = (None, None) if change is None else (change.lower, change.upper)
    status = check_status(limit, *limits)
    reason = limit_reason(status, Message("increase"), limit, limits, among=against)
    if change is None:
        reason = Message("score_only_in_new" if score.status == "new" else "score_only_in_old")
    return ScoreIncrease(
        score=score.score,
        report=score.report,
        versus=score.versus,
        limit=limit,
        against=against,
        lower=limits[0],
        upper=limits[1],
        status=status,
        reason=reason,
    )


def changes_verdict(
    checks: Sequence[ScoreIncrease], *, several: bool, incomplete: bool = False
) -> Verdict:
    """Return the verdict over all checks: one that is not met decides, then one that is open.

    No error is shared: the limits already hold jointly over scores and reports.

    Args:
        checks: of every score in every new report.
        several: whether there is more than one new report, so that they are named.
        incomplete: some report is of an input whose bad parts were skipped: none is 'met'.
    """
    verdict = plain_verdict([(one.status, _named(one, several=several)) for one in checks])
    if incomplete and verdict.status == "met":
        reasons = (Message.of(INCOMPLETE, waived=False), *verdict.reasons)
        return Verdict(status="inconclusive", reasons=reasons)
    return verdict


def _named(check: ScoreIncrease, *, several: bool) -> Message:
    code = "of_score_in_report" if several else "of_score"
    return Message.of(code, score=check.score, report=check.report, reason=check.reason)


def compare_reports(asked: CompareOptions) -> ReportComparison:
    """Return what changed from the old report to the others.

    Raises:
        UsageError: an argument is wrong, or there are fewer than two reports.
        InputError: a file is no report, or the reports cannot be compared.
    """
    inputs, baseline, limit = asked.named_scores, asked.baseline, asked.max_increase
    names = [one.name for one in inputs]
    _require_names(names, baseline)
    files = [encoded(one) for one in inputs]
    reports = [decoded(name, data) for name, data in zip(names, files, strict=True)]
    old = 0 if baseline is None else names.index(baseline)
    confidence = joint_confidence(reports)
    prior = common_prior(names, reports)
    if limit is not None:
        check_increase(limit, prior)
        require_other_scores(names, reports, old)
    rows = {name: _by_score(report) for name, report in zip(names, reports, strict=True)}
    scores = tuple(_matched(rows, names[old]))
    pairs = [
        Pairing(
            score=one.score,
            report=one.report,
            versus=one.versus,
            old=rows[one.versus][one.score],
            new=rows[one.report][one.score],
            trivial=reports[old].design.baseline,
            prior=prior,
            confidence=confidence,
        )
        for one in scores
        if one.status == "in both"
    ]
    if not pairs:
        raise InputError(
            "no_common_score",
            "The reports have no score of the same name: there is nothing to compare.",
            hint="Scores are matched by the name of their column.",
        )
    found = tuple(change for pair in pairs for change in changes(pair))
    class_ = _against(found, asked.against)
    checks: tuple[ScoreIncrease, ...] = ()
    if limit is not None:
        decides = {
            (one.score, one.report): one
            for one in found
            if one.quantity == "advantage" and one.attackers == class_
        }
        checks = tuple(
            judge_change(one, decides.get((one.score, one.report)), limit, class_) for one in scores
        )
    findings = tuple(report_findings(names, reports, old, pairs))
    verdict = settled(
        changes_verdict(
            checks,
            several=len(reports) > 2,  # noqa: PLR2004 - old and new
            incomplete=any(
                one.code == PARTS_SKIPPED for report in reports for one in report.findings
            ),
        ),
        findings,
    )
    design = CompareReportsDesign(
        reports=tuple(map(_described, names, reports)),
        baseline=names[old],
        prior=prior,
        trivial=reports[old].design.baseline,
        confidence=confidence,
        against=class_,
    )
    report = ReportComparison(
        command="compare reports",
        design=design,
        summary="",
        scores=scores,
        changes=found,
        beside_any=tuple(one for pair in pairs for one in beside_any(pair)),
        policy=checks,
        verdict=verdict,
        findings=findings,
        limitations=REPORT_LIMITATIONS,
        provenance=provenance(
            seed=None,
            inputs=[
                _input(one, data, report)
                for one, data, report in zip(inputs, files, reports, strict=True)
            ],
            settings=tuple(one for one in asked.recorded() if one.name in OF_REPORTS),
        ),
    )
    return replace(report, summary=led(findings, reports_summary(report)))


def _require_names(names: Sequence[str], baseline: str | None) -> None:
    require(
        len(names) > 1,
        "one_query",
        "There is only one report: nothing to compare it with.",
        "Give the old report and the new one.",
    )
    require(
        len(set(names)) == len(names),
        "same_names",
        "Two reports have the same name.",
        "Name them: old=reports/v1.json new=reports/v2.json.",
    )
    require(
        baseline is None or baseline in names,
        "baseline",
        "The baseline is none of the reports.",
        f"The reports are: {', '.join(map(safe_name, names))}.",
    )


def _by_score(report: Report) -> dict[str, list[Estimate]]:
    found: dict[str, list[Estimate]] = {}
    for row in report.estimates:
        found.setdefault(row.score, []).append(row)
    return found


def _matched(
    rows: Mapping[str, Mapping[str, Sequence[Estimate]]], old: str
) -> Iterator[MatchedScore]:
    """Yield every score of every new report, and those that only the old one has.

    Args:
        rows: by report and score.
        old: name of the old report.
    """
    before = rows[old]
    for report, after in rows.items():
        for score in dict.fromkeys([*after, *before]) if report != old else ():
            status: ScoreStatus = "new" if score in after else "missing"
            if score in before and score in after:
                status = "in both"
            yield MatchedScore(score=score, report=report, versus=old, status=status)


def _against(found: Sequence[Change], asked: Against | None) -> Against:
    """Return the class of the policy: one whose upper limit every score has in every report."""
    rows = [one for one in found if one.quantity == "advantage"]
    scores = {(one.score, one.report) for one in found}
    common = [
        class_
        for class_ in get_args(Against)
        if scores
        == {
            (one.score, one.report)
            for one in rows
            if one.attackers == class_ and None not in {one.old.upper, one.new.upper}
        }
    ]
    if asked is None and common:
        return cast("Against", common[0])
    if asked is not None and asked in common:
        return asked
    hint = f"Try `against` {common[0]}." if common else "Compare fewer scores, or the score files."
    what = "any class" if asked is None else f"the class '{asked}'"
    raise UsageError(
        "against",
        f"Some score has no upper limit of its advantage for {what} in some of the reports.",
        hint=hint,
    )


def _described(name: str, report: Report) -> ComparedReport:
    design = report.design
    return ComparedReport(
        name=name,
        created=report.provenance.created,
        mipaudit=report.provenance.mipaudit,
        scores=tuple(dict.fromkeys(one.score for one in report.estimates)),
        n_members=design.n_members,
        n_holdout=design.n_holdout,
        confidence=design.confidence,
        verdict=report.verdict.status,
    )


def _input(given: NamedInput, data: bytes, report: Report) -> InputFile:
    """Return the file as it was read; its rows are the figures in it."""
    name: Any = given.data if isinstance(given.data, str) else given.name
    return InputFile(
        name=name,
        rows=len(report.estimates),
        bytes=len(data),
        sha256=sha256(data).hexdigest(),
    )
