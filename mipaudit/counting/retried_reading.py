"""Opens an input, reads what must be read before the passes, and again without bad parts.

CSV files are read several at a time. Numbers are parsed without Python's lock, so threads serve;
text is not, so processes do: 4 files of 25 MB of numbers take two threads 0.6 of the time of one,
and of text 0.8; two processes take 0.45 for the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mipaudit.errors import InputError
from mipaudit.reading.source.any_input import open_input
from mipaudit.reading.source.part import BadPartsError, each_loaded

if TYPE_CHECKING:
    from mipaudit.engine.workers import Workers
    from mipaudit.reading.csv.part import CsvPart, ParsedCsv
    from mipaudit.reading.source.part import Load
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.reading.source.source import ScoreSource

# Starting processes costs as much as parsing this much text.
_WORTH_PROCESSES: Final = 32 << 20
# What a process hands back goes through memory.
_LARGEST_HANDED_BACK: Final = 1 << 30
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
    names = [one.part.name for one in loads]
    large: dict[int, CsvPart] = {} if workers.threads == 1 else _large(loads)
    if len(large) < 2:  # noqa: PLR2004 - nothing to share
        for part in large.values():
            part.threads = workers.threads
        each_loaded(names, [one.here for one in loads])
        return
    apart = {at: part for at, part in large.items() if _worth(loads[at], part, workers)}
    if workers.engine.name in {"auto", "processes"} and _enough(apart):
        futures = {at: _sent(loads[at], part, workers) for at, part in apart.items()}
        each_loaded(
            names,
            [
                partial(_finish, futures[at], apart[at], one.here) if at in apart else one.here
                for at, one in enumerate(loads)
            ],
        )
        return
    with ThreadPoolExecutor(workers.threads) as threads:
        loaded = [threads.submit(one.here) for one in loads]
        try:
            each_loaded(names, [one.result for one in loaded])
        except BaseException:
            for one in loaded:
                one.cancel()
            raise


def _large(loads: Sequence[Load]) -> dict[int, CsvPart]:
    """Return the CSV files of which most is yet to be parsed, by their number."""
    from mipaudit.reading.csv.part import CsvPart

    parts = {at: one.part for at, one in enumerate(loads)}
    return {at: part for at, part in parts.items() if isinstance(part, CsvPart) and part.large}


def _worth(load: Load, part: CsvPart, workers: Workers) -> bool:
    """Tell whether a process should parse a file: it holds text, and can be found again."""
    if not part.travels or part.blob.size > _LARGEST_HANDED_BACK:
        return False
    return workers.engine.name == "processes" or part.textual(load.names)


def _enough(parts: dict[int, CsvPart]) -> bool:
    sizes = [part.blob.size for part in parts.values()]
    return len(sizes) > 1 and sum(sizes) >= _WORTH_PROCESSES


def _sent(load: Load, part: CsvPart, workers: Workers) -> Future[ParsedCsv]:
    from mipaudit.reading.csv.part import parse_elsewhere

    return workers.processes.submit(
        parse_elsewhere, part.blob, part.format, load.names, load.hashed, load.keys
    )


def _finish(future: Future[ParsedCsv], part: CsvPart, here: Callable[[], None]) -> None:
    try:
        parsed = future.result()
    except BrokenExecutor:
        # Whatever ended the process, the file is still there.
        here()
        return
    part.adopt(parsed)


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
