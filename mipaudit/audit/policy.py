"""The release's own limits, and whether each is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.audit.estimate import Attackers, Quantity  # noqa: TC001 - the codec reads them

CheckStatus = Literal["met", "not_met", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The limits that the user set; None where there is none.

    Attributes:
        max_advantage: in (|2p-1|, 1].
        max_eta: in (0, 1/2].
        max_tpr_at_fpr: (TPR, FPR), both in (0, 1).
        against: the class whose upper limit must be below; None for the default.
    """

    max_advantage: float | None = None
    max_eta: float | None = None
    max_tpr_at_fpr: tuple[float, float] | None = None
    against: Attackers | None = None

    @property
    def size(self) -> int:
        """Return the number of limits."""
        return sum(
            limit is not None for limit in (self.max_advantage, self.max_eta, self.max_tpr_at_fpr)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCheck:
    """One limit of the policy against one score.

    ``lower`` and ``upper`` are the limits that decide: the lower one shares
    alpha over all (limit, score) pairs, the upper one needs no sharing because
    ``met`` requires every one to pass. ``records_to_settle`` is the total
    number of records that would settle an inconclusive check.
    """

    quantity: Quantity
    score: str
    limit: float
    against: Attackers
    lower: float | None
    upper: float | None
    status: CheckStatus
    reason: str
    fpr: float | None = None
    records_to_settle: int | None = None


def check_status(limit: float, lower: float | None, upper: float | None) -> CheckStatus:
    """Return whether a limit is kept: above it surely, below it surely, or neither."""
    if lower is not None and lower > limit:
        return "not_met"
    if upper is not None and upper <= limit:
        return "met"
    return "inconclusive"


def check_reason(check: PolicyCheck) -> str:
    """Say in one sentence what decided a check."""
    name = check.quantity if check.fpr is None else f"TPR at FPR {check.fpr:g}"
    match check.status:
        case "not_met":
            return f"{name} is at least {check.lower:.4f}, above the limit of {check.limit:g}"
        case "met":
            return (
                f"{name} is at most {check.upper:.4f} {against_phrase(check.against)}, "
                f"within the limit of {check.limit:g}"
            )
        case "inconclusive":
            return _open_reason(name, check)


def against_phrase(attackers: Attackers) -> str:
    """Name a class of attackers, to follow a quantity."""
    match attackers:
        case "any":
            return "for any attacker"
        case "thresholds":
            return "for attackers with one threshold"
        case "intervals-1":
            return "for attackers with one interval"
        case "intervals-4":
            return "for attackers with up to four intervals"
        case "bins-16":
            return "for attackers with 16 equal-mass bins"


def _open_reason(name: str, check: PolicyCheck) -> str:
    lower = "unknown" if check.lower is None else f"{check.lower:.4f}"
    if check.upper is None:
        return (
            f"{name} is at least {lower}, and no upper limit exists {against_phrase(check.against)}"
            f": the limit of {check.limit:g} cannot be shown to be met; name a class with --against"
        )
    advice = (
        f"about {check.records_to_settle:,} records in all would settle it"
        if check.records_to_settle is not None
        else "the best estimate is too close to the limit to promise that more records settle it"
    )
    return (
        f"{name} lies between {lower} and {check.upper:.4f} {against_phrase(check.against)}, "
        f"and the limit is {check.limit:g}: {advice}"
    )
