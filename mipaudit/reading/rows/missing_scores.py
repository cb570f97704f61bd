"""Scores that are missing, where rows without one are left out: that may tell the classes apart."""

from __future__ import annotations

from typing import Final

from mipaudit.statements.estimate import Finding
from mipaudit.statements.verdict import MISSING

_SURE: Final = 0.001


def missing_findings(members: tuple[int, int], holdout: tuple[int, int]) -> tuple[Finding, ...]:
    """Return that the classes surely differ in how many rows were left out; nothing if not.

    Fisher's exact test in both directions, p below .001 together.

    Args:
        members: how many lack a score, and how many have one.
        holdout: likewise.
    """
    from mipaudit.maths.exact_tests import larger_share_p

    sides = [(gone, gone + left) for gone, left in (members, holdout)]
    if not all(whole for _, whole in sides):
        return ()
    p_values = (larger_share_p(*one, *other) for one, other in (sides, sides[::-1]))
    if min(p_values) > _SURE / 2:
        return ()
    return (Finding.of(MISSING),)
