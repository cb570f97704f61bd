"""Records that a release holds unchanged: counted, told first, and limited by a policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Check
from mipaudit.statements.policy import check_status

# Codes of findings: records were released unchanged; as many others are like it by chance;
# whether some members were, nobody can tell. And of a reason: no limit says how many may be.
COPIES: Final = "exact_copies"
COMMON: Final = "common_copies"
UNREAD: Final = "copies_unread"
UNLIMITED: Final = "open_copies"
RECORDS: Final = "the records"  # what stands where a report names a score
# The column of a score file that says of each record whether it was released.
COPY_COLUMN: Final = "exact_copy"
# The generator never saw the holdout: a share of copies there that is near to that of the members
# is what chance does. Both must say so: few copies are no proof that there is a difference.
_NEAR: Final = 0.5
_SURELY_MORE: Final = 0.05
_MOST: Final = 10**10


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

    @property
    def chance(self) -> bool:
        """Tell whether the members that are copied are as many as chance copies.

        The holdout's share is at least half of theirs, and Fisher's exact test, one-sided, does
        not show that theirs is larger (p > .05).
        """
        from mipaudit.maths.exact_tests import larger_share_p

        members, holdout = self.sizes
        # A report that others wrote may hold any numbers.
        sound = 0 <= self.members <= members < _MOST and 0 <= self.holdout <= holdout < _MOST
        if not sound or not self.members * holdout:
            return sound and not self.members
        near = self.holdout * members >= _NEAR * self.members * holdout
        return near and larger_share_p(self.members, members, self.holdout, holdout) > _SURELY_MORE

    @property
    def sizes(self) -> tuple[int, int]:
        """Of how many of each class they are: rows that are not told of are not copied."""
        # More are told of than were audited where the copies were left out.
        return max(self.told_members, self.n_members), max(self.told_holdout, self.n_holdout)

    def counted(self, limit: int | None) -> dict[str, int | None]:
        """Return what a sentence on the copies names, beside a limit on members."""
        of_members, of_holdout = self.sizes
        return {
            "members": self.members,
            "of_members": of_members,
            "holdout": self.holdout,
            "of_holdout": of_holdout,
            "limit": limit,
        }


def copy_findings(copies: Copies | None, limit: int | None = None) -> tuple[Finding, ...]:
    """Return that records were released unchanged; nothing where none is known to be.

    Args:
        copies: as the input tells; None where it says nothing.
        limit: the most members that may be, at least 0, or None.
    """
    if copies is None or not copies.members + copies.holdout:
        return ()
    code, case = COPIES, "unlimited"
    if limit is not None:
        case = "above_limit" if copies.members > limit else "accepted"
    elif copies.chance:
        code, case = COMMON, "both" if copies.members else "holdout"
    return (Finding.of(code, case=case, **copies.counted(limit)),)


def unread_findings(members: int) -> tuple[Finding, ...]:
    """Return that of some members the column says neither yes nor no; nothing where of none."""
    return (Finding.of(UNREAD, members=members),) * bool(members)


def with_copies(
    findings: Sequence[Finding], copies: Copies | None, limit: int | None
) -> tuple[Finding, ...]:
    """Return findings that say of the copies what a limit, or none, makes of them.

    Args:
        findings: of the input; of summaries, or of a report, as they were said.
        copies: as the input tells; where it says nothing, the findings stay as they are.
        limit: the most members that may be, at least 0, or None.
    """
    if copies is None:
        return tuple(findings)
    others = (one for one in findings if one.code not in {COPIES, COMMON})
    return (*copy_findings(copies, limit), *others)


def copy_checks(limit: int | None, copies: Copies | None) -> Sequence[Check]:
    """Return the check of how many members may be copied; nothing without a limit.

    Args:
        limit: the most that may be, at least 0, or None.
        copies: as the input tells; None where it says nothing.
    """
    if limit is None:
        return ()
    known = copies is not None and copies.told_members >= copies.n_members
    lower = None if copies is None else float(copies.members)
    upper = lower if known else None
    status = check_status(limit, lower, upper)
    reason = Message("copies_untold")
    if copies is not None and status != "inconclusive":
        code = "copies_above_limit" if status == "not_met" else "copies_within_limit"
        reason = Message.of(code, **copies.counted(limit))
    return (
        Check(
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
