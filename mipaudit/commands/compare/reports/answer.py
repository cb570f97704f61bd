"""Old reports against new ones: what ``compare`` does with JSON files of ``estimate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Final, get_args

from mipaudit.commands.compare.increase import increase_check
from mipaudit.commands.compare.options import OF_REPORTS, check_increase
from mipaudit.commands.compare.reports.changes import Figures, beside_any, changes, figures_of
from mipaudit.commands.compare.reports.inputs import (
    joint_confidence,
    opened,
    report_findings,
    require_alike,
    score_findings,
)
from mipaudit.commands.compare.reports.report import (
    ComparedReport,
    CompareReportsDesign,
    MatchedScore,
    ReportComparison,
    ScoreStatus,
)
from mipaudit.errors import InputError, UsageError
from mipaudit.model.message import Message
from mipaudit.options.plain_values import require
from mipaudit.statements.choices import Against
from mipaudit.statements.provenance import provenance
from mipaudit.statements.sources import InputFile
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.verdict import PARTS_SKIPPED, reach_verdict, settled

if TYPE_CHECKING:
    from mipaudit.commands.compare.options import CompareOptions, NamedInput
    from mipaudit.commands.compare.reports.report import Change
    from mipaudit.commands.estimate.report import Report
    from mipaudit.model.check import Check

_LIMITATIONS: Final = (
    *("reports_only_these", "reports_at_their_word", "reports_stored", "reports_floors"),
    *("reports_ceilings", "reports_joint", "reports_beforehand"),
)


def compare_reports(asked: CompareOptions) -> ReportComparison:
    """Return what changed from the old report to the others.

    Raises:
        UsageError: an argument is wrong, or there are fewer than two reports.
        InputError: a file is no report, or the reports cannot be compared.
    """
    inputs, limit = asked.named_scores, asked.max_increase
    _require_names([one.name for one in inputs], asked.baseline)
    files = {one.name: opened(one) for one in inputs}
    reports = {name: report for name, (report, _) in files.items()}
    old = inputs[0].name if asked.baseline is None else asked.baseline
    design, confidence = reports[old].design, joint_confidence(reports)
    require_alike(reports, old, judged=limit is not None)
    if limit is not None:
        check_increase(limit, design.prior)
    held = {name: figures_of(report) for name, report in reports.items()}
    scores = tuple(_matched(held, old))
    # Of every score that two reports have, with its figures in both.
    both = [
        (one, held[old][one.score], held[one.report][one.score])
        for one in scores
        if one.status == "in both"
    ]
    if not both:
        raise InputError(
            "no_common_score",
            "The reports have no score of the same name: there is nothing to compare.",
            hint="Scores are matched by the name of their column.",
        )
    found = tuple(change for of in both for change in changes(*of, design))
    against = _against(found, asked.against)
    checks = () if limit is None else tuple(_judged(scores, found, limit, against))
    findings = (
        *report_findings(reports, old),
        *(finding for of in both for finding in score_findings(*of)),
    )
    skipped = any(one.code == PARTS_SKIPPED for each in reports.values() for one in each.findings)
    # No error is shared: the limits already hold jointly over scores and reports.
    verdict = reach_verdict(checks, (), incomplete=skipped)
    return ReportComparison(
        command="compare reports",
        design=CompareReportsDesign(
            reports=tuple(_described(name, report) for name, report in reports.items()),
            baseline=old,
            prior=design.prior,
            trivial=design.baseline,
            confidence=confidence,
            against=against,
        ),
        scores=scores,
        changes=found,
        beside_any=tuple(one for of in both for one in beside_any(*of)),
        policy=checks,
        verdict=settled(verdict, findings),
        findings=findings,
        limitations=tuple(map(Message, _LIMITATIONS)),
        provenance=provenance(
            seed=None,
            inputs=[_input(one, *files[one.name]) for one in inputs],
            settings=tuple(one for one in asked.recorded() if one.name in OF_REPORTS),
        ),
    )


def _judged(
    scores: Sequence[MatchedScore], found: Sequence[Change], limit: float, against: Against
) -> Iterator[Check]:
    """Yield the check of every score, by the change of its advantage: open where there is none."""
    decides = {
        (one.score, one.report): (one.lower, one.upper)
        for one in found
        if one.quantity == "advantage" and one.attackers == against
    }
    for one in scores:
        limits = decides.get((one.score, one.report))
        alone = Message("score_only_in_new" if one.status == "new" else "score_only_in_old")
        yield increase_check(
            one.score,
            one.versus,
            limit,
            against,
            limits or (None, None),
            report=one.report,
            unknown=alone if limits is None else None,
        )


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


def _matched(held: Mapping[str, Mapping[str, Figures]], old: str) -> Iterator[MatchedScore]:
    """Yield every score of every new report, and those that only the old one has.

    Args:
        held: figures, by report and score.
        old: name of the old report.
    """
    for report, after in held.items():
        for score in dict.fromkeys([*after, *held[old]]) if report != old else ():
            status: ScoreStatus = "in both" if score in held[old] else "new"
            status = status if score in after else "missing"
            yield MatchedScore(score=score, report=report, versus=old, status=status)


def _against(found: Sequence[Change], asked: Against | None) -> Against:
    """Return the class of the policy: one whose upper limit every score has in every report."""
    scores = {(one.score, one.report) for one in found}
    limited = {
        (one.attackers, one.score, one.report)
        for one in found
        if one.quantity == "advantage" and None not in {one.old.upper, one.new.upper}
    }
    common: list[Against] = [
        one for one in get_args(Against) if {(one, *of) for of in scores} <= limited
    ]
    if common and asked in {None, *common}:
        return asked or common[0]
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


def _input(given: NamedInput, report: Report, data: bytes) -> InputFile:
    """Return the file as it was read; its rows are the figures in it."""
    name = given.data if isinstance(given.data, str) else given.name
    digest = sha256(data).hexdigest()
    return InputFile(name=name, rows=len(report.estimates), bytes=len(data), sha256=digest)
