"""The answer that sets the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.audit.claims import Claim
    from mipaudit.audit.policy import PolicyCheck

VerdictStatus = Literal["met", "not_met", "inconclusive", "no_policy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer, with its reasons."""

    status: VerdictStatus
    reasons: tuple[str, ...]


def reach_verdict(checks: Sequence[PolicyCheck], claims: Sequence[Claim]) -> Verdict:
    """Return the verdict over every policy check and claim.

    One check that is not met, or one contradicted claim, decides; else one
    inconclusive check. Claims that hold out never turn 'no policy' into 'met': the
    absence of a contradiction proves nothing.
    """
    broken = [f"score '{c.score}': {c.reason}" for c in checks if c.status == "not_met"]
    broken += [f"score '{c.score}': {c.reason}" for c in claims if c.status == "contradicted"]
    if broken:
        return Verdict(status="not_met", reasons=tuple(broken))
    notes = tuple(f"score '{c.score}': {c.reason}" for c in claims)
    if not checks:
        return Verdict(status="no_policy", reasons=notes or ("no limit was given to compare with",))
    open_ones = [f"score '{c.score}': {c.reason}" for c in checks if c.status == "inconclusive"]
    if open_ones:
        return Verdict(status="inconclusive", reasons=(*open_ones, *notes))
    kept = tuple(f"score '{c.score}': {c.reason}" for c in checks)
    return Verdict(status="met", reasons=kept + notes)
