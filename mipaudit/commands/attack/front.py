"""What a page of ``attack`` says first, to who never heard of an advantage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.attack.page import ADVERSARIES
from mipaudit.formats.html_page import ALIKE, NEITHER, Front, guess_terms, member_words, only_tried
from mipaudit.formats.policy.judged import UNDECIDED, deciding, verdict_head
from mipaudit.statements.text.guesses import (
    blind_guesser,
    compared,
    right_at_least,
    right_at_most,
    right_exactly,
)
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.attack.report import AttackReport
    from mipaudit.formats.brief import Brief
    from mipaudit.statements.named_limit import StatedCheck

_OTHERS: Final = "That no known attack does well does not prove that none can."
_OWN: Final = "; at a confidence of its own"


def attack_front(report: AttackReport, brief: Brief) -> Front:
    """Return how often those who see a score guess right, by a known attack or any other.

    Args:
        report: as answered.
        brief: its answer for a terminal, where guesses cannot say it.
    """
    design = report.design
    found = _found(report) or brief.answer
    names = ", ".join(f"'{safe_name(one)}'" for one in design.score_columns)
    attacks = len({one.adversary for one in report.attacks})
    limit = "none was set"
    if report.policy:
        most = right_exactly(report.policy[0].limit)
        limit = f"right at most {most} times in 100 by each attack"
    return Front(
        answer=_verdict(report) if report.policy else found,
        mood=brief.mood,
        also=(found,) if report.policy and found != brief.answer else (),
        figures=brief.answer if found != brief.answer or report.policy else "",
        facts=(
            ("tried", f"{attacks} attacks of the literature on {names}, and what any could do"),
            ("with", member_words(design.n_members, design.n_holdout)),
            ("limit", limit),
        ),
        terms=guess_terms(design.prior, design.confidence),
        unsaid=(_OTHERS, only_tried(len(design.score_columns)), ALIKE),
    )


def _found(report: AttackReport) -> str:
    """Return what is shown, as strong as it is; empty where guesses cannot say it."""
    blind, prior = report.design.baseline, report.design.prior
    shown = next(_shown(report), None)
    gaps = any(
        one.lower is not None and one.upper is not None and one.lower * one.upper > 0
        for one in report.gaps
    )
    neither = "" if report.policy else f" {NEITHER}"
    if shown is not None:
        who, lower, own = shown
        least = right_at_least(lower, (blind,))
        return (
            f"{who} can guess whose records were used, and be right at least {least} times in 100 "
            f"({compared(prior)}{own}).{neither}"
        )
    if gaps:
        return ""
    return (
        "It is not shown that anybody who sees the scores, with one of the known attacks or any "
        f"other way, guesses better than {blind_guesser(prior)} who was in the data.{neither}"
    )


def _shown(report: AttackReport) -> Iterator[tuple[str, float, str]]:
    """Yield who surely beats blind guessing, the lower limit and its confidence, firmest first."""
    blind = report.design.baseline
    # The limits together share the error: the largest of them may be picked.
    together = max(report.together, key=lambda one: one.lower, default=None)
    if together is not None and together.lower > blind:
        yield f"Whoever sees the score '{safe_name(together.score)}'", together.lower, ""
    best = max(report.optimum, key=lambda one: one.lower or 0.0)
    if (best.lower or 0.0) > blind:
        yield f"Whoever sees the score '{safe_name(best.score)}'", best.lower or 0.0, _OWN
    for one in sorted((*report.attacks, *report.groups), key=lambda one: -(one.lower or 0.0)):
        if (one.lower or 0.0) > blind:
            within = "" if one.group is None else f", within '{safe_name(one.group)}',"
            who = f"The attack '{ADVERSARIES[one.adversary]}' on '{safe_name(one.score)}'{within}"
            yield who, one.lower or 0.0, _OWN


def _verdict(report: AttackReport) -> str:
    """Return the verdict in guesses, and of whom it speaks."""
    head, check = verdict_head(report), deciding(report)
    if check is None or report.verdict.status == "inconclusive":
        return f"{head}: {UNDECIDED}"
    blind, prior = report.design.baseline, report.design.prior
    marks = (check.limit, blind)
    beside = compared(prior, check.limit)
    if report.verdict.status == "not_met":
        least = right_at_least(check.lower or 0.0, marks)
        return f"{head}: {_who(check)} is right at least {least} times in 100 ({beside})."
    most = right_at_most(max(blind, check.upper or 0.0), marks)
    return (
        f"{head}, by these attacks alone: none of them is right more than {most} times in 100 "
        f"({beside}). For other attacks this test rules nothing out."
    )


def _who(check: StatedCheck) -> str:
    on = f" who sees the score '{safe_name(check.score or '')}'"
    if check.subject == "any":
        return f"the best attacker{on}"
    return f"the attack '{ADVERSARIES[check.subject]}' on '{safe_name(check.score or '')}'"  # type: ignore[index]
