"""Records that a release holds word for word: counted, told first, and limited by a policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mipaudit.statements.estimate import Finding
from mipaudit.statements.policy import PolicyCheck, check_status
from mipaudit.statements.verdict import COPIES, RECORDS

# The column of a score file that says of each record whether it was released.
COPY_COLUMN: Final = "exact_copy"
_SILENT: Final = (
    "how many members the release holds word for word is not told of all records: the input lacks "
    f"the column {COPY_COLUMN}, which `mipaudit query` writes, or it is neither 0 nor 1"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """How many records equal a released one in every column that was compared.

    Attributes:
        members: that are copied.
        holdout: likewise.
        told_members: members of which the input says whether they are.
        told_holdout: likewise.
        n_members: members that were audited.
        n_holdout: likewise.
    """

    members: int
    holdout: int
    told_members: int
    told_holdout: int
    n_members: int
    n_holdout: int


def copy_findings(copies: Copies | None) -> tuple[Finding, ...]:
    """Return that records were released word for word; nothing where none is known to be."""
    if copies is None or not copies.members + copies.holdout:
        return ()
    text = (
        f"Exact copies: {_of(copies.members, copies.told_members, 'members')} and "
        f"{_of(copies.holdout, copies.told_holdout, 'holdout records')} stand in the release word "
        "for word. No limit on a score speaks for them; `max_copies` 0 forbids it."
    )
    return (Finding(code=COPIES, serious=True, text=text),)


def _of(count: int, told: int, noun: str) -> str:
    return f"{count:,} of {told:,} {noun}"


def copy_checks(limit: int | None, copies: Copies | None) -> Sequence[PolicyCheck]:
    """Return the check of how many members may be copied; nothing without a limit.

    Args:
        limit: the most that may be, at least 0, or None.
        copies: as the input tells; None where it says nothing.
    """
    if limit is None:
        return ()
    known = copies is not None and copies.told_members == copies.n_members
    lower = None if copies is None else float(copies.members)
    upper = lower if known else None
    status = check_status(limit, lower, upper)
    reason = _SILENT
    if copies is not None and status != "inconclusive":
        verb = "above" if status == "not_met" else "within"
        reason = (
            f"{_of(copies.members, copies.told_members, 'members')} stand in the release word for "
            f"word, {verb} the limit of {limit} "
            f"(and {_of(copies.holdout, copies.told_holdout, 'holdout records')})"
        )
    return (
        PolicyCheck(
            quantity="copies",
            score=RECORDS,
            limit=float(limit),
            against="any",
            lower=lower,
            upper=upper,
            status=status,
            reason=reason,
        ),
    )
