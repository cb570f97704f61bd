"""Groups of records: which are told apart, and what the score says of each, jointly over all.

Two questions. How large is the advantage within a group: the same limits as for all records,
on the group's own rows. And does one attack do better against a group than against the rest:
the threshold that does best on everybody's burn-in is one fixed attack, and its advantage in
the group less that in the rest is a difference of independent samples (disparate
vulnerability: Kulynych, Yaghini, Cherubin, Veale and Troncoso 2022). The difference of the
*best* attackers' advantages has no limit that holds for every attacker, because an upper limit
would be needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.records.options import RecordTableOptions
from mipaudit.errors import InputError, UsageError
from mipaudit.evidence.named_attackers.named_attack import Limits
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.means import Term, melded_lower
from mipaudit.reading.source.source import PiecePartition
from mipaudit.statements.estimate import Estimate, Finding
from mipaudit.summaries.group_tally import Grouping
from mipaudit.summaries.tally import ColumnCounts

_MEMBER: Final = 1
REST: Final = "the rest"
MOST_KEPT: Final = 64
_OTHER: Final = "other"


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
) -> list[Limits]:
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
    everyone = np.sum([one.scored for one in counts], axis=0)
    return [
        difference_limits(
            _result(one.scored, chosen),
            _result(everyone - one.scored, chosen),
            prior=prior,
            alpha=alpha,
        )
        for one in counts
    ]


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
) -> Limits:
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
        return Limits(value=value, lower=-2.0, upper=2.0)
    up, down = (
        [Term(weight=sign * weight, successes=x, trials=n) for weight, x, n in counts]
        for sign in (1, -1)
    )
    return Limits(
        value=value,
        lower=max(-2.0, melded_lower(up, alpha / 2)),
        upper=min(2.0, -melded_lower(down, alpha / 2)),
    )


def _result(scored: NDArray[np.int64], chosen: NDArray[np.bool_]) -> FixedAttack:
    fp, tp = (int(n) for n in scored[chosen].sum(axis=0))
    n_holdout, n_members = (int(n) for n in scored.sum(axis=0))
    return FixedAttack(tp=tp, fp=fp, n_members=n_members, n_holdout=n_holdout)


def _difference_estimate(
    score: str, name: str, counts: ColumnCounts, difference: Limits, confidence: float
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupCounts:
    """The groups that are told apart.

    Attributes:
        grouping: of the rows.
        names: ``column=value``; ``other`` last, if small groups are taken together.
        sizes: (members, holdout) of each.
        findings: what became of small groups.
        counts: of each, in the same cells; none before they are counted.
        seed: in use for them.
    """

    grouping: Grouping
    names: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    findings: tuple[Finding, ...]
    counts: tuple[ColumnCounts, ...] = ()
    seed: int = 0


def words_of(partition: PiecePartition) -> tuple[tuple[str, ...], Mapping[int, tuple[str, ...]]]:
    """Return the columns that make groups, and the words of every group that was read."""
    groups = partition.assembly.groups
    assert groups is not None  # noqa: S101 - the caller asked
    return groups.columns, groups.found


def choose_groups(
    sizes: Mapping[int, tuple[int, int]],
    words: tuple[tuple[str, ...], Mapping[int, tuple[str, ...]]],
    asked: RecordTableOptions,
) -> GroupCounts:
    """Decide by the class sizes alone which groups are told apart.

    Raises:
        InputError: ``small_groups`` or ``no_group``.
        UsageError: ``too_many_groups``.
    """
    small = [group for group, pair in sizes.items() if min(pair) < asked.min_cell]
    if small and asked.small_groups == "refuse":
        raise InputError(
            "small_groups",
            f"{len(small)} of {len(sizes)} groups have fewer than {asked.min_cell} members "
            "or holdout records.",
            hint="Take them together with `small_groups` merge, or name fewer columns.",
        )
    kept = sorted(set(sizes) - set(small))
    if len(kept) > MOST_KEPT:
        raise UsageError(
            "too_many_groups",
            f"`by` makes {len(kept)} groups; at most {MOST_KEPT} are told apart.",
            hint="Name fewer columns.",
        )
    members, holdout = (sum(sizes[group][side] for group in small) for side in (0, 1))
    together = bool(small) and min(members, holdout) >= asked.min_cell
    if not kept:
        raise InputError(
            "no_group",
            f"No group has {asked.min_cell} members and as many holdout records.",
            hint="Name fewer columns, or lower `min_cell`.",
        )
    columns, found = words
    names = [
        ", ".join(f"{c}={word}" for c, word in zip(columns, found[group], strict=True))
        for group in kept
    ]
    return GroupCounts(
        grouping=Grouping(
            kept=np.array(kept, dtype=np.uint64),
            merged=np.array(sorted(small) if together else [], dtype=np.uint64),
        ),
        names=(*names, *([_OTHER] if together else [])),
        sizes=(*(sizes[group] for group in kept), *([(members, holdout)] if together else [])),
        findings=_findings(len(small), members + holdout, asked.min_cell, together=together),
    )


def _findings(small: int, rows: int, least: int, *, together: bool) -> tuple[Finding, ...]:
    if not small:
        return ()
    few = f"{small} groups have fewer than {least} members or holdout records"
    if together:
        return (Finding(code="groups_merged", text=f"{few}: taken together as 'other'."),)
    text = f"{few}, also together: their {rows:,} records are in no group."
    return (Finding(code="groups_left_out", serious=True, text=text),)
