"""Queries of the same rows: put in an order, counted pass by pass, and how attackers on them met.

All columns and files of a comparison enter one statement, so they have one order and one seed, a
hash of all of them, whatever the order in which the files are named.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.counting.counts import repeated_keys, settle_sample
from mipaudit.counting.scores import fits
from mipaudit.data.parts import Partition
from mipaudit.data.source import ScoreSource
from mipaudit.errors import InputError
from mipaudit.evidence.difference import (
    Challenger,
    apart_lower,
    class_challengers,
    encounter,
    in_bins,
    joint_challenger,
    same_rows_lower,
)
from mipaudit.evidence.scores.evidence import CLASSES, Evidence, bins_of
from mipaudit.evidence.scores.findings import constant
from mipaudit.maths.arrays import Floats, Ints, Places
from mipaudit.maths.class_limits.difference import Encounter
from mipaudit.model.message import Finding
from mipaudit.model.row import Attackers
from mipaudit.summaries.challenger_counts import (
    GridTally,
    MeetingPlan,
    MeetingTally,
    ScoreCells,
    cells_at_once,
    score_cells,
)
from mipaudit.summaries.content import ContentColumn, canonical_rows, canonical_scores
from mipaudit.summaries.counts import rows_by_score
from mipaudit.summaries.plan import BurnInSample, Plan, make_plan
from mipaudit.summaries.rows import HeldRows, Rows, ScoreKind, one_of_each
from mipaudit.summaries.seed import Content, SeedChoice
from mipaudit.summaries.tally import Tally

_DIGEST_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Score columns of the same rows.

    Attributes:
        names: of the queries.
        kinds: of the columns.
        partitions: their rows.
    """

    names: tuple[str, ...]
    kinds: tuple[ScoreKind, ...]
    partitions: Sequence[Partition] = ()


def compared_rows(
    sources: Sequence[ScoreSource],
    titles: Sequence[str],
    names: Sequence[Sequence[str]],
    read: Callable[..., Any],
    choice: SeedChoice,
    *,
    matched: bool,
) -> tuple[list[Columns], int, tuple[Finding, ...]]:
    """Return the rows of every cohort, the seed of all, and what is to be said of rows left out.

    Args:
        sources: opened.
        titles: what the inputs are called.
        names: of the queries of each.
        read: folds partitions.
        choice: of the seed.
        matched: join all inputs by key.

    Raises:
        InputError: rows that cannot be audited, or as `match_rows`.
    """
    cohorts = [
        Columns(names=tuple(some), kinds=tuple(column.kind for column in source.columns))
        for some, source in zip(names, sources, strict=True)
    ]
    if not matched and not all(fits(source, len(source.columns)) for source in sources):
        parts = [source.partitions() for source in sources]
        cohorts = [replace(one, partitions=own) for one, own in zip(cohorts, parts, strict=True)]
        return cohorts, sources[0].position_seed, ()
    held = [_held(source, read) for source in sources]
    columns = [[column.name for column in source.columns] for source in sources]
    findings: tuple[Finding, ...] = ()
    if matched:
        rows, findings = match_rows(held, titles)
        held, columns = [rows], [list(chain(*columns))]
        every = (chain(*(one.names for one in cohorts)), chain(*(one.kinds for one in cohorts)))
        cohorts = [Columns(names=tuple(every[0]), kinds=tuple(every[1]))]
    units = any(source.unit_seed is not None for source in sources)
    found = [
        canonical_rows(_content_columns(one, own, rows), rows.member, rows.keys, units=units)
        for one, own, rows in zip(cohorts, columns, held, strict=True)
    ]
    seed = choice.in_use(_together([content for _, content in found]))
    ordered = [rows for rows, _ in found]
    if units:
        ordered = [one_of_each(rows, seed) for rows in ordered]
        for source, whole, own in zip(sources, held, ordered, strict=False):
            _tell_dropped(source, whole, own)
    cohorts = [replace(one, partitions=(rows,)) for one, rows in zip(cohorts, ordered, strict=True)]
    return cohorts, seed, findings


def _held(source: ScoreSource, read: Callable[..., HeldRows]) -> Rows:
    """Read all rows of an input into memory.

    Raises:
        InputError: rows that cannot be audited, or a class without rows.
    """
    rows = read(source.every_row(), HeldRows).joined()
    source.check_classes()
    assert rows is not None  # noqa: S101 - neither class is empty
    return rows


def _tell_dropped(source: ScoreSource, whole: Rows, own: Rows) -> None:
    members, left = (int(np.count_nonzero(rows.member)) for rows in (whole, own))
    holdout = int(whole.member.size) - members - (int(own.member.size) - left)
    source.unit_rows_dropped = members - left, holdout


def _content_columns(columns: Columns, names: Sequence[str], rows: Rows) -> list[ContentColumn]:
    """Return what the order and the seed of a cohort depend on.

    Columns of several files may have one name: then their own digests tell them apart, so
    that the order in which the files are named does not matter.
    """
    labels = [kind == "string" for kind in columns.kinds]
    titles = [
        name if names.count(name) == 1 else f"{name} {_digest(scores, rows, labels=label)}"
        for name, scores, label in zip(names, rows.scores, labels, strict=True)
    ]
    return [
        ContentColumn(name=title, values=scores, labels=label)
        for title, scores, label in zip(titles, rows.scores, labels, strict=True)
    ]


def _digest(scores: Floats, rows: Rows, *, labels: bool) -> str:
    return canonical_scores(scores, rows.member, labels=labels)[1].digest.hex()


def _together(contents: Sequence[Content]) -> Content:
    """Return what one seed for several cohorts depends on, in whatever order they come."""
    if len(contents) == 1:
        return contents[0]
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for text in sorted(f"{one.kind}|{one.n_members}|{one.n_holdout}|" for one in contents):
        digest.update(text.encode())
    for part in sorted(one.digest for one in contents):
        digest.update(part)
    return Content(
        kind="cohorts",
        n_members=sum(one.n_members for one in contents),
        n_holdout=sum(one.n_holdout for one in contents),
        digest=digest.digest(),
    )


def by_key(rows: Rows) -> Rows:
    """Return the rows of one input in order of key.

    Raises:
        InputError: a key repeats.
    """
    keys = _keys(rows)
    order = np.argsort(keys, kind="stable")
    if (np.diff(keys[order]) == 0).any():
        raise repeated_keys("Name another `key_col`: rows are matched by it.")
    return rows.reordered(order)


def match_rows(inputs: Sequence[Rows], names: Sequence[str]) -> tuple[Rows, tuple[Finding, ...]]:
    """Return the rows whose key is in every input, and how many were left out.

    Args:
        inputs: all rows of each, read with the same key column.
        names: of the inputs.

    Returns:
        The rows under all queries, in order of key, and what to say of the others.

    Raises:
        InputError: a key repeats, none matches, or a record is a member in one input and a
            holdout record in another.
    """
    found = [by_key(one) for one in inputs]
    keys = _keys(found[0])
    for one in found[1:]:
        keys = np.intersect1d(keys, _keys(one), assume_unique=True)
    if not keys.size:
        raise InputError(
            "no_matching_keys",
            "No key occurs in every input, so no rows can be matched.",
            "Are the keys written alike in all inputs? To compare without matching, leave "
            "`key_col` out.",
        )
    places = [np.searchsorted(_keys(one), keys) for one in found]
    members = [one.member[at] for one, at in zip(found, places, strict=True)]
    differing = int(np.count_nonzero(np.any([m != members[0] for m in members], axis=0)))
    if differing:
        raise InputError(
            "membership_differs",
            f"Some records ({differing:,}) are members in one input, but holdout in another.",
            "If each input is of a different model with other members, leave `key_col` out.",
        )
    if members[0].all() or not members[0].any():
        found_only, missing = ("members", "holdout") if members[0].any() else ("holdout", "member")
        raise InputError(
            "no_matching_keys",
            f"The {keys.size:,} records whose key is in every input are all {found_only}: "
            f"no {missing} record has a key that is in every input.",
            "Are the keys of members and of holdout written alike in all inputs?",
        )
    scores = tuple(
        column[at] for one, at in zip(found, places, strict=True) for column in one.scores
    )
    findings = tuple(
        Finding.of("unmatched_rows", input=name, left_out=more, matched=keys.size)
        for name, one in zip(names, found, strict=True)
        if (more := _keys(one).size - keys.size) > 0
    )
    return replace(found[0].reordered(places[0]), scores=scores), findings


def _keys(rows: Rows) -> NDArray[np.uint64]:
    return np.empty(0, dtype=np.uint64) if rows.keys is None else rows.keys


MOST_TOGETHER: Final = 10
# Classes of attackers, with those who may do anything.
_CLASSES: Final = 1 + len(CLASSES)
# The grid is merged this many rows or columns at a time: up to 32, 16, 8 and 4 a side.
_MERGED: Final = (1, 2, 4, 8)

# The attackers of a class on one query, or those on two queries at once.
Key = tuple[int, Attackers] | tuple[int, int]


def common_classes(first: Evidence, second: Evidence) -> tuple[Attackers, ...]:
    """Return the classes that a difference of two queries can be stated for."""
    found: tuple[Attackers, ...] = ("any",) if first.discrete and second.discrete else ()
    if not (first.ordered and second.ordered):
        return found
    divisible = first.divisible and second.divisible
    return found + tuple(one for one in CLASSES if one != "bins-16" or divisible)


# What a meeting's counts come to, in the cells of the rival's score that hold rows (None without
# rows), and the bin of each cell. The counts themselves are many times larger: no rival gains or
# loses anything in a cell without rows.
Meeting = tuple[Encounter | None, Places]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """Queries, which go by their number, and how any two of them differ.

    Attributes:
        evidence: of every query; names are unique.
        cohorts: which queries are of the same rows, in the order of their queries.
        independent: whether different cohorts hold different records.
        challengers: the attackers that have learned so far.
        meetings: how a challenger did beside the score of another query of the same rows, or of
            one of its own two; none where there are no pairs.
    """

    evidence: tuple[Evidence, ...]
    cohorts: tuple[range, ...]
    independent: bool = False
    challengers: dict[Key, Challenger] = field(default_factory=dict)
    meetings: Mapping[tuple[Key, int], Meeting] = field(default_factory=dict)

    @property
    def together(self) -> list[tuple[int, int]]:
        """Return the pairs of queries that are seen together."""
        return [(a, b) for a, b in self.challengers if isinstance(b, int)]

    def cohort(self, query: int) -> range:
        """Return the queries of the same rows."""
        return next(one for one in self.cohorts if query in one)

    def classes(self, first: int, second: int) -> tuple[Attackers, ...]:
        """Return the classes that a difference can be stated for."""
        return common_classes(self.evidence[first], self.evidence[second])

    def challenger(self, query: int, attackers: Attackers) -> Challenger:
        """Return the attackers of a class that learned on a query."""
        key = (query, attackers)
        if key not in self.challengers:
            one = self.evidence[query]
            found = class_challengers(one.counts, [attackers], one.prior)
            self.challengers[key] = found[attackers]
        return self.challengers[key]

    def value(self, query: int, attackers: Attackers) -> float:
        """Return the best estimate of a query's advantage within a class: biased downward."""
        return self.challenger(query, attackers).rates.value

    def lower(self, first: int, second: int, attackers: Attackers, alpha: float) -> float | None:
        """Return a lower limit of the first query's advantage minus the second's.

        Args:
            first: number of a query.
            second: number of another.
            attackers: the class, on either query.
            alpha: one-sided error in (0, 1).
        """
        if second in self.cohort(first):
            return self._beside((first, attackers), second, attackers, alpha)
        return apart_lower(
            self.challenger(first, attackers),
            self.evidence[second],
            attackers,
            alpha,
            independent=self.independent,
        )

    def upper(self, first: int, second: int, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit of the first query's advantage minus the second's."""
        lower = self.lower(second, first, attackers, alpha)
        return None if lower is None else -lower

    def _beside(self, key: Key, rival: int, attackers: Attackers, alpha: float) -> float | None:
        """Return a lower limit of a challenger minus the best of a class on another query."""
        found, bins = self.meetings[key, rival]
        if attackers == "bins-16" and found is not None:
            found = in_bins(found, bins)
        return same_rows_lower(self.challengers[key], found, attackers, alpha)

    def gain(self, pair: tuple[int, int], attackers: Attackers, alpha: float) -> float | None:
        """Return a lower limit of what a pair shows beyond the better of the two alone.

        The better of the two is one fixed attacker, on one of the scores: the smaller of
        the two limits holds without a share of the error for either. Two scores never
        show less than one, so the limit is at least 0.

        Args:
            pair: one of those seen together.
            attackers: the class of those who see one score alone.
            alpha: one-sided error in (0, 1).
        """
        limits = [self._beside(pair, rival, attackers, alpha) for rival in pair]
        known = [one for one in limits if one is not None]
        return max(0.0, min(known)) if len(known) == len(limits) else None


def compared(cohorts: Sequence[Compared], *, independent: bool) -> Compared:
    """Return the queries of several cohorts, each counted by itself."""
    return Compared(
        evidence=tuple(chain(*(one.evidence for one in cohorts))),
        cohorts=tuple(chain(*(one.cohorts for one in cohorts))),
        independent=independent,
        challengers=dict(chain(*(one.challengers.items() for one in cohorts))),
        meetings=dict(chain(*(one.meetings.items() for one in cohorts))),
    )


def count_cohort(
    columns: Columns,
    pairs: Sequence[tuple[int, int]],
    read: Callable[..., Any],
    *,
    prior: float,
    discrete: bool,
    seed: int,
    first: int = 0,
) -> Compared:
    """Return the queries of one set of rows, counted, and how they met.

    Args:
        columns: of the rows.
        pairs: the pairs to compare, by number among these columns.
        read: folds partitions.
        prior: p in (0, 1).
        discrete: take every score as discrete.
        seed: of the row assignment.
        first: number of the first of them among all queries.

    Raises:
        InputError: a class is empty or keys repeat.
    """
    many = len(columns.names)
    over = partial(read, columns.partitions)
    sample = over(lambda: BurnInSample(many, seed))
    settle_sample(sample)
    plan = make_plan(sample, columns.kinds, prior=prior, discrete=discrete, seed=seed)
    evidence = tuple(
        Evidence(score=name, counts=one, prior=prior, seed=seed, ordered=kind != "string")
        for name, one, kind in zip(
            columns.names, over(lambda: Tally(plan)).counts(), columns.kinds, strict=True
        )
    )
    cohorts = (range(first, first + many),)
    if not pairs:
        return Compared(evidence=evidence, cohorts=cohorts)
    # Few rows are assigned to blocks more than once, and so must be at hand.
    rows: Rows | None = None if plan.draws == 1 else over(HeldRows).joined()
    scores = _finer_cells(plan, sample, rows, prior, cells_at_once(2 * len(pairs) * _CLASSES))
    challengers = _alone(evidence, pairs, rows, plan)
    together = pairs_together(pairs, [constant(one.counts) for one in evidence])
    if together:
        grids = over(lambda: GridTally(scores, together, seed)).counts
        for (a, b), grid in zip(together, grids, strict=True):
            sides = scores[a].sides, scores[b].sides
            challengers[a, b] = seen_together((evidence[a], evidence[b]), grid, sides, (a, b))
    meetings = _meetings(evidence, scores, challengers, pairs, over)

    def among_all(key: Key) -> Key:
        query, other = first + key[0], key[1]
        return (query, first + other) if isinstance(other, int) else (query, other)

    return Compared(
        evidence=evidence,
        cohorts=cohorts,
        challengers={among_all(key): who for key, who in challengers.items()},
        meetings={(among_all(key), first + at): one for (key, at), one in meetings.items()},
    )


def pairs_together(
    pairs: Iterable[tuple[int, int]], steady: Sequence[bool]
) -> list[tuple[int, int]]:
    """Return the pairs that are seen together: none of too many, nor with a constant score."""
    found = [pair for pair in pairs if not any(steady[one] for one in pair)]
    return found if len(found) <= MOST_TOGETHER else []


def _finer_cells(
    plan: Plan, sample: BurnInSample, rows: Rows | None, prior: float, count: int
) -> tuple[ScoreCells, ...]:
    """Return finer cells of every score, one for each value where rows are fewer than cells."""
    values: Sequence[Floats | None] = [None] * len(plan.columns)
    if rows is not None and rows.member.size <= count:
        values = [np.unique(one) for one in rows.scores]
    return tuple(
        score_cells(
            one.cells, sample, at, burn_in=plan.burn_in, prior=prior, count=count, values=own
        )
        for at, (one, own) in enumerate(zip(plan.columns, values, strict=True))
    )


def _alone(
    evidence: Sequence[Evidence], pairs: Sequence[tuple[int, int]], rows: Rows | None, plan: Plan
) -> dict[Key, Challenger]:
    """Return the attackers on one query, of every class that it is compared for."""
    wanted: dict[int, dict[Attackers, None]] = {}
    for pair in pairs:
        for query in pair:
            common = common_classes(evidence[pair[0]], evidence[pair[1]])
            wanted.setdefault(query, {}).update(dict.fromkeys(common))
    ranked = None if rows is None else rows_by_score(rows, plan)
    found: dict[Key, Challenger] = {}
    for query, classes in wanted.items():
        one, own = evidence[query], None if ranked is None else ranked[query]
        learned = class_challengers(one.counts, classes, one.prior, column=query, rows=own)
        found.update({(query, attackers): who for attackers, who in learned.items()})
    return found


def _meetings(
    evidence: Sequence[Evidence],
    scores: tuple[ScoreCells, ...],
    challengers: Mapping[Key, Challenger],
    pairs: Sequence[tuple[int, int]],
    over: Callable[..., Any],
) -> dict[tuple[Key, int], Meeting]:
    """Return how all challengers met their rivals, in as many passes as the counts need."""
    met = [(key, rival) for key in challengers for rival in _rivals(key, pairs, evidence)]
    places = {key: place for place, key in enumerate(challengers)}
    plan = MeetingPlan(
        scores=scores,
        seed=evidence[0].seed,
        guesses=tuple(one.guesses for one in challengers.values()),
        meetings=tuple((places[key], rival) for key, rival in met),
    )
    starts = [bins_of(one.counts) for one in evidence]
    left = iter(met)
    found = {}
    for part in plan.parts():
        for counts in over(MeetingTally(part).shared).counts:
            key, rival = next(left)
            cells = np.flatnonzero(counts.sums[0].any(axis=0))
            own, rates = scores[rival], challengers[key].rates
            found[key, rival] = (
                encounter(counts.sums[..., cells], counts.squares, own.single[cells], rates),
                np.searchsorted(starts[rival], own.coarse[cells], side="right"),
            )
    return found


def _rivals(
    key: Key, pairs: Sequence[tuple[int, int]], evidence: Sequence[Evidence]
) -> Sequence[int]:
    """Return the queries that a challenger meets."""
    query, other = key
    if isinstance(other, int):
        return (query, other)
    rivals = [b if a == query else a for a, b in pairs if query in {a, b}]
    return [b for b in rivals if other in common_classes(evidence[query], evidence[b])]


def seen_together(
    scores: tuple[Evidence, Evidence], grid: Ints, sides: tuple[int, int], pair: tuple[int, int]
) -> Challenger:
    """Return the attackers on two scores of the same rows.

    Args:
        scores: both.
        grid: counts in their product grid, shape (64, sides[0] * sides[1], 2).
        sides: cells of the grid along each score.
        pair: columns of the two scores.
    """
    cells = [merged_cells(sides, step) for step in _MERGED]
    tables = [one.counts.blocks for one in scores] + [_merged(grid, one) for one in cells]
    return joint_challenger(tables, cells, scores[0].counts, scores[0].prior, pair)


def merged_cells(sides: tuple[int, int], step: int) -> Places:
    """Return the cell of a coarser grid that holds each cell of the finest one."""
    rows, columns = np.arange(sides[0]) // step, np.arange(sides[1]) // step
    return (rows[:, None] * (int(columns[-1]) + 1) + columns).ravel()


def _merged(grid: Ints, cells: Places) -> Ints:
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], np.arange(int(cells.max()) + 1))
    return np.add.reduceat(grid[:, order], starts, axis=1)
