"""The workers of one run, started when they are first needed.

Who does the work: which workers, how many of them, and what they make of bad parts. Workers are
fresh processes, which end with the one that started them, or what somebody else started: a Dask
cluster, or any executor.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self

from mipaudit.errors import MissingExtraError, UsageError
from mipaudit.options.scores import HOW_TO_START, Engines
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future, ProcessPoolExecutor


EngineName = Literal["auto", "threads", "processes", "dask"]
OnBadPart = Literal["error", "skip"]
# Decoding two row groups at once saturates two cores; more threads cost memory.
_MOST_DEFAULT_JOBS: Final = 4
_PATIENCE = "10s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Settings that change how fast an answer comes, and none of its digits.

    Attributes:
        name: ``auto`` is threads, forks of a program of our own for many rows, and processes
            where CSV files hold Python's lock.
        jobs: workers of this machine; None for the processors at hand.
        scheduler: address of a Dask scheduler.
        executor: what runs the work instead.
        on_bad_part: what to do with a part that cannot be read.
    """

    name: EngineName = "auto"
    jobs: int | None = None
    scheduler: str | None = None
    executor: Executor | None = None
    on_bad_part: OnBadPart = "error"

    @property
    def workers(self) -> int:
        """Return how many workers of this machine to use."""
        return default_jobs() if self.jobs is None else self.jobs


def engine_of(asked: Engines, on_bad_part: OnBadPart = "error") -> Engine:
    """Return who does the work of a command, as it was asked."""
    return Engine(
        name=asked.engine,
        jobs=asked.jobs,
        scheduler=asked.scheduler,
        executor=asked.executor,
        on_bad_part=on_bad_part,
    )


def default_jobs() -> int:
    """Return the number of workers that a run uses unless told."""
    return min(processors(), _MOST_DEFAULT_JOBS)


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Remote(Protocol):
    """Workers outside this process's own threads."""

    size: int

    def submit(self, task: Callable[..., Any], /, *arguments: object) -> Future[Any]:
        """Give out a piece of work."""

    def renew(self) -> bool:
        """Replace workers that were lost; False where that is not ours to do."""

    def close(self, *, now: bool) -> None:
        """End what was started for the run."""


class Workers:
    """The workers that an engine stands for. Use it as a context manager.

    Attributes:
        engine: the settings.
        threads: threads of this process, for what is in its memory.
    """

    def __init__(self, engine: Engine | None = None) -> None:
        """Start nothing yet."""
        self.engine = Engine() if engine is None else engine
        self.threads = self.engine.workers
        self._remote: Remote | None = None
        self._processes: ProcessPool | None = None

    @property
    def remote(self) -> Remote | None:
        """Return the workers that summarize partitions, None for threads of this process.

        Raises:
            UsageError: no scheduler answers.
            MissingExtraError: Dask is not installed.
        """
        if self._remote is None:
            self._remote = self._hired()
        return self._remote

    def _hired(self) -> Remote | None:
        engine = self.engine
        if engine.executor is not None:
            return Borrowed(engine.executor, engine.jobs, self.threads)
        if engine.scheduler is not None:
            return DaskCluster(engine.scheduler)
        return self.processes if engine.name == "processes" else None

    @property
    def processes(self) -> ProcessPool:
        """Return processes of this machine, for what holds Python's lock."""
        if self._processes is None:
            self._processes = ProcessPool(self.threads)
        return self._processes

    def close(self, *, now: bool = False) -> None:
        """End what was started, at once or when its work is done."""
        remote, self._remote = self._remote, None
        processes, self._processes = self._processes, None
        try:
            if remote is not None and remote is not processes:
                remote.close(now=now)
        finally:
            if processes is not None:
                processes.close(now=now)

    def __enter__(self) -> Self:
        """Return the workers themselves."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close, at once if the run failed or was interrupted."""
        self.close(now=kind is not None)


class Borrowed:
    """An executor that the caller keeps."""

    def __init__(self, executor: Executor, jobs: int | None, default: int) -> None:
        """Use ``executor``.

        Args:
            executor: any that has ``submit``.
            jobs: its workers, as the caller says.
            default: where neither the caller nor the executor says.
        """
        known = jobs or getattr(executor, "_max_workers", None)
        client = getattr(executor, "_client", None)
        if known is None and client is not None:
            known = sum(client.nthreads().values())
        self.size = known if isinstance(known, int) and known > 0 else default
        self._executor = executor

    def submit(self, task: Callable[..., Any], /, *arguments: object) -> Future[Any]:
        """Give out a piece of work."""
        return self._executor.submit(task, *arguments)

    def renew(self) -> bool:
        """There is no other."""
        return False

    def close(self, *, now: bool) -> None:
        """Leave it to its owner."""


class DaskCluster(Borrowed):
    """A Dask cluster, by the address of its scheduler.

    Dask itself gives a lost worker's part to another one.
    """

    def __init__(self, scheduler: str) -> None:
        """Connect.

        Raises:
            UsageError: none answers.
            MissingExtraError: Dask is not installed.
        """
        try:
            client = import_module("distributed").Client
        except ImportError:
            raise MissingExtraError(
                "dask_missing",
                "`engine` dask needs Dask, which is not installed.",
                hint='Try: pip install "mipaudit[dask]"',
            ) from None
        try:
            self._client = client(scheduler, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError):
            raise UsageError(
                "no_scheduler",
                f"No Dask scheduler answers at {safe_name(scheduler)}.",
                HOW_TO_START,
            ) from None
        threads = sum(self._client.nthreads().values())
        super().__init__(self._client.get_executor(), threads, 1)

    def close(self, *, now: bool) -> None:
        """Disconnect; what still runs is let go."""
        self._executor.shutdown(wait=not now)
        self._client.close()


class ProcessPool:
    """Processes of this machine, started as work comes.

    They are spawned: a fork would copy the locks that other threads hold.
    """

    def __init__(self, size: int) -> None:
        """Start nothing yet."""
        self.size = size
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, task: Callable[..., Any], /, *arguments: object) -> Future[Any]:
        """Give out a piece of work.

        Raises:
            BrokenProcessPool: a process was ended from outside.
        """
        if self._pool is None:
            # Multiprocessing takes as long to load as a small file takes to audit.
            from concurrent.futures import ProcessPoolExecutor
            from multiprocessing import get_context

            self._pool = ProcessPoolExecutor(
                self.size, mp_context=get_context("spawn"), initializer=_enlist
            )
        with interrupts_held():
            return self._pool.submit(task, *arguments)

    def renew(self) -> bool:
        """Let go of a broken pool; the next piece of work starts another."""
        self.close(now=True)
        return True

    def close(self, *, now: bool) -> None:
        """End all processes, at once or when their work is done; return when they are gone."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        if now:
            # Nobody waits for what they are at.
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        """Return the pool itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close, at once if the work failed or was interrupted."""
        self.close(now=kind is not None)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold control-C back, so that processes which start now are born deaf to it.

    The terminal sends it to all of them; it is this process that ends the run.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _enlist() -> None:
    """Prepare a process of the pool: deaf to control-C, and gone when its parent is."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
