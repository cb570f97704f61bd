"""A crew: several processes that replicate cells, and the order in which they report."""

from __future__ import annotations

from collections import deque
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Final

from mipaudit.engine.process_pool import process_pool
from mipaudit.errors import MipauditError
from mipaudit.validation.coverage.replication import replicate, seconds_each
from mipaudit.validation.coverage.statement import joined
from mipaudit.validation.coverage.tally import tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from mipaudit.engine.process_pool import ProcessPool
    from mipaudit.validation.coverage.replication import Task
    from mipaudit.validation.coverage.statement import Statements
    from mipaudit.validation.report import CoverageRow

    Progress = Callable[[int, int | None], None]
    Finished = Callable[[Task, tuple[CoverageRow, ...]], None]

_AHEAD: Final = 16  # pieces of work for each process
_MICRO: Final = 1_000_000  # progress is counted in whole numbers


def run_tasks(
    tasks: Sequence[Task],
    *,
    seed: int,
    jobs: int,
    finished: Finished,
    progress: Progress | None = None,
) -> None:
    """Replicate all cells; what is found does not depend on the number of processes.

    Args:
        tasks: cells and methods.
        seed: of the whole run.
        jobs: processes, at least 1; 1 runs here.
        finished: called with each task and its rows, in the order of the tasks.
        progress: called with microseconds of CPU time behind us, and in all.

    Raises:
        MipauditError: ``worker_lost``, when a process was ended from outside.
    """
    meter = _Meter(tasks, progress)
    pieces = [(task, part) for task in tasks for part in task.pieces()]
    jobs = min(jobs, len(pieces))
    if jobs <= 1:
        _collect(tasks, (replicate(task, seed, part) for task, part in pieces), finished, meter)
        return
    with process_pool(jobs) as pool:
        _collect(tasks, _results(pool, pieces, seed, _AHEAD * jobs), finished, meter)


def _results(
    pool: ProcessPool, pieces: Iterable[tuple[Task, range]], seed: int, ahead: int
) -> Iterator[Statements]:
    """Yield the results in order, while ``ahead`` pieces of work are given out."""
    waiting: deque[Future[Statements]] = deque()
    try:
        for task, part in pieces:
            waiting.append(pool.submit(replicate, task, seed, part))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise MipauditError(
            "worker_lost",
            "A process of the run ended before its work was done.",
            hint="Was there enough memory? Try --jobs 1; with --resume FILE no cell is run twice.",
        ) from None


def _collect(
    tasks: Sequence[Task], results: Iterator[Statements], finished: Finished, meter: _Meter
) -> None:
    for task in tasks:
        parts = []
        for part in task.pieces():
            parts.append(next(results))
            meter.advance(task, len(part))
        finished(task, tally(task.cell, joined(parts)))


class _Meter:
    """Turns replications into the share of the work that is done."""

    def __init__(self, tasks: Sequence[Task], progress: Progress | None) -> None:
        self._progress = progress
        self._total = sum(task.cell.replications * seconds_each(task.cell) for task in tasks)
        self._done = 0.0

    def advance(self, task: Task, replications: int) -> None:
        """Take in that so many replications of a task are done."""
        self._done += replications * seconds_each(task.cell)
        if self._progress is not None:
            self._progress(int(self._done * _MICRO), int(self._total * _MICRO))
