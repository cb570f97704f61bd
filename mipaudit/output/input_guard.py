"""Keeps a report from taking the place of an input, or a place among the inputs."""

from __future__ import annotations

import glob
import os
import stat
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mipaudit.errors import MipauditError, UsageError
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST: Final = 200


def refuse_inputs(output: Path, inputs: Iterable[str | None], option: str = "`output`") -> None:
    """Check that writing ``output`` changes no input, of this run or of the next.

    Args:
        output: the file, as the user typed it; it need not exist.
        inputs: what is read, as the user typed it: files, directories, globs, ``-``.
        option: what the user named the file with.

    Raises:
        UsageError: ``output_is_input`` or ``output_among_inputs``.
    """
    name, hint = safe_name(str(output), longest=_LONGEST), f"Choose another file for {option}."
    specs = [_here(spec) for spec in inputs if spec]
    state = _state(output)
    if state and any(os.path.samestat(state, other) for other in _input_states(specs)):
        raise UsageError("output_is_input", f"The output {name} is one of the inputs.", hint=hint)
    # The link that is named, and the file that it leads to.
    places = (output.parent.resolve() / output.name, output.resolve())
    if any(_would_join(place, spec) for spec in specs for place in places):
        raise UsageError(
            "output_among_inputs",
            f"The output {name} would lie among the inputs, and the next run would read it.",
            hint=hint,
        )


def _here(spec: str) -> str:
    """Return the path of a ``file://`` address; anything else as it is."""
    from mipaudit.reading.stores.address import local_path

    try:
        return local_path(spec)
    except MipauditError:
        # Reading it will fail with a better message.
        return spec


def _input_states(specs: Iterable[str]) -> Iterator[os.stat_result]:
    for spec in specs:
        states = [_stdin_state()] if spec == "-" else map(_state, _expanded(spec))
        yield from filter(None, states)


def _expanded(spec: str) -> tuple[Path, ...]:
    from mipaudit.reading.bytes.paths import expand_paths

    try:
        return expand_paths(spec)
    except (MipauditError, OSError, ValueError):
        # Reading it will fail with a better message, and nothing will be written.
        return ()


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _stdin_state() -> os.stat_result | None:
    try:
        state = os.fstat(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or no file at all
        return None
    return state if stat.S_ISREG(state.st_mode) else None


def _would_join(place: Path, spec: str) -> bool:
    """Tell whether reading ``spec`` would read a new file at ``place``."""
    path = Path(spec)
    if path.is_dir():
        root = path.resolve()
        return place.is_relative_to(root) and _is_read(place.relative_to(root).parts)
    if path.exists() or not glob.has_magic(spec):
        return False
    _, name = os.path.split(spec)
    return (
        _is_read({place.name})
        and fnmatch(place.name, name)
        and any(folder.resolve() == place.parent for folder in _searched(spec))
    )


def _searched(pattern: str) -> Iterator[Path]:
    """Yield what there is where the last part of a glob is looked for."""
    folder, name = os.path.split(pattern)
    found = glob.glob(folder, recursive=True)  # noqa: PTH207
    if set(Path(folder).parts) <= {"**"}:  # also where no folder is named
        found.append(os.curdir)
    if name == "**":  # any file below
        found += glob.glob(pattern, recursive=True)  # noqa: PTH207
    spelt = set(Path(pattern).parts)
    folders = filter(Path.is_dir, map(Path, found))
    return (folder for folder in folders if _is_read(set(folder.parts) - spelt))


def _is_read(parts: Iterable[str]) -> bool:
    # Hidden files and names that start with _ are left out of directories and globs.
    return not any(part.startswith((".", "_")) for part in parts)
