"""The file of records: what the caller opened, or a path of which all or nothing is written."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from mipaudit.errors import OutputError, UsageError
from mipaudit.options.plain_values import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mipaudit.reading.rows.output import RowFormat

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_PRIVATE_MODE: Final = 0o600


def record_format(
    output: Any,  # noqa: ANN401 - any file
    given: str | None,
    *,
    what: str = "records",
    example: str = "risks",
) -> RowFormat | None:
    """Return the form to write in, or None where nothing is to be written.

    Args:
        output: a path, or an open file.
        given: the form; None for that of the name.
        what: is written, as errors say it.
        example: of a name.

    Raises:
        UsageError: neither the name nor ``given`` says which.
    """
    if output is None:
        return None
    from mipaudit.reading.rows.output import SUFFIXES, row_format

    name = path_of(output) if isinstance(output, (str, PathLike)) else ""
    found = given if given is not None else row_format(str(name))
    if found not in SUFFIXES.values():
        raise UsageError(
            "output",
            f"The {what} go to a file that ends in .csv, .csv.gz or .parquet.",
            hint=f"For example: -o {example}.parquet. The report itself goes to standard output.",
        )
    return found  # type: ignore[return-value]


def require_csv(form: RowFormat | None, *, safe_csv: bool) -> None:
    """Raise UsageError ``safe_csv`` where no CSV is written that it could be about."""
    if safe_csv and form not in {"csv", "csv.gz"}:
        raise UsageError(
            "safe_csv",
            "`safe_csv` is about records in a CSV file, and none is written.",
            hint="Add -o risks.csv, or leave `safe_csv` out.",
        )


@contextmanager
def record_file(output: Any, *, inputs: Iterable[Any] = ()) -> Iterator[BinaryIO]:  # noqa: ANN401
    """Yield a binary file; one given by its path is there when all of it is written.

    A new file is readable by its owner alone: it holds what belongs to persons.

    Args:
        output: a path, or an open binary file.
        inputs: what is read; a path among them may not be written to.

    Raises:
        UsageError: ``output_is_input``.
        OutputError: the system refused.
    """
    for read in inputs:
        paths = isinstance(read, (str, PathLike)) and isinstance(output, (str, PathLike))
        if paths and os.path.realpath(read) == os.path.realpath(output):
            raise UsageError(
                "output_is_input",
                "The records would take the place of the scores.",
                hint="Choose another file for the records.",
            )
    if not isinstance(output, (str, PathLike)):
        yield output
        return
    path = Path(path_of(output))
    beside = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        with os.fdopen(os.open(beside, _NEW, _PRIVATE_MODE), "wb") as file:
            if path.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            yield file
        beside.replace(path)
    except OSError as error:
        raise OutputError(
            "unwritable_output", f"The records cannot be written: {os.strerror(error.errno or 5)}."
        ) from None
    finally:
        beside.unlink(missing_ok=True)
