"""What the terminal can show, what is said on stderr beside the report, and how far a run is."""

from __future__ import annotations

import os
import sys
import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Timer

    from rich.progress import Progress

    from mipaudit.output.destination import Destination
    from mipaudit.statements.any_report import AnyReport

    ProgressCallback = Callable[[int, int | None], None]

_PIPED_WIDTH: Final = 100
_LINES: Final = 24
_FEWEST_LINES: Final = 10


def note(text: str, *, quiet: bool) -> None:
    """Write one line to stderr, unless quiet."""
    if quiet:
        return
    try:
        sys.stderr.write(f"{text}\n")
    except (OSError, ValueError, AttributeError):
        # Nobody listens on stderr: a note is not worth a failure.
        return


def note_written(
    report: AnyReport, place: Destination, *others: tuple[str, Destination], quiet: bool
) -> None:
    """Say which file has what, and the answer, which is not to be seen where a file has it.

    Args:
        report: what was found.
        place: where it went.
        others: what else was written, for people, and where.
        quiet: whether nothing is said.
    """
    parts = [one for one in (*others, ("the report", place)) if one[1].path is not None]
    if quiet or not parts:
        return
    from mipaudit.statements.printable_names import plain

    said = f"Written: {', '.join(f'{what} to {plain(at.name)}' for what, at in parts)}."
    if place.path is not None:
        from mipaudit.report.forms import answer_of

        said = f"{answer_of(report)} {said}"
    note(said, quiet=False)


def tame_warnings(*, verbose: bool) -> None:
    """Keep the libraries' warnings off stderr: they may quote the data.

    With ``verbose`` their kind and place are shown, never their text.
    """
    if not verbose:
        warnings.simplefilter("ignore")
        return
    warnings.simplefilter("once")
    warnings.formatwarning = _place_alone


def _place_alone(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    del message, line
    return f"Warning: {category.__name__} at {filename}:{lineno}.\n"


def table_width(*, to_file: bool) -> int:
    """Return the width of tables in characters.

    COLUMNS decides where it is set; else the terminal; else 100 (a pipe or a file).
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if to_file or not _is_terminal(sys.stdout):
        return _PIPED_WIDTH
    from shutil import get_terminal_size

    return get_terminal_size((_PIPED_WIDTH, _LINES)).columns


def window_height(*, python: bool) -> int | None:
    """Return how many lines fit above the prompt of the terminal; None of a pipe: it is whole.

    Args:
        python: whether Python's callers read it, who have asked for a screenful.
    """
    from shutil import get_terminal_size

    if not _is_terminal(sys.stdout):
        return _LINES if python else None
    return max(_FEWEST_LINES, get_terminal_size((_PIPED_WIDTH, _LINES)).lines) - 1


def use_color(*, to_file: bool) -> bool:
    """Tell whether to colour: only a terminal that can, and never with NO_COLOR."""
    return not to_file and not os.environ.get("NO_COLOR") and _is_able(sys.stdout)


def can_show_progress() -> bool:
    """Tell whether stderr is a terminal that can redraw a line."""
    return _is_able(sys.stderr)


def _is_able(stream: object) -> bool:
    return _is_terminal(stream) and os.environ.get("TERM", "") not in {"", "dumb"}


def _is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    try:
        return bool(isatty()) if callable(isatty) else False
    except ValueError:  # a closed stream
        return False


_PATIENCE: Final = 1.0  # seconds before anything is shown
_SPEED_SECONDS: Final = 120.0
_THEN: Final = "computing the answer"


@contextmanager
def progress_bar(
    *, quiet: bool, doing: str = "reading", estimate: bool = False
) -> Iterator[ProgressCallback | None]:
    """Yield the callback that a run reports its work to, or None where none is shown.

    The bar appears on a terminal only, after a second, and leaves no trace. What the run is at when
    all is read has a bar of its own: how long that takes is not known.

    Args:
        quiet: show none.
        doing: what the run is at, in a word.
        estimate: show the time that is left, too.
    """
    if quiet or not can_show_progress():
        yield None
        return
    bar = _Bar(doing, estimate=estimate)
    try:
        yield bar.advance
    finally:
        bar.close()


class _Bar:
    """Bars for what is read, or done, and for what follows that.

    Args:
        doing: what the run is at.
        estimate: show the time that is left, too.
    """

    def __init__(self, doing: str, *, estimate: bool) -> None:
        from threading import Lock

        self._doing, self._estimate = doing, estimate
        self._from = time.monotonic() + _PATIENCE
        self._lock = Lock()  # rows are counted by several threads
        self._drawn: Progress | None = None
        self._waiting: Timer | None = None

    def advance(self, done: int, total: int | None) -> None:
        """Take in that ``done`` of ``total`` (None: unknown) is behind us."""
        left = self._from - time.monotonic()
        if self._drawn is not None or left <= 0:
            self._show(done, total)
        elif total is not None and done >= total and self._waiting is None:
            from threading import Timer

            # No thread before: it would keep the reading from making copies of this process.
            self._waiting = Timer(left, self._show, (done, total))
            self._waiting.daemon = True
            self._waiting.start()

    def _show(self, done: int, total: int | None) -> None:
        with self._lock:
            bar = self._drawn = self._drawn or _draw(self._doing, estimate=self._estimate)
            what = self._doing if total is not None else f"{self._doing}, {done:,} rows"
            bar.update(bar.task_ids[0], description=what, completed=done, total=total)
            if total is not None and done >= total and not bar.task_ids[1:]:
                bar.add_task(_THEN, total=None)

    def close(self) -> None:
        """Take the bars away, all at 100%."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting.join()
        if self._drawn is not None:
            for task in self._drawn.tasks:
                self._drawn.update(task.id, total=task.total or 1, completed=task.total or 1)
            self._drawn.stop()


def _draw(doing: str, *, estimate: bool) -> Progress:
    from rich import progress as parts
    from rich.console import Console

    left = [parts.TextColumn("left"), parts.TimeRemainingColumn()] if estimate else []
    progress = parts.Progress(
        parts.TextColumn("{task.description}"),
        parts.BarColumn(),
        parts.TaskProgressColumn(),
        parts.TimeElapsedColumn(),
        *left,
        console=Console(stderr=True),
        transient=True,
        # A piece of work may take seconds: the speed is that of the last minutes.
        speed_estimate_period=_SPEED_SECONDS,
    )
    progress.add_task(doing, total=None)
    progress.start()
    return progress
