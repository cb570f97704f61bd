"""Opens an input, reads what must be read before the passes, and again without bad parts.

Several CSV files are parsed at a time: that is done without Python's lock, so threads serve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mipaudit.errors import InputError
from mipaudit.reading.source.any_input import open_input
from mipaudit.reading.source.part import BadPartsError, each_loaded

if TYPE_CHECKING:
    from mipaudit.engine.workers import Workers
    from mipaudit.reading.source.part import Load
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.reading.source.source import ScoreSource

ResultT = TypeVar("ResultT")
# What an input without files left is called.
_NOTHING_LEFT: Final = "no_part_left"


def loader(workers: Workers) -> Callable[[Sequence[Load]], None]:
    """Return what loads the parts of an input with ``workers``."""
    return partial(_load, workers=workers)


def _load(loads: Sequence[Load], *, workers: Workers) -> None:
    """Load all parts.

    Raises:
        BadPartsError: parts that cannot be read, all of them.
    """
    from mipaudit.data.csv_file import CsvPart

    names = [one.part.name for one in loads]
    parts = (one.part for one in loads)
    large = [part for part in parts if isinstance(part, CsvPart) and part.large]
    if workers.threads == 1 or len(large) < 2:  # noqa: PLR2004 - nothing to share
        for part in large:
            part.threads = workers.threads
        each_loaded(names, [one.here for one in loads])
        return
    with ThreadPoolExecutor(workers.threads) as threads:
        loaded = [threads.submit(one.here) for one in loads]
        try:
            each_loaded(names, [one.result for one in loaded])
        except BaseException:
            for one in loaded:
                one.cancel()
            raise


def read_input(
    inputs: tuple[Any, Any, Any],
    request: ReadRequest,
    workers: Workers,
    run: Callable[[ScoreSource], ResultT],
) -> ResultT:
    """Return what ``run`` makes of the opened input.

    Where bad parts are skipped, a run that meets one starts again from nothing, as if the
    files were not there: every pass leaves out the same rows.

    Args:
        inputs: data, members and holdout, as the caller gave them.
        request: how to understand them.
        workers: who reads; their engine says what to do with bad parts.
        run: the audit; it may be called several times.

    Raises:
        InputError: as `open_input` and ``run``; the first bad part where none is skipped.
    """
    left_out: frozenset[str] = frozenset()
    last: BadPartsError | None = None
    while True:
        try:
            return _attempt(inputs, replace(request, left_out=left_out), workers, run)
        except BadPartsError as bad:
            if workers.engine.on_bad_part == "error" or left_out.issuperset(bad.parts):
                raise
            left_out, last = left_out.union(bad.parts), bad
        except InputError as error:
            if last is None or error.code != _NOTHING_LEFT:
                raise
            raise last.plain() from None


def _attempt(
    inputs: tuple[Any, Any, Any],
    request: ReadRequest,
    workers: Workers,
    run: Callable[[ScoreSource], ResultT],
) -> ResultT:
    with open_input(*inputs, request, load=loader(workers)) as source:
        try:
            return run(source)
        except BadPartsError as bad:
            # What changes is no damaged part: nothing else in it can be trusted either.
            source.check_unchanged()
            if not source.rereadable:
                raise bad.plain() from None
            raise
