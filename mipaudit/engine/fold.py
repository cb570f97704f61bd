"""Folds the partitions of an input into one summary, on a few threads.

Summaries hold integers and rank-ordered samples only, so the result is the same
to the last bit for any number of threads and any order in which parts finish.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.summaries.rows import Rows
    from mipaudit.tables.source import Partition

# Decoding two row groups at once saturates two cores; more threads cost memory.
_MOST_DEFAULT_JOBS: Final = 4


class Summary(Protocol):
    """What can be folded: takes rows, and merges with its like in any order."""

    def add(self, rows: Rows) -> None:
        """Take in a batch of rows."""
        ...

    def merge(self, other: Self) -> None:
        """Take in another summary of the same kind."""
        ...


SummaryT = TypeVar("SummaryT", bound=Summary)


def default_jobs() -> int:
    """Return the number of threads that a run uses unless told."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(available or 1, _MOST_DEFAULT_JOBS)


def fold(
    partitions: Sequence[Partition],
    start: Callable[[], SummaryT],
    *,
    jobs: int,
    progress: Callable[[int], None] | None = None,
) -> SummaryT:
    """Return the summary of all rows.

    Args:
        partitions: parts of the input; each is read by one thread.
        start: makes an empty summary; called once per thread.
        jobs: number of threads, at least 1.
        progress: called with the number of source rows of each batch, from any thread.
    """
    waiting = deque(partitions)
    stop = threading.Event()

    def work() -> SummaryT:
        summary = start()
        while not stop.is_set():
            try:
                partition = waiting.popleft()
            except IndexError:
                break
            for rows in partition.batches():
                summary.add(rows)
                if progress is not None:
                    progress(rows.source_rows)
                if stop.is_set():
                    break
        return summary

    workers = max(1, min(jobs, len(partitions)))
    if workers == 1:
        return work()
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work) for _ in range(workers)]
        try:
            first, *others = [future.result() for future in futures]
        except BaseException:
            # One failed part, or the user's control-C, ends the run for all threads.
            stop.set()
            raise
    for other in others:
        first.merge(other)
    return first
