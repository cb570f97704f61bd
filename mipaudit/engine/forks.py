"""Copies of this process that work beside it, for threads would wait for Python's lock.

A copy has all that is loaded and planned here, and starts in a hundredth of a second. It is made
where no thread could hold a lock that the copy would wait for for ever.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from mmap import mmap
from pathlib import Path
from typing import IO, Any, Final, Generic, NoReturn, Self, TypeAlias, TypeVar

from mipaudit.engine.run import portable
from mipaudit.engine.workers import interrupts_held

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
    copies the memory around it for whoever wrote. The program has `gc.freeze` put what it loaded
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
    """This process and copies of it, which share out turns. Use it as a context manager."""

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
        with suppress(ChildProcessError):  # whoever started us may want no news of children
            os.waitpid(process, 0)

    def __enter__(self) -> Self:
        """Return the crew itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """End the copies that are still at work: nobody wants what they do."""
        for place in [*self._copies]:
            self._end(place, now=True)
        os.close(self._waiting)
