"""The answer that sets the exit code: waivers, the verdict, and what decided it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.model.message import Finding, Message
from mipaudit.statements.policy import OnInconclusive, covers, limits_copies, unpromised
from mipaudit.statements.provenance import Setting  # noqa: TC001 - the codec reads it

if TYPE_CHECKING:
    from datetime import date

    from mipaudit.model.row import Check, CheckStatus, Waiver
    from mipaudit.statements.any_report import AnyReport
    from mipaudit.statements.claim import Claim

VerdictStatus = Literal["met", "waived", "not_met", "inconclusive", "no_policy"]
_GRAVEST_FIRST: Final[tuple[CheckStatus, ...]] = ("not_met", "inconclusive", "met")
NO_LIMIT: Final = Message("no_limit")
# The code of a finding: records were released word for word.
COPIES: Final = "exact_copies"
COMMON: Final = "common_copies"  # of another: as many others are like it by chance
UNREAD: Final = "copies_unread"  # of a third: whether some members were, nobody can tell
UNLIMITED: Final = "open_copies"  # of a reason: no limit says how many copies may be
# The code of another: columns that may be scores were left out by rule.
LEFT_OUT: Final = "score_left_out"
CHOSEN: Final = "scores_of_policy"  # a policy file named the score columns
MISSING: Final = "missing_tells"  # rows were left out because of scores that one class lacks
# That of another: ids or files repeat, and rows are taken for independent on the user's word.
ROWS_TAKEN: Final = "rows_taken_as_independent"
_INDEPENDENT: Final = "rows with the same id, or of equal files, are independent"
BLUNTED: Final = "few_coarse_rows"  # few rows are stored coarsely, and all were rounded to them
# That of sites whose cuts were used, and of which no counts are here; and where the user says that
# nothing is missed with them.
SITES_MISSING: Final = "sites_missing"
PARTS_SKIPPED: Final = "bad_parts_skipped"  # and that of files that cannot be read
SITES_LEFT_OUT: Final = "sites_left_out"
_NOT_RELEASED: Final = "no record of a site that was left out is in the release"
_SITES: Final = "open_sites_missing"
# Codes of findings, with those of the reasons why what the limits meet is open all the same.
_UNSEEN: Final = (
    (COPIES, UNLIMITED),
    (UNREAD, "open_copies_unread"),
    (MISSING, "open_missing_tells"),
    (BLUNTED, "open_rounded"),
    (SITES_MISSING, _SITES),
)
_ASSUMED: Final = ((ROWS_TAKEN, _INDEPENDENT), (SITES_LEFT_OUT, _NOT_RELEASED))
RECORDS: Final = "the records"  # what stands where a report names a score
INCOMPLETE: Final = "open_parts_skipped"  # of a reason: parts of the input were left out
# The codes of all that a verdict weighs, or is told with.
WEIGHED: Final = frozenset({LEFT_OUT, *dict(_UNSEEN), *dict(_ASSUMED)})
# Why what is met by the limits is open: among the reasons of such a verdict is one of these.
WITHHELD: Final = frozenset({INCOMPLETE, *(code for _, code in _UNSEEN)})
# That of a waiver which is about no limit of the audit.
UNMATCHED: Final = "waiver_unmatched"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waived:
    """Checks with their waivers, and what is odd about the waivers."""

    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]


def waive(checks: Sequence[Check], waivers: Sequence[Waiver], today: date) -> Waived:
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


def promised(checks: Sequence[Check], findings: Sequence[Finding]) -> tuple[Check, ...]:
    """Return the checks; where a site or a file is missing more of the others settle none."""
    missing = any(found.code in {SITES_MISSING, PARTS_SKIPPED} for found in findings)
    return tuple(unpromised(check) if missing else check for check in checks)


def _marked(check: Check, waivers: Sequence[Waiver], today: date) -> Check:
    if check.status == "met":
        return check
    found = [waiver for waiver in waivers if covers(waiver, check)]
    holding = next((waiver for waiver in found if not waiver.expired(today)), None)
    if holding is not None:
        return replace(check, waived=holding)
    return replace(check, expired=found[0]) if found else check


def _remarks(number: int, waiver: Waiver, checks: Sequence[Check]) -> list[Finding]:
    covered = [check for check in checks if covers(waiver, check)]
    if not covered:
        return [Finding.of(UNMATCHED, number=number, quantity=waiver.quantity, score=waiver.score)]
    if all(check.status == "met" for check in covered):
        return [Finding.of("waiver_not_needed", number=number, quantity=waiver.quantity)]
    return []


def stale_waiver(report: AnyReport, today: date) -> Finding | None:
    """Return that a waiver bore the verdict of a report and bears it no longer; None for none."""
    ended = [one for one in getattr(report, "policy", ()) if _ended(one, today)]
    days = [one.waived.expires for one in ended]
    return Finding.of("waiver_expired", day=min(days)) if days else None


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
    return replace(report, verdict=verdict, policy=checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer, with its reasons.

    ``status`` is ``waived`` where every limit is met or waived. ``waived`` counts the checks
    that did not decide because somebody waived them.
    ``on_inconclusive`` is what the policy makes of an open answer: it changes the exit
    code, never ``status``. ``assuming`` is what the user asserts and the answer rests on.
    """

    status: VerdictStatus
    reasons: tuple[Message, ...]
    waived: int = 0
    on_inconclusive: OnInconclusive = "review"
    assuming: str | None = None


def settled(verdict: Verdict, findings: Sequence[Finding], checks: Sequence[Check] = ()) -> Verdict:
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
        first = Message("sites_not_covered")
        said = any(one.code in {first.code, _SITES} for one in verdict.reasons)
        return verdict if said else replace(verdict, reasons=(first, *verdict.reasons))
    return verdict


def _withheld(verdict: Verdict, *why: str) -> Verdict:
    """Return a verdict as open, where the limits alone would not be."""
    waived = verdict.status == "waived"
    reasons = (Message.of(code, waived=waived) for code in why)
    return replace(verdict, status="inconclusive", reasons=(*reasons, *verdict.reasons))


def reach_verdict(
    checks: Sequence[Check],
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


def named_verdict(checks: Sequence[Check]) -> Verdict:
    """Return the verdict over limits on named attackers; what is met says of whom it speaks."""
    verdict = reach_verdict(checks, ())
    if verdict.status != "met":
        return verdict
    return replace(verdict, reasons=(*verdict.reasons, Message("of_these_attackers")))


def _decided(
    checks: Sequence[Check], claims: Sequence[Claim], *, judged: bool
) -> tuple[VerdictStatus, tuple[Message, ...]]:
    broken = [_reason(c) for c in checks if c.status == "not_met" or c.expired is not None]
    broken += [_of_score(c) for c in claims if c.status == "contradicted"]
    if broken:
        return "not_met", tuple(broken)
    notes = tuple(map(_of_score, claims))
    if not judged:
        return "no_policy", notes or (NO_LIMIT,)
    open_ones = [_reason(c) for c in checks if c.status == "inconclusive"]
    if open_ones:
        return "inconclusive", (*open_ones, *notes)
    return "met", (*map(_reason, checks), *notes)


def _reason(check: Check) -> Message:
    """Return what a check decided, of which score, and who waived it."""
    found = reason_of(check)
    # The advantage of the records alone is that of no score, and copies are of none.
    if check.quantity == "copies" or not check.score:
        return found
    if check.score == RECORDS:
        return Message.of("of_records", reason=found)
    if check.versus is not None and check.report is None:
        return Message.of("of_query", query=check.score, reason=found)
    return Message.of("of_score", score=check.score, report=check.report, reason=found)


def _of_score(claim: Claim) -> Message:
    return Message.of("of_score", score=claim.score, reason=claim.reason)


def reason_of(check: Check) -> Message:
    """Return what decided a check, with who waived it, or that the waiver has expired."""
    if check.waived is not None:
        one = check.waived
        return Message.of(
            "waived",
            reason=check.reason,
            status=check.status,
            person=one.person,
            expires=one.expires,
            because=one.reason,
        )
    if check.expired is not None:
        ended = {"person": check.expired.person, "expires": check.expired.expires}
        return Message.of("waiver_ended", reason=check.reason, **ended)
    return check.reason


def verdict_answer(
    verdict: Verdict,
    checks: Sequence[Check],
    findings: Sequence[Finding],
    *,
    score: str | None = None,
    alone: bool = False,
) -> Message:
    """Return the answer of a report with limits: ``answer_met``, ``answer_not_met``, ...

    Args:
        verdict: over the checks.
        checks: one at least.
        findings: of the report.
        score: the only one that was audited, which need not be named.
        alone: whether limits that are met are so by the attackers named, and no others.
    """
    alike = sum(_effect(one) == verdict.status for one in checks)
    reason = _decisive(verdict, checks, score)
    beside = _beside(verdict, findings)
    if "copies" in reason.code:  # where copies decide, the reason says it
        beside.pop("copies")
    return Message.of(
        f"answer_{verdict.status}",
        reason=reason,
        alike=alike if alike and len(checks) > 1 else None,
        limits=len(checks),
        alone=(alone and verdict.status == "met") or None,
        waived=verdict.waived or None,
        **beside,
    )


def beside_verdict(verdict: Verdict, findings: Sequence[Finding]) -> Message | None:
    """Return what must be said beside a status, but for waivers; None where nothing must."""
    said = Message.of("verdict_beside", **_beside(verdict, findings))
    return said if said.values else None


def _beside(verdict: Verdict, findings: Sequence[Finding]) -> dict[str, str | bool | None]:
    codes = {one.code for one in findings}
    is_open = verdict.status == "inconclusive"
    return {
        "assuming": verdict.assuming,
        "passes": (is_open and verdict.on_inconclusive == "pass") or None,
        "fails": (is_open and verdict.on_inconclusive == "fail") or None,
        "copies": COPIES in codes or None,
        "left_out": LEFT_OUT in codes or None,
        "unmatched": UNMATCHED in codes or None,
    }


def limits_shown(checks: Sequence[Check], verdict: Verdict) -> tuple[Check, ...]:
    """Return the limits that are not kept, the gravest first.

    Where all are kept it is each limit, with the score that comes closest to it. Nothing where
    there is one alone, which the answer names.
    """
    if verdict.status == "met":
        nearest = sorted(checks, key=lambda one: (one.status != "met", used(one)))
        of = {(one.quantity, one.metric, one.fpr, one.prior, one.group): one for one in nearest}
        shown = list(of.values())[::-1]
    else:
        shown = [one for one in checks if one.status != "met"]
        shown.sort(key=lambda one: (one.waived is not None, _GRAVEST_FIRST.index(_effect(one))))
    return tuple(shown) if len(shown) > 1 else ()


def _effect(check: Check) -> CheckStatus:
    """Return what a check does to the verdict: with a waiver that has expired it fails."""
    return "not_met" if check.expired is not None else check.status


def used(check: Check) -> float:
    """Return how much of a limit that is kept is used up."""
    return 0.0 if check.upper is None or not check.limit else check.upper / check.limit


def _decisive(verdict: Verdict, checks: Sequence[Check], score: str | None) -> Message:
    """Return what decided; of limits that are kept, what comes closest to its own."""
    deciding = [one for one in checks if one.waived is None]
    reason = verdict.reasons[0]
    if verdict.status == "met" and deciding:
        reason = verdict.reasons[max(range(len(deciding)), key=lambda at: used(deciding[at]))]
    if reason.code != "of_score":
        return reason
    inner = reason.get("reason")
    if reason.get("score") == score and isinstance(inner, Message):
        return inner
    return replace(reason, code="of_named")


REJUDGED: Final = "judged_again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """How the verdict of a report came about after the report.

    Attributes:
        limits: how many the verdict is over: those of the policy, and one for a claim.
        confidence: of the verdict; lower than that of the report's figures.
        settings: the limits, with where they came from; the provenance keeps those under
            which the figures were made.
        created: UTC time, by which waivers expire.
    """

    limits: int
    confidence: float
    settings: tuple[Setting, ...]
    created: str


def rejudged_limitation(rejudged: Rejudged) -> Message:
    """Return how sure a verdict is that was reached without the data."""
    return Message.of(REJUDGED, limits=rejudged.limits, confidence=rejudged.confidence)
