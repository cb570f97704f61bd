"""A progress bar on stderr, for runs that last."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from mipaudit.output.terminal import can_show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

    ProgressCallback = Callable[[int, int | None], None]

_PATIENCE: Final = 1.0  # seconds before anything is shown
_SPEED_SECONDS: Final = 120.0


@contextmanager
def progress_bar(
    *, quiet: bool, doing: str = "reading", estimate: bool = False
) -> Iterator[ProgressCallback | None]:
    """Yield the callback that a run reports its work to, or None where none is shown.

    The bar appears on a terminal only, after a second, and leaves no trace.

    Args:
        quiet: show none.
        doing: what the run is at, in a word.
        estimate: show the time that is left, too.
    """
    if quiet or not can_show_progress():
        yield None
        return
    bar = _LateBar(doing, estimate=estimate)
    try:
        yield bar.advance
    finally:
        bar.close()


class _LateBar:
    """A bar that is drawn only once the run has lasted `_PATIENCE` seconds."""

    def __init__(self, doing: str, *, estimate: bool) -> None:
        from threading import Lock

        self._doing = doing
        self._estimate = estimate
        self._started = time.monotonic()
        self._lock = Lock()  # rows are counted by several threads
        self._shown: tuple[Progress, TaskID] | None = None

    def advance(self, done: int, total: int | None) -> None:
        """Take in that ``done`` of ``total`` (None: unknown) is behind us."""
        if self._shown is None and time.monotonic() - self._started < _PATIENCE:
            return
        with self._lock:
            if self._shown is None:
                self._shown = _draw(self._doing, estimate=self._estimate)
        progress, task = self._shown
        progress.update(task, completed=done, total=total)

    def close(self) -> None:
        """Erase the bar."""
        if self._shown is not None:
            self._shown[0].stop()


def _draw(doing: str, *, estimate: bool) -> tuple[Progress, TaskID]:
    from rich import progress as parts
    from rich.console import Console

    left = [parts.TextColumn("left"), parts.TimeRemainingColumn()] if estimate else []
    progress = parts.Progress(
        parts.TextColumn(doing),
        parts.BarColumn(),
        parts.TaskProgressColumn(),
        parts.TimeElapsedColumn(),
        *left,
        console=Console(stderr=True),
        transient=True,
        # A piece of work may take seconds: the speed is that of the last minutes.
        speed_estimate_period=_SPEED_SECONDS,
    )
    progress.start()
    return progress, progress.add_task(doing, total=None)
