"""From an opened input to the counts of its cells and groups, in two passes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.api.counting import Meter, require_classes, require_identities
from mipaudit.audit.finding import Finding
from mipaudit.audit.group_tally import Grouping
from mipaudit.audit.record_cells import cut_cells
from mipaudit.audit.record_survey import RecordCount, RecordSurvey
from mipaudit.engine.fold import fold
from mipaudit.errors import InputError, UsageError
from mipaudit.report.names import quoted_name
from mipaudit.summaries.plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mipaudit.api.records_question import RecordsQuestion
    from mipaudit.audit.record_cells import RecordCells
    from mipaudit.engine.workers import Workers
    from mipaudit.summaries.sample import BurnInSample
    from mipaudit.summaries.tally import ColumnCounts
    from mipaudit.tables.assembly import Assembly
    from mipaudit.tables.partitions import Partitions
    from mipaudit.tables.source import PiecePartition, ScoreSource

MOST_KEPT: Final = 64
_OTHER: Final = "other"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupCounts:
    """The groups that are told apart.

    Attributes:
        names: ``column=value``; ``other`` last, if small groups are taken together.
        sizes: (members, holdout) of each.
        counts: of each, in the same cells.
        findings: what became of small groups.
    """

    names: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    counts: tuple[ColumnCounts, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordCounts:
    """The cells, their counts of shape (m, 2, 2), and the groups if asked for."""

    cells: RecordCells
    counts: NDArray[np.int64]
    n_members: int
    n_holdout: int
    groups: GroupCounts | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Chosen:
    grouping: Grouping
    names: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    findings: tuple[Finding, ...]


def count_records(
    source: ScoreSource,
    question: RecordsQuestion,
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
    partitions = unnamed(source)
    grouped = bool(partitions) and partitions[0].assembly.groups is not None
    over = partial(fold, partitions, workers=workers, progress=meter)
    survey = over(partial(RecordSurvey, question.seed, grouped=grouped))
    sample = survey.sample
    sample.settle()
    require_classes(sample)
    require_identities(sample)
    _check_population(question, sample)
    kind = source.columns[0].kind
    cells = cut_cells(
        sample,
        kind,
        seed=question.seed,
        discrete=question.discrete,
        cells=question.cells,
        least=question.min_cell,
    )
    chosen = None
    if survey.census is not None:
        chosen = _choose(survey.census.sizes, _words(partitions[0]), question)
    plan = None
    if chosen is not None:
        plan = make_plan(
            sample, [kind], prior=question.prior, discrete=question.discrete, seed=question.seed
        )
    grouping = None if chosen is None else chosen.grouping
    tally = over(partial(RecordCount, cells, plan, grouping))
    return RecordCounts(
        cells=cells,
        counts=tally.cells.counts,
        n_members=sample.members.rows,
        n_holdout=sample.holdout.rows,
        groups=None
        if chosen is None or tally.groups is None
        else GroupCounts(
            names=chosen.names,
            sizes=chosen.sizes,
            counts=tally.groups.counts(),
            findings=chosen.findings,
        ),
    )


def record_meter(
    source: ScoreSource, passes: int, progress: Callable[[int, int | None], None] | None
) -> Callable[[int], None] | None:
    """Return what counts the rows of all passes for the progress bar."""
    if progress is None:
        return None
    hint = source.rows_hint
    return Meter(None if hint is None else hint * passes, progress).advance


def unnamed(source: ScoreSource) -> Partitions[PiecePartition]:
    """Return the partitions without the values of the key column: no count needs them."""
    plain: dict[int, Assembly] = {}

    def change(partition: PiecePartition) -> PiecePartition:
        # Shared by all partitions of a group, so that it is sent once with a run of them.
        own = partition.assembly
        if id(own) not in plain:
            plain[id(own)] = replace(own, named=False)
        return replace(partition, assembly=plain[id(own)])

    return source.partitions().mapped(change)


def require_one_score(source: ScoreSource) -> None:
    """Raise UsageError ``several_scores`` unless the input has a single score column."""
    if len(source.columns) == 1:
        return
    names = ", ".join(quoted_name(column.name) for column in source.columns)
    raise UsageError(
        "several_scores",
        f"The risk of a record is that of one score, and there are several: {names}.",
        hint="Choose one with --score-col.",
    )


def _check_population(question: RecordsQuestion, sample: BurnInSample) -> None:
    members = sample.members.rows
    if question.population is not None and question.population < members:
        raise InputError(
            "population_too_small",
            f"There are {members:,} members, more than the training records that "
            "--member-population says they were drawn from.",
            hint="Give the number of all training records.",
        )


def _words(partition: PiecePartition) -> tuple[tuple[str, ...], Mapping[int, tuple[str, ...]]]:
    groups = partition.assembly.groups
    assert groups is not None  # noqa: S101 - the caller asked
    return groups.columns, groups.found


def _choose(
    sizes: Mapping[int, tuple[int, int]],
    words: tuple[tuple[str, ...], Mapping[int, tuple[str, ...]]],
    question: RecordsQuestion,
) -> _Chosen:
    """Decide by the class sizes alone which groups are told apart.

    Raises:
        InputError: ``small_groups`` or ``no_group``.
        UsageError: ``too_many_groups``.
    """
    small = [group for group, pair in sizes.items() if min(pair) < question.min_cell]
    if small and question.small_groups == "refuse":
        raise InputError(
            "small_groups",
            f"{len(small)} of {len(sizes)} groups have fewer than {question.min_cell} members "
            "or holdout records.",
            hint="Take them together with --small-groups merge, or name fewer columns.",
        )
    kept = sorted(set(sizes) - set(small))
    if len(kept) > MOST_KEPT:
        raise UsageError(
            "too_many_groups",
            f"--by makes {len(kept)} groups; at most {MOST_KEPT} are told apart.",
            hint="Name fewer columns.",
        )
    members, holdout = (sum(sizes[group][side] for group in small) for side in (0, 1))
    together = bool(small) and min(members, holdout) >= question.min_cell
    if not kept:
        raise InputError(
            "no_group",
            f"No group has {question.min_cell} members and as many holdout records.",
            hint="Name fewer columns, or lower --min-cell.",
        )
    columns, found = words
    names = [
        ", ".join(f"{c}={word}" for c, word in zip(columns, found[group], strict=True))
        for group in kept
    ]
    return _Chosen(
        grouping=Grouping(
            kept=np.array(kept, dtype=np.uint64),
            merged=np.array(sorted(small) if together else [], dtype=np.uint64),
        ),
        names=(*names, *([_OTHER] if together else [])),
        sizes=(*(sizes[group] for group in kept), *([(members, holdout)] if together else [])),
        findings=_findings(len(small), members + holdout, question.min_cell, together=together),
    )


def _findings(small: int, rows: int, least: int, *, together: bool) -> tuple[Finding, ...]:
    if not small:
        return ()
    few = f"{small} groups have fewer than {least} members or holdout records"
    if together:
        return (Finding(code="groups_merged", text=f"{few}: taken together as 'other'."),)
    text = f"{few}, also together: their {rows:,} records are in no group."
    return (Finding(code="groups_left_out", text=text),)
