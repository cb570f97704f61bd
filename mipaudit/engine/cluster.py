"""Workers that somebody else started: a Dask cluster, or any executor."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mipaudit.engine.engine import HOW_TO_START
from mipaudit.errors import MissingExtraError, UsageError
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor, Future

_PATIENCE = "10s"


class Borrowed:
    """An executor that the caller keeps."""

    def __init__(self, executor: Executor, size: int) -> None:
        """Use ``executor``, which has about ``size`` workers."""
        self.size = size
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
                "--engine dask needs Dask, which is not installed.",
                hint='Try: pip install "mipaudit[dask]"',
            ) from None
        try:
            self._client = client(scheduler, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError):
            raise UsageError(
                "no_scheduler",
                f"No Dask scheduler answers at {safe_name(scheduler)}.",
                hint=HOW_TO_START,
            ) from None
        threads = sum(self._client.nthreads().values())
        super().__init__(self._client.get_executor(), max(1, threads))

    def close(self, *, now: bool) -> None:
        """Disconnect; what still runs is let go."""
        self._executor.shutdown(wait=not now)
        self._client.close()


def borrowed(executor: Executor, jobs: int | None, default: int) -> Borrowed:
    """Return the caller's executor.

    Args:
        executor: any that has ``submit``.
        jobs: its workers, as the caller says.
        default: where neither the caller nor the executor says.
    """
    known = jobs or getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)
    if known is None and client is not None:
        known = sum(client.nthreads().values())
    return Borrowed(executor, known if isinstance(known, int) and known > 0 else default)
