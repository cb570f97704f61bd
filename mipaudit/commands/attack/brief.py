"""The answer of ``attack`` in a screenful."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mipaudit.commands.attack.page import ADVERSARIES, strongest_first
from mipaudit.formats.brief import (
    AXIS,
    NO_VERDICT,
    Axis,
    Brief,
    advantage_ends,
    blind_guessing,
    short_name,
    short_names,
)
from mipaudit.formats.document import AT_LEAST, AT_MOST, Grid, Mood, best, limits
from mipaudit.formats.policy.judged import judged_brief
from mipaudit.statements.text.named import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

if TYPE_CHECKING:
    from mipaudit.commands.attack.report import AttackReport, NamedAttack
    from mipaudit.formats.document import Limited

_NOT_JUDGED: Final = "not judged"
_NARROW: Final = 12  # characters of an interval beside the name of its score


def attack_brief(report: AttackReport) -> Brief:
    """Return how well the best attacker and each named one do, with what each has at least."""
    answer, mood = _found(report)
    brief = Brief(
        answer=answer,
        mood=mood,
        about=_about(report),
        tables=(_attacks(report),),
        notes=tuple(_notes(report)),
    )
    scores = report.design.score_columns
    only = scores[0] if len(scores) == 1 else None
    return judged_brief(report, brief, score=only, alone=True)


def _found(report: AttackReport) -> tuple[str, Mood]:
    shown = _shown(report)
    if shown is not None:
        return f"{shown} {NO_VERDICT}", "bad"
    return (
        "No leak is shown: neither the best attacker nor a named attack surely beats blind "
        f"guessing ({value_text(report.design.baseline)}). {NO_VERDICT}"
    ), "plain"


def _shown(report: AttackReport) -> str | None:
    """Return the strongest statement that something leaks; None where nothing shows it."""
    baseline = report.design.baseline
    # The limits together share the error: the largest of them may be picked.
    if report.together:
        most = max(report.together, key=lambda one: one.lower)
        if most.lower > baseline:
            return (
                f"Membership leaks: whoever sees '{safe_name(most.score)}' has an advantage of "
                f"at least {lower_text(most.lower)}{blind_guessing(baseline)}."
            )
    own = ", at a confidence of its own"
    row = max(report.optimum, key=lambda one: one.lower or 0.0)
    if row.lower is not None and row.lower > baseline:
        return (
            f"Membership leaks: the best attacker who sees '{safe_name(row.score)}' has an "
            f"advantage of at least {lower_text(row.lower)}{blind_guessing(baseline)}{own}."
        )
    found = [one for one in (*report.attacks, *report.groups) if (one.lower or 0.0) > baseline]
    if found:
        one = max(found, key=lambda one: one.lower or 0.0)
        within = "" if one.group is None else f" within '{safe_name(one.group)}'"
        return (
            f"Membership leaks: '{ADVERSARIES[one.adversary]}' on '{safe_name(one.score)}' has an "
            f"advantage of at least {lower_text(one.lower or 0.0)}{blind_guessing(baseline)}"
            f"{within}{own}."
        )
    for gap in report.gaps:
        if gap.lower is not None and gap.upper is not None and gap.lower * gap.upper > 0:
            return (
                f"Members and holdout differ: their means of '{safe_name(gap.score)}' are apart by "
                f"{lower_text(gap.lower)} to {upper_text(gap.upper)} ({gap.order}){own}."
            )
    return None


def _about(report: AttackReport) -> str:
    design = report.design
    return (
        f"{count_text(design.n_members)} members, {count_text(design.n_holdout)} holdout records, "
        f"{percent_text(design.confidence)} confidence; blind guessing has "
        f"{value_text(design.baseline)}."
    )


def _attacks(report: AttackReport) -> Grid:
    anyone = [one for one in report.optimum if one.attackers == "any"]
    judged = [one for one in report.attacks if one.value is not None]
    marks = sorted({one.limit for one in report.policy})
    mark = marks[0] if len(marks) == 1 else None
    scores = report.design.score_columns
    several = len(scores) > 1
    names = short_names(scores)
    baseline = report.design.baseline
    width = _NARROW if several else AXIS
    axis = Axis.over([*anyone, *judged], marks, start=baseline, width=width)

    def row(name: str, score: str, one: Limited) -> tuple[str, ...]:
        shown = axis.drawn(one, mark) if one.value is not None else _NOT_JUDGED
        return (name, *[names[score]] * several, shown, *limits(one, "none"))

    of = "" if several else f" with '{short_name(scores[0])}'"
    return Grid(
        caption=f"Advantage{of}, {advantage_ends(baseline)}, each line by itself; the best as in "
        "mipaudit estimate." + ("" if mark is None else f" ┃ limit: {number_text(mark)}."),
        head=("attacker", *["score"] * several, axis.head, AT_LEAST, "best", AT_MOST),
        rows=(
            *(row("the best", one.score, one) for one in anyone),
            *(
                row(ADVERSARIES[one.adversary], one.score, one)
                for one in sorted(
                    strongest_first(report.attacks),
                    key=lambda one: (one.value is None, scores.index(one.score)),
                )
            ),
        ),
        words=2 + several,
    )


def _notes(report: AttackReport) -> Iterator[str]:
    if report.together and not report.policy:
        yield "The answer holds for all lines together, which is less sure of each."
    most = [one for one in report.optimum if one.attackers != "any" and one.upper is not None]
    if most:
        widest = max(most, key=lambda one: one.upper or 0.0)
        yield (
            f"The best on '{safe_name(widest.score)}' has at most {upper_text(widest.upper or 0.0)}"
            f" {against_phrase(widest.attackers)}."
        )
    yield from _unjudged([one for one in report.attacks if one.value is None])
    groups = [one for one in report.groups if one.lower is not None]
    if groups:
        top = max(groups, key=lambda one: one.lower or 0.0)
        count = count_text(len(report.groups))
        if (top.lower or 0.0) > report.design.baseline:
            yield (
                f"Of {count} classes, '{safe_name(top.group or '')}' leaks most: at least "
                f"{lower_text(top.lower or 0.0)}, best estimate {best(top.value)}."
            )
        else:
            yield f"None of {count} classes by itself is shown to leak."


def _unjudged(attacks: Sequence[NamedAttack]) -> Iterator[str]:
    """Yield why attacks were not judged, each reason once."""
    reasons: dict[str, dict[str, None]] = {}
    for one in attacks:
        reasons.setdefault(one.value_reason or "", {})[ADVERSARIES[one.adversary]] = None
    for reason, names in reasons.items():
        yield f"Not judged: {', '.join(names)}{f' ({reason})' if reason else ''}."
