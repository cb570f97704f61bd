"""The answer that sets the exit code: waivers, the verdict, and what decided it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.model.message import Finding, Message
from mipaudit.statements.copies import (
    COPIES,
    RECORDS,
    UNLIMITED,
    UNREAD,
    Copies,
    copy_checks,
    with_copies,
)
from mipaudit.statements.policy import OnInconclusive, Policy, covers, limits_copies, unpromised
from mipaudit.statements.provenance import Setting, waiver_day

if TYPE_CHECKING:
    from datetime import date

    from mipaudit.model.row import Check, CheckStatus, Waiver
    from mipaudit.statements.any_report import AnyReport
    from mipaudit.statements.claim import Claim

VerdictStatus = Literal["met", "waived", "not_met", "inconclusive", "no_policy"]
_GRAVEST_FIRST: Final[tuple[CheckStatus, ...]] = ("not_met", "inconclusive", "met")

# Codes of findings. Columns that may be scores were left out by rule; a policy file named the score
# columns; rows were left out because of scores that one class lacks.
LEFT_OUT: Final = "score_left_out"
CHOSEN: Final = "scores_of_policy"
MISSING: Final = "missing_tells"
# Ids or files repeat, and rows are taken for independent on the user's word; few rows are stored
# coarsely, and all were rounded to them.
ROWS_TAKEN: Final = "rows_taken_as_independent"
BLUNTED: Final = "few_coarse_rows"
# The cuts of sites were used of which no counts are here; the user says that nothing is missed with
# them; and files cannot be read.
SITES_MISSING: Final = "sites_missing"
SITES_LEFT_OUT: Final = "sites_left_out"
PARTS_SKIPPED: Final = "bad_parts_skipped"
# A waiver is about no limit of the audit.
UNMATCHED: Final = "waiver_unmatched"

# Codes of reasons: parts of the input were left out; a site is missing; the verdict is of a report.
INCOMPLETE: Final = "open_parts_skipped"
REJUDGED: Final = "judged_again"
# Codes of findings, with those of the reasons why what the limits meet is open all the same.
_UNSEEN: Final = {
    COPIES: UNLIMITED,
    UNREAD: "open_copies_unread",
    MISSING: "open_missing_tells",
    BLUNTED: "open_rounded",
    SITES_MISSING: "open_sites_missing",
}
# Likewise, with the reasons that stand first where the limits leave the verdict open anyhow.
_UNSETTLED: Final = {COPIES: "copies_not_accepted", SITES_MISSING: "sites_not_covered"}
_ASSUMED: Final = {
    ROWS_TAKEN: "rows with the same id, or of equal files, are independent",
    SITES_LEFT_OUT: "the release has no record of the sites left out",
}
# The codes of all that a verdict weighs, or is told with.
WEIGHED: Final = frozenset({LEFT_OUT, *_UNSEEN, *_ASSUMED})
# Why what is met by the limits is open: among the reasons of such a verdict is one of these.
WITHHELD: Final = frozenset({INCOMPLETE, *_UNSEEN.values()})


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

    @property
    def limitation(self) -> Message:
        """How sure a verdict is that was reached without the data."""
        return Message.of(REJUDGED, limits=self.limits, confidence=self.confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a policy makes of the limits that were found.

    Attributes:
        checks: with their waivers, that of copies first.
        verdict: over the checks, and what is known of the rows.
        told: the findings, which say of the copies what the policy makes of them.
        remarks: what is odd about the waivers.
    """

    checks: tuple[Check, ...]
    verdict: Verdict
    told: tuple[Finding, ...]
    remarks: tuple[Finding, ...]


def decide(
    policy: Policy,
    checks: Sequence[Check],
    findings: Sequence[Finding],
    copies: Copies | None,
    *,
    claims: Sequence[Claim] = (),
    incomplete: bool = False,
    assuming: str | None = None,
) -> Decision:
    """Return what a policy makes of limits, whether the data or a report gave them.

    Args:
        policy: its waivers, its limit on copies, and what it makes of an open answer.
        checks: its limits beside what was found.
        findings: what is known of the rows.
        copies: as the input tells.
        claims: compared with the data.
        incomplete: as in `reach_verdict`.
        assuming: likewise.
    """
    told = with_copies(findings, copies, policy.max_copies)
    if any(one.code in {SITES_MISSING, PARTS_SKIPPED} for one in told):
        # Where a site or a file is missing more of the others settle nothing.
        checks = [unpromised(one) for one in checks]
    today = waiver_day()
    every = (
        *copy_checks(policy.max_copies, copies),
        *(_waived(one, policy.waivers, today) for one in checks),
    )
    verdict = reach_verdict(
        every, claims, policy.on_inconclusive, incomplete=incomplete, assuming=assuming
    )
    return Decision(
        checks=every,
        verdict=settled(verdict, told, every),
        told=told,
        remarks=_waiver_remarks(policy.waivers, checks),
    )


def _waived(check: Check, waivers: Sequence[Waiver], today: date) -> Check:
    """Return a check with the waiver that covers it, if it is open or not met.

    A waiver that holds goes before one that has expired. An expired one is marked too, because it
    makes the check fail.
    """
    found = [one for one in waivers if check.status != "met" and covers(one, check)]
    holding = next((one for one in found if not one.expired(today)), None)
    if holding is not None:
        return replace(check, waived=holding)
    return replace(check, expired=found[0]) if found else check


def _waiver_remarks(waivers: Sequence[Waiver], checks: Sequence[Check]) -> tuple[Finding, ...]:
    """Return which waivers are about no limit, or about limits that are kept without them."""
    found = []
    for number, one in enumerate(waivers, start=1):
        covered = {check.status for check in checks if covers(one, check)}
        if not covered:
            values = {"number": number, "quantity": one.quantity, "score": one.score}
            found.append(Finding.of(UNMATCHED, **values))
        elif covered == {"met"}:
            found.append(Finding.of("waiver_not_needed", number=number, quantity=one.quantity))
    return tuple(found)


def _ended(report: AnyReport) -> list[Check]:
    """Return the checks of any report that a waiver bore, and bears no longer."""
    checks: Sequence[Any] = getattr(report, "policy", ())
    waivers = [getattr(one, "waived", None) for one in checks]
    pairs, today = zip(checks, waivers, strict=True), waiver_day()
    return [one for one, waiver in pairs if waiver is not None and waiver.expired(today)]


def stale_waiver(report: AnyReport) -> Finding | None:
    """Return that a waiver bore the verdict of a report and bears it no longer; None for none."""
    days = [one.waived.expires for one in _ended(report) if one.waived]
    return Finding.of("waiver_expired", day=min(days)) if days else None


def standing(report: Any) -> Any:  # noqa: ANN401 - of any kind
    """Return a report as its waivers stand: where one has ended, its limit fails."""
    ended = _ended(report)
    if not ended:
        return report
    checks = tuple(
        replace(one, waived=None, expired=one.waived) if one in ended else one
        for one in report.policy
    )
    before = report.verdict
    verdict = reach_verdict(
        checks, getattr(report, "claims", ()), before.on_inconclusive, assuming=before.assuming
    )
    return replace(report, verdict=verdict, policy=checks)


def settled(verdict: Verdict, findings: Sequence[Finding], checks: Sequence[Check] = ()) -> Verdict:
    """Return the verdict with what it assumes of the rows, and open where it cannot be 'met'.

    Rounding is a function of the score: a leak of the rounded score is one of the score, and
    'not met' stands. An upper limit is of the rounded score alone. Of the records of a site that
    is missing nothing is known; what leaks among the others leaks all the same. No score speaks
    for a member who is released unchanged: only a limit on copies among the ``checks`` does.
    """
    codes = {found.code for found in findings}
    if limits_copies(checks):
        codes.discard(COPIES)
    told = [verdict.assuming, *(words for code, words in _ASSUMED.items() if code in codes)]
    verdict = replace(verdict, assuming=" and that ".join(filter(None, told)) or None)
    reasons = [reason for code, reason in _UNSEEN.items() if code in codes]
    if verdict.status in {"met", "waived"} and reasons:
        return _withheld(verdict, *reasons)
    # More records like these would not settle what is open for such a reason.
    said = {one.code for one in verdict.reasons}
    unsettled = [
        Message(own)
        for code, own in _UNSETTLED.items()
        if code in codes and not {own, _UNSEEN[code]} & said
    ]
    if verdict.status == "inconclusive" and unsettled:
        return replace(verdict, reasons=(*unsettled, *verdict.reasons))
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
    waived = [one for one in checks if one.waived is not None]
    waived.sort(key=lambda one: _GRAVEST_FIRST.index(one.status))
    status, reasons = _decided(_deciding(checks), claims, judged=bool(checks))
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


def _deciding(checks: Sequence[Check]) -> list[Check]:
    """Return the checks that nobody waived."""
    return [one for one in checks if one.waived is None]


def _decided(
    checks: Sequence[Check], claims: Sequence[Claim], *, judged: bool
) -> tuple[VerdictStatus, tuple[Message, ...]]:
    notes = tuple(_of_score(one.reason, one.score) for one in claims)
    broken = [_reason(one) for one in checks if _effect(one) == "not_met"]
    pairs = zip(notes, claims, strict=True)
    broken += [note for note, one in pairs if one.status == "contradicted"]
    if broken:
        return "not_met", tuple(broken)
    if not judged:
        return "no_policy", notes or (Message("no_limit"),)
    open_ones = [_reason(one) for one in checks if one.status == "inconclusive"]
    if open_ones:
        return "inconclusive", (*open_ones, *notes)
    return "met", (*map(_reason, checks), *notes)


def _effect(check: Check) -> CheckStatus:
    """Return what a check does to the verdict: with a waiver that has expired it fails."""
    return "not_met" if check.expired is not None else check.status


def _reason(check: Check) -> Message:
    """Return what a check decided, of which score, and who waived it."""
    found = _with_waiver(check)
    # The advantage of the records alone is that of no score, and copies are of none.
    if check.quantity == "copies" or not check.score:
        return found
    if check.score == RECORDS:
        return Message.of("of_records", reason=found)
    if check.versus is not None and check.report is None:
        return Message.of("of_query", query=check.score, reason=found)
    return _of_score(found, check.score, check.report)


def _of_score(reason: Message, score: str, report: str | None = None) -> Message:
    return Message.of("of_score", score=score, report=report, reason=reason)


def _with_waiver(check: Check) -> Message:
    """Return what decided a check, with who waived it, or that the waiver has expired."""
    if one := check.waived:
        return Message.of(
            "waived",
            reason=check.reason,
            status=check.status,
            person=one.person,
            expires=one.expires,
            because=one.reason,
        )
    if one := check.expired:
        return Message.of(
            "waiver_ended", reason=check.reason, person=one.person, expires=one.expires
        )
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
    effects: list[str] = [_effect(one) for one in checks]
    alike = effects.count(verdict.status)
    reason = _decisive(verdict, checks, score)
    beside = _beside(verdict, findings)
    if "copies" in reason.code:  # where copies decide, the reason says it
        beside.pop("copies")
    if reason.code in _UNSETTLED.values():
        alike = 0  # no check said so
    return Message.of(
        f"answer_{verdict.status}",
        reason=reason,
        alike=alike if alike and len(checks) > 1 else None,
        limits=len(checks),
        undecided=(verdict.status == "not_met" and effects.count("inconclusive")) or None,
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
    counted_as = verdict.on_inconclusive if verdict.status == "inconclusive" else None
    return {
        "assuming": verdict.assuming,
        "passes": counted_as == "pass" or None,
        "fails": counted_as == "fail" or None,
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


def used(check: Check) -> float:
    """Return how much of a limit that is kept is used up."""
    return 0.0 if check.upper is None or not check.limit else check.upper / check.limit


def _decisive(verdict: Verdict, checks: Sequence[Check], score: str | None) -> Message:
    """Return what decided; of limits that are kept, what comes closest to its own."""
    reason, deciding = verdict.reasons[0], _deciding(checks)
    if verdict.status == "met" and deciding:
        reason = verdict.reasons[max(range(len(deciding)), key=lambda at: used(deciding[at]))]
    if reason.code != "of_score":
        return reason
    inner = reason.get("reason")
    if reason.get("score") == score and isinstance(inner, Message):
        return inner
    return replace(reason, code="of_named")
