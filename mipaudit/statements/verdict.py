"""The answer that sets the exit code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.statements.checks.waived import waiver_note
from mipaudit.statements.policy import OnInconclusive  # noqa: TC001 - the codec reads it

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.statements.claim import Claim
    from mipaudit.statements.finding import Finding
    from mipaudit.statements.policy import CheckStatus, PolicyCheck

VerdictStatus = Literal["met", "not_met", "inconclusive", "no_policy"]

_GRAVEST_FIRST: Final[tuple[CheckStatus, ...]] = ("not_met", "inconclusive", "met")
NO_LIMIT: Final = "no limit was given to compare with"
# The code of a finding: records were released word for word.
COPIES: Final = "exact_copies"
# The code of another: columns that may be scores were left out by rule.
LEFT_OUT: Final = "score_left_out"
# That of another: ids or files repeat, and rows are taken for independent on the user's word.
ROWS_TAKEN: Final = "rows_taken_as_independent"
_INDEPENDENT: Final = "rows with the same id, or of equal files, are independent"
# Of another: few rows are stored coarsely, and all were rounded to them.
BLUNTED: Final = "few_coarse_rows"
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
_UNSEEN: Final = ((BLUNTED, ROUNDED), (DIGITS_LOST, LOST))
RECORDS: Final = "the records"  # what stands where a report names a score
INCOMPLETE: Final = (
    "parts of the input cannot be read and were skipped, so that the limits do not cover all "
    "records; on those that were read they are kept"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer, with its reasons.

    ``waived`` counts the checks that did not decide because somebody waived them.
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
    """Return what must be said beside a verdict: of copies, and of scores left out; or nothing."""
    codes = {found.code for found in findings}
    note = "; records are released word for word" if COPIES in codes else ""
    if LEFT_OUT in codes:
        note += "; columns that may be scores were left out"
    return note


def settled(verdict: Verdict, findings: Sequence[Finding]) -> Verdict:
    """Return the verdict with what it assumes of the rows, and open where it cannot be 'met'.

    Rounding is a function of the score: a leak of the rounded score is one of the score, and
    'not met' stands. An upper limit is of the rounded score alone.
    """
    codes = {found.code for found in findings}
    if ROWS_TAKEN in codes:
        told = (verdict.assuming, _INDEPENDENT)
        verdict = replace(verdict, assuming=" and that ".join(one for one in told if one))
    reasons = [reason for code, reason in _UNSEEN if code in codes]
    if verdict.status == "met" and reasons:
        return replace(verdict, status="inconclusive", reasons=(*reasons, *verdict.reasons))
    return verdict


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
    contradicted claim decides; else one inconclusive check. A waived check does not
    decide. Claims that hold out never turn 'no policy' into 'met': the absence of a
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
    waived = [check for check in checks if check.waived is not None]
    deciding = [check for check in checks if check.waived is None]
    status, reasons = _decided(deciding, claims, judged=bool(checks))
    if incomplete and status == "met":
        status, reasons = "inconclusive", (INCOMPLETE, *reasons)
    if status != "not_met":
        reasons = (*reasons, *map(_reason, waived))
    return Verdict(
        status=status,
        reasons=reasons,
        waived=len(waived),
        on_inconclusive=on_inconclusive,
        assuming=assuming if checks or claims else None,
    )


def _decided(
    checks: Sequence[PolicyCheck], claims: Sequence[Claim], *, judged: bool
) -> tuple[VerdictStatus, tuple[str, ...]]:
    broken = [_reason(c) for c in checks if c.status == "not_met" or c.expired is not None]
    broken += [f"score '{c.score}': {c.reason}" for c in claims if c.status == "contradicted"]
    if broken:
        return "not_met", tuple(broken)
    notes = tuple(f"score '{c.score}': {c.reason}" for c in claims)
    if not judged:
        return "no_policy", notes or (NO_LIMIT,)
    open_ones = [_reason(c) for c in checks if c.status == "inconclusive"]
    if open_ones:
        return "inconclusive", (*open_ones, *notes)
    return "met", (*map(_reason, checks), *notes)


def _reason(check: PolicyCheck) -> str:
    note = waiver_note(check)
    # The advantage of the records alone is that of no score.
    what = "the blind " if check.score == RECORDS else f"score '{check.score}': "
    if check.quantity == "copies":
        what = ""
    return f"{what}{check.reason}{'; ' if note else ''}{note}"
