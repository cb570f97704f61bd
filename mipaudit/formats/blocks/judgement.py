"""Draws claims and policy limits: what was promised beside what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.rich_page import number_table, words
from mipaudit.formats.wording import AT_LEAST, AT_MOST, CLAIM_MEANING, STATUS, STYLES, plain, quoted
from mipaudit.statements.checks.waived import waiver_note
from mipaudit.statements.policy import checked_name, checked_where
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table
    from rich.text import Text

    from mipaudit.formats.rich_page import Page
    from mipaudit.maths.privacy.attacker_allowance import PublishedBound
    from mipaudit.statements.claim import Claim
    from mipaudit.statements.policy import PolicyCheck


def add_claims(page: Page, claims: Sequence[Claim]) -> None:
    """Write every claim with its status, what it rests on, and the published bounds."""
    if not claims:
        return
    page.heading(f"Claim: {claim_name(claims[0])}")
    page.add(_claim_table(claims))
    page.line("")
    statuses = dict.fromkeys(claim.status for claim in claims)
    rests = dict.fromkeys(claim.rests_on for claim in claims)
    conversions = dict.fromkeys(c.conversion for c in claims if c.conversion)
    page.pairs(
        [
            *((STATUS[status], CLAIM_MEANING[status]) for status in statuses),
            *(("rests on", text) for text in rests),
            *(("conversion", text) for text in conversions),
        ]
    )
    for bounds in dict.fromkeys(claim.bounds for claim in claims if claim.bounds):
        page.line("")
        page.add(_bound_table(bounds))


def add_policy(page: Page, checks: Sequence[PolicyCheck]) -> None:
    """Write every limit of the policy beside what was found."""
    if not checks:
        return
    page.heading("Policy")
    headers = ["limit", "score", AT_LEAST, AT_MOST, "against", ""]
    page.add(number_table(headers, [_policy_row(check) for check in checks]))
    notes = [
        f"{limit_name(check)}, score {quoted(check.score)}: {plain(waiver_note(check))}"
        for check in checks
        if waiver_note(check)
    ]
    if notes:
        page.bullets(notes)


def _policy_row(check: PolicyCheck) -> tuple[Text | str, ...]:
    return (
        words(limit_name(check)),
        words(quoted(check.score)),
        *check_limits(check),
        words(check.against),
        words(check_state(check), style="" if check.waived else STYLES.get(check.status, "")),
    )


def check_limits(check: PolicyCheck) -> tuple[str, str]:
    """Return the lower and the upper limit of a check in figures; counts as they are."""
    if check.quantity == "copies":
        return tuple(
            "-" if one is None else count_text(int(one)) for one in (check.lower, check.upper)
        )  # type: ignore[return-value]
    return (
        lower_text(check.lower) if check.lower is not None else "-",
        upper_text(check.upper) if check.upper is not None else "none",
    )


def check_state(check: PolicyCheck) -> str:
    """Return the status of a check in words, and whether a waiver bears on it."""
    if check.waived is not None:
        return f"{STATUS[check.status]}, waived"
    return STATUS[check.status] + (", waiver expired" if check.expired is not None else "")


def limit_name(check: PolicyCheck) -> str:
    """Return what a check limits, and to what."""
    limit = number_text(check.limit)
    if check.fpr is not None:
        return f"TPR {limit} at FPR {percent_text(check.fpr)}"
    where = checked_where(check)
    return f"{plain(checked_name(check).removesuffix(where))} {limit}{plain(where)}"


def claim_name(claim: Claim) -> str:
    """Return the promise that was made."""
    promise = f"({number_text(claim.epsilon)}, {number_text(claim.delta)})"
    return f"{promise}-differential privacy, adjacency {claim.adjacency}"


def _claim_table(claims: Sequence[Claim]) -> Table:
    rows = [
        (
            words(quoted(claim.score)),
            lower_text(claim.lower),
            "-" if claim.allowed_advantage is None else upper_text(claim.allowed_advantage),
            _status(claim.status),
        )
        for claim in claims
    ]
    return number_table(["score", AT_LEAST, "the claim allows", ""], rows)


def _bound_table(bounds: tuple[PublishedBound, ...]) -> Table:
    rows = [
        (
            words(plain(bound.name)),
            upper_text(bound.advantage),
            words(plain(f"{bound.source}; {bound.assumes}")),
        )
        for bound in bounds
    ]
    return number_table(["published bound", "advantage", "source, and what it assumes"], rows)


def _status(status: str) -> Text:
    return words(STATUS[status], style=STYLES.get(status, ""))
