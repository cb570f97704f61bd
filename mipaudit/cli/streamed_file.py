"""A file that is written as its content is made, and is whole or not there."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from mipaudit.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mipaudit.cli.destination import Destination

_LONGEST_STEM: Final = 100


@contextmanager
def streamed(destination: Destination) -> Iterator[BinaryIO]:
    """Yield a binary file; on a regular place it appears when all of it is written.

    Raises:
        OutputError: the system refused.
        BrokenPipeError: the reader of a pipe has gone.
    """
    try:
        if destination.path is None:
            yield from _standard_output()
        elif destination.atomic:
            yield from _replacing(destination.path)
        else:
            with destination.path.open("wb") as file:
                yield cast("BinaryIO", file)
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise OutputError(
            "unwritable_output",
            f"The output cannot be written: {reason}.",
            hint="Choose another file for -o, in a directory that exists and may be written to.",
        ) from None


def _standard_output() -> Iterator[BinaryIO]:
    sys.stdout.flush()
    yield cast("BinaryIO", _Patient(sys.stdout.buffer))
    sys.stdout.flush()


def _replacing(path: Path) -> Iterator[BinaryIO]:
    beside = path.with_name(f".{path.name[:_LONGEST_STEM]}.{os.urandom(6).hex()}.tmp")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


class _Patient:
    """Writes all that it is given: with PYTHONUNBUFFERED standard output may take less."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - a buffer, or a raw stream
        self._stream = stream

    def write(self, data: Any) -> int:  # noqa: ANN401 - anything with bytes in it
        rest = memoryview(data)
        size = len(rest)
        while rest:
            rest = rest[self._stream.write(rest) :]
        return size

    def flush(self) -> None:
        self._stream.flush()
