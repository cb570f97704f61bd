"""Checks that somebody waived, until a day: marked, and told with who and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mipaudit.statements.finding import Finding
from mipaudit.statements.waiver import EVERY_GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from mipaudit.statements.policy import PolicyCheck
    from mipaudit.statements.waiver import Waiver


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


def covers(waiver: Waiver, check: PolicyCheck) -> bool:
    """Tell whether a waiver is about a check."""
    asked = (waiver.score, waiver.metric, waiver.fpr)
    found = (check.score, check.metric, check.fpr)
    everyone = waiver.group == EVERY_GROUP and check.group is not None
    return (
        waiver.quantity == check.quantity
        and (everyone or waiver.group == check.group)
        and all(one is None or one == other for one, other in zip(asked, found, strict=True))
    )


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
        text = f"Waiver {number} of the policy (on {waiver.quantity}) matches no limit here."
        return [Finding(code="waiver_unmatched", text=text)]
    if all(check.status == "met" for check in covered):
        text = f"Waiver {number} of the policy (on {waiver.quantity}) is not needed: all is met."
        return [Finding(code="waiver_not_needed", text=text)]
    return []


def waiver_note(check: PolicyCheck) -> str:
    """Say who waived a check and why, or that the waiver has expired; empty for neither."""
    if check.waived is not None:
        one = check.waived
        return f"waived by {one.person} until {one.expires}: {one.reason}"
    if check.expired is not None:
        return f"the waiver by {check.expired.person} expired after {check.expired.expires}"
    return ""
