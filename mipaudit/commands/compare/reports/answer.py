"""Old reports against new ones: what ``compare`` does with JSON files of ``estimate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final, cast, get_args

from mipaudit.commands.compare.increase import increase_check
from mipaudit.commands.compare.options import OF_REPORTS, CompareOptions, NamedInput, check_increase
from mipaudit.commands.compare.reports.report import (
    ComparedReport,
    CompareReportsDesign,
    MatchedScore,
    ReportComparison,
    ScoreStatus,
)
from mipaudit.errors import InputError, MipauditError, UsageError, bad_report
from mipaudit.maths.advantage import baseline
from mipaudit.maths.metrics.names import LEAST_RECALL, parse_metric
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Check, Row
from mipaudit.options.values import require
from mipaudit.output.stored_report import report_bytes
from mipaudit.report.codec import from_json
from mipaudit.statements.choices import Against
from mipaudit.statements.copies import COPIES, with_copies
from mipaudit.statements.policy import limits_copies
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.provenance import InputFile, provenance, value_words
from mipaudit.statements.verdict import PARTS_SKIPPED, WEIGHED, reach_verdict, settled

if TYPE_CHECKING:
    from mipaudit.commands.estimate.report import Report
    from mipaudit.statements.design import Design

# Figures of a score, by what they are of.
Figures = Mapping[tuple[object, ...], Row]
_TRIVIAL: Final = Message("lower_without_score")
# One threshold is an attacker of each of these: what one finds, the best of them finds.
_WITH_THRESHOLDS: Final = frozenset({"thresholds", "intervals-1", "intervals-4"})
_DIGITS: Final = 12
# Settings that change what a score or an attacker is, or whose rows count. Of the same files they
# make other scores.
_TAKEN: Final = (
    *("where", "unit_column", "unit_rows", "rows_are", "nan", "discrete", "member_value"),
)
_LIMITATIONS: Final = (
    *("reports_only_these", "reports_at_their_word", "reports_stored", "reports_floors"),
    *("reports_ceilings", "reports_joint", "reports_beforehand"),
)


def figures_of(name: str, report: Report) -> dict[str, Figures]:
    """Return the figures of a report that have limits, by score, as rows of the report named.

    Each has the lower limit that the report allows, also where it is not in the report as such.
    """
    given = [one.value for one in report.provenance.settings if one.name == "min_recall"]
    least = given[0] if given and isinstance(given[0], float) else LEAST_RECALL
    found: dict[str, dict[tuple[object, ...], Row]] = {}
    for row in report.estimates:
        own = found.setdefault(row.score, {})
        # Published estimators are shown for comparison; kernels choose their noise by the data.
        if row.validity == "not-an-interval" or row.bandwidth is not None:
            continue
        floor = 0.0
        if row.metric is not None:
            # A metric over attackers with some recall is another metric with another recall.
            floor = parse_metric(row.metric, prior=report.design.prior, least=least).least
        key = row.quantity, row.attackers, row.fpr, row.metric, floor
        own.setdefault(key, replace(row, report=name))
    return {
        score: {key: _with_floor(row, rows, report.design) for key, row in rows.items()}
        for score, rows in found.items()
    }


def _with_floor(row: Row, rows: Figures, design: Design) -> Row:
    """Return a figure with a lower limit that follows from what is stored, where it has none.

    Every class holds the trivial attacker. One that holds the thresholds also holds the one
    whose TPR at some FPR is stored. Of several FPRs the largest is taken whatever it shows:
    to take the best of them would need a share of the error for each.
    """
    if row.lower is not None or row.quantity not in {"advantage", "tpr_at_fpr"}:
        return replace(row, lower_reason=None)
    if row.quantity == "tpr_at_fpr":
        return replace(row, lower=0.0, lower_reason=_TRIVIAL)
    points = [
        (one.fpr, one.lower)
        for one in rows.values()
        if one.quantity == "tpr_at_fpr" and one.fpr is not None and one.lower is not None
    ]
    if row.attackers in _WITH_THRESHOLDS and points:
        fpr, tpr = max(points, key=lambda point: point[0])
        reached = 2 * (design.prior * tpr + (1 - design.prior) * (1 - fpr)) - 1
        if reached > design.baseline:
            return replace(row, lower=reached, lower_reason=Message("lower_of_tpr"))
    return replace(row, lower=design.baseline, lower_reason=_TRIVIAL)


def changes(old: Figures, new: Figures, confidence: float) -> Iterator[tuple[Row, Row, Row]]:
    """Yield the change of every figure of a score that both reports have, and the two figures."""
    for key, row in new.items():
        if key in old:
            yield _change(old[key], row, confidence), old[key], row


def _change(old: Row, new: Row, confidence: float) -> Row:
    # Another end of the score is another attacker: there is nothing to subtract.
    turned = Message("other_side") if len({old.side, new.side} - {None}) > 1 else None
    pairs = (new.value, old.value), (new.lower, old.upper), (new.upper, old.lower)
    value, lower, upper = (None if turned else _less(*pair) for pair in pairs)
    approximate = "approximate" in {old.validity, new.validity}
    return Row(
        quantity=new.quantity,
        score=new.score,
        report=new.report,
        versus=old.report,
        attackers=new.attackers,
        value=value,
        lower=lower,
        upper=upper,
        lower_reason=turned or _lacking(("old", "upper", old.upper), ("new", "lower", new.lower)),
        upper_reason=turned or _lacking(("new", "upper", new.upper), ("old", "lower", old.lower)),
        confidence=confidence,
        validity="approximate" if approximate else "finite-sample",
        fpr=new.fpr,
        metric=new.metric,
    )


def beside_any(old: Figures, new: Figures, confidence: float) -> Iterator[Row]:
    """Yield every class beside any attacker: what limits of different kinds can tell."""
    before, after = (
        {row.attackers: row for row in rows.values() if row.quantity == "advantage"}
        for rows in (old, new)
    )
    for attackers in after if "any" in before and "any" in after else ():
        if attackers != "any" and attackers in before:
            row = Row(
                quantity="class_beside_any",
                score=after["any"].score,
                report=after["any"].report,
                versus=before["any"].report,
                attackers=attackers,
                upper=_less(after[attackers].upper, before["any"].lower),
                confidence=confidence,
            )
            yield row
            least = _less(after["any"].lower, before[attackers].upper)
            yield replace(row, quantity="any_beside_class", upper=None, lower=least)


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _lacking(*limits: tuple[str, str, float | None]) -> Message | None:
    """Return which of some limits, (report, side, limit), there are not; None if there are all."""
    found: Message | None = None
    for which, side, limit in reversed(limits):
        if limit is None:
            found = Message.of("limit_lacking", which=which, side=side, also=found)
    return found


def compare_reports(asked: CompareOptions) -> ReportComparison:
    """Return what changed from the old report to the others.

    Raises:
        UsageError: an argument is wrong, or there are fewer than two reports.
        InputError: a file is no report, or the reports cannot be compared.
    """
    inputs, limit = asked.named_scores, asked.max_increase
    _require_names([one.name for one in inputs], asked.baseline)
    files = {one.name: _opened(one) for one in inputs}
    reports = {name: report for name, (report, _) in files.items()}
    old = inputs[0].name if asked.baseline is None else asked.baseline
    design, confidence = reports[old].design, _joint_confidence(reports)
    _require_alike(reports, old, judged=limit is not None)
    if limit is not None:
        check_increase(limit, design.prior)
    held = {name: figures_of(name, report) for name, report in reports.items()}
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
            "Scores are matched by the name of their column.",
        )
    told = [one for _, was, now in both for one in changes(was, now, confidence)]
    against = _against(told, asked.against)
    checks = () if limit is None else tuple(_judged(scores, told, limit, against))
    findings = (
        *_report_findings(reports, old),
        *(finding for of in both for finding in _score_findings(*of)),
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
        changes=tuple(change for change, *_ in told),
        figures=tuple(dict.fromkeys(row for _, *figures in told for row in figures)),
        beside_any=tuple(row for _, was, now in both for row in beside_any(was, now, confidence)),
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
    scores: Sequence[MatchedScore],
    told: Sequence[tuple[Row, Row, Row]],
    limit: float,
    against: Against,
) -> Iterator[Check]:
    """Yield the check of every score, by the change of its advantage: open where there is none."""
    decides = {
        (one.score, one.report): (one.lower, one.upper)
        for one, *_ in told
        if one.quantity == "advantage" and one.attackers == against
    }
    for one in scores:
        limits = decides.get((one.score, one.report), (None, None))
        check = increase_check(one.score, one.versus, limit, against, limits, report=one.report)
        if (one.score, one.report) not in decides:
            alone = "score_only_in_new" if one.status == "new" else "score_only_in_old"
            check = replace(check, reason=Message(alone))
        yield check


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
        "The baseline is not one of the reports.",
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


def _against(told: Sequence[tuple[Row, Row, Row]], asked: Against | None) -> Against:
    """Return the class of the policy: one whose upper limit every score has in every report."""
    scores = {(one.score, one.report) for one, *_ in told}
    limited = {
        (one.attackers, one.score, one.report)
        for one, old, new in told
        if one.quantity == "advantage" and None not in {old.upper, new.upper}
    }
    common: list[Against] = [
        one for one in get_args(Against) if {(one, *of) for of in scores} <= limited
    ]
    if common and asked in {None, *common}:
        return asked or common[0]
    hint = f"Try `against` {common[0]}." if common else "Compare fewer scores, or the score files."
    who = "any class of attackers" if asked is None else f"attackers '{asked}'"
    raise UsageError(
        "against", f"For {who}, a report has no upper limit on the advantage of a score.", hint
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


def _opened(given: NamedInput) -> tuple[Report, bytes]:
    """Return a report, which is one of ``estimate``, and its JSON.

    Raises:
        InputError: it cannot be read, is of another command, or contradicts itself.
    """
    name = quoted_name(given.name)
    if isinstance(given.data, str) and given.data.lower().endswith(".gz"):
        raise InputError(
            "compressed_report",
            f"The report {name} is compressed, so it cannot be read.",
            "Unpack it first: gunzip report.json.gz.",
        )
    try:
        data = report_bytes(given.data)
        report = from_json(data)
    except MipauditError as error:
        raise error.worded(f"Report {name}: {error.message}", error.hint) from None
    if report.command != "estimate":
        raise InputError(
            "report_schema",
            f"The report {name} is from `mipaudit {safe_name(report.command)}`, but only reports "
            "of `mipaudit estimate` can be compared.",
            "Make both with `mipaudit estimate SCORES -f json -o FILE`.",
        )
    found = cast("Report", report)
    design = found.design
    sound = 0 < design.prior < 1 and 0 < design.confidence < 1
    if not sound or abs(design.baseline - baseline(design.prior)) > 10**-_DIGITS:
        raise bad_report(
            f"The report {name} contradicts itself: its prior, baseline or confidence is "
            "impossible.",
            hint="Make it again with `mipaudit estimate SCORES -f json`.",
        )
    return found, data


def _joint_confidence(reports: Mapping[str, Report]) -> float:
    """Return 1 less the errors of all reports: the confidence that none of them is wrong.

    Raises:
        InputError: that is nothing.
    """
    joint = round(1 - sum(1 - one.design.confidence for one in reports.values()), _DIGITS)
    if joint <= 0:
        raise InputError(
            "no_confidence",
            "The reports' errors (1 - confidence) add up to 100%: no confidence is left.",
            "Make them with a higher `confidence`, or compare fewer at a time.",
        )
    return joint


def _require_alike(reports: Mapping[str, Report], old: str, *, judged: bool) -> None:
    """Refuse reports at different priors, and to judge one that is of the very scores of the old.

    Of the same scores nothing can have grown, so every limit would be kept: most likely the
    scores were not made anew.

    Args:
        reports: by name.
        old: the name of the one that the others are compared with.
        judged: whether there is a limit on the increase.

    Raises:
        InputError: ``different_priors``; ``same_scores``: of the same files, read alike.
    """
    first, prior = next((name, one.design.prior) for name, one in reports.items())
    before = _read(reports[old])
    for name, other in reports.items():
        if other.design.prior != prior:
            raise InputError(
                "different_priors",
                f"The reports {quoted_name(first)} and {quoted_name(name)} cannot be compared: "
                f"one is at prior {prior:g}, the other at prior {other.design.prior:g}.",
                "Make both with the same `prior`.",
            )
        if judged and name != old and before is not None and _read(other) == before:
            raise InputError(
                "same_scores",
                f"The reports {quoted_name(old)} and {quoted_name(name)} are about the same "
                "scores, so a limit on the increase says nothing.",
                "Make the new report on the scores of the new release.",
            )


def _read(report: Report) -> tuple[object, ...] | None:
    """Return what was read and how; None where it cannot be told."""
    contents, given = [content for _, content in report.provenance.contents], _settings(report)
    if not contents or None in contents:
        return None
    return *contents, *(given.get(name) for name in (*_TAKEN, "member_column"))


def _settings(report: Report) -> dict[str, str]:
    """Return the settings of a report, in words."""
    return {one.name: value_words(one.value) for one in report.provenance.settings}


def _report_findings(reports: Mapping[str, Report], old: str) -> Iterator[Finding]:
    """Yield how the reports differ in more than their numbers."""
    for name, report in reports.items():
        # Copies that are accepted, or were in the old release, are no matter of the new one.
        apart = {COPIES} if name == old or limits_copies(report.policy) else set()
        for one in with_copies(report.findings, report.copies, None):
            if one.code in WEIGHED - apart:
                yield one.with_values(one.code, where=quoted_name(name))
    for name, report in reports.items():
        if name != old:
            yield from _between(old, reports[old], name, report)


def _between(old_name: str, old: Report, name: str, new: Report) -> Iterator[Finding]:
    both = {"old": old_name, "new": name}
    if old.design.confidence != new.design.confidence:
        sure = {"old_confidence": old.design.confidence, "new_confidence": new.design.confidence}
        yield Finding.of("confidence_differs", **both, **sure)
    before, after = _settings(old), _settings(new)
    # A report older than a setting does not have it.
    differing = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    if "strict" in differing:
        yield Finding.of("strict_differs", **both)
    if names := [one for one in (*_TAKEN, "member_side") if one in differing]:
        yield Finding.of("settings_differ", **both, settings=", ".join(names))
    if old.provenance.mipaudit != new.provenance.mipaudit:
        made = {"old_version": old.provenance.mipaudit, "new_version": new.provenance.mipaudit}
        yield Finding.of("versions_differ", **both, **made)
    read, again = ({one for _, one in each.provenance.contents if one} for each in (old, new))
    if read & again:
        yield Finding.of("same_input", **both)


def _score_findings(of: MatchedScore, old: Figures, new: Figures) -> Iterator[Finding]:
    """Yield how the figures of a score differ in more than their numbers."""
    named = {"score": of.score, "old": of.versus, "new": of.report}
    before, after = ({row.side for row in rows.values()} - {None} for rows in (old, new))
    if before and after and before != after:
        yield Finding.of("side_differs", **named)
    if alone := len(old.keys() ^ new.keys()):
        yield Finding.of("unmatched_figures", **named, figures=alone)
