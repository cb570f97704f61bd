"""The ledger: cells that are finished, kept in a file so that a run can go on later.

One JSON object a line: first what the run is, then each finished cell.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from mipaudit.errors import InputError, OutputError
from mipaudit.validation.report import CoverageRow
from mipaudit.version import __version__

if TYPE_CHECKING:
    from mipaudit.validation.coverage.crew import Task

_SCHEMA: Final = "mipaudit.validation-cells/1"
_HINT: Final = "Name another file for `resume`, or delete this one to start anew."

Rows = tuple[CoverageRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Finished cells, in memory and, where a run is to be resumable, in a file.

    Attributes:
        path: the file; None keeps nothing.
        finished: rows by what identifies a task.
    """

    path: Path | None = None
    finished: dict[str, Rows] = field(default_factory=dict)

    @classmethod
    def open(cls, name: str | None, identity: Mapping[str, object]) -> Self:
        """Read what is finished; start the file if there is none.

        A last line that was cut off, as when a machine went down, is dropped.

        Args:
            name: the file, or None.
            identity: of the run: whatever else changes a cell's rows.

        Raises:
            InputError: the file is of another run or no ledger at all.
            OutputError: it cannot be read or written.
        """
        if name is None:
            return cls()
        path, head = Path(name), {"schema": _SCHEMA, **identity}
        try:
            lines = _whole_lines(path)
            if lines:
                _require_same_run(lines[0], head)
            else:
                _append(path, head)
            return cls(path=path, finished=dict(_entry(line) for line in lines[1:]))
        except (OSError, ValueError) as error:
            raise _refused(error) from None

    def find(self, task: Task) -> Rows | None:
        """Return the rows of a task that is finished."""
        return self.finished.get(_key(task))

    def add(self, task: Task, rows: Rows) -> None:
        """Keep the rows of a task, on disk before this returns.

        Raises:
            OutputError: the file cannot be written.
        """
        self.finished[_key(task)] = rows
        if self.path is not None:
            try:
                _append(self.path, {"cell": _key(task), "rows": [asdict(row) for row in rows]})
            except OSError as error:
                raise _refused(error) from None


def code_fingerprint() -> str:
    """Return a hash of the package's source: other code, other rows."""
    root = Path(__file__).parents[2]
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in {"cli", "formats", "reproductions"}:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def versions() -> dict[str, str]:
    """Return the versions that rows depend on."""
    import numpy as np
    import scipy

    return {"mipaudit": __version__, "numpy": np.__version__, "scipy": scipy.__version__}


def _key(task: Task) -> str:
    return repr((task.cell, task.methods))


def _whole_lines(path: Path) -> list[bytes]:
    """Return the lines that are complete, and cut off what follows them."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data) and whole:
        os.truncate(path, whole)
    elif whole < len(data):
        raise _foreign()
    return data[:whole].splitlines()


def _append(path: Path, entry: Mapping[str, object]) -> None:
    with path.open("ab") as file:
        file.write(json.dumps(entry, allow_nan=False).encode("ascii") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _entry(line: bytes) -> tuple[str, Rows]:
    import msgspec

    try:
        entry = msgspec.json.decode(line, type=dict[str, Any])
        return msgspec.convert((entry["cell"], entry["rows"]), tuple[str, Rows])
    except (msgspec.MsgspecError, KeyError):
        raise _foreign() from None


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


def _foreign() -> InputError:
    return InputError(
        "bad_resume_file", "The file to resume from is none of `mipaudit validate`.", hint=_HINT
    )


def _refused(error: OSError | ValueError) -> OutputError:
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "bad name"
    return OutputError("unusable_resume_file", f"`resume`: {reason}.", hint=_HINT)
