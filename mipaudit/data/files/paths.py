"""From what the user typed to the bytes that are read, in order."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mipaudit.data.files.blob import file_blob, stream_blob
from mipaudit.data.files.search import LONGEST, LocalTree, found_files
from mipaudit.data.stores.store import local_path, parse_address
from mipaudit.errors import InputError, UsageError
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mipaudit.data.files.blob import Blob

# The bytes of a file, and the names of the folders that lead to it, as `FoundFile` has them.
FoundBlob = tuple["Blob", tuple[str, ...]]


def input_blobs(spec: str, *, in_memory: int) -> list[Blob]:
    """Return the bytes that ``spec`` means, in order; as ``find_blobs``."""
    return [blob for blob, _ in find_blobs(spec, in_memory=in_memory)]


def find_blobs(spec: str, *, in_memory: int) -> list[FoundBlob]:
    """Return the bytes that ``spec`` means, in bytewise path order.

    Args:
        spec: as for ``local_files``, an address in a store, or ``"-"`` for standard input.
        in_memory: most bytes of a stream that are kept in memory.

    Raises:
        InputError: as ``local_files``; ``no_stdin``, ``unreadable`` or ``not_a_file``; a
            store that cannot be reached or refuses.
        UsageError: as ``local_files``; an address that means nothing.
        MissingExtraError: a store needs a library that is not installed.
    """
    if spec == "-":
        # None when the process was started without, and no bytes below what replaces it.
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise InputError("no_stdin", "Standard input is closed.")
        return [(stream_blob("standard input", stream, in_memory=in_memory), ())]
    address = parse_address(spec)
    if address is not None:
        from mipaudit.data.stores.objects import remote_blobs

        return remote_blobs(address, in_memory=in_memory)
    return [(_path_blob(path, in_memory), folders) for path, folders in local_files(spec)]


def local_files(spec: str, tree: LocalTree | None = None) -> list[tuple[Path, tuple[str, ...]]]:
    """Return the files of this machine that ``spec`` means, in bytewise path order.

    Args:
        spec: a file, a directory (searched to any depth; hidden files and names
            that start with ``_`` are left out) or a glob; ``file://`` may stand before it.
        tree: where to look; None for the folders as they are.

    Returns:
        Each with the names of the folders that lead to it.

    Raises:
        InputError: ``no_such_file`` or ``no_parts``.
        UsageError: ``empty_path`` or ``uri``.
    """
    if not spec:
        raise UsageError(
            "empty_path", "The path is empty.", hint="Write . for the current directory."
        )
    spec = local_path(spec)
    name = safe_name(spec, longest=LONGEST)
    found = found_files(tree or LocalTree(), spec, name)
    if found is None:
        raise InputError("no_such_file", f"There is no file {name}.", hint=_closest(Path(spec)))
    return [(Path(path), folders) for path, folders in found]


def _path_blob(path: Path, in_memory: int) -> Blob:
    """Return a file as it is, and what a pipe holds: it can be opened once only."""
    name = safe_name(str(path), longest=LONGEST)
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
    for given, blob in ((given, blob) for given, found in blobs for blob in found):
        if blob.identity in seen:
            before, first = seen[blob.identity]
            raise InputError(
                "same_file",
                f"{blob.name}: the same file as {first}; its rows would count twice."
                if before == given
                else f"{blob.name}: the same file is given as {before} and {given}.",
                hint="Leave out one of the two links." if before == given else None,
            )
        if blob.identity is not None:
            seen[blob.identity] = (given, blob.name)


def _closest(path: Path) -> str | None:
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"There is no directory {safe_name(str(path.parent), longest=LONGEST)} either."
    close = get_close_matches(path.name, names, n=1, cutoff=0.6)
    if not close:
        return None
    return f"Did you mean {safe_name(str(path.parent / close[0]), longest=LONGEST)}?"
