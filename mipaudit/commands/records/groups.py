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
from mipaudit.data.parts import ScoreColumn
from mipaudit.data.source import ScoreSource
from mipaudit.errors import InputError, UsageError
from mipaudit.evidence.named_attack import Limits
from mipaudit.evidence.scores.evidence import Evidence, learn_together
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.advantage import advantage
from mipaudit.maths.mean_limits import Term, melded_lowers
from mipaudit.model.message import Finding
from mipaudit.model.row import Row
from mipaudit.statements.text.rounding import count_text
from mipaudit.summaries.counts import ScoreCounts
from mipaudit.summaries.tally import Grouping

_MEMBER: Final = 1
REST: Final = "the rest"
# Groups of rows that are counted as they come, in a table for each.
MOST_COUNTED: Final = 64
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
        return advantage(tpr, fpr, prior)


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
    counts: tuple[ScoreCounts, ...] = ()
    seed: int = 0

    def estimates(self, column: ScoreColumn, prior: float, confidence: float) -> list[Row]:
        """Return for each group its advantage, and its difference from the rest.

        Args:
            column: the score.
            prior: p in (0, 1).
            confidence: of each quantity, jointly over the groups.

        Returns:
            Estimates with ``group`` set, groups in order: advantage against any attacker, then
            against each class, then the difference where there are two groups or more.
        """
        share = ErrorShare(confidence=confidence, columns=len(self.names))
        score, ordered = column.name, column.kind != "string"
        differences = attack_differences(
            self.counts, prior=prior, alpha=share.two_sided, ordered=ordered
        )
        every = [
            Evidence(score=score, counts=one, prior=prior, seed=self.seed, ordered=ordered)
            for one in self.counts
        ]
        learn_together(every)
        found = []
        for at, (name, evidence) in enumerate(zip(self.names, every, strict=True)):
            found += [replace(row, group=name) for row in advantage_estimates(evidence, share)]
            if differences:
                counts, difference = self.counts[at], differences[at]
                found.append(_difference_estimate(score, name, counts, difference, confidence))
        return found


def attack_differences(
    counts: Sequence[ScoreCounts], *, prior: float, alpha: float, ordered: bool = True
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
    return difference_limits(
        [(_result(one.scored, chosen), _result(everyone - one.scored, chosen)) for one in counts],
        prior=prior,
        alpha=alpha,
    )


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
    pairs: Sequence[tuple[FixedAttack, FixedAttack]], *, prior: float, alpha: float
) -> list[Limits]:
    """Return limits of differences of two advantages of one attack.

    Melded limits of a weighted sum of four proportions: they hold for small groups, rates
    near 0 or 1 and small errors too.

    Args:
        pairs: the attack on a group, and on the rest.
        prior: p in (0, 1).
        alpha: two-sided error of each in (0, 1).
    """
    known = [pair for pair in pairs if _counted(pair)]
    lowers = melded_lowers([_terms(pair, prior, 2) for pair in known], alpha / 2)
    uppers = melded_lowers([_terms(pair, prior, -2) for pair in known], alpha / 2)
    limits = iter(zip(lowers, uppers, strict=True))
    found = []
    for pair in pairs:
        lower, upper = next(limits) if _counted(pair) else (-2.0, -2.0)
        mine, others = (one.gain(prior) for one in pair)
        found.append(Limits(value=mine - others, lower=max(-2.0, lower), upper=min(2.0, -upper)))
    return found


def _counted(pair: tuple[FixedAttack, FixedAttack]) -> bool:
    """Tell whether both have rows of both classes."""
    return all(one.n_members and one.n_holdout for one in pair)


def _terms(pair: tuple[FixedAttack, FixedAttack], prior: float, scale: float) -> list[Term]:
    """Return the first advantage less the second as a sum of four proportions."""
    return [
        Term(weight=weight, successes=x, trials=n)
        for sign, one in zip((scale, -scale), pair, strict=True)
        for weight, x, n in (
            (sign * prior, one.tp, one.n_members),
            (sign * (prior - 1), one.fp, one.n_holdout),
        )
    ]


def _result(scored: NDArray[np.int64], chosen: NDArray[np.bool_]) -> FixedAttack:
    fp, tp = (int(n) for n in scored[chosen].sum(axis=0))
    n_holdout, n_members = (int(n) for n in scored.sum(axis=0))
    return FixedAttack(tp=tp, fp=fp, n_members=n_members, n_holdout=n_holdout)


def _difference_estimate(
    score: str, name: str, counts: ScoreCounts, difference: Limits, confidence: float
) -> Row:
    n_holdout, n_members = (int(n) for n in counts.scored.sum(axis=0))
    return Row(
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


def words_of(source: ScoreSource) -> tuple[tuple[str, ...], Mapping[int, tuple[str, ...]]]:
    """Return the columns that make groups, and the words of every group that was read."""
    groups = source.groups
    assert groups is not None  # noqa: S101 - the caller asked
    return groups.columns, groups.found


def choose_groups(
    sizes: Mapping[int, tuple[int, int]],
    words: tuple[tuple[str, ...], Mapping[int, tuple[str, ...]]],
    asked: RecordTableOptions,
    *,
    in_memory: bool,
) -> GroupCounts:
    """Decide by the class sizes alone which groups are told apart.

    Args:
        sizes: (members, holdout) by the hash of the group.
        words: the columns that make groups, and the words of each.
        asked: how small a group may be, and what becomes of smaller ones.
        in_memory: whether the rows are; as many groups as are read may then be told apart.

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
    if not in_memory and len(kept) > MOST_COUNTED:
        raise UsageError(
            "too_many_groups",
            f"`by` makes {count_text(len(kept))} groups; at most {MOST_COUNTED} are told "
            "apart in an input of so many rows.",
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
    if together:
        return (Finding.of("groups_merged", case="groups", groups=small, least=least),)
    left_out = {"groups": small, "least": least, "records": rows}
    return (Finding.of("groups_left_out", case="groups", **left_out),)
