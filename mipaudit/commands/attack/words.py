"""The plain paragraph on named adversaries, and what the numbers do not show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)
from mipaudit.statements.verdict import judged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mipaudit.commands.attack.report import (
        Adversary,
        AttackDesign,
        GapOrder,
        GeneralizationGap,
        NamedAttack,
        TogetherLimit,
    )
    from mipaudit.statements.estimate import Estimate
    from mipaudit.statements.named_limit import StatedCheck
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


def attack_summary(
    design: AttackDesign,
    optimum: Sequence[Estimate],
    attacks: Sequence[NamedAttack],
    beside: tuple[Sequence[GeneralizationGap], Sequence[TogetherLimit]],
    judged_by: tuple[Sequence[StatedCheck], Verdict],
) -> str:
    """Return what the best attacker and the named ones have, for the first scores."""
    rows = f"{design.n_members:,} members and {design.n_holdout:,} holdout records"
    parts = [f"Named attacks of the literature were run on {rows}."]
    for name in design.score_columns[:_MOST_SCORES]:
        parts += _score(name, design, optimum, attacks, beside)
    more = len(design.score_columns) - _MOST_SCORES
    if more > 0:
        parts.append(f"{more} more score{'s are' if more > 1 else ' is'} in the tables.")
    parts.append(policy_words(*judged_by))
    parts.append("Only these scores and these attacks were tested.")
    return " ".join(parts)


def _score(
    name: str,
    design: AttackDesign,
    optimum: Sequence[Estimate],
    attacks: Sequence[NamedAttack],
    beside: tuple[Sequence[GeneralizationGap], Sequence[TogetherLimit]],
) -> Iterator[str]:
    gaps, together = beside
    sure = percent_text(design.confidence)
    best = next(one for one in optimum if one.score == name and one.attackers == "any")
    assert best.lower is not None  # noqa: S101 - a lower limit always exists
    yield (
        f"The best attacker who sees '{safe_name(name)}' has an advantage of at least "
        f"{lower_text(best.lower)} (blind guessing {value_text(design.baseline)}; {sure} "
        "confidence)."
    )
    found = [
        f"{ADVERSARIES[one.adversary]} {value_text(one.value)} (from {lower_text(one.lower)} to "
        f"{upper_text(one.upper)})"
        for one in attacks
        if one.score == name
        and one.value is not None
        and one.lower is not None
        and one.upper is not None
    ]
    if found:
        yield f"Each by itself, named attacks have: {'; '.join(found)}."
    if any(
        one.lower is not None and one.lower > best.lower and one.adversary != "per-class"
        for one in attacks
        if one.score == name
    ):
        joint = next(one for one in together if one.score == name)
        yield (
            "The best attacker has what any of these has: that a limit here is above its own is no "
            "contradiction, as each holds by itself. With the error shared over all of them, the "
            f"best attacker has at least {lower_text(joint.lower)}."
        )
    gap = next(one for one in gaps if one.score == name)
    if gap.lower is not None and gap.upper is not None:
        yield gap_sentence(gap, design)


_CLASSES: Final[Mapping[GapOrder, tuple[str, str]]] = {
    "holdout less members": ("the holdout", "the members"),
    "members less holdout": ("the members", "the holdout"),
}


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
    reason = safe_name(most.reason, longest=_LONGEST_REASON)
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
    return (*policy, _NO_SAFETY, _LEARNED, _SAME_ROWS, *predicted, _ALIKE, _NOT_JOINT, _APPROXIMATE)
