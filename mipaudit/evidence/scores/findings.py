"""What the reader must know about the input and the results of one score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mipaudit.statements.estimate import Estimate, Finding
from mipaudit.statements.text.rounding import lower_text, number_text, upper_text

if TYPE_CHECKING:
    from mipaudit.statements.claim import Claim
    from mipaudit.summaries.kept_counts import ScoreCounts

SMALL_CLASS: Final = 20
_TIED_SHARE: Final = 0.01
_FEW_VALUES: Final = 10
_REPEATED: Final = 5
_HALF: Final = 0.5
_ROUNDING: Final = 1e-12


def constant(counts: ScoreCounts) -> bool:
    """Tell whether every row has the same score."""
    ladder = counts.everyone
    occupied = (ladder.members + ladder.holdout) > 0
    return int(occupied.sum()) == 1 and bool(ladder.single[occupied].all())


def identical_classes(counts: ScoreCounts) -> bool:
    """Tell whether members and holdout hold the same scores, beyond coincidence."""
    ladder = counts.everyone
    occupied = int(((ladder.members + ladder.holdout) > 0).sum())
    return occupied > _FEW_VALUES and bool((ladder.members == ladder.holdout).all())


def size_findings(n_members: int, n_holdout: int) -> list[Finding]:
    """Return a finding for each class that is too small to show much."""
    return [
        Finding(
            code="small_class",
            serious=True,
            text=f"There are only {count} {label}: limits will be wide.",
        )
        for count, label in ((n_members, "members"), (n_holdout, "holdout records"))
        if count < SMALL_CLASS
    ]


def score_findings(
    name: str,
    counts: ScoreCounts,
    infinite: int | None = None,
    sentinels: Mapping[int, int] | None = None,
) -> list[Finding]:
    """Return what is unusual about one score.

    Args:
        name: shown as it is.
        counts: of the score.
        infinite: number of infinite scores where the counts hold missing ones as such.
        sentinels: rows by value, of values far from all others that may stand for a missing
            score; None where nothing tells.
    """
    if constant(counts):
        text = f"Column '{name}' has the same value in all rows: it shows nothing."
        return [Finding(code="constant_column", text=text)]
    found = []
    infinite = counts.infinite if infinite is None else infinite
    if infinite:
        text = f"Column '{name}' is infinite in {infinite:,} rows: kept, as extreme values."
        found.append(Finding(code="infinite_scores", text=text))
    if sentinels and not counts.discrete:
        found += [_sentinel(name, value, rows) for value, rows in sentinels.items()]
    ladder = counts.everyone
    rows = ladder.members + ladder.holdout
    tied = int(rows[ladder.single & (rows >= _REPEATED)].sum())
    if not counts.discrete and tied > _TIED_SHARE * int(rows.sum()):
        text = (
            f"Column '{name}' repeats values: {tied:,} rows share theirs with at least "
            f"{_REPEATED - 1} others."
        )
        found.append(Finding(code="ties", text=text))
    return found


def _sentinel(name: str, value: int, rows: int) -> Finding:
    text = (
        f"Column '{name}' is {value} in {rows:,} rows, far from all other scores: it counts as "
        "an extreme score. If it stands for a missing one, leave those cells empty and say with "
        "`nan` what becomes of them."
    )
    return Finding(code="sentinel_values", serious=True, text=text)


def crossing_findings(name: str, score: str, estimates: Sequence[Estimate]) -> list[Finding]:
    """Return a finding where the lower limit of ``score`` passes a class's upper limit.

    That is no contradiction: the leak is one that the class cannot see.
    """
    advantages = [e for e in estimates if e.quantity == "advantage" and e.score == score]
    lower = next((e.lower for e in advantages if e.attackers == "any"), None)
    if lower is None:
        return []
    return [
        Finding(
            code="leak_invisible_to_class",
            text=(
                f"Column '{name}': at least {lower_text(lower)} leaks, more than the "
                f"{upper_text(e.upper)} that "
                f"attackers of class '{e.attackers}' can reach: they do not see all of this leak."
            ),
        )
        for e in advantages
        if e.attackers != "any" and e.upper is not None and e.upper < lower
    ]


def prior_findings(
    prior: float, lowers: Sequence[float], claims: Sequence[Claim], leaking: str = ""
) -> list[Finding]:
    """Return advice where at this prior nobody beats the trivial attacker.

    With an epsilon claim that is so wherever p < 1/(1 + e^epsilon), or 1-p is: the
    likelihood ratio cannot outweigh the prior (MACE, Theorem 4, where f_p keeps its sign).

    Args:
        prior: p in (0, 1).
        lowers: lower limit of the advantage for each score.
        claims: the judged claims, if any.
        leaking: which metric shows a leak all the same, in words.
    """
    if prior == _HALF:
        return []
    baseline = abs(2 * prior - 1)
    advice = "Look at PPV (`metric` ppv), at TPR at FPR, or at `prior` 0.5."
    allowed = [claim.allowed_advantage for claim in claims]
    if allowed and all(bound is not None and bound <= baseline + _ROUNDING for bound in allowed):
        text = (
            f"At a prior of {number_text(prior)} no mechanism that keeps the claim lets any "
            f"attacker beat the trivial one, so the advantage tests nothing. {advice}"
        )
        return [Finding(code="prior_excludes_attackers", serious=True, text=text)]
    if lowers and max(lowers) <= baseline:
        hidden = f"At a prior of {number_text(prior)} nobody is shown to beat blind guessing"
        text = f"{hidden}; the scores may leak all the same. {advice}"
        if leaking:
            text = f"{hidden} by accuracy, and the scores leak all the same: {leaking}."
        return [Finding(code="prior_hides_leaks", serious=True, text=text)]
    return []
