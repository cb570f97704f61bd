"""From an opened input to the counts of all its scores, of one number or of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from mipaudit.counting.columns import Counts, How, Meter, count
from mipaudit.counting.kept_rows import (
    KeptInput,
    column_blocks,
    count_kept,
    hold_input,
    joined_counts,
)

if TYPE_CHECKING:
    from mipaudit.data.parts import VectorScore
    from mipaudit.data.source import ScoreSource
    from mipaudit.engine.workers import Workers
    from mipaudit.summaries.identity.seed import SeedChoice


def count_all(
    source: ScoreSource,
    how: How,
    *,
    seed: SeedChoice,
    workers: Workers | None = None,
    progress: Callable[[int, int | None], None] | None = None,
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
    read = partial(hold_input, source, workers=workers, progress=progress)
    kept = partial(count_kept, choice=seed, how=how)
    found = _count_by_content(source, read, kept, source.scalars, source.vectors)
    if found is not None:
        return found
    return _count_by_position(source, how, workers=workers, progress=progress)


def count_columns(
    source: ScoreSource,
    *,
    seed: SeedChoice,
    workers: Workers | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Counts:
    """Return the counts of every column by itself, also of those that make up vectors.

    Args:
        source: the opened input.
        seed: which one is asked for.
        workers: who reads; None for threads.
        progress: called with (rows done, rows in all passes or None).

    Raises:
        InputError: a class is empty.
    """
    read = partial(hold_input, source, workers=workers, progress=progress)
    every = range(len(source.columns))
    found = _count_by_content(source, read, partial(count_kept, choice=seed, how=How()), every, ())
    if found is not None:
        return found
    return count(source, How(), seed=source.position_seed, workers=workers, progress=progress)


def _count_by_content(
    source: ScoreSource,
    read: Callable[..., KeptInput],
    count_some: Callable[..., Counts],
    scalars: Sequence[int],
    vectors: Sequence[VectorScore],
) -> Counts | None:
    """Count scores that are kept, as many in a pass as there is room for; None for too many rows.

    The source is told how many rows stand for nobody.
    """
    blocks = column_blocks(source, scalars, vectors)
    if blocks is None:
        return None
    parts = []
    for some, several in blocks:
        places = frozenset((*some, *(at for one in several for at in one.coordinates)))
        whole = len(places) == len(source.columns)
        kept = read(only=None if whole else places)
        parts.append(count_some(kept, scalars=some, vectors=several))
        if kept.units:
            source.unit_rows_dropped = kept.dropped(parts[0].n_members, parts[0].n_holdout)
    return joined_counts(parts)


def _count_by_position(
    source: ScoreSource,
    how: How,
    *,
    workers: Workers | None,
    progress: Callable[[int, int | None], None] | None,
) -> Counts:
    """Count an input that is too large to keep, pass by pass."""
    seed = source.position_seed
    if not source.vectors:
        return count(source, how, seed=seed, workers=workers, progress=progress)
    from mipaudit.counting.vectors import count_mace_bins, count_vectors, survey_vectors

    meter = None
    if progress is not None:
        passes = 2 + how.mace * len(source.vectors)
        passes += (2 + 2 * how.mace + how.kernel) * bool(source.scalars)
        meter = Meter(source.rows_hint * passes, progress).advance
    survey = survey_vectors(source, seed=seed, workers=workers, meter=meter)
    found = []
    if source.scalars:
        rows_done = None if meter is None else _continued(meter)
        found.append(
            count(
                source,
                how,
                seed=seed,
                only=source.scalars,
                workers=workers,
                progress=rows_done,
            )
        )
    vectors = count_vectors(source, survey, how, seed=seed, workers=workers, meter=meter)
    found.append(
        Counts(
            columns=(),
            n_members=survey.sample.members.rows,
            n_holdout=survey.sample.holdout.rows,
            mace=None,
            vectors=vectors,
            mace_vectors=count_mace_bins(source, survey, workers=workers, meter=meter)
            if how.mace
            else (),
            vector_seeds=(seed,) * len(source.vectors),
        )
    )
    return joined_counts(found)


def _continued(meter: Callable[[int], None]) -> Callable[[int, int | None], None]:
    """Return a progress report whose rows are added to those of the whole run."""
    done = 0

    def report(rows: int, total: int | None) -> None:
        nonlocal done
        del total
        meter(rows - done)
        done = rows

    return report
