"""Finished cells of a run, so that it can go on later: in memory, or in a file.

The file has one JSON object a line, first what the run is, then each finished cell.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import InputError, OutputError
from mipaudit.validation.report import CoverageRow
from mipaudit.version import __version__

if TYPE_CHECKING:
    from mipaudit.validation.coverage.replications import Task

Rows = tuple[CoverageRow, ...]

_SCHEMA: Final = "mipaudit.validation-cells/1"
_HINT: Final = "Name another file for `resume`, or delete this one to start anew."


class Ledger:
    """The rows of finished cells, by what identifies a task."""

    def __init__(
        self, name: str | None = None, identity: Mapping[str, object] | None = None
    ) -> None:
        """Read what is finished; start the file if there is none.

        A last line that was cut off, as when a machine went down, is dropped.

        Args:
            name: of the file; None for memory alone.
            identity: of the run: whatever else changes a cell's rows.

        Raises:
            InputError: the file is of another run or no ledger at all.
            OutputError: it cannot be read or written.
        """
        self._finished: dict[str, Rows] = {}
        self._path = None if name is None else Path(name)
        with _refusals():
            lines = [] if self._path is None else _whole_lines(self._path)
            head = {"schema": _SCHEMA, **(identity or {})}
            if lines:
                _require_same_run(lines[0], head)
            else:
                self._append(head)
            self._finished.update(_entry(line) for line in lines[1:])

    def find(self, task: Task) -> Rows | None:
        """Return the rows of a task that is finished."""
        return self._finished.get(_key(task))

    def add(self, task: Task, rows: Rows) -> None:
        """Keep the rows of a task, on disk before this returns.

        Raises:
            OutputError: the file cannot be written.
        """
        self._finished[_key(task)] = rows
        with _refusals():
            self._append({"cell": _key(task), "rows": [asdict(row) for row in rows]})

    def _append(self, entry: Mapping[str, object]) -> None:
        if self._path is None:
            return
        with self._path.open("ab") as file:
            file.write(json.dumps(entry, allow_nan=False).encode("ascii") + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _key(task: Task) -> str:
    return repr((task.cell, task.methods))


def _whole_lines(path: Path) -> list[bytes]:
    """Return the lines that are complete, and cut off what follows them."""
    data = path.read_bytes() if path.exists() else b""
    whole = data.rfind(b"\n") + 1
    if data and not whole:
        raise _foreign()
    if whole < len(data):
        os.truncate(path, whole)
    return data[:whole].splitlines()


def _require_same_run(line: bytes, head: Mapping[str, object]) -> None:
    try:
        found = json.loads(line)
    except ValueError:
        raise _foreign() from None
    if not isinstance(found, dict) or found.get("schema") != _SCHEMA:
        raise _foreign()
    wanted = json.loads(json.dumps(head))
    other = sorted(key for key in {*wanted, *found} if wanted.get(key) != found.get(key))
    if other:
        raise InputError(
            "other_run",
            f"The file to resume from is of a run with another {' and another '.join(other)}.",
            hint=_HINT,
        )


def _entry(line: bytes) -> tuple[str, Rows]:
    import msgspec

    try:
        entry = msgspec.json.decode(line, type=dict[str, Any])
        return msgspec.convert((entry["cell"], entry["rows"]), tuple[str, Rows])
    except (msgspec.MsgspecError, KeyError):
        raise _foreign() from None


def _foreign() -> InputError:
    return InputError(
        "bad_resume_file", "The file to resume from is none of `mipaudit validate`.", hint=_HINT
    )


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what goes wrong with the file into an error that says so."""
    try:
        yield
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number else "bad name"
        raise OutputError("unusable_resume_file", f"`resume`: {reason}.", hint=_HINT) from None


def code_fingerprint() -> str:
    """Return a hash of the package's source: other code, other rows."""
    root = Path(__file__).parents[2]
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in {"cli", "formats"}:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def versions() -> dict[str, str]:
    """Return the versions that rows depend on."""
    import numpy as np
    import scipy

    return {"mipaudit": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
