"""Opens an input, and once more without bad parts where they are skipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mipaudit.data.opening import open_input
from mipaudit.data.parts import BadPartsError
from mipaudit.errors import InputError

if TYPE_CHECKING:
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.source import ScoreSource
    from mipaudit.engine.workers import Workers

ResultT = TypeVar("ResultT")
# What an input without files left is called.
_NOTHING_LEFT: Final = "no_part_left"


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
    with open_input(*inputs, request, threads=workers.threads) as source:
        try:
            return run(source)
        except BadPartsError as bad:
            # What changes is no damaged part: nothing else in it can be trusted either.
            source.opened.check_unchanged()
            if not source.opened.rereadable:
                raise bad.plain() from None
            raise
