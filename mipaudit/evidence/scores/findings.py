"""What the reader must know about the input and the results of one score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mipaudit.maths.advantage import baseline
from mipaudit.model.message import Finding, Message

if TYPE_CHECKING:
    from mipaudit.model.row import Row
    from mipaudit.statements.claim import Claim
    from mipaudit.summaries.counts import ScoreCounts

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
        Finding.of("small_class", count=count, of=label)
        for count, label in ((n_members, "members"), (n_holdout, "holdout"))
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
        return [Finding.of("constant_column", case="score", column=name)]
    found = []
    infinite = counts.infinite if infinite is None else infinite
    if infinite:
        found.append(Finding.of("infinite_scores", case="column", column=name, rows=int(infinite)))
    if sentinels and not counts.discrete:
        found += [
            Finding.of("sentinel_values", column=name, value=int(value), rows=int(rows))
            for value, rows in sentinels.items()
        ]
    ladder = counts.everyone
    rows = ladder.members + ladder.holdout
    tied = int(rows[ladder.single & (rows >= _REPEATED)].sum())
    if not counts.discrete and tied > _TIED_SHARE * int(rows.sum()):
        found.append(Finding.of("ties", column=name, rows=tied, others=_REPEATED - 1))
    return found


def crossing_findings(name: str, score: str, estimates: Sequence[Row]) -> list[Finding]:
    """Return a finding where the lower limit of ``score`` passes a class's upper limit.

    That is no contradiction: the leak is one that the class cannot see.
    """
    advantages = [e for e in estimates if e.quantity == "advantage" and e.score == score]
    lower = next((e.lower for e in advantages if e.attackers == "any"), None)
    if lower is None:
        return []
    return [
        Finding.of(
            "leak_invisible_to_class",
            column=name,
            lower=lower,
            upper=e.upper,
            attackers=e.attackers,
        )
        for e in advantages
        if e.attackers != "any" and e.upper is not None and e.upper < lower
    ]


def prior_findings(
    prior: float, lowers: Sequence[float], claims: Sequence[Claim], leaking: Message | None = None
) -> list[Finding]:
    """Return advice where at this prior nobody beats the trivial attacker.

    With an epsilon claim that is so wherever p < 1/(1 + e^epsilon), or 1-p is: the
    likelihood ratio cannot outweigh the prior (MACE, Theorem 4, where f_p keeps its sign).

    Args:
        prior: p in (0, 1).
        lowers: lower limit of the advantage for each score.
        claims: the judged claims, if any.
        leaking: which metric shows a leak all the same; None for none.
    """
    if prior == _HALF:
        return []
    guessing = baseline(prior)
    allowed = [claim.allowed_advantage for claim in claims]
    if allowed and all(bound is not None and bound <= guessing + _ROUNDING for bound in allowed):
        return [Finding.of("prior_excludes_attackers", prior=prior)]
    if lowers and max(lowers) <= guessing:
        if leaking is not None:
            return [Finding.of("prior_hides_leaks", case="metric", prior=prior, leaking=leaking)]
        return [Finding.of("prior_hides_leaks", case="perhaps", prior=prior)]
    return []
