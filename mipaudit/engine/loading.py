"""Reads what must be read before the passes: CSV files, several at a time.

Numbers are parsed without Python's lock, so threads serve; text is not, so processes do:
4 files of 25 MB of numbers take two threads 0.6 of the time of one, and of text 0.8; two
processes take 0.45 for the text.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final

from mipaudit.tables.bad_parts import each_loaded
from mipaudit.tables.csv_part import CsvPart, parse_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from mipaudit.engine.workers import Workers
    from mipaudit.tables.csv_part import ParsedCsv
    from mipaudit.tables.part import Load

# Starting processes costs as much as parsing this much text.
_WORTH_PROCESSES: Final = 32 << 20
# What a process hands back goes through memory.
_LARGEST_HANDED_BACK: Final = 1 << 30


def loader(workers: Workers) -> Callable[[Sequence[Load]], None]:
    """Return what loads the parts of an input with ``workers``."""
    return partial(_load, workers=workers)


def _load(loads: Sequence[Load], *, workers: Workers) -> None:
    """Load all parts.

    Raises:
        BadPartsError: parts that cannot be read, all of them.
    """
    large = [one for one in loads if isinstance(one.part, CsvPart) and one.part.large]
    names = [one.part.name for one in loads]
    if len(large) < 2 or workers.threads < 2:  # noqa: PLR2004 - nothing to share
        each_loaded(names, [one.here for one in loads])
        return
    apart = [one for one in large if _worth(one, workers)]
    if workers.engine.name in {"auto", "processes"} and _enough(apart):
        pool = workers.processes
        futures = {id(one): pool.submit(parse_elsewhere, *_errand(one)) for one in apart}
        each_loaded(names, [partial(_finish, one, futures.get(id(one))) for one in loads])
        return
    with ThreadPoolExecutor(workers.threads) as threads:
        loaded = [threads.submit(one.here) for one in loads]
        try:
            each_loaded(names, [one.result for one in loaded])
        except BaseException:
            for one in loaded:
                one.cancel()
            raise


def _worth(load: Load, workers: Workers) -> bool:
    """Tell whether a process should parse a file: it holds text, and can be found again."""
    part = load.part
    if not isinstance(part, CsvPart) or not part.travels or part.blob.size > _LARGEST_HANDED_BACK:
        return False
    return workers.engine.name == "processes" or part.textual(load.names)


def _enough(loads: Sequence[Load]) -> bool:
    sizes = [one.part.blob.size for one in loads if one.part.blob is not None]
    return len(sizes) > 1 and sum(sizes) >= _WORTH_PROCESSES


def _errand(load: Load) -> tuple[object, ...]:
    assert isinstance(load.part, CsvPart)  # noqa: S101 - chosen so
    return load.part.blob, load.part.format, load.names, load.hashed


def _finish(load: Load, future: Future[ParsedCsv] | None) -> None:
    if future is None or not isinstance(load.part, CsvPart):
        load.here()
        return
    from concurrent.futures import BrokenExecutor

    try:
        parsed = future.result()
    except BrokenExecutor:
        # Whatever ended the process, the file is still there.
        load.here()
        return
    load.part.adopt(parsed)
