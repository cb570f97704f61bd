"""A progress bar on stderr, for runs that last."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from mipaudit.cli.terminal import can_show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

    ProgressCallback = Callable[[int, int | None], None]

_PATIENCE: Final = 1.0  # seconds before anything is shown


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[ProgressCallback | None]:
    """Yield the callback that an audit reports its rows to, or None where none is shown.

    The bar appears on a terminal only, after a second, and leaves no trace.
    """
    if quiet or not can_show_progress():
        yield None
        return
    bar = _LateBar()
    try:
        yield bar.advance
    finally:
        bar.close()


class _LateBar:
    """A bar that is drawn only once the run has lasted `_PATIENCE` seconds."""

    def __init__(self) -> None:
        from threading import Lock

        self._started = time.monotonic()
        self._lock = Lock()  # rows are counted by several threads
        self._shown: tuple[Progress, TaskID] | None = None

    def advance(self, done: int, total: int | None) -> None:
        """Take in that ``done`` rows of ``total`` (None: unknown) are behind us."""
        if self._shown is None and time.monotonic() - self._started < _PATIENCE:
            return
        with self._lock:
            if self._shown is None:
                self._shown = _draw()
        progress, task = self._shown
        progress.update(task, completed=done, total=total)

    def close(self) -> None:
        """Erase the bar."""
        if self._shown is not None:
            self._shown[0].stop()


def _draw() -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    progress = Progress(
        TextColumn("reading"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    progress.start()
    return progress, progress.add_task("reading", total=None)
