"""What a page of a comparison of queries says first, to who never heard of an advantage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.compare.queries.brief import leading
from mipaudit.formats.page import ALIKE, NEITHER, Front, guess_terms, member_words, only_tried
from mipaudit.formats.policy.judged import UNDECIDED, deciding, verdict_head
from mipaudit.statements.text.guesses import (
    compared,
    guessers,
    more_right_at_least,
    more_right_at_most,
    more_right_exactly,
    of_cleverer,
    right_at_least,
)
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.compare.queries.report import CompareReport
    from mipaudit.formats.brief import Brief

_LITTLE: Final = "To tell no more than another query is not to tell little."
_FEW: Final = 4  # more queries are counted, not named


def compare_front(report: CompareReport, brief: Brief) -> Front:
    """Return which query lets others guess right more often, and by how much at least.

    Args:
        report: as answered.
        brief: its answer for a terminal.
    """
    design = report.design
    sizes = dict.fromkeys(member_words(one.n_members, one.n_holdout) for one in design.queries)
    limit = "none was set"
    if report.policy:
        most = report.policy[0]
        more = more_right_exactly(most.limit)
        limit = f"right at most {more} more times in 100 than with '{safe_name(most.versus)}'"
    return Front(
        answer=_verdict(report) if report.policy else f"{_found(report)} {NEITHER}",
        mood=brief.mood,
        also=tuple(_also(report)),
        figures=brief.answer,
        facts=(
            ("tried", _tried(report)),
            ("with", " ".join(sizes)),
            ("limit", limit),
        ),
        terms=guess_terms(design.prior, design.confidence),
        unsaid=(_LITTLE, only_tried(len(design.queries)), ALIKE),
    )


def _tried(report: CompareReport) -> str:
    names = [one.name for one in report.design.queries]
    shown = ", ".join(f"'{safe_name(one)}'" for one in names[:_FEW])
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"what can be told from the queries {shown}{more}, each by itself"


def _found(report: CompareReport) -> str:
    """Return what is certain of the order."""
    found = leading(report)
    if found is None:
        return (
            "It is not shown that one of these queries tells more than another about whose records "
            "were used."
        )
    than = f"'{safe_name(found.less)}'" if found.less else "any other of these queries"
    return (
        f"With the query '{safe_name(found.more)}' {guessers(found.attackers)} are right at least "
        f"{more_right_at_least(found.least)} more times in 100 about whose records were used than "
        f"with {than}{of_cleverer(found.attackers)}."
    )


def _verdict(report: CompareReport) -> str:
    """Return the verdict in guesses."""
    head, check = verdict_head(report), deciding(report)
    if check is None or report.verdict.status == "inconclusive":
        return f"{head}: {UNDECIDED}"
    who, versus = guessers(check.against), safe_name(check.versus)
    limit = more_right_exactly(check.limit)
    if report.verdict.status == "not_met":
        least = more_right_at_least(check.lower or 0.0, (check.limit,))
        return (
            f"{head}: with the query '{safe_name(check.query)}' {who} are right at least {least} "
            f"more times in 100 than with '{versus}' (the limit: {limit})."
        )
    most = more_right_at_most(max(0.0, check.upper or 0.0), (check.limit,))
    return (
        f"{head}: with none of the queries {who} are right more than {most} more times in 100 than "
        f"with '{versus}' (the limit: {limit}){of_cleverer(check.against)}."
    )


def _also(report: CompareReport) -> Iterator[str]:
    """Yield the order, where the verdict came first, and how many of the queries tell anything."""
    if report.verdict.status in {"met", "inconclusive"}:
        yield _found(report)
    trivial = report.design.trivial
    rows = [one for one in report.advantages if one.attackers == "any"]
    leaks = [one for one in rows if (one.lower or 0.0) > trivial]
    if leaks:
        most = max(leaks, key=lambda one: one.lower or 0.0)
        yield (
            f"With {len(leaks)} of {len(rows)} queries somebody surely guesses better than by "
            f"chance: with '{safe_name(most.score)}' right at least "
            f"{right_at_least(most.lower or 0.0, (trivial,))} times in 100 "
            f"({compared(report.design.prior)})."
        )
