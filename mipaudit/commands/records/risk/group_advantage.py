"""What the score says of each group of records, with limits that hold for all groups together.

Two questions. How large is the advantage within a group: the same limits as for all records,
on the group's own rows. And does one attack do better against a group than against the rest:
the threshold that does best on everybody's burn-in is one fixed attack, and its advantage in
the group less that in the rest is a difference of independent samples (disparate
vulnerability: Kulynych, Yaghini, Cherubin, Veale and Troncoso 2022). The difference of the
*best* attackers' advantages has no limit that holds for every attacker, because an upper limit
would be needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.means import Term, melded_lower
from mipaudit.statements.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.summaries.tally import ColumnCounts

_MEMBER: Final = 1
REST: Final = "the rest"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedAttack:
    """How often an attack that was fixed beforehand says *member*, in one group.

    Attributes:
        tp: members of whom it does.
        fp: holdout records of which it does.
        n_members: members in all.
        n_holdout: holdout records in all.
    """

    tp: int
    fp: int
    n_members: int
    n_holdout: int

    def gain(self, prior: float) -> float:
        """Return the advantage of the attack, 1-2p + 2(p TPR - (1-p) FPR), in [-1, 1]."""
        tpr, fpr = self.tp / max(1, self.n_members), self.fp / max(1, self.n_holdout)
        return 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)

    def __add__(self, other: FixedAttack) -> FixedAttack:
        """Return the attack on both groups."""
        return FixedAttack(
            tp=self.tp + other.tp,
            fp=self.fp + other.fp,
            n_members=self.n_members + other.n_members,
            n_holdout=self.n_holdout + other.n_holdout,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Advantage of one attack in a group less that in the rest, with limits."""

    value: float
    lower: float
    upper: float


def group_estimates(
    score: str,
    names: Sequence[str],
    counts: Sequence[ColumnCounts],
    *,
    prior: float,
    confidence: float,
    ordered: bool,
    seed: int,
) -> list[Estimate]:
    """Return for each group its advantage, and its difference from the rest.

    Args:
        score: name of the column.
        names: of the groups.
        counts: of the groups, in the same cells.
        prior: p in (0, 1).
        confidence: of each quantity, jointly over the groups.
        ordered: whether a larger score means anything.
        seed: of the row assignment.

    Returns:
        Estimates with ``group`` set, groups in order: advantage against any attacker, then
        against each class, then the difference where there are two groups or more.
    """
    share = ErrorShare(confidence=confidence, columns=len(names))
    differences = attack_differences(counts, prior=prior, alpha=share.two_sided, ordered=ordered)
    found = []
    for at, (name, one) in enumerate(zip(names, counts, strict=True)):
        evidence = Evidence(score=score, counts=one, prior=prior, seed=seed, ordered=ordered)
        found += [replace(row, group=name) for row in advantage_estimates(evidence, share)]
        if differences:
            found.append(_difference_estimate(score, name, one, differences[at], confidence))
    return found


def attack_differences(
    counts: Sequence[ColumnCounts], *, prior: float, alpha: float, ordered: bool = True
) -> list[Difference]:
    """Return how much better one attack does against each group than against the rest.

    Args:
        counts: of the groups, in the same cells.
        prior: p in (0, 1).
        alpha: two-sided error of each difference.
        ordered: whether thresholds make sense.

    Returns:
        One for each group; none for a single group.
    """
    if len(counts) < 2:  # noqa: PLR2004 - a group and the rest
        return []
    trained = np.sum([one.trained for one in counts], axis=0)
    chosen = best_attack(trained, prior, ordered=ordered)
    results = [_result(one.scored, chosen) for one in counts]
    differences = []
    for at, mine in enumerate(results):
        others = FixedAttack(tp=0, fp=0, n_members=0, n_holdout=0)
        for result in (*results[:at], *results[at + 1 :]):
            others += result
        differences.append(difference_limits(mine, others, prior=prior, alpha=alpha))
    return differences


def best_attack(trained: NDArray[np.int64], prior: float, *, ordered: bool) -> NDArray[np.bool_]:
    """Return the cells guessed *member*: the best threshold in either direction.

    Args:
        trained: burn-in counts of everybody, (holdout, member), shape (K, 2).
        prior: p in (0, 1).
        ordered: otherwise the cells in which members are denser.
    """
    share = trained / np.maximum(trained.sum(axis=0), 1)
    gains = prior * share[:, _MEMBER] - (1 - prior) * share[:, 1 - _MEMBER]
    if not ordered:
        return np.asarray(gains > 0)
    below = np.cumsum(gains)
    up, down = int(below.argmax()), int(below.argmin())
    cells = np.arange(gains.size)
    if below[up] >= below[-1] - below[down]:
        return np.asarray(cells <= up)
    return np.asarray(cells > down)


def difference_limits(
    mine: FixedAttack, others: FixedAttack, *, prior: float, alpha: float
) -> Difference:
    """Return limits of the difference of two advantages of one attack.

    Melded limits of a weighted sum of four proportions: they hold for small groups, rates
    near 0 or 1 and small errors too.

    Args:
        mine: the attack on the group.
        others: the attack on the rest.
        prior: p in (0, 1).
        alpha: two-sided error in (0, 1).
    """
    counts = (
        (2 * prior, mine.tp, mine.n_members),
        (-2 * (1 - prior), mine.fp, mine.n_holdout),
        (-2 * prior, others.tp, others.n_members),
        (2 * (1 - prior), others.fp, others.n_holdout),
    )
    value = mine.gain(prior) - others.gain(prior)
    if min(n for _, _, n in counts) == 0:
        return Difference(value=value, lower=-2.0, upper=2.0)
    up, down = (
        [Term(weight=sign * weight, successes=x, trials=n) for weight, x, n in counts]
        for sign in (1, -1)
    )
    return Difference(
        value=value,
        lower=max(-2.0, melded_lower(up, alpha / 2)),
        upper=min(2.0, -melded_lower(down, alpha / 2)),
    )


def _result(scored: NDArray[np.int64], chosen: NDArray[np.bool_]) -> FixedAttack:
    fp, tp = (int(n) for n in scored[chosen].sum(axis=0))
    n_holdout, n_members = (int(n) for n in scored.sum(axis=0))
    return FixedAttack(tp=tp, fp=fp, n_members=n_members, n_holdout=n_holdout)


def _difference_estimate(
    score: str, name: str, counts: ColumnCounts, difference: Difference, confidence: float
) -> Estimate:
    n_holdout, n_members = (int(n) for n in counts.scored.sum(axis=0))
    return Estimate(
        quantity="difference",
        score=score,
        method="one attack in the group less in the rest, melded",
        attackers="thresholds",
        value=difference.value,
        lower=difference.lower,
        upper=difference.upper,
        confidence=confidence,
        selection="the best threshold on everybody's burn-in, judged on the other rows",
        validity="approximate",
        n_members=n_members,
        n_holdout=n_holdout,
        group=name,
        versus=REST,
    )
