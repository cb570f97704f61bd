"""From what the user typed to the bytes that are read, in order.

Folders of this machine and of stores are searched alike: a path means the file itself, all below a
folder, or what fits a pattern. What nobody spelt out is read only where its name begins with
neither a point nor an underscore.
"""

from __future__ import annotations

import io
import os
import posixpath
import sys
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar, Final

from mipaudit.data.files.blob import (
    AHEAD,
    LONGEST,
    Blob,
    PositionedReader,
    each_at_once,
    file_blob,
    stream_blob,
)
from mipaudit.data.files.store import (
    CLOUDS,
    Address,
    Entry,
    FsspecStore,
    ShortReadError,
    asked,
    local_path,
    missing_library,
    parse_address,
    store_error,
)
from mipaudit.errors import InputError, MipauditError, UsageError
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mipaudit.data.files.cloud import CloudStore

    AnyStore = CloudStore | FsspecStore

# A path, or the bytes of a file, and the names of the folders that lead to it, counted from the one
# that was named on, or from where a pattern begins to vary: those before are the user's own affair.
FoundFile = tuple[str, tuple[str, ...]]
FoundBlob = tuple[Blob, tuple[str, ...]]
# What makes a pattern of a path.
_MAGIC: Final = frozenset("*?[")


def input_blobs(spec: str) -> list[Blob]:
    """Return the bytes that ``spec`` means, in order; as ``find_blobs``."""
    return [blob for blob, _ in find_blobs(spec)]


def find_blobs(spec: str) -> list[FoundBlob]:
    """Return the bytes that ``spec`` means, in bytewise path order.

    Args:
        spec: as for ``local_files``, an address in a store, or ``"-"`` for standard input.

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
        return [(stream_blob("standard input", stream), ())]
    address = parse_address(spec)
    if address is not None:
        return _remote_blobs(address)
    files = local_files(spec)
    return [(file_blob(path), folders) for path, folders in files]


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
        raise UsageError("empty_path", "The path is empty.", "Write . for the current directory.")
    spec = local_path(spec)
    name = safe_name(spec, longest=LONGEST)
    found = _found_files(tree or LocalTree(), spec, name)
    if found is None:
        raise InputError("no_such_file", f"There is no file {name}.", _closest(Path(spec)))
    return [(Path(path), folders) for path, folders in found]


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
                f"{blob.name} and {first} are the same file: its rows would count twice."
                if before == given
                else f"{blob.name}: the same file is given as {before} and {given}.",
                "Leave one of the two out." if before == given else None,
            )
        if blob.identity is not None:
            seen[blob.identity] = (given, blob.name)


def _closest(path: Path) -> str | None:
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"There is no directory {safe_name(str(path.parent), longest=LONGEST)} either."
    if "," in path.name:
        return "Separate files by spaces, not by commas."
    close = get_close_matches(path.name, names, n=1, cutoff=0.6)
    if not close:
        return None
    return f"Did you mean {safe_name(str(path.parent / close[0]), longest=LONGEST)}?"


class LocalTree:
    """The folders of this machine; "" is where relative paths begin.

    A file that is ``planned`` is found as if it were there: its path, links followed.
    """

    def __init__(self, planned: Path | None = None) -> None:
        """Note the planned file."""
        self._planned = planned

    def is_folder(self, path: str) -> bool | None:
        """Tell whether ``path`` is a folder, None where nothing is."""
        place = Path(path)
        return place.is_dir() if place.exists() else None

    def children(self, folder: str) -> Iterator[Entry]:
        """Yield what lies in a folder; nothing of one that is not there.

        Raises:
            InputError: ``unreadable``: it cannot be listed.
        """
        try:
            names = [one.name for one in Path(folder).iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise _unlisted(error) from None
        for path in self._joined(folder, names):
            # Neither is true of a link that leads nowhere.
            if os.path.isdir(path) or self._is_file(path):  # noqa: PTH112 - never raises
                yield path, os.path.isdir(path)  # noqa: PTH112

    def below(self, folder: str) -> Iterator[str]:
        """Yield the files below a folder that are not hidden.

        Raises:
            InputError: ``unreadable``: a folder cannot be listed.
        """

        def unlisted(error: OSError) -> None:
            """Say in our words that a folder cannot be listed."""
            raise _unlisted(error) from None

        for place, folders, names in os.walk(folder, onerror=unlisted):
            folders[:] = filter(_is_visible, folders)
            yield from filter(self._is_file, self._joined(place, names))

    def _joined(self, folder: str, names: list[str]) -> list[str]:
        planned = self._planned
        if planned is not None and Path(folder).resolve() == planned.parent:
            names = [*names, planned.name]
        return [posixpath.join(folder, name) for name in dict.fromkeys(names)]

    def _is_file(self, path: str) -> bool:
        planned = self._planned is not None and self._planned.name == Path(path).name
        return planned or os.path.isfile(path)  # noqa: PTH113 - never raises


def _unlisted(error: OSError) -> InputError:
    """Return the error on a folder whose files nobody can name: a part may be among them."""
    name = safe_name(str(error.filename), longest=LONGEST)
    return InputError(
        "unreadable",
        f"{name}: the folder cannot be listed ({error.strerror}).",
        "Make it readable, or name the parts with a pattern that leaves it out.",
    )


def _found_files(tree: LocalTree | AnyStore, path: str, name: str) -> list[FoundFile] | None:
    """Return the files that ``path`` means, in bytewise path order; None where it means nothing.

    Args:
        tree: where they are.
        path: of a file, of a folder, or a pattern.
        name: what messages call it.

    Raises:
        InputError: ``no_parts`` for a folder or a pattern without files.
    """
    is_folder = tree.is_folder(path)
    if is_folder is None and not _MAGIC & set(path):
        return None
    if is_folder is False:
        return [(path, ())]
    parts = _names(path)
    if is_folder:
        first = len(parts)
        found = [
            one
            for one in tree.below(path.rstrip("/"))
            if all(map(_is_visible, _names(one)[first:]))
        ]
    else:
        first = next(at for at, part in enumerate(parts) if _MAGIC & set(part))
        start = posixpath.join("/" if path.startswith("/") else "", *parts[:first])
        # What ends in a slash means folders, of which no file is one. Two stars can reach a file
        # in several ways.
        wanted = parts[first:] + ("",) * path.endswith("/")
        found = [*dict.fromkeys(_fitting(tree, start, wanted))]
    if not found:
        raise InputError(
            "no_parts",
            f"{name}: no file to read there (hidden files and names with a leading _ are skipped).",
        )
    found.sort(key=lambda one: one.encode("utf-8", "surrogateescape"))
    return [(one, _names(one)[first:-1]) for one in found]


def _is_visible(name: str) -> bool:
    """Tell whether a file or folder is read where nobody spelt it out."""
    return not name.startswith((".", "_"))


def _names(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.replace(os.sep, "/").split("/") if part)


def _fitting(tree: LocalTree | AnyStore, folder: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield the files below ``folder`` that fit ``parts``, a name each; ``**`` any folders."""
    part, rest = parts[0], parts[1:]
    if part == "**" and rest:
        yield from _fitting(tree, folder, rest)
    for path, is_folder in tree.children(folder):
        name = posixpath.basename(path)
        # What is spelt out is wanted, also where it is hidden.
        if name != part and not (_is_visible(name) and (part == "**" or fnmatch(name, part))):
            continue
        if not is_folder and not rest:
            yield path
        if is_folder and (part == "**" or rest):
            yield from _fitting(tree, path, parts if part == "**" else rest)


def open_store(address: Address) -> AnyStore:
    """Return the store of ``address``: the same one for the same environment and process.

    Raises:
        InputError: ``no_credentials``.
        MissingExtraError: its library is not installed.
        UsageError: nobody knows the scheme.
    """
    known = tuple(sorted(os.environ.items()))
    # Their connections do not survive a fork.
    return _store(replace(address, path="", query=""), known, os.getpid())


@lru_cache(maxsize=32)
def _store(address: Address, _environment: tuple[tuple[str, str], ...], _process: int) -> AnyStore:
    if address.store not in CLOUDS:
        return _fsspec_store(address)
    from mipaudit.data.files.cloud import cloud_store

    return cloud_store(address)


def _fsspec_store(address: Address) -> FsspecStore:
    """Return the store of ``address``.

    Raises:
        MissingExtraError: fsspec, or what it needs for this scheme, is not installed.
        UsageError: ``unknown_scheme``.
    """
    extra: str | None = "https"
    try:
        import fsspec

        if address.is_web:
            from mipaudit.data.files.web import WebStore

            return WebStore(address)
        extra = None
        base = f"{address.scheme}://{address.authority}/"
        return FsspecStore(address, *fsspec.core.url_to_fs(base))
    except ImportError:
        raise missing_library(address, extra) from None
    except ValueError:
        raise UsageError(
            "unknown_scheme",
            f"Addresses with {address.scheme}:// cannot be read here.",
            "Known are s3://, gs://, az://, abfs:// and https://, and what fsspec reads if "
            "you allow it.",
        ) from None
    except MipauditError:
        raise
    except Exception as error:  # noqa: BLE001 - libraries raise what they like
        raise store_error(error, address, "") from None


@dataclass(frozen=True, kw_only=True)
class RemoteBlob(Blob):
    """An object, with the state in which it was found: read by ranges, never held whole.

    It can be sent to other processes and machines, which open it with the credentials of
    their own environment.
    """

    remote: ClassVar[bool] = True

    address: Address
    path: str = field(repr=False)
    name: str
    size: int
    stamp: str
    identity: tuple[str, str, str] = field(repr=False)

    def open(self) -> IO[bytes]:
        """Return a reader that reads ahead."""
        return io.BufferedReader(self.open_ranges(), AHEAD)

    def open_ranges(self) -> io.RawIOBase:
        """Return a reader that reads nothing but what it is asked for, at once."""
        return PositionedReader(partial(open_store(self.address).fetch, self.path), self.size)

    def changed(self) -> bool:
        """Compare size and etag, or the time of the last change."""
        try:
            return open_store(self.address).state(self.path) != (self.size, self.stamp)
        except MipauditError:
            return True


def _remote_blobs(address: Address) -> list[FoundBlob]:
    """Return the objects that ``address`` means, in bytewise path order.

    One that cannot be read twice is fetched whole.

    Args:
        address: of an object; but for a web server also of a folder, or a pattern.

    Raises:
        InputError: ``no_such_file``, ``no_parts`` or ``web_folder``.
        MipauditError: the store failed, in our words.
    """
    store, path = open_store(address), address.path
    found: list[FoundFile] | None
    if not address.is_web:
        found = _found_files(store, path, address.name(path))
    elif path[-1:] in {"", "/"} or _MAGIC & set(path):
        raise InputError(
            "web_folder",
            f"{address.name(path)}: folders and patterns on web servers cannot be read.",
            "Copy the files here, or in Python give a list of their addresses.",
        )
    else:
        found = [(f"{path}?{address.query}" if address.query else path, ())]
    if found is None:
        raise store_error("missing", address, path)
    return each_at_once(partial(_blob, store), found, remote=True)


def _blob(store: AnyStore, file: FoundFile) -> FoundBlob:
    path, folders = file
    state = store.state(path)
    size, stamp = state
    if size is None or not store.sends_parts(path, state):
        return _streamed(store, path, size), folders
    blob = RemoteBlob(
        address=store.address,
        path=path,
        name=store.address.name(path),
        size=size,
        stamp=stamp,
        # What no other object has.
        identity=(store.address.store, store.address.place, path),
    )
    return blob, folders


@asked
def _streamed(store: AnyStore, path: str, size: int | None) -> Blob:
    with store.stream(path) as stream:
        blob = stream_blob(store.address.name(path), stream)
    if size not in {None, blob.size}:
        blob.close()
        raise ShortReadError
    return blob
