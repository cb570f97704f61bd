"""From an opened input to the counts of its cells and groups, in two passes.

Of groups there are two questions. How large is the advantage within a group: the same limits as
for all records, on the group's own rows. And does one attack do better against a group than
against the rest: the threshold that does best on everybody's burn-in is one fixed attack, and its
advantage in the group less that in the rest is a difference of independent samples (disparate
vulnerability: Kulynych, Yaghini, Cherubin, Veale and Troncoso 2022). The difference of the
*best* attackers' advantages has no limit that holds for every attacker, because an upper limit
would be needed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.records.cells import RecordCells, RecordRisks, RecordTally, cut_cells
from mipaudit.commands.records.options import RecordTableOptions
from mipaudit.counting.counts import settle_sample
from mipaudit.counting.scores import in_order, over_rows, with_groups
from mipaudit.data.parts import ScoreColumn
from mipaudit.data.rows.units import Chosen, GroupColumns
from mipaudit.data.source import Partitions, ScoreSource
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Workers
from mipaudit.errors import InputError, UsageError
from mipaudit.evidence.named_attack import Limits
from mipaudit.evidence.scores.evidence import Evidence, learn_together
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.advantage import advantage
from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.maths.mean_limits import Term, melded_lowers
from mipaudit.model.message import Finding
from mipaudit.model.row import Row
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.rounding import count_text
from mipaudit.summaries.content import ContentColumn, canonical_order
from mipaudit.summaries.counts import ScoreCounts
from mipaudit.summaries.plan import BurnInSample, kept_exactly, make_plan
from mipaudit.summaries.rows import HeldRows, Rows, one_of_each
from mipaudit.summaries.tally import GroupCensus, Grouping, Tally

_MEMBER: Final = 1
_EVERY_CLASS: Final = (_MEMBER, 1 - _MEMBER)
REST: Final = "the rest"
# Groups of rows that are counted as they come, in a table for each.
MOST_COUNTED: Final = 64
_OTHER: Final = "other"
Counts = NDArray[np.int64]
# Makes an empty summary.
Start = Callable[[], Any]


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
        differences: Sequence[Limits | None] = attack_differences(
            self.counts, prior=prior, alpha=share.two_sided, ordered=ordered
        )
        every = [
            Evidence(score=score, counts=one, prior=prior, seed=self.seed, ordered=ordered)
            for one in self.counts
        ]
        learn_together(every)
        found = []
        for name, evidence, difference in zip_longest(self.names, every, differences):
            rows = advantage_estimates(evidence, share)
            if difference is not None:
                rows.append(_difference(evidence, difference, confidence))
            found += [replace(row, group=name) for row in rows]
        return found


def _difference(evidence: Evidence, difference: Limits, confidence: float) -> Row:
    n_holdout, n_members = evidence.counts.scored.sum(axis=0).tolist()
    return Row(
        quantity="difference",
        score=evidence.score,
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
        versus=REST,
    )


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
    said = np.array([[one.scored[chosen].sum(axis=0), one.scored.sum(axis=0)] for one in counts])
    return difference_limits(said, said.sum(axis=0) - said, prior=prior, alpha=alpha)


def best_attack(trained: Ints, prior: float, *, ordered: bool) -> Bools:
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


def difference_limits(mine: Counts, others: Counts, *, prior: float, alpha: float) -> list[Limits]:
    """Return limits of differences of two advantages of one attack that was fixed beforehand.

    Melded limits of a weighted sum of four proportions: they hold for small groups, rates
    near 0 or 1 and small errors too.

    Args:
        mine: of each group (of whom the attack says *member*, all), each (holdout, member), shape
            (G, 2, 2).
        others: of the rest, likewise.
        prior: p in (0, 1).
        alpha: two-sided error of each in (0, 1).
    """
    # Both must have rows of both classes.
    counted = (mine[:, 1] > 0).all(axis=1) & (others[:, 1] > 0).all(axis=1)
    pairs = [(mine[at], others[at]) for at in np.flatnonzero(counted)]
    limits = np.full((len(mine), 2), -2.0)
    for side, sign in enumerate((2, -2)):
        limits[counted, side] = melded_lowers([_terms(*p, prior, sign) for p in pairs], alpha / 2)
    values = _gains(mine, prior) - _gains(others, prior)
    return [
        Limits(value=value, lower=max(-2.0, lower), upper=min(2.0, -upper))
        for value, (lower, upper) in zip(values.tolist(), limits.tolist(), strict=True)
    ]


def _gains(said: Counts, prior: float) -> Floats:
    """Return the advantage of an attack in each group, in [-1, 1], shape (G,)."""
    rates = said[:, 0] / np.maximum(1, said[:, 1])
    return np.asarray(advantage(rates[:, _MEMBER], rates[:, 1 - _MEMBER], prior))


def _terms(mine: Counts, others: Counts, prior: float, scale: float) -> list[Term]:
    """Return the first advantage less the second as a sum of four proportions."""
    return [
        Term(weight=sign * weight, successes=int(said[0, side]), trials=int(said[1, side]))
        for sign, said in ((scale, mine), (-scale, others))
        for side, weight in zip(_EVERY_CLASS, (prior, prior - 1), strict=True)
    ]


def choose_groups(
    sizes: Mapping[int, tuple[int, int]],
    words: GroupColumns | None,
    asked: RecordTableOptions,
    *,
    in_memory: bool,
) -> GroupCounts:
    """Decide by the class sizes alone which groups are told apart.

    Args:
        sizes: (members, holdout) by the hash of the group.
        words: the columns that make groups, and what each hash stands for.
        asked: how small a group may be, and what becomes of smaller ones.
        in_memory: whether the rows are; as many groups as are read may then be told apart.

    Raises:
        InputError: ``small_groups`` or ``no_group``.
        UsageError: ``too_many_groups``.
    """
    assert words is not None  # noqa: S101 - the caller asked
    least = asked.min_cell
    small = sorted(group for group, pair in sizes.items() if min(pair) < least)
    if small and asked.small_groups == "refuse":
        raise InputError(
            "small_groups",
            f"{len(small)} of {len(sizes)} groups have fewer than {least} members or holdout "
            "records.",
            "Merge them with `small_groups` merge, or name fewer columns.",
        )
    kept = sorted(set(sizes) - set(small))
    if not in_memory and len(kept) > MOST_COUNTED:
        raise UsageError(
            "too_many_groups",
            f"`by` makes {count_text(len(kept))} groups, but an input of this size may have at "
            f"most {MOST_COUNTED}.",
            "Name fewer columns.",
        )
    if not kept:
        raise InputError(
            "no_group",
            f"No group has at least {least} members and {least} holdout records.",
            "Name fewer columns, or lower `min_cell`.",
        )
    names = [
        ", ".join(f"{c}={word}" for c, word in zip(words.columns, words.found[group], strict=True))
        for group in kept
    ]
    told = [sizes[group] for group in kept]
    members, holdout = (sum(sizes[group][side] for group in small) for side in (0, 1))
    together = bool(small) and min(members, holdout) >= least
    if together:
        names, told = [*names, _OTHER], [*told, (members, holdout)]
    became = Finding.of(
        "groups_merged" if together else "groups_left_out",
        case="groups",
        groups=len(small),
        least=least,
        records=None if together else members + holdout,
    )
    return GroupCounts(
        grouping=Grouping(
            kept=np.array(kept, dtype=np.uint64),
            merged=np.array(small if together else [], dtype=np.uint64),
        ),
        names=tuple(names),
        sizes=tuple(told),
        findings=(became,) if small else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordCounts:
    """The cells of a score, their counts of shape (m, 2, 2), and the groups if asked for."""

    column: ScoreColumn
    cells: RecordCells
    counts: Counts
    n_members: int
    n_holdout: int
    groups: GroupCounts | None

    def seeds(self) -> dict[str | None, int]:
        """Return the seeds in use: of the score's cells, and of its groups."""
        found: dict[str | None, int] = {self.column.name: self.cells.seed}
        if self.groups is not None:
            found[f"{self.column.name} by group"] = self.groups.seed
        return found

    def risks(self, asked: RecordTableOptions, confidence: float) -> RecordRisks:
        """Return what the counts show of every cell."""
        return RecordRisks(
            counts=self.counts,
            single=self.cells.single,
            prior=asked.prior,
            confidence=confidence,
            tau=asked.tau,
            rate=asked.fdr,
            population=asked.member_population,
            limit=asked.least_risk,
        )

    def of_groups(self, prior: float, confidence: float) -> list[Row]:
        """Return what they show of every group."""
        groups = self.groups
        return [] if groups is None else groups.estimates(self.column, prior, confidence)


class InOnePass:
    """Several summaries of the same rows; mergeable.

    Attributes:
        found: the summaries, in the order in which they were asked for.
    """

    __slots__ = ("found",)

    def __init__(self, starts: Sequence[Start]) -> None:
        """Start each empty."""
        self.found = [start() for start in starts]

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        for one in self.found:
            one.add(rows)

    def merge(self, other: Self) -> None:
        """Take in those of another part."""
        for mine, theirs in zip(self.found, other.found, strict=True):
            mine.merge(theirs)


def count_records(
    source: ScoreSource,
    asked: RecordTableOptions,
    *,
    workers: Workers | None,
    meter: Callable[[int], None] | None,
) -> RecordCounts:
    """Read the input twice and count; of one that fits in memory, whatever the order of its rows.

    Of rows in memory the cells and the groups are statements of their own, each with the order
    and the seed that follow from what enters it: groups beside the score change no record's risk.

    Raises:
        UsageError: several scores, no thread, or too many groups.
        InputError: a class is empty, keys repeat, groups are too small, or the population
            is smaller than the members.
    """
    _require_one_score(source)
    over = partial(fold, workers=workers, progress=meter)
    if not kept_exactly(source.rows_hint, 1):
        grouped = source.choice.groups is not None
        return _count(
            source,
            asked,
            partial(over, unnamed(source.partitions())),
            source.position_seed,
            grouped=grouped,
            in_memory=False,
        )
    rows = over(unnamed(source.every_row()), HeldRows).joined()
    source.check_classes()
    assert rows is not None  # noqa: S101 - neither class is empty
    ordered, seed = in_order(source, rows, [0], asked.chosen_seed)
    if source.unit_seed is not None:
        source.stand_for(_standing(source, rows, asked))
    found = _count(source, asked, partial(over_rows, ordered), seed)
    if rows.groups is None:
        return found
    ordered, seed = with_groups(source, rows, 0, asked.chosen_seed)
    grouped_rows = _count(source, asked, partial(over_rows, ordered), seed, grouped=True)
    return replace(found, groups=grouped_rows.groups)


def _standing(source: ScoreSource, rows: Rows, asked: RecordTableOptions) -> Chosen:
    """Return the rows that stand for persons where the risks of records are counted."""
    at = rows.positions()
    rows = replace(rows, scores=(*rows.scores, at.astype(np.float64)))
    column = source.columns[0]
    name, labels = column.name, column.kind == "string"
    found = canonical_order(
        [ContentColumn(name=name, values=rows.scores[0], labels=labels)],
        rows.member,
        rows.keys,
        units=True,
    )
    chosen = one_of_each(rows.reordered(found.order), asked.chosen_seed.in_use(found.content))
    dropped = source.unit_rows_dropped
    return Chosen(
        positions=np.sort(chosen.scores[1].astype(np.int64)),
        dropped_members=dropped[0],
        dropped_holdout=dropped[1],
    )


def _count(
    source: ScoreSource,
    asked: RecordTableOptions,
    over: Callable[[Callable[[], InOnePass]], InOnePass],
    seed: int,
    *,
    grouped: bool = False,
    in_memory: bool = True,
) -> RecordCounts:
    """Go through the rows twice: a sample cuts the cells and tells the groups, then all count.

    Args:
        source: the opened input.
        asked: of the records.
        over: gives the rows to summaries.
        seed: in use for them.
        grouped: whether groups are told apart, too.
        in_memory: whether the rows are kept.
    """
    starts: list[Start] = [partial(BurnInSample, 1, seed)]
    sample, *censuses = over(partial(InOnePass, [*starts, *[GroupCensus] * grouped])).found
    cells = _cells(sample, source, asked, seed)
    starts, groups = [partial(RecordTally, cells)], None
    for census in censuses:
        groups = choose_groups(census.sizes, source.choice.groups, asked, in_memory=in_memory)
        kinds = [source.columns[0].kind]
        plan = make_plan(sample, kinds, prior=asked.prior, discrete=asked.discrete, seed=seed)
        starts.append(partial(Tally, plan, groups.grouping))
    tally, *counted = over(partial(InOnePass, starts)).found
    if groups is not None:
        groups = replace(groups, counts=counted[0].counts(), seed=seed)
    return RecordCounts(
        column=source.columns[0],
        cells=cells,
        counts=tally.counts,
        n_members=sample.members.rows,
        n_holdout=sample.holdout.rows,
        groups=groups,
    )


def _cells(
    sample: BurnInSample, source: ScoreSource, asked: RecordTableOptions, seed: int
) -> RecordCells:
    """Return the cells that the burn-in calls for, which the sample then holds in order.

    Raises:
        InputError: a class is empty, keys repeat, or the population is too small.
    """
    settle_sample(sample)
    members = sample.members.rows
    if asked.member_population is not None and asked.member_population < members:
        raise InputError(
            "population_too_small",
            f"There are {members:,} members, more than the number of training records in "
            "`member_population`.",
            "Give the number of all training records.",
        )
    return cut_cells(
        sample,
        source.columns[0].kind,
        seed=seed,
        discrete=asked.discrete,
        cells=asked.cells,
        least=asked.min_cell,
    )


def unnamed(partitions: Partitions) -> Partitions:
    """Return the partitions without the values of the key column: no count needs them."""
    plain = replace(partitions.source.choice, named=False)
    return partitions.mapped(partial(replace, choice=plain))


def _require_one_score(source: ScoreSource) -> None:
    """Raise UsageError ``several_scores`` unless the input has a single score column."""
    if len(source.columns) == 1:
        return
    names = ", ".join(quoted_name(column.name) for column in source.columns)
    raise UsageError(
        "several_scores",
        f"The risk of a record belongs to one score, but there are several: {names}.",
        "Choose one with `score_col`.",
    )
