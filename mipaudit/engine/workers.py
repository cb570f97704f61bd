"""The workers of one run, started when they are first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

from mipaudit.engine.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from mipaudit.engine.process_pool import ProcessPool


class Remote(Protocol):
    """Workers outside this process's own threads."""

    size: int

    def submit(self, task: Callable[..., Any], /, *arguments: object) -> Future[Any]:
        """Give out a piece of work."""
        ...

    def renew(self) -> bool:
        """Replace workers that were lost; False where that is not ours to do."""
        ...

    def close(self, *, now: bool) -> None:
        """End what was started for the run."""
        ...


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
            from mipaudit.engine.cluster import borrowed

            return borrowed(engine.executor, engine.jobs, self.threads)
        if engine.scheduler is not None:
            from mipaudit.engine.cluster import DaskCluster

            return DaskCluster(engine.scheduler)
        return self.processes if engine.name == "processes" else None

    @property
    def processes(self) -> ProcessPool:
        """Return processes of this machine, for what holds Python's lock."""
        if self._processes is None:
            # Multiprocessing takes as long to load as a small file takes to audit.
            from mipaudit.engine.process_pool import ProcessPool

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
