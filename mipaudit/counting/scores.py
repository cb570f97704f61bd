"""From an opened input to the counts of all its scores, of one number or of several.

An input is opened once more without bad parts where they are skipped.
Rows that fit in memory are counted in an order that follows from them; of a larger input each
row is known by its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mipaudit.counting.columns import (
    Counts,
    How,
    Meter,
    count_over,
    count_vectors_over,
    early_plan,
    fold_source,
)
from mipaudit.counting.kept_rows import count_kept, hold_input, joined_counts
from mipaudit.data.opening import open_input
from mipaudit.data.parts import BadPartsError
from mipaudit.errors import InputError
from mipaudit.summaries.plan import kept_exactly

if TYPE_CHECKING:
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.source import ScoreSource
    from mipaudit.engine.workers import Workers
    from mipaudit.summaries.identity.seed import SeedChoice

    Progress = Callable[[int, int | None], None]
    # The places of the columns that a score is made of: one, or those of a vector.
    Places = tuple[int, ...]


ResultT = TypeVar("ResultT")
# What an input without files left is called.
_NOTHING_LEFT: Final = "no_part_left"


def count_all(
    source: ScoreSource,
    how: How,
    *,
    seed: SeedChoice,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Return the counts of every score of an input: columns by themselves, and vectors.

    Args:
        source: the opened input.
        how: to count.
        seed: which one is asked for.
        workers: who reads; None for threads.
        progress: called with (rows done, rows in all passes or None).

    Raises:
        InputError: a class is empty, or a score taken as discrete has too many values.
    """
    scores: list[Places] = [(at,) for at in source.scalars]
    scores += [vector.coordinates for vector in source.vectors]
    return _count(source, scores, how, seed, workers, progress)


def count_columns(
    source: ScoreSource,
    *,
    seed: SeedChoice,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Return the counts of every column by itself, also of those that make up vectors; as above."""
    scores = [(at,) for at in range(len(source.columns))]
    return _count(source, scores, How(), seed, workers, progress)


def _count(
    source: ScoreSource,
    scores: Sequence[Places],
    how: How,
    seed: SeedChoice,
    workers: Workers | None,
    progress: Progress | None,
) -> Counts:
    """Return the counts of some scores."""
    blocks = _kept_together(source, scores)
    if blocks is None:
        return count_by_position(source, scores, how, workers=workers, progress=progress)
    parts = []
    for some in blocks:
        places = frozenset(at for one in some for at in one)
        whole = len(places) == len(source.columns)
        only = None if whole else places
        kept = hold_input(source, workers=workers, progress=progress, only=only)
        parts.append(count_kept(kept, seed, how, some))
    return joined_counts(parts)


def _kept_together(source: ScoreSource, scores: Sequence[Places]) -> list[list[Places]] | None:
    """Return which scores are kept together, pass by pass; None for too many rows.

    Whether a score is kept depends on the number of rows alone, so that no other column can
    change how it is counted.
    """
    rows = source.rows_hint
    if not kept_exactly(rows, max(map(len, scores), default=1)):
        return None
    blocks: list[list[Places]] = [[]]
    taken: set[int] = set()
    for one in scores:
        if not kept_exactly(rows, len(taken.union(one))):
            blocks.append([])
            taken = set()
        taken.update(one)
        blocks[-1].append(one)
    return blocks


def count_by_position(
    source: ScoreSource,
    scores: Sequence[Places],
    how: How,
    *,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Count an input that is too large to keep, pass by pass: its rows are told by their places.

    Args:
        source: the opened input.
        scores: of each the places of its columns.
        how: to count.
        workers: who reads; None for threads.
        progress: called with (rows done, rows in all passes).

    Raises:
        InputError: a class is empty, or a score taken as discrete has too many values.
    """
    seed, kinds = source.position_seed, [column.kind for column in source.columns]
    columns = [at for one in scores if len(one) == 1 for at in one]
    vectors = [one for one in scores if len(one) > 1]
    meter = None
    if progress is not None:
        rows = source.rows_hint * how.passes(len(columns), len(vectors))
        meter = Meter(rows, progress).advance
    over = partial(fold_source, source, workers=workers, progress=meter)
    found = []
    if columns:
        change = None if len(columns) == len(kinds) else methodcaller("of_columns", columns)
        own = [kinds[at] for at in columns]
        partitions = source.partitions()
        if change is not None:
            partitions = partitions.mapped(lambda one: one.then(change))
        early = early_plan(partitions, source.rows_hint, own, how, seed=seed)
        changed = partial(over, change=change)
        found.append(count_over(changed, own, how, seed=seed, early=early))
    if vectors:
        found.append(count_vectors_over(over, vectors, kinds, how, seed=seed))
    return joined_counts(found)


def read_input(
    inputs: tuple[Any, Any, Any],
    request: ReadRequest,
    workers: Workers,
    run: Callable[[ScoreSource], ResultT],
) -> ResultT:
    """Return what ``run`` makes of the opened input.

    Where bad parts are skipped, a run that meets one starts again from nothing, as if the
    files were not there: every pass leaves out the same rows.

    Args:
        inputs: data, members and holdout, as the caller gave them.
        request: how to understand them.
        workers: who reads; their engine says what to do with bad parts.
        run: the audit; it may be called several times.

    Raises:
        InputError: as `open_input` and ``run``; the first bad part where none is skipped.
    """
    left_out: frozenset[str] = frozenset()
    last: BadPartsError | None = None
    while True:
        try:
            return _attempt(inputs, replace(request, left_out=left_out), workers, run)
        except BadPartsError as bad:
            if workers.engine.on_bad_part == "error" or left_out.issuperset(bad.parts):
                raise
            left_out, last = left_out.union(bad.parts), bad
        except InputError as error:
            if last is None or error.code != _NOTHING_LEFT:
                raise
            raise last.plain() from None


def _attempt(
    inputs: tuple[Any, Any, Any],
    request: ReadRequest,
    workers: Workers,
    run: Callable[[ScoreSource], ResultT],
) -> ResultT:
    with open_input(*inputs, request, threads=workers.threads) as source:
        try:
            return run(source)
        except BadPartsError as bad:
            # What changes is no damaged part: nothing else in it can be trusted either.
            source.opened.check_unchanged()
            if not source.opened.rereadable:
                raise bad.plain() from None
            raise
