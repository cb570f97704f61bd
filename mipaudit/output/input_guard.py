"""Keeps a report from taking the place of an input, or a place among the inputs."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Final

from mipaudit.errors import MipauditError, UsageError
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

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
    specs = [spec for spec in inputs if spec]
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


def _input_states(specs: Iterable[str]) -> Iterator[os.stat_result]:
    for spec in specs:
        states = [_stdin_state()] if spec == "-" else map(_state, _files(spec))
        yield from filter(None, states)


def _files(spec: str, planned: Path | None = None) -> list[Path]:
    """Return the files of an input, the planned one among them where it would be read."""
    from mipaudit.data.files.paths import local_files
    from mipaudit.data.files.search import LocalTree

    try:
        return [path for path, _ in local_files(spec, LocalTree(planned))]
    except (MipauditError, OSError, ValueError):
        # Reading it will fail with a better message, and nothing will be written.
        return []


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
    """Tell whether reading a folder or a pattern would read a new file at ``place``."""
    files = _files(spec, planned=place)
    return any(one.name == place.name and one.parent.resolve() == place.parent for one in files)
