"""The answer that sets the exit code, also in a sentence, and what is waived or judged again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.statements.estimate import Finding
from mipaudit.statements.policy import (
    CheckStatus,
    OnInconclusive,
    PolicyCheck,
    Waiver,
    covers,
    limits_copies,
    unpromised,
)
from mipaudit.statements.text.printable_names import quoted_name, safe_name, safe_text

if TYPE_CHECKING:
    from datetime import date

    from mipaudit.statements.claim import Claim
    from mipaudit.statements.reports.any_report import AnyReport

VerdictStatus = Literal["met", "waived", "not_met", "inconclusive", "no_policy"]
_GRAVEST_FIRST: Final[tuple[CheckStatus, ...]] = ("not_met", "inconclusive", "met")
NO_LIMIT: Final = "no limit was given to compare with"
# The code of a finding: records were released word for word.
COPIES: Final = "exact_copies"
COMMON: Final = "common_copies"  # of another: as many others are like it by chance
UNREAD: Final = "copies_unread"  # of a third: whether some members were, nobody can tell
UNLIMITED: Final = "members are released word for word, and no limit on copies accepts that"
# The code of another: columns that may be scores were left out by rule.
LEFT_OUT: Final = "score_left_out"
CHOSEN: Final = "scores_of_policy"  # a policy file named the score columns
MISSING: Final = "missing_tells"  # rows were left out because of scores that one class lacks
# That of another: ids or files repeat, and rows are taken for independent on the user's word.
ROWS_TAKEN: Final = "rows_taken_as_independent"
_INDEPENDENT: Final = "rows with the same id, or of equal files, are independent"
BLUNTED: Final = "few_coarse_rows"  # few rows are stored coarsely, and all were rounded to them
ROUNDED: Final = (
    "scores were rounded because a few rows are stored coarsely, so that an upper limit holds for "
    "the rounded scores alone; for those the limits are kept"
)
# That of numbers written with more digits than a float64 holds, where others meet them.
DIGITS_LOST: Final = "digits_lost"
LOST: Final = (
    "scores have more digits than a 64-bit float holds, so that an upper limit holds for the "
    "rounded scores alone; for those the limits are kept"
)
# That of sites whose cuts were used, and of which no counts are here; and where the user says that
# nothing is missed with them.
SITES_MISSING: Final = "sites_missing"
PARTS_SKIPPED: Final = "bad_parts_skipped"  # and that of files that cannot be read
SITES_LEFT_OUT: Final = "sites_left_out"
_NOT_COVERED: Final = (
    "sites whose cuts were used are missing, so that the limits do not cover their records"
)
_UNCOUNTED: Final = f"{_NOT_COVERED}; on those of the other sites they are kept"
_NOT_RELEASED: Final = "no record of a site that was left out is in the release"
_UNSEEN: Final = (
    (COPIES, UNLIMITED),
    (UNREAD, "of some members it is unclear whether they are released word for word"),
    (MISSING, "scores that are missing tell the classes apart, and such rows were left out"),
    (BLUNTED, ROUNDED),
    (DIGITS_LOST, LOST),
    (SITES_MISSING, _UNCOUNTED),
)
_ASSUMED: Final = ((ROWS_TAKEN, _INDEPENDENT), (SITES_LEFT_OUT, _NOT_RELEASED))
RECORDS: Final = "the records"  # what stands where a report names a score
INCOMPLETE: Final = (
    "parts of the input cannot be read and were skipped, so that the limits do not cover all "
    "records; on those that were read they are kept"
)
# The codes of all that a verdict weighs, or is told with.
WEIGHED: Final = frozenset({LEFT_OUT, *dict(_UNSEEN), *dict(_ASSUMED)})
_KEPT: Final = ("are kept", "are kept, or accepted by a waiver")
# Why what is met by the limits is open: among the reasons of such a verdict is one of these.
WITHHELD: Final = frozenset(
    reason.replace("are kept", kept)
    for reason in (INCOMPLETE, *(reason for _, reason in _UNSEEN))
    for kept in _KEPT
)
# That of a waiver which is about no limit of the audit.
UNMATCHED: Final = "waiver_unmatched"
_LONGEST_REASON: Final = 2000
SKIPPED: Final = (
    "Some files of the input cannot be read and were left out: nothing here speaks for the "
    "records in them."
)
# What stands before everything else that a report says of its numbers.
_FIRST: Final = {
    ROWS_TAKEN: "Ids or files repeat, and rows are taken for independent because the user says so: "
    "if they are not, no limit here is true.",
    LEFT_OUT: "Columns that may be scores were left out by rule: nothing here speaks for them.",
    BLUNTED: "All scores were rounded to a few that are stored coarsely: no 'at most' here "
    "speaks for the scores as they are.",
    SITES_MISSING: "Sites whose cuts were used are missing: nothing here speaks for their records.",
    DIGITS_LOST: "Scores have more digits than a 64-bit float holds, and may differ in those "
    "alone: no 'at most' here speaks for them.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waived:
    """Checks with their waivers, and what is odd about the waivers."""

    checks: tuple[PolicyCheck, ...]
    findings: tuple[Finding, ...]


def waive(checks: Sequence[PolicyCheck], waivers: Sequence[Waiver], today: date) -> Waived:
    """Mark every check that is not met or open and that a waiver covers.

    A waiver that holds goes before one that has expired. An expired one is marked
    too, because it makes the check fail.

    Args:
        checks: as judged.
        waivers: of the policy.
        today: the day of the run, in UTC.
    """
    return Waived(
        checks=tuple(_marked(check, waivers, today) for check in checks),
        findings=tuple(
            finding
            for number, waiver in enumerate(waivers, start=1)
            for finding in _remarks(number, waiver, checks)
        ),
    )


def promised(checks: Sequence[PolicyCheck], findings: Sequence[Finding]) -> tuple[PolicyCheck, ...]:
    """Return the checks; where a site or a file is missing more of the others settle none."""
    missing = any(found.code in {SITES_MISSING, PARTS_SKIPPED} for found in findings)
    return tuple(unpromised(check) if missing else check for check in checks)


def _marked(check: PolicyCheck, waivers: Sequence[Waiver], today: date) -> PolicyCheck:
    if check.status == "met":
        return check
    found = [waiver for waiver in waivers if covers(waiver, check)]
    holding = next((waiver for waiver in found if not waiver.expired(today)), None)
    if holding is not None:
        return replace(check, waived=holding)
    return replace(check, expired=found[0]) if found else check


def _remarks(number: int, waiver: Waiver, checks: Sequence[PolicyCheck]) -> list[Finding]:
    covered = [check for check in checks if covers(waiver, check)]
    if not covered:
        of = "" if waiver.score is None else f" of {quoted_name(waiver.score)}"
        text = f"Waiver {number} of the policy (on {waiver.quantity}{of}) matches no limit here."
        return [Finding(code=UNMATCHED, serious=True, text=text)]
    if all(check.status == "met" for check in covered):
        text = f"Waiver {number} of the policy (on {waiver.quantity}) is not needed: all is met."
        return [Finding(code="waiver_not_needed", text=text)]
    return []


def stale_words(report: AnyReport, today: date) -> str:
    """Say that a waiver bore the verdict of a report and bears it no longer; empty for none."""
    ended = [one.waived.expires for one in getattr(report, "policy", ()) if _ended(one, today)]
    if not ended:
        return ""
    day = safe_name(min(ended))
    return f"A waiver of the report has expired, after {day}: its file holds the verdict of before."


def _ended(check: Any, today: date) -> bool:  # noqa: ANN401 - of any report
    """Tell whether a waiver bore a check and bears it no longer."""
    waiver = getattr(check, "waived", None)
    return waiver is not None and waiver.expired(today)


def standing(report: Any, today: date) -> Any:  # noqa: ANN401 - of any kind
    """Return a report as its waivers stand: where one has ended, its limit fails."""
    checks = getattr(report, "policy", ())
    if not any(_ended(one, today) for one in checks):
        return report
    checks = tuple(
        replace(one, waived=None, expired=one.waived) if _ended(one, today) else one
        for one in checks
    )
    before = report.verdict
    verdict = reach_verdict(
        checks, getattr(report, "claims", ()), before.on_inconclusive, assuming=before.assuming
    )
    said = judged(verdict, given="limits")
    summary = report.summary.replace(judged(before, given="limits"), said)
    return replace(report, verdict=verdict, summary=summary, policy=checks)


def waiver_note(check: PolicyCheck) -> str:
    """Say who waived a check and why, or that the waiver has expired; empty for neither."""
    if check.waived is not None:
        one = check.waived
        said = check.status.replace("_", " ")
        return f"{said}, accepted by {one.person} until {one.expires}: {one.reason}"
    if check.expired is not None:
        return f"the waiver by {check.expired.person} expired after {check.expired.expires}"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer, with its reasons.

    ``status`` is ``waived`` where every limit is met or waived. ``waived`` counts the checks
    that did not decide because somebody waived them.
    ``on_inconclusive`` is what the policy makes of an open answer: it changes the exit
    code, never ``status``. ``assuming`` is what the user asserts and the answer rests on.
    """

    status: VerdictStatus
    reasons: tuple[str, ...]
    waived: int = 0
    on_inconclusive: OnInconclusive = "review"
    assuming: str | None = None


def verdict_note(verdict: Verdict) -> str:
    """Return what must be said beside the status, such as ``, with 1 waiver``; or nothing."""
    note = "" if verdict.assuming is None else f", assuming that {verdict.assuming}"
    if verdict.waived:
        note += f", with {verdict.waived} {'waiver' if verdict.waived == 1 else 'waivers'}"
    if verdict.status == "inconclusive" and verdict.on_inconclusive != "review":
        passes = verdict.on_inconclusive == "pass"
        note += f", which this policy {'lets pass' if passes else 'counts as a failure'}"
    return note


def left_out_note(findings: Sequence[Finding]) -> str:
    """Return what must be said beside a verdict: of copies, scores and waivers; or nothing."""
    codes = {found.code for found in findings}
    note = "; records are released word for word" if COPIES in codes else ""
    if LEFT_OUT in codes:
        note += "; columns that may be scores were left out"
    if UNMATCHED in codes:
        note += "; a waiver matches no limit"
    return note


def settled(
    verdict: Verdict, findings: Sequence[Finding], checks: Sequence[PolicyCheck] = ()
) -> Verdict:
    """Return the verdict with what it assumes of the rows, and open where it cannot be 'met'.

    Rounding is a function of the score: a leak of the rounded score is one of the score, and
    'not met' stands. An upper limit is of the rounded score alone. Of the records of a site that
    is missing nothing is known; what leaks among the others leaks all the same. No score speaks
    for a member who is released word for word: only a limit on copies among the ``checks`` does.
    """
    codes = {found.code for found in findings}
    if limits_copies(checks):
        codes.discard(COPIES)
    told = [verdict.assuming, *(words for code, words in _ASSUMED if code in codes)]
    assuming = " and that ".join(one for one in told if one)
    verdict = replace(verdict, assuming=assuming or None)
    reasons = [reason for code, reason in _UNSEEN if code in codes]
    if verdict.status in {"met", "waived"} and reasons:
        return _withheld(verdict, *reasons)
    if verdict.status == "inconclusive" and SITES_MISSING in codes:
        # More records of the sites that are here would not settle it.
        said = any(reason.startswith(_NOT_COVERED) for reason in verdict.reasons)
        return verdict if said else replace(verdict, reasons=(_NOT_COVERED, *verdict.reasons))
    return verdict


def _withheld(verdict: Verdict, *why: str) -> Verdict:
    """Return a verdict as open, where the limits alone would not be."""
    kept = _KEPT[verdict.status == "waived"]
    reasons = (one.replace("are kept", kept) for one in why)
    return replace(verdict, status="inconclusive", reasons=(*reasons, *verdict.reasons))


def plain_verdict(checks: Sequence[tuple[CheckStatus, str]]) -> Verdict:
    """Return the verdict over checks that nobody can waive.

    One that is not met decides, then one that is open.

    Args:
        checks: the status of each, and what decided it.
    """
    if not checks:
        return Verdict(status="no_policy", reasons=(NO_LIMIT,))
    held = {status for status, _ in checks}
    gravest: CheckStatus = next(one for one in _GRAVEST_FIRST if one in held)
    return Verdict(
        status=gravest, reasons=tuple(reason for status, reason in checks if status == gravest)
    )


def reach_verdict(
    checks: Sequence[PolicyCheck],
    claims: Sequence[Claim],
    on_inconclusive: OnInconclusive = "review",
    *,
    incomplete: bool = False,
    assuming: str | None = None,
) -> Verdict:
    """Return the verdict over every policy check and claim.

    One check that is not met, one open check whose waiver has expired, or one
    contradicted claim decides; else one inconclusive check; else one that is waived.
    Claims that hold out never turn 'no policy' into 'met': the absence of a
    contradiction proves nothing.

    Args:
        checks: of the policy.
        claims: compared with the data.
        on_inconclusive: what the policy makes of an open answer.
        incomplete: parts of the input could not be read and were left out. Records are then
            missing, perhaps because of what they are: 'met' says too much and becomes
            'inconclusive'. What leaks among the others leaks all the same.
        assuming: what the user asserts, on which checks and claims rest.
    """
    waived = sorted(
        (check for check in checks if check.waived is not None),
        key=lambda check: _GRAVEST_FIRST.index(check.status),
    )
    deciding = [check for check in checks if check.waived is None]
    status, reasons = _decided(deciding, claims, judged=bool(checks))
    accepted = tuple(map(_reason, waived))
    if status == "met" and waived:
        status, reasons = "waived", (*accepted, *reasons)
    elif status != "not_met":
        reasons = (*reasons, *accepted)
    verdict = Verdict(
        status=status,
        reasons=reasons,
        waived=len(waived),
        on_inconclusive=on_inconclusive,
        assuming=assuming if checks or claims else None,
    )
    return _withheld(verdict, INCOMPLETE) if incomplete and status in {"met", "waived"} else verdict


def _decided(
    checks: Sequence[PolicyCheck], claims: Sequence[Claim], *, judged: bool
) -> tuple[VerdictStatus, tuple[str, ...]]:
    broken = [_reason(c) for c in checks if c.status == "not_met" or c.expired is not None]
    broken += [
        f"score {quoted_name(c.score)}: {c.reason}" for c in claims if c.status == "contradicted"
    ]
    if broken:
        return "not_met", tuple(broken)
    notes = tuple(f"score {quoted_name(c.score)}: {c.reason}" for c in claims)
    if not judged:
        return "no_policy", notes or (NO_LIMIT,)
    open_ones = [_reason(c) for c in checks if c.status == "inconclusive"]
    if open_ones:
        return "inconclusive", (*open_ones, *notes)
    return "met", (*map(_reason, checks), *notes)


def _reason(check: PolicyCheck) -> str:
    note = waiver_note(check)
    # The advantage of the records alone is that of no score.
    what = "the blind " if check.score == RECORDS else f"score {quoted_name(check.score)}: "
    if check.quantity == "copies":
        what = ""
    return f"{what}{check.reason}{'; ' if note else ''}{note}"


def led(findings: Sequence[Finding], text: str) -> str:
    """Return the paragraph of a report after what must be known before it is read."""
    codes = {found.code for found in findings}
    copies = [found.text for found in findings if found.code in {COPIES, COMMON}]
    return " ".join([*copies, *(words for code, words in _FIRST.items() if code in codes), text])


def judged(verdict: Verdict, *, given: str = "limit") -> str:
    """Say what the verdict is, and its first reason.

    Args:
        verdict: with a reason at least.
        given: what the user set: ``limit``, or ``limits`` where there may be several.
    """
    reason = safe_text(verdict.reasons[0], longest=_LONGEST_REASON)
    match verdict.status:
        case "met":
            return f"The policy is met{verdict_note(verdict)}: {reason}."
        case "waived":
            note = verdict_note(verdict)
            return f"The policy is not shown to be met, and that is accepted{note}: {reason}."
        case "not_met":
            assuming = "" if verdict.assuming is None else f", assuming that {verdict.assuming}"
            return f"It is not acceptable under the {given} given{assuming}: {reason}."
        case "inconclusive":
            return f"Whether the policy is met is open{verdict_note(verdict)}: {reason}."
        case "no_policy":
            return "No limit was set, so nothing here says that this is acceptable."
