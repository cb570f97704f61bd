"""From an opened input to the counts of all its scores, of one number or of several.

An input is opened once more without bad parts where they are skipped.
Rows that fit in memory are counted in an order that follows from them; of a larger input each
row is known by its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import fields, replace
from functools import partial
from hashlib import blake2b
from itertools import chain
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from mipaudit.counting import counts as counting
from mipaudit.data.opening import open_input
from mipaudit.data.parts import BadPartsError
from mipaudit.engine.fold import fold
from mipaudit.errors import InputError
from mipaudit.model.message import Finding
from mipaudit.options.scores import fresh_seed
from mipaudit.statements.any_report import STATED_SEED
from mipaudit.summaries import content as contents
from mipaudit.summaries.plan import kept_exactly
from mipaudit.summaries.rows import HeldRows, Rows, one_of_each
from mipaudit.summaries.seed import Content, SeedChoice

if TYPE_CHECKING:
    from mipaudit.counting.counts import Counts, How, Progress
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.source import ScoreSource
    from mipaudit.engine.run import SummaryT
    from mipaudit.engine.workers import Workers
    from mipaudit.statements.provenance import InputFile

    # The places of the columns that a score is made of: one, or those of a vector.
    Places = tuple[int, ...]

ResultT = TypeVar("ResultT")
_STATED: Final = Finding.of(STATED_SEED, case="large")
# What an input without files left is called.
_NOTHING_LEFT: Final = "no_part_left"


def count_all(
    source: ScoreSource,
    how: How,
    *,
    seed: SeedChoice,
    workers: Workers | None = None,
    progress: Progress | None = None,
    scores: Sequence[Places] | None = None,
) -> Counts:
    """Return the counts of every score of an input: columns by themselves, and vectors.

    Args:
        source: the opened input.
        how: to count.
        seed: which one is asked for.
        workers: who reads; None for threads.
        progress: called with (rows done, rows in all passes or None).
        scores: what is counted instead: of each score the places of its columns.

    Raises:
        InputError: a class is empty, or a score taken as discrete has too many values.
    """
    if scores is None:
        scores = [*((at,) for at in source.scalars), *source.vectors.values()]
    blocks = _kept_together(source.rows_hint, scores)
    if blocks is None:
        return count_by_position(source, scores, how, workers=workers, progress=progress)
    parts = []
    for some in blocks:
        places = {at for one in some for at in one}
        held = hold_input(source, workers=workers, progress=progress, only=places)
        parts += [_count_held(source, in_order(source, held, one, seed), how, one) for one in some]
    return _joined(parts)


def _count_held(source: ScoreSource, ordered: tuple[Rows, int], how: How, places: Places) -> Counts:
    """Return the counts of one score: of one column, or of the coordinates of a vector."""
    (rows, seed), kinds = ordered, [source.columns[at].kind for at in places]
    over = partial(over_rows, rows)
    if len(places) == 1:
        return counting.count_over(over, kinds, how, seed=seed)
    return counting.count_vectors_over(over, [tuple(range(len(places)))], kinds, how, seed=seed)


def _kept_together(rows: int, scores: Sequence[Places]) -> list[list[Places]] | None:
    """Return which scores are kept together, pass by pass; None for too many rows.

    Whether a score is kept depends on the number of rows alone, so that no other column can
    change how it is counted.
    """
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
    passes = how.passes(len(columns), len(vectors))
    meter = counting.row_meter(source.rows_hint * passes, progress)
    over = partial(counting.fold_source, source, workers=workers, progress=meter)
    found = []
    if columns:
        change = None if len(columns) == len(kinds) else methodcaller("of_columns", columns)
        own = [kinds[at] for at in columns]
        early = counting.early_plan(
            source.partitions().then(change), source.rows_hint, own, how, seed=seed
        )
        changed = partial(over, change=change)
        found.append(counting.count_over(changed, own, how, seed=seed, early=early))
    if vectors:
        found.append(counting.count_vectors_over(over, vectors, kinds, how, seed=seed))
    return _joined(found)


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
            # A pipe cannot be opened once more.
            raise bad.plain() if any(one.bound for one in source.opened.blobs) else bad from None


def in_order(
    source: ScoreSource, rows: Rows, places: Sequence[int], choice: SeedChoice
) -> tuple[Rows, int]:
    """Return the rows of one statement, which some of the columns enter together, and their seed.

    Every score is counted in its own canonical order with a seed of its own, both of which
    follow from it, and from its groups, alone: a column more or less beside it changes none of
    its numbers. Of many rows each is known by its place.

    Args:
        source: the opened input.
        rows: of it, every one, as `hold_input` read them.
        places: of those columns, which need not stand in the order of their names.
        choice: of the seed.
    """
    if not fits(source):
        return rows.of_columns(places), source.position_seed
    entering = [_column(source, rows, at) for at in places]
    units = source.unit_seed is not None
    found, content = contents.canonical_rows(entering, rows.member, rows.keys, units=units)
    return _standing(source, found, choice.in_use(content))


def with_groups(source: ScoreSource, rows: Rows, at: int, choice: SeedChoice) -> tuple[Rows, int]:
    """Return the rows of one column for a statement on groups, which were read, and their seed.

    Rows of one score are exchangeable only within their group: who could say which of them
    bears which group's name would choose the group's rows that train.

    Args:
        source: the opened input.
        rows: as of `in_order`.
        at: place of the column.
        choice: of the seed.
    """
    assert rows.groups is not None  # noqa: S101 - the caller looked
    groups = contents.ContentColumn(name="2 group", values=rows.groups, labels=True)
    entering = [replace(_column(source, rows, at), name="1 score"), groups]
    units = source.unit_seed is not None
    found = contents.canonical_order(entering, rows.member, rows.keys, units=units)
    return _standing(
        source, rows.of_columns([at]).reordered(found.order), choice.in_use(found.content)
    )


def _column(source: ScoreSource, rows: Rows, at: int) -> contents.ContentColumn:
    column = source.columns[at]
    return contents.ContentColumn(
        name=column.name, values=rows.scores[at], labels=column.kind == "string"
    )


def _standing(source: ScoreSource, rows: Rows, seed: int) -> tuple[Rows, int]:
    """Return one row for each person, and tell the source how many stand for nobody."""
    if source.unit_seed is None:
        return rows, seed
    standing = one_of_each(rows, seed)
    members = np.count_nonzero(rows.member) - np.count_nonzero(standing.member)
    dropped = rows.member.size - standing.member.size
    source.unit_rows_dropped = int(members), int(dropped - members)
    return standing, seed


def over_rows(
    rows: Rows, start: Callable[[], SummaryT], *, change: Callable[[Rows], Rows] | None = None
) -> SummaryT:
    """Return the summary of rows in memory, changed first where they are to be."""
    summary = start()
    summary.add(rows if change is None else change(rows))
    return summary


def hold_input(
    source: ScoreSource,
    *,
    workers: Workers | None,
    progress: Progress | None,
    only: Collection[int] | None = None,
) -> Rows:
    """Return every row of an input, in memory, in one pass and however many columns it has.

    Args:
        source: the opened input.
        workers: who reads; None for threads.
        progress: called with (rows done, rows in all or None).
        only: places of the columns whose scores are kept, the others are empty; None for all.

    Raises:
        InputError: rows that cannot be audited.
    """
    meter = counting.row_meter(source.rows_hint, progress)
    partitions = source.every_row() if fits(source) else source.partitions()
    if only is not None and len(only) < len(source.columns):
        partitions = partitions.then(partial(_with_only, places=frozenset(only)))
    held = fold(partitions, HeldRows, workers=workers, progress=meter).joined()
    assert held is not None  # noqa: S101 - an input has rows
    return held


def _with_only(rows: Rows, *, places: frozenset[int]) -> Rows:
    """Return rows without the scores of other columns, whose places stay."""
    scores = (one if at in places else one[:0] for at, one in enumerate(rows.scores))
    return replace(rows, scores=tuple(scores))


def _joined(parts: Sequence[Counts]) -> Counts:
    """Return the counts of some scores and of others of the same rows, in order."""
    lists = [one.name for one in fields(parts[0]) if not one.name.startswith("n_")]
    found: Any = {name: tuple(chain(*(getattr(one, name) for one in parts))) for name in lists}
    return replace(parts[0], **found)


def fits(source: ScoreSource, columns: int = 1) -> bool:
    """Tell whether rows are kept, so that their seed and their order follow from them.

    Args:
        source: opened.
        columns: how many enter one statement.
    """
    return kept_exactly(source.rows_hint, columns)


def settle_seed(
    sources: Sequence[ScoreSource], choice: SeedChoice, *, hash_inputs: bool, together: bool = False
) -> SeedChoice:
    """Give the inputs the seed for rows that their positions tell apart, if they are large.

    A person who orders the rows of such a file could choose those that train for a seed that is
    known beforehand. So the default is a hash of every row in its place where another pass is
    cheap, or asked for; else it is drawn afresh. The rows in another order are another draw, and
    how they are stored changes nothing.

    Args:
        sources: that enter one statement.
        choice: what was asked for.
        hash_inputs: whether every row is to be hashed, whatever it costs.
        together: all columns of an input enter one statement; otherwise each, and each
            vector, is one of its own.

    Returns:
        The choice to record: of a large input without a digest the default is a fresh one.
    """
    if all(fits(one, len(one.columns) if together else _widest(one)) for one in sources):
        return choice
    described = (file for one in sources for file in one.inputs(hash_all=hash_inputs))
    rows = (([column.name for column in one.columns], one.every_row().rows()) for one in sources)
    choice, seed, notes = position_seed(choice, described, rows)
    for source in sources:
        source.number_rows(seed)
    sources[0].assumed += notes
    return choice


def _widest(source: ScoreSource) -> int:
    return max(map(len, source.vectors.values()), default=1)


def position_seed(
    choice: SeedChoice,
    described: Iterable[InputFile],
    sources: Iterable[tuple[Sequence[str], Iterable[Rows]]],
) -> tuple[SeedChoice, int, tuple[Finding, ...]]:
    """Return the choice to record, the seed in use for positions, and what is to be said.

    A digest of all rows is a pass of its own: for files whose bytes are hashed anyway, data in
    memory, and if asked for.

    Args:
        choice: what was asked for.
        described: the inputs.
        sources: of each, the names of its columns and its batches in order.
    """
    if not any(one.sha256 is None and one.bytes is not None for one in described):
        return choice, choice.in_use(_rows_in_order(sources)), ()
    notes = (_STATED,) if choice.origin == "stated" else ()
    if choice.origin == "default":
        choice = fresh_seed()
    content = Content(kind="positions", n_members=0, n_holdout=0, digest=b"")
    return choice, choice.in_use(content), notes


def _rows_in_order(sources: Iterable[tuple[Sequence[str], Iterable[Rows]]]) -> Content:
    """Return the digest of all rows in their places."""
    digest = blake2b(digest_size=contents.DIGEST_BYTES)
    members = holdout = 0
    for names, batches in sources:
        rows = contents.RowStream(names)
        for batch in batches:
            rows.add(batch)
        digest.update(rows.digest())
        members, holdout = members + rows.members, holdout + rows.rows - rows.members
    return Content(
        kind="rows in order", n_members=members, n_holdout=holdout, digest=digest.digest()
    )
