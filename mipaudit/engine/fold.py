"""Folds the partitions of an input into one summary, here or on workers elsewhere.

Summaries hold integers and rank-ordered samples only, so the result is the same to the
last bit for any workers, however many, and any order in which parts finish.

They are merged as they come, so that no more of them wait than there are workers,
twice. A run whose worker is lost is given out again.
"""

from __future__ import annotations

import math
import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Future,
    ThreadPoolExecutor,
    wait,
)
from itertools import chain
from typing import Any, Final

from mipaudit.data.parts import BadPartsError, FaultyRowsError, Partition
from mipaudit.data.source import Partitions
from mipaudit.engine.forks import MOST_TURNS, Crew, can_fork
from mipaudit.engine.run import Outcome, Reading, Run, SummaryT, fold_run, runs_of
from mipaudit.engine.workers import Remote, Workers
from mipaudit.errors import InputError, MipauditError
from mipaudit.version import __version__

_AHEAD: Final = 2
# So often a worker may be lost with the same partition.
_TRIES: Final = 3
# Dask's names for a task whose workers were lost, one after the other.
_KILLED: Final = frozenset({"KilledWorker", "FutureCancelledError", "FutureLostError"})


def fold_remotely(
    partitions: Sequence[Partition],
    start: Callable[[], Any],
    remote: Remote,
    *,
    tolerant: bool,
    progress: Callable[[int], None] | None,
) -> Outcome:
    """Return what came of all partitions.

    Args:
        partitions: what to read; each can travel.
        start: makes an empty summary; can travel.
        remote: the workers.
        tolerant: go on after a bad part, to find all of them.
        progress: called with the source rows of each run.

    Raises:
        MipauditError: ``worker_lost``, ``worker_differs`` or ``worker_blind``.
    """
    errand = _Errand(pickle.dumps(start), remote, tolerant=tolerant, progress=progress)
    runs = runs_of(partitions, remote.size)
    try:
        errand.carry_out(runs)
    finally:
        errand.cancel()
    _confirm(partitions, errand.total)
    return errand.total


class _Errand:
    """The state of one fold."""

    def __init__(
        self,
        start: bytes,
        remote: Remote,
        *,
        tolerant: bool,
        progress: Callable[[int], None] | None,
    ) -> None:
        self.total = Outcome()
        self._start, self._remote = start, remote
        self._tolerant, self._progress = tolerant, progress
        self._waiting: deque[Run] = deque()
        self._suspects: deque[Run] = deque()
        self._running: dict[Future[Outcome], Run] = {}

    def carry_out(self, runs: Sequence[Run]) -> None:
        """Give out all runs and take in what comes back."""
        self._waiting.extend(runs)
        while self._waiting or self._suspects or self._running:
            self._give_out()
            if not self._running:
                continue
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            lost = [run for future in done if (run := self._settled(future)) is not None]
            if lost:
                self._recover([*lost, *(self._taken_back() if self._remote.renew() else ())])
            if self.total.bad and not self._tolerant:
                return

    def cancel(self) -> None:
        """Let go of what is still out."""
        for future in self._running:
            future.cancel()
        self._running.clear()

    def _give_out(self) -> None:
        """Keep the workers busy; a suspect is tried alone, so that it alone is to blame."""
        if self._suspects:
            if not self._running:
                self._send(self._suspects.popleft())
            return
        while self._waiting and len(self._running) < _AHEAD * self._remote.size:
            if not self._send(self._waiting.popleft()):
                return

    def _send(self, run: Run) -> bool:
        try:
            future = self._remote.submit(fold_run, self._start, run, self._tolerant)
        except RuntimeError:  # broken, or shut down by its owner
            if not self._remote.renew():
                raise _worker_lost(run) from None
            self._recover([run, *self._taken_back()])
            return False
        self._running[future] = run
        return True

    def _settled(self, future: Future[Outcome]) -> Run | None:
        """Take in a result; return the run if its worker was lost."""
        run = self._running.pop(future)
        try:
            outcome = future.result()
        except (BrokenExecutor, CancelledError):
            return run
        except ImportError:
            raise MipauditError(
                "worker_differs",
                "A worker cannot import mipaudit.",
                hint=f"Install mipaudit {__version__} where the workers run.",
            ) from None
        except Exception as error:
            # `fold_run` hands back its own errors, so this one is the executor's: Dask fails
            # in several ways while it loses a worker. What stays is no accident.
            if type(error).__name__ not in _KILLED and run.lost + 1 >= _TRIES:
                raise
            return run
        self._take(outcome)
        return None

    def _take(self, outcome: Outcome) -> None:
        if outcome.version != __version__:
            raise MipauditError(
                "worker_differs",
                f"A worker runs mipaudit {outcome.version}, and this is {__version__}.",
                hint="Install the same version everywhere.",
            )
        if outcome.error is not None:
            raise outcome.error
        merge_outcomes(self.total, outcome)
        if self._progress is not None:
            self._progress(outcome.rows)

    def _recover(self, lost: list[Run]) -> None:
        """Put runs back whose worker was lost, and those that went down with it."""
        for run in sorted(lost, key=lambda one: -one.first):
            run.lost += 1
            if run.lost >= _TRIES:
                raise _worker_lost(run)
            if run.lost > 1 and len(run.partitions) > 1:
                self._suspects.extendleft(reversed(run.halves()))
            else:
                self._suspects.appendleft(run)

    def _taken_back(self) -> list[Run]:
        """Return the runs that are out, which go down with their pool."""
        runs = [*self._running.values()]
        self._running.clear()
        return runs


def merge_outcomes(total: Outcome, outcome: Outcome) -> None:
    """Take in the outcome of other partitions."""
    total.intake.include(outcome.intake)
    total.rows += outcome.rows
    total.bad += outcome.bad
    if total.bad:
        total.summary = None
    elif total.summary is None:
        total.summary = outcome.summary
    else:
        total.summary.merge(outcome.summary)


def _worker_lost(run: Run) -> MipauditError:
    name = getattr(run.partitions[0], "part", f"part {run.first + 1}")
    return MipauditError(
        "worker_lost",
        f"{name}: the worker that read it ended before its work was done, again and again.",
        hint="Was there enough memory? Try fewer `jobs`. A Python script that uses processes "
        "needs `if __name__ == '__main__':` around its work.",
    )


def _confirm(partitions: Sequence[Partition], total: Outcome) -> None:
    """Read here what a worker could not: the fault may be the worker's.

    Raises:
        MipauditError: a part can be read here.
    """
    confirmed: set[tuple[str, ...]] = set()
    for at, error in total.bad:
        if error.parts in confirmed:
            continue
        try:
            for _ in partitions[at].batches():
                pass
        except InputError:
            confirmed.add(error.parts)
            continue
        raise MipauditError(
            "worker_blind",
            f"A worker cannot read {error.parts[0]}, which can be read here.",
            hint="Is the path the same for every worker, on storage that all share?",
        )


def fold(
    partitions: Sequence[Partition],
    start: Callable[[], SummaryT],
    *,
    workers: Workers | None = None,
    progress: Callable[[int], None] | None = None,
    forks: bool = False,
) -> SummaryT:
    """Return the summary of all rows, and settle what was left out of them.

    Args:
        partitions: parts of the input. Those that stay are read by threads of this
            process, whatever the engine.
        start: makes an empty summary; can travel where workers are elsewhere.
        workers: who reads; None for threads, as many as there are processors.
        progress: called with numbers of source rows, perhaps from any thread.
        forks: copies of this process pay where they are possible: there are many rows. Summaries
            can travel then.

    Raises:
        BadPartsError: parts cannot be read.
        InputError: rows that cannot be audited.
        MipauditError: workers were lost.
    """
    workers = Workers() if workers is None else workers
    try:
        total = _folded(partitions, start, workers, progress, forks=forks)
    except FaultyRowsError:
        if isinstance(partitions, Partitions):
            raise partitions.source.fault() from None
        raise
    if total.bad:
        raise BadPartsError.together(error for _, error in sorted(total.bad, key=lambda p: p[0]))
    if isinstance(partitions, Partitions):
        partitions.source.settle(total.intake)
    summary: SummaryT = start() if total.summary is None else total.summary
    return summary


def _folded(
    partitions: Sequence[Partition],
    start: Callable[[], SummaryT],
    workers: Workers,
    progress: Callable[[int], None] | None,
    *,
    forks: bool,
) -> Outcome:
    tolerant = workers.engine.on_bad_part == "skip"
    numbered = list(enumerate(partitions))
    away = [pair for pair in numbered if not getattr(pair[1], "stays", False)]
    remote = workers.remote if away else None
    if remote is None:
        forks = forks and len(away) == len(numbered) and workers.engine.name == "auto"
        fold_here = _fold_forked if forks and can_fork() else _fold_here
        return fold_here(numbered, start, workers.threads, tolerant=tolerant, progress=progress)
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
    waiting = deque(numbered)
    reading = Reading(tolerant=tolerant, progress=progress)
    count = max(1, min(threads, len(numbered)))
    if count == 1:
        return reading.work(start, numbered)
    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(reading.work, start, _until_empty(waiting)) for _ in range(count)]
        try:
            first, *others = [future.result() for future in futures]
        except BaseException:
            # One faulty row, or the user's control-C, ends the run for all threads.
            reading.stop.set()
            raise
    for other in others:
        merge_outcomes(first, other)
    return first


def _until_empty(waiting: deque[tuple[int, Partition]]) -> Iterator[tuple[int, Partition]]:
    while True:
        try:
            yield waiting.popleft()
        except IndexError:
            return


def _fold_forked(
    numbered: Sequence[tuple[int, Partition]],
    start: Callable[[], SummaryT],
    processes: int,
    *,
    tolerant: bool,
    progress: Callable[[int], None] | None,
) -> Outcome:
    """Read partitions by this process and copies of it, one summary for each."""
    step = math.ceil(len(numbered) / MOST_TURNS)
    turns = [numbered[at : at + step] for at in range(0, len(numbered), step)]

    def work(report: Callable[[int], None]) -> Outcome:
        left = chain.from_iterable(turns[turn] for turn in crew.turns())
        return Reading(tolerant=tolerant, progress=report).work(start, left)

    with Crew[Outcome](min(processes, len(turns)), len(turns), progress) as crew:
        (total, *others), lost = crew.work(work)
    for other in others:
        merge_outcomes(total, other)
    if lost and (tolerant or not total.bad):
        again = [pair for turn in lost for pair in turns[turn]]
        merge_outcomes(total, _fold_here(again, start, 1, tolerant=tolerant, progress=progress))
    return total
