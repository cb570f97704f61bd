"""What a report of ``attack`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.attack.words import ADVERSARIES, clipped_words
from mipaudit.formats.document import (
    Document,
    Grid,
    Heading,
    Note,
    Pairs,
    Paragraph,
    best,
    class_grids,
    limits,
    short_class,
)
from mipaudit.formats.policy_blocks import stated_document
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import lower_text, percent_text, upper_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.commands.attack.report import AttackReport, NamedAttack
    from mipaudit.formats.document import Section

_SUBJECTS: Final[dict[str, str]] = {
    "any": "the best attacker",
    **{str(name): text for name, text in ADVERSARIES.items()},
}
_HEAD: Final = ("at least", "best estimate", "at most")


def attack_document(report: AttackReport) -> Document:
    """Return the report as a document."""
    return stated_document(report, _SUBJECTS, _sections(report))


def _sections(report: AttackReport) -> Iterator[Section]:
    yield _optimum(report)
    yield _together(report)
    for name in report.design.score_columns:
        yield from _score(report, name)
    yield _gaps(report)


def _optimum(report: AttackReport) -> Section:
    confidence = percent_text(report.design.confidence)
    text = f"The best attacker: advantage ({confidence} confidence for each row, over all scores)."
    rows = [(safe_name(one.score), one.attackers, limits(one)) for one in report.optimum]
    return (
        Paragraph(text=text),
        *class_grids("Advantage of the best attacker", "score", _HEAD, rows),
    )


def _together(report: AttackReport) -> Section:
    """Return one lower limit of each score, where several could be picked from."""
    if not report.together:
        return ()
    text = (
        "All limits together: any attacker who sees the score has at least this. It is the largest "
        "lower limit of the best attacker and of the named ones, with the error shared over all "
        "of them and the scores; every limit of the other tables holds by itself."
    )
    grid = Grid(
        caption="All limits together: advantage of any attacker",
        head=("score", "at least", "rests on"),
        rows=tuple(
            (safe_name(one.score), lower_text(one.lower), _SUBJECTS[one.rests_on])
            for one in report.together
        ),
        words=1,
    )
    return (Paragraph(text=text), grid)


def _score(report: AttackReport, name: str) -> Iterator[Section]:
    rows = [one for one in report.attacks if one.score == name]
    shown = safe_name(name)
    side = report.design.sides[report.design.score_columns.index(name)]
    text = f"Named attacks on '{shown}', members {side}: advantage."
    if report.design.residuals:
        text = f"Named attacks on the size of '{shown}': advantage."
    design = report.design
    # Reports of older versions have one burn-in for all scores.
    both = design.burn_in_members, design.burn_in_holdout
    members, holdout = dict(zip(design.score_columns, design.burn_ins, strict=False)).get(
        name, both
    )
    rest = design.n_members - members, design.n_holdout - holdout
    note = (
        f"the rest: {rest[0]:,} members and {rest[1]:,} holdout records outside the burn-in, from "
        "which attacks learn."
    )
    grid = _attacks(rows, text)
    yield (Heading(text=f"Attacks on {shown}"), Paragraph(text=text), grid, Note(text=note))
    found = [one for one in rows if one.short_lower is not None]
    if found:
        yield _short(found)
    yield _sources(rows)
    yield _groups(report, name)


def _attacks(rows: Sequence[NamedAttack], caption: str) -> Grid:
    formula = any(one.predicted is not None for one in rows)
    return Grid(
        caption=caption,
        head=("attack", "judged on", *_HEAD, "TPR", "FPR", "same rows", *["formula"] * formula),
        rows=tuple(
            (
                ADVERSARIES[one.adversary],
                "all rows" if one.judged_on == "all rows" else "the rest",
                *limits(one, "-"),
                best(one.tpr),
                best(one.fpr),
                best(one.same_rows),
                *[best(one.predicted)] * formula,
            )
            for one in rows
        ),
        words=2,
    )


def _short(rows: Sequence[NamedAttack]) -> Section:
    against = next(one.short_against for one in rows if one.short_against is not None)
    named = short_class(against)
    text = (
        "How much more the best attacker has: any attacker at least the first figure, the best "
        f"attacker with {named} at most the second."
        if against != "any"
        else "How much more the best attacker has, any attacker who sees the score."
    )
    grid = Grid(
        caption=text,
        head=("attack", "at least more", "at most more"),
        rows=tuple(
            (
                ADVERSARIES[one.adversary],
                "-" if one.short_lower is None else lower_text(one.short_lower),
                "-" if one.short_upper is None else upper_text(one.short_upper),
            )
            for one in rows
        ),
        words=1,
    )
    return (Paragraph(text=text), grid)


def _sources(rows: Sequence[NamedAttack]) -> Section:
    pairs = tuple((ADVERSARIES[one.adversary], _words(one)) for one in rows)
    return (Heading(text="Whose attacks these are", level=3), Pairs(pairs=pairs))


def _words(one: NamedAttack) -> str:
    text = f"{one.source}; knows {one.learned}."
    return text if one.value_reason is None else f"{text} Not judged: {one.value_reason}."


def _groups(report: AttackReport, name: str) -> Section:
    rows = [one for one in report.groups if one.score == name]
    if not rows:
        return ()
    grid = Grid(
        caption="The attack with a threshold for each class, within each class",
        head=("class", "members", "holdout", *_HEAD),
        rows=tuple(
            (
                safe_name(one.group or ""),
                f"{one.n_members:,}",
                f"{one.n_holdout:,}",
                *limits(one, "-"),
            )
            for one in rows
        ),
        words=1,
    )
    sure = percent_text(report.design.confidence)
    note = f"Per-class thresholds within each class; {sure} confidence for all classes together."
    return (grid, Note(text=note))


def _gaps(report: AttackReport) -> Section:
    rows = tuple((safe_name(one.score), one.order, *limits(one, "-")) for one in report.gaps)
    what = "squared residual" if report.design.residuals else "score"
    text = f"Generalization gap: mean {what} of one class less that of the other"
    bound = report.design.loss_bound
    text += "." if bound is None else f", {clipped_words(bound)}."
    reasons = {one.reason for one in report.gaps if one.reason is not None}
    grid = Grid(caption=text, head=("score", "classes", *_HEAD), rows=rows, words=2)
    notes = tuple(Note(text=f"No limits: {reason}.") for reason in sorted(reasons))
    return (Paragraph(text=text), grid, *notes)
