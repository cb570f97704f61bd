"""Claims and limits of policies in words: what was promised beside what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.wording import STATUS, plain
from mipaudit.statements.policy import checked_name, checked_where
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
)

if TYPE_CHECKING:
    from mipaudit.statements.claim import Claim
    from mipaudit.statements.policy import PolicyCheck


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
