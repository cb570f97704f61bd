"""Limits on named attackers as blocks, and as what a pipeline waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.blocks.check_cases import CASE_STATUS, no_policy, policy_headline
from mipaudit.formats.document import Case, Grid, Heading
from mipaudit.formats.wording import STATUS
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import number_text
from mipaudit.statements.verdict import left_out_note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mipaudit.formats.document import Section
    from mipaudit.statements.checks.named_limit import StatedCheck
    from mipaudit.statements.finding import Finding
    from mipaudit.statements.verdict import Verdict

_ALONE: Final = ", by these attackers alone"


def stated_headline(
    checks: Sequence[StatedCheck], verdict: Verdict, findings: Sequence[Finding] = ()
) -> str:
    """Return the verdict in a line, and of whom it speaks; empty where no limit was given."""
    if verdict.status != "met":
        return policy_headline(checks, verdict, findings)
    line = policy_headline(checks, verdict).removesuffix(".")
    return f"{line}{_ALONE}{left_out_note(findings)}."


def stated_section(checks: Sequence[StatedCheck], names: Mapping[str, str]) -> Section:
    """Return the section on a policy; empty where there is none.

    Args:
        checks: of the report.
        names: what each subject is called.
    """
    if not checks:
        return ()
    grid = Grid(
        caption="The limits of the policy, and what was found",
        head=("limit on", "status", "why"),
        rows=tuple(
            (_name(one, names), STATUS[one.status], safe_name(one.reason, longest=2000))
            for one in checks
        ),
        words=2,
        prose=True,
        marked=frozenset(at for at, one in enumerate(checks) if one.status != "met"),
    )
    return (Heading(text="Policy"), grid)


def stated_cases(
    checks: Sequence[StatedCheck], command: str, names: Mapping[str, str]
) -> Iterator[Case]:
    """Yield one case for each limit, or that there is none."""
    for one in checks:
        yield Case(
            group=command if one.score is None else one.score,
            name=f"{names.get(one.subject, one.subject)} {number_text(one.limit)}",
            status=CASE_STATUS[one.status],
            text=one.reason,
        )
    if not checks:
        yield no_policy(command)


def _name(one: StatedCheck, names: Mapping[str, str]) -> str:
    name = names.get(one.subject, one.subject)
    return name if one.score is None else f"{name}, '{safe_name(one.score)}'"
