"""What a report of ``attack`` shows, in tables and in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mipaudit.commands.attack.report import (
    Adversary,
    AttackDesign,
    AttackReport,
    GapOrder,
    GeneralizationGap,
    NamedAttack,
)
from mipaudit.formats.document import (
    Document,
    Grid,
    Heading,
    Note,
    Pairs,
    Paragraph,
    Section,
    best,
    class_grids,
    limits,
    short_class,
)
from mipaudit.formats.policy.blocks import stated_document
from mipaudit.report.messages.told import told
from mipaudit.report.verdict_sentence import judged
from mipaudit.statements.named_limit import StatedCheck
from mipaudit.statements.text.printable_names import safe_name, safe_text
from mipaudit.statements.text.rounding import (
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)
from mipaudit.statements.verdict import Verdict

ADVERSARIES: Final[Mapping[Adversary, str]] = {
    "bounded-loss": "bounded loss",
    "mean": "mean of members",
    "gaussian": "two standard errors",
    "one-standard-error": "one standard error",
    "top-n": "top n",
    "top-half": "top half",
    "best-threshold": "best threshold",
    "per-class": "per-class thresholds",
}
# Longer paragraphs are tables.
_MOST_SCORES: Final = 2
_LEARNED: Final = (
    "An adversary that learns something learns it from the burn-in, rows on which it is not "
    "judged. Its limits are those of the adversary who learned exactly this; with more rows to "
    "learn from it may do a little better."
)
_SAME_ROWS: Final = (
    "'same rows' is the advantage where an adversary learns from all rows and is judged on them, "
    "as papers print it. It has no limits and tends to be too high."
)
_NO_SAFETY: Final = (
    "That a named adversary fails shows nothing about others. The limits of the best attacker "
    "who sees the score stand beside it; another query may tell more."
)
_POLICY: Final = (
    "A policy is judged on limits: it is not met where one named attack, or the best attacker, is "
    "surely above, and met where each named attack is surely within. That a policy is met here is "
    "said of these attacks alone, never of the best one: for that, `mipaudit estimate` has limits."
)
_LONGEST_REASON: Final = 2000
_RELATED: Final = (
    "'The best' has the limit of mipaudit estimate on these scores; limits over all lines share "
    "its error with the attacks."
)
_NOT_JOINT: Final = (
    "Each pair of limits holds by itself, jointly over the score columns. A lower limit of a named "
    "attack may so be above that of the best attacker: both hold, and the best attacker has what "
    "any other has. To pick the largest of them after looking is not covered; 'all limits "
    "together' is that largest one, with the error shared over them."
)
_ALIKE: Final = (
    "Members and holdout records are taken to be independent draws, and alike but for membership."
)
_PREDICTED: Final = (
    "'formula' is what the paper's formula says of normal residuals with these standard errors; "
    "it is no measurement, and residuals are often not normal."
)
_APPROXIMATE: Final = (
    "Limits of counts are melded Clopper-Pearson limits, and how far an adversary falls short has "
    "score limits: both approximate, with their measured coverage in the documentation. Limits of "
    "mean losses hold at every sample size; where every loss is 0 or the bound, they are of counts."
)
_CLASSES: Final[Mapping[GapOrder, tuple[str, str]]] = {
    "holdout less members": ("the holdout", "the members"),
    "members less holdout": ("the members", "the holdout"),
}
_SUBJECTS: Final[dict[str, str]] = {
    "any": "the best attacker",
    **{str(name): text for name, text in ADVERSARIES.items()},
}
_HEAD: Final = ("at least", "best estimate", "at most")


def attack_summary(report: AttackReport) -> str:
    """Return what the best attacker and the named ones have, for the first scores."""
    design = report.design
    rows = f"{design.n_members:,} members and {design.n_holdout:,} holdout records"
    parts = [f"Named attacks of the literature were run on {rows}."]
    for name in design.score_columns[:_MOST_SCORES]:
        parts += _about_score(name, report)
    more = len(design.score_columns) - _MOST_SCORES
    if more > 0:
        parts.append(f"{more} more score{'s are' if more > 1 else ' is'} in the tables.")
    parts.append(policy_words(report.policy, report.verdict))
    parts.append("Only these scores and these attacks were tested.")
    return " ".join(parts)


def _about_score(name: str, report: AttackReport) -> Iterator[str]:
    sure = percent_text(report.design.confidence)
    best_row = next(one for one in report.optimum if one.score == name and one.attackers == "any")
    assert best_row.lower is not None  # noqa: S101 - a lower limit always exists
    yield (
        f"The best attacker who sees '{safe_name(name)}' has an advantage of at least "
        f"{lower_text(best_row.lower)} (blind guessing {value_text(report.design.baseline)}; "
        f"{sure} confidence)."
    )
    attacks = [one for one in report.attacks if one.score == name]
    found = [
        f"{ADVERSARIES[one.adversary]} {value_text(one.value)} (from {lower_text(one.lower)} to "
        f"{upper_text(one.upper)})"
        for one in attacks
        if one.value is not None and one.lower is not None and one.upper is not None
    ]
    if found:
        yield f"Each by itself, named attacks have: {'; '.join(found)}."
    if any(
        one.lower is not None and one.lower > best_row.lower and one.adversary != "per-class"
        for one in attacks
    ):
        joint = next(one for one in report.together if one.score == name)
        yield (
            "The best attacker has what any of these has: that a limit here is above its own is no "
            "contradiction, as each holds by itself. With the error shared over all of them, the "
            f"best attacker has at least {lower_text(joint.lower)}."
        )
    gap = next(one for one in report.gaps if one.score == name)
    if gap.lower is not None and gap.upper is not None:
        yield gap_sentence(gap, report.design)


def gap_sentence(gap: GeneralizationGap, design: AttackDesign) -> str:
    """Say how far the mean losses are apart, of a gap with limits."""
    assert gap.lower is not None  # noqa: S101 - the caller looked
    assert gap.upper is not None  # noqa: S101
    assert gap.bound is not None  # noqa: S101 - no limits without one
    one, other = _CLASSES[gap.order]
    what = "squared " * design.residuals + f"'{safe_name(gap.score)}'"
    return (
        f"The mean of {what} over {one} less that over {other} is from {lower_text(gap.lower)} to "
        f"{upper_text(gap.upper)}, {clipped_words(gap.bound)}."
    )


def clipped_words(bound: float) -> str:
    """Say what becomes of scores that the bound does not hold for."""
    return f"with scores below 0 taken as 0 and those above {number_text(bound)} as that"


def policy_words(checks: Sequence[StatedCheck], verdict: Verdict) -> str:
    """Say what the verdict is; of one that is met, of whom it does not speak."""
    if verdict.status != "met":
        return judged(verdict)
    most = max(checks, key=lambda one: -2.0 if one.upper is None else one.upper)
    reason = safe_text(told(most.reason), longest=_LONGEST_REASON)
    score = safe_name(most.score or "")
    return (
        "The policy is met by the named attacks, which says nothing of the best attacker, who may "
        f"have more: the most that one of them may have is on score '{score}', where {reason}."
    )


def attack_limitations(attacks: Sequence[NamedAttack], *, held: bool) -> tuple[str, ...]:
    """Return what the numbers do not show.

    Args:
        attacks: those of the report.
        held: whether there is a limit that they are held against.
    """
    predicted = (_PREDICTED,) if any(one.predicted is not None for one in attacks) else ()
    policy = (_POLICY,) if held else ()
    return (
        *policy,
        _NO_SAFETY,
        _LEARNED,
        _SAME_ROWS,
        *predicted,
        _ALIKE,
        _NOT_JOINT,
        _RELATED,
        _APPROXIMATE,
    )


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
    # A report may leave out the burn-in of each score.
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


def strongest_first(rows: Sequence[NamedAttack]) -> list[NamedAttack]:
    """Return attacks by what each has at least, those that were not judged last."""
    return sorted(rows, key=lambda one: (one.lower is None, -(one.lower or 0.0)))


def _attacks(rows: Sequence[NamedAttack], caption: str) -> Grid:
    formula = any(one.predicted is not None for one in rows)
    rows = strongest_first(rows)
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
