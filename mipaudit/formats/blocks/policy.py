"""The policy as blocks: every limit beside what was found, and who waived which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.blocks.judgement import check_limits, check_state, limit_name
from mipaudit.formats.document import Bullets, Grid, Heading
from mipaudit.formats.wording import AT_LEAST, AT_MOST, plain, quoted
from mipaudit.statements.checks.waived import waiver_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.formats.document import Section
    from mipaudit.statements.policy import PolicyCheck


def policy_section(checks: Sequence[PolicyCheck]) -> Section:
    """Return the section on a policy; empty where there is none."""
    if not checks:
        return ()
    rows = tuple(
        (
            limit_name(check),
            quoted(check.score),
            check.against,
            check_state(check),
            *check_limits(check),
        )
        for check in checks
    )
    grid = Grid(
        caption="The limits of the policy beside what was found",
        head=("limit", "score", "against", "status", AT_LEAST, AT_MOST),
        rows=rows,
        words=4,
        marked=frozenset(at for at, one in enumerate(checks) if one.status != "met"),
    )
    notes = waiver_texts(checks)
    return (Heading(text="Policy"), grid, *((Bullets(texts=notes),) if notes else ()))


def waiver_texts(checks: Sequence[PolicyCheck]) -> tuple[str, ...]:
    """Return one text for each check with a waiver: which, and who, why and until when."""
    return tuple(
        f"{limit_name(check)}, score {quoted(check.score)}: {plain(waiver_note(check))}."
        for check in checks
        if waiver_note(check)
    )
