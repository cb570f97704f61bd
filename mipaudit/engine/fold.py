"""Folds the partitions of an input into one summary, here or on workers elsewhere.

Summaries hold integers and rank-ordered samples only, so the result is the same to the
last bit for any workers, however many, and any order in which parts finish.

They are merged as they come, so that no more of them wait than there are workers,
twice. A run whose worker is lost is given out again.
"""

from __future__ import annotations

import gc
import math
import os
import pickle
import signal
import warnings
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
from contextlib import suppress
from itertools import chain
from mmap import mmap
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, Final, Generic, NoReturn, Self, TypeAlias, TypeVar

from mipaudit.data.parts import BadPartsError, Partition
from mipaudit.data.source import Partitions
from mipaudit.engine.run import Outcome, Reading, Run, SummaryT, fold_run, portable, runs_of
from mipaudit.engine.workers import Remote, Workers, interrupts_held
from mipaudit.errors import InputError, MipauditError
from mipaudit.version import __version__

# One byte says which turn it is.
MOST_TURNS: Final = 256
_TASKS: Final = Path("/proc/self/task")
# The thread of Arrow's allocator, which sees to forks itself.
_HARMLESS: Final = "jemalloc_bg_thd"
_COUNT: Final = 8  # bytes

MadeT = TypeVar("MadeT")
Report: TypeAlias = Callable[[int], None]
Work: TypeAlias = Callable[[Report], MadeT]


def can_fork() -> bool:
    """Tell whether copies of this process can be made, safely and cheaply.

    Cheaply: Python's collector writes to every object that it looks at, and the system then
    copies the memory around it for the writer. The program has `gc.freeze` put what it loaded
    out of the collector's reach as it starts. In a program of somebody else nothing is frozen, and
    so nothing is forked: what its threads and libraries make of a copy is not known here.

    Safely: a copy has only the thread that made it, and would wait for ever for a lock that any
    other thread held. Of threads only Linux tells us.
    """
    if not gc.get_freeze_count():
        return False
    try:
        names = [(task / "comm").read_text().strip() for task in _TASKS.iterdir()]
    except OSError:
        return False
    return len(names) - names.count(_HARMLESS) == 1


class Crew(Generic[MadeT]):
    """This process and copies of it, which share out turns. Use it as a context manager.

    Threads would wait for Python's lock. A copy has all that is loaded and planned here, and starts
    in a hundredth of a second. It is made where no thread could hold a lock that the copy would
    wait for for ever.
    """

    def __init__(self, size: int, turns: int, progress: Report | None) -> None:
        """Start nothing yet.

        Args:
            size: processes, with this one.
            turns: of work, at most ``MOST_TURNS``.
            progress: called here, with what any of the crew has reported since.
        """
        self._size, self._turns, self._progress = size, turns, progress
        self._taken: list[int] = []
        self._copies: dict[int, tuple[int, IO[bytes]]] = {}  # and where their answers come from
        self._done = memoryview(mmap(-1, _COUNT * size)).cast("q")
        self._told = 0
        self._waiting, give = os.pipe()
        os.write(give, bytes(range(turns)))
        os.close(give)

    def turns(self) -> Iterator[int]:
        """Yield turns that nobody else has."""
        while turn := os.read(self._waiting, 1):
            self._taken += turn
            yield turn[0]

    def work(self, do: Work[MadeT]) -> tuple[list[MadeT], list[int]]:
        """Have everybody work; return what each made, and the turns of those who were lost.

        Args:
            do: takes turns and what to report progress to; what it returns can travel.
        """
        for place in range(1, self._size):
            self._fork(place, do)
        found = [self._do(do, self._report)]
        taken = set(self._taken)
        for place in [*self._copies]:
            answer = self._answer(place)
            if answer is None:
                self._done[place] = 0
            else:
                found.append(answer[0])
                taken.update(answer[1])
        self._report(0)
        return found, [turn for turn in range(self._turns) if turn not in taken]

    def _do(self, do: Work[MadeT], report: Report) -> MadeT:
        try:
            return do(report)
        finally:
            # It may have ended early, and then nobody need go on.
            while os.read(self._waiting, MOST_TURNS):
                pass

    def _report(self, rows: int) -> None:
        self._done[0] += rows
        if self._progress is not None:
            done = sum(self._done)
            self._progress(done - self._told)
            self._told = done

    def _fork(self, place: int, do: Work[MadeT]) -> None:
        source, give = map(os.fdopen, os.pipe(), ("rb", "wb"))
        parent = os.getpid()
        # The copy stays deaf to control-C, which the terminal sends to all.
        with give, interrupts_held(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: see `can_fork`
            try:
                process = os.fork()
            except OSError:  # no room: the others do its share
                source.close()
                return
            if not process:
                source.close()
                self._live(do, give, place, parent)
            self._copies[place] = process, source

    def _live(self, do: Work[MadeT], give: IO[bytes], place: int, parent: int) -> NoReturn:
        def report(rows: int) -> None:
            self._done[place] += rows
            if os.getppid() != parent:  # nobody waits any more
                os._exit(1)

        try:
            pickle.dump(self._answered(do, report), give, pickle.HIGHEST_PROTOCOL)
            give.flush()
        finally:
            os._exit(0)

    def _answered(self, do: Work[MadeT], report: Report) -> object:
        try:
            return self._do(do, report), self._taken
        except Exception as error:  # noqa: BLE001 - told to the parent, without its words
            return portable(error)

    def _answer(self, place: int) -> tuple[MadeT, list[int]] | None:
        """Wait for what a copy made; None where it ended before."""
        answer: Any = None
        with suppress(EOFError, pickle.UnpicklingError):
            answer = pickle.load(self._copies[place][1])  # noqa: S301 - our own
        self._end(place, now=False)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    def _end(self, place: int, *, now: bool) -> None:
        process, source = self._copies.pop(place)
        source.close()
        if now:
            os.kill(process, signal.SIGKILL)
        with suppress(ChildProcessError):  # the parent may ignore its children's ends
            os.waitpid(process, 0)

    def __enter__(self) -> Self:
        """Return the crew itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """End the copies that are still at work: nobody wants what they do."""
        for place in [*self._copies]:
            self._end(place, now=True)
        os.close(self._waiting)


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
                f"A worker runs mipaudit {outcome.version}, but this is {__version__}.",
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
        f"{name}: the worker that read it stopped several times before it was done.",
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
    total = _folded(partitions, start, workers, progress, forks=forks)
    if total.bad:
        raise BadPartsError.together([bad for _, bad in sorted(total.bad, key=itemgetter(0))])
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
