"""Where an output may go: by no link of somebody else's in a shared folder, and over no input."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mipaudit.errors import MipauditError, OutputError, UsageError
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_SHARED: Final = stat.S_ISVTX | stat.S_IWOTH
# As many as Linux follows.
_MOST_LINKS: Final = 40
_LONGEST_NAME: Final = 200


def followed_path(name: str) -> Path:
    """Return the path that a name leads to, links followed; the file need not be there.

    In a folder where everybody may make files, and nobody may remove those of others, as /tmp,
    somebody may have laid a link there in the hope that we write through it. There only our own
    links count, and those of the folder's owner: the rule of Linux's ``protected_symlinks``,
    which is not in force everywhere, and not where a path is resolved before it is opened.

    Raises:
        OutputError: ``foreign_link``: it leads over another one.
        OSError: links that go round in a ring.
        ValueError: a NUL in the name.
    """
    path = Path(name).absolute()
    found, links = Path(path.anchor), 0
    left = [*reversed(path.parts[1:])]
    while left:
        part = left.pop()
        if part == os.pardir:
            found = found.parent
            continue
        try:
            target = (found / part).readlink()
        except OSError:  # no link, or not there
            found /= part
            continue
        # Looked at after it was read: nobody can put back one of ours.
        if not _may_lead(found / part):
            raise OutputError(
                "foreign_link",
                f"The output {safe_name(name, longest=_LONGEST_NAME)} is reached by a link that "
                "another user laid in a folder of everybody.",
                hint="Remove the link, or choose another folder.",
            )
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, "")
        if target.is_absolute():
            found = Path(target.anchor)
        left += reversed(target.parts[1:] if target.is_absolute() else target.parts)
    return found


def _may_lead(link: Path) -> bool:
    folder = link.parent.stat()
    if folder.st_mode & _SHARED != _SHARED or not hasattr(os, "geteuid"):
        return True
    return link.lstat().st_uid in {os.geteuid(), folder.st_uid}


def refuse_inputs(output: Path, inputs: Iterable[str | None], option: str = "`output`") -> None:
    """Check that writing ``output`` changes no input, of this run or of the next.

    Args:
        output: the file, as the user typed it; it need not exist.
        inputs: what is read, as the user typed it: files, directories, globs, ``-``.
        option: what the user named the file with.

    Raises:
        UsageError: ``output_is_input`` or ``output_among_inputs``.
    """
    name, hint = safe_name(str(output), longest=_LONGEST_NAME), f"Choose another file for {option}."
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
