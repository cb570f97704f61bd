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
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.records.cells import RecordCells, RecordRisks, RecordTally, cut_cells
from mipaudit.commands.records.options import RecordTableOptions
from mipaudit.counting.counts import settle_sample
from mipaudit.counting.scores import KeptInput, OrderedRows
from mipaudit.data.parts import ScoreColumn
from mipaudit.data.rows.units import Chosen
from mipaudit.data.source import Partitions, ScoreSource
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Workers
from mipaudit.errors import InputError, UsageError
from mipaudit.evidence.named_attack import Limits
from mipaudit.evidence.scores.evidence import Evidence, learn_together
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.advantage import advantage
from mipaudit.maths.mean_limits import Term, melded_lowers
from mipaudit.model.message import Finding
from mipaudit.model.row import Row
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.rounding import count_text
from mipaudit.summaries.content import ContentColumn, canonical_order
from mipaudit.summaries.counts import ScoreCounts
from mipaudit.summaries.plan import BurnInSample, Plan, ScoreKind, kept_exactly, make_plan
from mipaudit.summaries.rows import HeldRows, Rows, one_of_each
from mipaudit.summaries.tally import GroupCensus, Grouping, Tally

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordCounts:
    """The cells of a score, their counts of shape (m, 2, 2), and the groups if asked for."""

    column: ScoreColumn
    cells: RecordCells
    counts: NDArray[np.int64]
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


def count_records(
    source: ScoreSource,
    asked: RecordTableOptions,
    *,
    workers: Workers | None,
    meter: Callable[[int], None] | None,
) -> RecordCounts:
    """Read the input twice and count.

    Raises:
        UsageError: several scores, no thread, or too many groups.
        InputError: a class is empty, keys repeat, groups are too small, or the population
            is smaller than the members.
    """
    require_one_score(source)
    kept = _kept(source, workers, meter)
    if kept is not None:
        return _count_kept(source, kept, asked)
    return _count_by_position(source, asked, workers=workers, meter=meter)


def _kept(
    source: ScoreSource, workers: Workers | None, meter: Callable[[int], None] | None
) -> KeptInput | None:
    """Read the input into memory; None for one that is too large.

    Raises:
        InputError: rows that cannot be audited, or a class without rows.
    """
    if not kept_exactly(source.rows_hint, 1):
        return None
    rows = fold(unnamed(source.every_row()), HeldRows, workers=workers, progress=meter).joined()
    source.check_classes()
    assert rows is not None  # noqa: S101 - neither class is empty
    return KeptInput(rows=rows, source=source)


def _count_kept(source: ScoreSource, kept: KeptInput, asked: RecordTableOptions) -> RecordCounts:
    """Count rows in memory, whatever their order.

    The cells and the groups are statements of their own, each with the order and the seed
    that follow from what enters it: groups beside the score change no record's risk.
    """
    ordered = kept.in_order([0], asked.chosen_seed)
    if source.unit_seed is not None:
        source.stand_for(_standing(kept, asked))
    sample = ordered.over(partial(BurnInSample, 1, ordered.seed))
    cells = _cells(sample, source.columns[0].kind, asked, ordered.seed)
    grouped = None
    if kept.rows.groups is not None:
        grouped = _count_groups(source, kept.with_groups(0, asked.chosen_seed), asked)
    return RecordCounts(
        column=source.columns[0],
        cells=cells,
        counts=ordered.over(partial(RecordTally, cells)).counts,
        n_members=sample.members.rows,
        n_holdout=sample.holdout.rows,
        groups=grouped,
    )


def _standing(kept: KeptInput, asked: RecordTableOptions) -> Chosen:
    """Return the rows that stand for persons where the risks of records are counted."""
    at = kept.rows.positions()
    rows = replace(kept.rows, scores=(*kept.rows.scores, at.astype(np.float64)))
    column = kept.source.columns[0]
    name, labels = column.name, column.kind == "string"
    found = canonical_order(
        [ContentColumn(name=name, values=rows.scores[0], labels=labels)],
        rows.member,
        rows.keys,
        units=True,
    )
    chosen = one_of_each(rows.reordered(found.order), asked.chosen_seed.in_use(found.content))
    dropped = kept.source.unit_rows_dropped
    return Chosen(
        positions=np.sort(chosen.scores[1].astype(np.int64)),
        dropped_members=dropped[0],
        dropped_holdout=dropped[1],
    )


def _count_groups(
    source: ScoreSource, ordered: OrderedRows, asked: RecordTableOptions
) -> GroupCounts:
    kind = source.columns[0].kind
    sizes, words = ordered.over(GroupCensus).sizes, words_of(source)
    chosen = choose_groups(sizes, words, asked, in_memory=True)
    sample = ordered.over(partial(BurnInSample, 1, ordered.seed))
    sample.settle()
    plan = make_plan(sample, [kind], prior=asked.prior, discrete=asked.discrete, seed=ordered.seed)
    tally = ordered.over(partial(Tally, plan, chosen.grouping))
    return replace(chosen, counts=tally.counts(), seed=ordered.seed)


def _count_by_position(
    source: ScoreSource,
    asked: RecordTableOptions,
    *,
    workers: Workers | None,
    meter: Callable[[int], None] | None,
) -> RecordCounts:
    """Read an input that is too large to keep twice, and count."""
    partitions = unnamed(source.partitions())
    seed = source.position_seed
    over = partial(fold, partitions, workers=workers, progress=meter)
    survey = over(partial(RecordSurvey, seed, grouped=source.groups is not None))
    sample = survey.sample
    kind = source.columns[0].kind
    cells = _cells(sample, kind, asked, seed)
    chosen = plan = None
    if survey.census is not None:
        words = words_of(source)
        chosen = choose_groups(survey.census.sizes, words, asked, in_memory=False)
        plan = make_plan(sample, [kind], prior=asked.prior, discrete=asked.discrete, seed=seed)
    tally = over(partial(RecordCount, cells, plan, None if chosen is None else chosen.grouping))
    return RecordCounts(
        column=source.columns[0],
        cells=cells,
        counts=tally.cells.counts,
        n_members=sample.members.rows,
        n_holdout=sample.holdout.rows,
        groups=None
        if chosen is None or tally.groups is None
        else replace(chosen, counts=tally.groups.counts(), seed=seed),
    )


def _cells(
    sample: BurnInSample, kind: ScoreKind, asked: RecordTableOptions, seed: int
) -> RecordCells:
    """Return the cells that the burn-in calls for, which the sample then holds in order.

    Raises:
        InputError: a class is empty, keys repeat, or the population is too small.
    """
    settle_sample(sample)
    _check_population(asked, sample)
    return cut_cells(
        sample, kind, seed=seed, discrete=asked.discrete, cells=asked.cells, least=asked.min_cell
    )


def unnamed(partitions: Partitions) -> Partitions:
    """Return the partitions without the values of the key column: no count needs them."""
    return partitions.mapped(partial(replace, named=False))


def require_one_score(source: ScoreSource) -> None:
    """Raise UsageError ``several_scores`` unless the input has a single score column."""
    if len(source.columns) == 1:
        return
    names = ", ".join(quoted_name(column.name) for column in source.columns)
    raise UsageError(
        "several_scores",
        f"The risk of a record is that of one score, and there are several: {names}.",
        hint="Choose one with `score_col`.",
    )


def _check_population(asked: RecordTableOptions, sample: BurnInSample) -> None:
    members = sample.members.rows
    if asked.member_population is not None and asked.member_population < members:
        raise InputError(
            "population_too_small",
            f"There are {members:,} members, more than the training records that "
            "`member_population` says they were drawn from.",
            hint="Give the number of all training records.",
        )


class RecordSurvey:
    """Pass one: a burn-in sample of one score, and the sizes of the groups."""

    __slots__ = ("census", "sample")

    def __init__(self, seed: int, *, grouped: bool) -> None:
        """Start empty."""
        self.sample = BurnInSample(1, seed)
        self.census = GroupCensus() if grouped else None

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        self.sample.add(rows)
        if self.census is not None:
            self.census.add(rows)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        self.sample.merge(other.sample)
        if self.census is not None and other.census is not None:
            self.census.merge(other.census)


class RecordCount:
    """Pass two: counts of the cells, and of the groups."""

    __slots__ = ("cells", "groups")

    def __init__(self, cells: RecordCells, plan: Plan | None, grouping: Grouping | None) -> None:
        """Start empty; a plan and a grouping go together."""
        self.cells = RecordTally(cells)
        self.groups = None if plan is None or grouping is None else Tally(plan, grouping)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        self.cells.add(rows)
        if self.groups is not None:
            self.groups.add(rows)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.cells.merge(other.cells)
        if self.groups is not None and other.groups is not None:
            self.groups.merge(other.groups)
