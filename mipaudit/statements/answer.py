"""What a verdict answers: its status as a code, what decided it, and what must be said beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.model.message import Message
from mipaudit.statements.verdict import COPIES, LEFT_OUT, UNMATCHED

if TYPE_CHECKING:
    from mipaudit.model.check import Check
    from mipaudit.model.message import Finding
    from mipaudit.statements.verdict import Verdict

_GRAVEST_FIRST: Final = ("not_met", "inconclusive", "met")


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
    alike = [_effect(one) for one in checks].count(verdict.status)
    reason = _reason(verdict, checks, score)
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


def _effect(check: Check) -> str:
    """Return what a check does to the verdict: with a waiver that has expired it fails."""
    return "not_met" if check.expired is not None else check.status


def used(check: Check) -> float:
    """Return how much of a limit that is kept is used up."""
    return 0.0 if check.upper is None or not check.limit else check.upper / check.limit


def _reason(verdict: Verdict, checks: Sequence[Check], score: str | None) -> Message:
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
