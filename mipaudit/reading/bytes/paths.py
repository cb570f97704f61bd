"""From what the user typed to the files that are read, in order."""

from __future__ import annotations

import glob
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mipaudit.errors import InputError, UsageError
from mipaudit.reading.bytes.blob import file_blob, stream_blob
from mipaudit.reading.stores.address import MAGIC, is_visible, local_path, no_parts, parse_address
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mipaudit.reading.bytes.blob import Blob


# The bytes of one file, and the names of the folders that lead to it, counted from the one that was
# named on, or from where a pattern begins to vary: those before are the user's own affair.
FoundBlob = tuple["Blob", tuple[str, ...]]


def input_blobs(spec: str, *, in_memory: int) -> list[Blob]:
    """Return the bytes that ``spec`` means, in order; as ``find_blobs``."""
    return [blob for blob, _ in find_blobs(spec, in_memory=in_memory)]


def find_blobs(spec: str, *, in_memory: int) -> list[FoundBlob]:
    """Return the bytes that ``spec`` means, in bytewise path order.

    Args:
        spec: as for ``expand_paths``, an address in a store, or ``"-"`` for standard input.
        in_memory: most bytes of a stream that are kept in memory.

    Raises:
        InputError: as ``expand_paths``; ``no_stdin``, ``unreadable`` or ``not_a_file``; a
            store that cannot be reached or refuses.
        UsageError: as ``expand_paths``; an address that means nothing.
        MissingExtraError: a store needs a library that is not installed.
    """
    if spec == "-":
        return [(_stdin_blob(in_memory), ())]
    address = parse_address(spec)
    if address is not None:
        from mipaudit.reading.stores.objects import remote_blobs

        return remote_blobs(address, in_memory=in_memory)
    return [(_path_blob(path, in_memory), folders) for path, folders in _expanded(spec)]


def _stdin_blob(in_memory: int) -> Blob:
    # None when the process was started without, and no bytes below what replaces it.
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError("no_stdin", "Standard input is closed.")
    return stream_blob("standard input", stream, in_memory=in_memory)


def _path_blob(path: Path, in_memory: int) -> Blob:
    """Return a file as it is, and what a pipe holds: it can be opened once only."""
    name = safe_name(str(path), longest=400)
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            return file_blob(path)
        with path.open("rb") as stream:
            if stat.S_ISFIFO(mode) or stream.isatty():
                return stream_blob(name, stream, in_memory=in_memory)
    except OSError as error:
        raise InputError("unreadable", f"{name}: cannot be read ({error.strerror}).") from None
    raise InputError("not_a_file", f"{name}: neither a file nor a pipe.")


def check_different(blobs: Iterable[tuple[str, Sequence[Blob]]]) -> None:
    """Refuse a file that is there twice, under whatever names.

    Args:
        blobs: by what they are given as.

    Raises:
        InputError: ``same_file``.
    """
    seen: dict[object, tuple[str, str]] = {}
    for given, found in blobs:
        for blob in found:
            # Standard input and pipes have none.
            identity = getattr(blob, "identity", None)
            if identity in seen:
                before, first = seen[identity]
                raise InputError(
                    "same_file",
                    f"{blob.name}: the same file as {first}; its rows would count twice."
                    if before == given
                    else f"{blob.name}: the same file is given as {before} and {given}.",
                    hint="Leave out one of the two links." if before == given else None,
                )
            if identity is not None:
                seen[identity] = (given, blob.name)


def expand_paths(spec: str) -> tuple[Path, ...]:
    """Return the files of this machine that ``spec`` means, in bytewise path order.

    Args:
        spec: a file, a directory (searched to any depth; hidden files and names
            that start with ``_`` are left out) or a glob; ``file://`` may stand before it.

    Raises:
        InputError: ``no_such_file`` or ``no_parts``.
        UsageError: ``empty_path`` or ``uri``.
    """
    return tuple(path for path, _ in _expanded(spec))


def _expanded(spec: str) -> list[tuple[Path, tuple[str, ...]]]:
    """Return the files, with the names of the folders that lead to them."""
    if not spec:
        raise UsageError(
            "empty_path", "The path is empty.", hint="Write . for the current directory."
        )
    spec = local_path(spec)
    path = Path(spec)
    if path.is_dir():
        found = _ordered(_directory_parts(path), spec)
        return [(part, part.relative_to(path).parts[:-1]) for part in found]
    if path.exists():
        return [(path, ())]
    if MAGIC & set(spec):
        matched = [Path(name) for name in glob.glob(spec, recursive=True)]  # noqa: PTH207
        # What the user spelt out is wanted, also where it begins with an underscore.
        spelt = set(path.parts)
        shown = [p for p in matched if all(map(is_visible, set(p.parts) - spelt))]
        fixed = next(at for at, part in enumerate(path.parts) if MAGIC & set(part))
        found = _ordered([p for p in shown if p.is_file()], spec)
        return [(part, part.parts[fixed:-1]) for part in found]
    raise InputError(
        "no_such_file", f"There is no file {safe_name(spec, longest=400)}.", hint=_closest(path)
    )


def _directory_parts(root: Path) -> list[Path]:
    parts: list[Path] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if is_visible(name)]
        parts += [Path(folder, name) for name in names if is_visible(name)]
    return [path for path in parts if path.is_file()]


def _ordered(parts: list[Path], spec: str) -> tuple[Path, ...]:
    if not parts:
        raise no_parts(safe_name(spec, longest=400))
    return tuple(sorted(parts, key=os.fsencode))


def _closest(path: Path) -> str | None:
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"There is no directory {safe_name(str(path.parent), longest=400)} either."
    close = get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f"Did you mean {safe_name(str(path.parent / close[0]), longest=400)}?" if close else None
