"""Folds the partitions of an input into one summary.

Summaries hold integers and rank-ordered samples only, so the result is the same to the
last bit for any workers, however many, and any order in which parts finish.
"""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mipaudit.engine.remote_fold import fold_remotely, merge_outcomes
from mipaudit.engine.run import Outcome, SummaryT
from mipaudit.engine.workers import Workers
from mipaudit.reading.bytes.bad_parts import BadPartsError
from mipaudit.reading.source.partitions import FaultyRowsError, Partitions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.reading.source.partitions import Partition


def fold(
    partitions: Sequence[Partition],
    start: Callable[[], SummaryT],
    *,
    workers: Workers | None = None,
    progress: Callable[[int], None] | None = None,
) -> SummaryT:
    """Return the summary of all rows, and settle what was left out of them.

    Args:
        partitions: parts of the input. Those that stay are read by threads of this
            process, whatever the engine.
        start: makes an empty summary; can travel where workers are elsewhere.
        workers: who reads; None for threads, as many as there are processors.
        progress: called with numbers of source rows, perhaps from any thread.

    Raises:
        BadPartsError: parts cannot be read.
        InputError: rows that cannot be audited.
        MipauditError: workers were lost.
    """
    workers = Workers() if workers is None else workers
    try:
        total = _folded(partitions, start, workers, progress)
    except FaultyRowsError:
        if isinstance(partitions, Partitions):
            raise partitions.fault() from None
        raise
    if total.bad:
        raise BadPartsError.together(error for _, error in sorted(total.bad, key=lambda p: p[0]))
    if isinstance(partitions, Partitions):
        partitions.settle(total.intake)
    summary: SummaryT = start() if total.summary is None else total.summary
    return summary


def _folded(
    partitions: Sequence[Partition],
    start: Callable[[], SummaryT],
    workers: Workers,
    progress: Callable[[int], None] | None,
) -> Outcome:
    tolerant = workers.engine.on_bad_part == "skip"
    numbered = list(enumerate(partitions))
    away = [pair for pair in numbered if not getattr(pair[1], "stays", False)]
    remote = workers.remote if away else None
    if remote is None:
        return _fold_here(numbered, start, workers.threads, tolerant=tolerant, progress=progress)
    total = Outcome()
    if len(away) < len(numbered):
        own = [pair for pair in numbered if getattr(pair[1], "stays", False)]
        total = _fold_here(own, start, workers.threads, tolerant=tolerant, progress=progress)
    found = fold_remotely(
        [one for _, one in away], start, remote, tolerant=tolerant, progress=progress
    )
    found.bad = [(away[at][0], error) for at, error in found.bad]
    merge_outcomes(total, found)
    return total


def _fold_here(
    numbered: Sequence[tuple[int, Partition]],
    start: Callable[[], SummaryT],
    threads: int,
    *,
    tolerant: bool,
    progress: Callable[[int], None] | None,
) -> Outcome:
    """Read partitions by threads of this process, one summary for each thread."""
    pile = _Pile(waiting=deque(numbered), tolerant=tolerant, progress=progress)
    count = max(1, min(threads, len(numbered)))
    if count == 1:
        return pile.work(start)
    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(pile.work, start) for _ in range(count)]
        try:
            first, *others = [future.result() for future in futures]
        except BaseException:
            # One faulty row, or the user's control-C, ends the run for all threads.
            pile.stop.set()
            raise
    for other in others:
        merge_outcomes(first, other)
    return first


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pile:
    """The partitions that are left for the threads."""

    waiting: deque[tuple[int, Partition]]
    tolerant: bool
    progress: Callable[[int], None] | None
    stop: threading.Event = field(default_factory=threading.Event)

    def work(self, start: Callable[[], SummaryT]) -> Outcome:
        """Take partitions until none is left."""
        outcome = Outcome(summary=start())
        while not self.stop.is_set():
            try:
                at, partition = self.waiting.popleft()
            except IndexError:
                break
            try:
                self._read(partition, outcome)
            except BadPartsError as error:
                outcome.bad.append((at, error))
                if not self.tolerant:
                    self.stop.set()
        return outcome

    def _read(self, partition: Partition, outcome: Outcome) -> None:
        for rows in partition.batches(outcome.intake):
            outcome.summary.add(rows)
            if self.progress is not None:
                self.progress(rows.source_rows)
            if self.stop.is_set():
                return
