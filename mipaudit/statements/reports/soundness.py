"""Whether a stored report's verdict follows from the checks that it lists.

A report that was edited so that only its verdict says something else must not pass a gate.
It is no proof against one that was edited with care: for that there is ``verify``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from mipaudit.statements.policy import check_status
from mipaudit.statements.verdict import INCOMPLETE, LOST, ROUNDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.statements.verdict import VerdictStatus

# A limit in other units is compared in those of the advantage: the last digits can differ.
_ROUNDING: Final = 1e-9


def contradiction(report: Any) -> str | None:  # noqa: ANN401 - of any kind
    """Return the place at which a report contradicts itself, or None."""
    if getattr(report, "agrees", None) is not None:
        told = all(part.status != "differs" for part in report.parts)
        return None if report.agrees == told else "$.agrees"
    verdict = getattr(report, "verdict", None)
    if verdict is None:
        return None
    for number, check in enumerate(report.policy):
        if check.status not in _statuses(check):
            return f"$.policy[{number}].status"
    expected = _verdict(report.policy, getattr(report, "claims", ()))
    if expected == "met" and {INCOMPLETE, LOST, ROUNDED} & {*verdict.reasons}:
        expected = "inconclusive"
    return None if verdict.status == expected else "$.verdict.status"


def _statuses(check: Any) -> set[str]:  # noqa: ANN401 - of any kind
    """Return what the limits of a check can have decided."""
    near = _ROUNDING * max(1.0, abs(check.limit))
    limits = (check.limit, check.limit - near, check.limit + near)
    found: set[str] = {
        check_status(one, check.lower, check.upper) for one in limits if math.isfinite(one)
    }
    if getattr(check, "blind", None) is not None and "met" in found:
        found.add("inconclusive")  # it would not be met but for what the records may explain
    return found


def _verdict(checks: Sequence[Any], claims: Sequence[Any]) -> VerdictStatus:
    deciding = [one for one in checks if getattr(one, "waived", None) is None]
    failing = any(one.status == "not_met" for one in deciding)
    expired = any(getattr(one, "expired", None) is not None for one in deciding)
    if failing or expired or any(one.status == "contradicted" for one in claims):
        return "not_met"
    if not checks:
        return "no_policy"
    return "inconclusive" if any(one.status == "inconclusive" for one in deciding) else "met"
