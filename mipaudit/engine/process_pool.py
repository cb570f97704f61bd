"""Fresh processes that end with the one that started them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any


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
            self._pool = ProcessPoolExecutor(
                self.size, mp_context=get_context("spawn"), initializer=_enlist
            )
        with _interrupts_held():
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


@contextmanager
def process_pool(size: int) -> Iterator[ProcessPool]:
    """Yield a pool that is gone afterwards, whatever happens."""
    pool = ProcessPool(size)
    try:
        yield pool
    except BaseException:
        pool.close(now=True)
        raise
    finally:
        pool.close(now=False)


@contextmanager
def _interrupts_held() -> Iterator[None]:
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
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
