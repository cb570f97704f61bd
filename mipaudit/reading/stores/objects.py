"""From an address to its store and the objects that it means, each the bytes of one input."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import IO, TYPE_CHECKING, ClassVar, Final

from mipaudit.errors import InputError, MipauditError, UsageError
from mipaudit.reading.bytes.blob import AHEAD_MOST, PositionedReader, each_at_once, stream_blob
from mipaudit.reading.stores.address import (
    ANONYMOUS,
    MAGIC,
    STORE_TIMEOUT,
    anonymous,
    is_visible,
    no_parts,
)
from mipaudit.reading.stores.store import ShortReadError, missing_library, store_error

if TYPE_CHECKING:
    from mipaudit.reading.stores.address import Address
    from mipaudit.reading.stores.cloud_store import CloudStore
    from mipaudit.reading.stores.fsspec_store import FsspecStore

    AnyStore = CloudStore | FsspecStore
    from collections.abc import Iterable, Iterator, Sequence

    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.stores.store import ObjectState

# What a store is built from, beside its address.
_ENVIRONMENT: Final = (
    *("AWS_", "AZURE_", "CLOUDSDK_", "FSSPEC_", "GOOGLE_", "STORAGE_", "SSL_"),
    *(ANONYMOUS, STORE_TIMEOUT),
)
# What fsspec calls it, where this Arrow cannot reach a store.
_WITHOUT_CREDENTIALS: Final[dict[str, dict[str, bool | str]]] = {
    "s3": {"anon": True},
    "gs": {"token": "anon"},
    "az": {"anon": True},
}


def open_store(address: Address) -> AnyStore:
    """Return the store of ``address``: the same one for the same environment and process.

    Raises:
        InputError: ``no_credentials``.
        MissingExtraError: its library is not installed.
        UsageError: nobody knows the scheme.
    """
    known = tuple(
        sorted(
            (name, value)
            for name, value in os.environ.items()
            if name.startswith(_ENVIRONMENT) or name.upper().endswith("_PROXY")
        )
    )
    # Their connections do not survive a fork.
    return _store(address.store_only(), known, os.getpid())


@lru_cache(maxsize=32)
def _store(address: Address, _environment: tuple[tuple[str, str], ...], _process: int) -> AnyStore:
    if address.store in {"s3", "gs", "az"}:
        from mipaudit.reading.stores.cloud_store import CloudStore, arrow_access

        access = arrow_access(address)
        if access is not None:
            return CloudStore(address, access)
    return _fsspec_store(address)


def _fsspec_store(address: Address) -> FsspecStore:
    """Return the store of ``address``.

    Raises:
        MissingExtraError: fsspec, or what it needs for this scheme, is not installed.
        UsageError: ``unknown_scheme``.
    """
    try:
        import fsspec
    except ImportError:
        raise missing_library(address, "https") from None
    from mipaudit.reading.stores.fsspec_store import FsspecStore, WebStore

    try:
        if address.is_web:
            return WebStore(address)
        base = f"{address.scheme}://{address.authority}/"
        options = _WITHOUT_CREDENTIALS.get(address.store, {}) if anonymous() else {}
        return FsspecStore(address, *fsspec.core.url_to_fs(base, **options))
    except ImportError:
        raise missing_library(address, "https" if address.is_web else None) from None
    except ValueError:
        raise UsageError(
            "unknown_scheme",
            f"Nothing reads {address.scheme}:// here.",
            hint="s3://, gs://, az://, abfs:// and https:// are read, and what fsspec knows, "
            "where it is allowed.",
        ) from None
    except MipauditError:
        raise
    except Exception as error:  # noqa: BLE001 - libraries raise what they like
        raise store_error(error, address, address.name(""), credentials=None) from None


# The path of an object, and the folders that lead to it.
Found = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteBlob:
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

    @property
    def identity(self) -> tuple[str, str, str]:
        """What no other object has."""
        return self.address.store, self.address.place, self.path

    def open(self) -> IO[bytes]:
        """Return a reader that reads ahead."""
        return io.BufferedReader(self._reader(ahead=True), AHEAD_MOST)

    def open_ranges(self) -> io.RawIOBase:
        """Return a reader that reads nothing but what it is asked for, at once."""
        return self._reader(ahead=False)

    def changed(self) -> bool:
        """Compare size and etag, or the time of the last change."""
        store = open_store(self.address)
        try:
            return store.ask(store.state, self.path) != (self.size, self.stamp)
        except MipauditError:
            return True

    def close(self) -> None:
        """Hold nothing."""

    def _reader(self, *, ahead: bool) -> PositionedReader:
        store = open_store(self.address)
        fetch = partial(store.ask, partial(_whole_part, store), self.path)
        return PositionedReader(fetch, self.size, ahead=ahead)


def _whole_part(store: AnyStore, path: str, offset: int, size: int) -> bytes:
    data = store.fetch(path, offset, size)
    if len(data) != size:
        raise ShortReadError
    return data


def remote_blobs(address: Address, *, in_memory: int) -> list[tuple[Blob, tuple[str, ...]]]:
    """Return the objects that ``address`` means, in bytewise path order.

    Args:
        address: of an object; but for a web server also of a folder (searched to any depth;
            hidden files and names that start with ``_`` are left out), or a pattern.
        in_memory: most bytes of a stream that are kept in memory.

    Returns:
        Each with the names of the folders that lead to it from the folder that was named, or
        from where the pattern begins to vary. One that cannot be read twice is fetched whole.

    Raises:
        InputError: ``no_such_file``, ``no_parts`` or ``web_folder``.
        MipauditError: as ``Store.ask``.
    """
    store = open_store(address)

    def opened(found: Found) -> tuple[Blob, tuple[str, ...]]:
        path, folders = found
        return _blob(store, path, in_memory), folders

    return each_at_once(opened, _files(store, address), remote=True)


def _blob(store: AnyStore, path: str, in_memory: int) -> Blob:
    state = store.ask(store.state, path)
    if state.size is None or not store.sends_parts(path, state):
        return store.ask(partial(_streamed, store), path, state, in_memory)
    return RemoteBlob(
        address=store.address,
        path=path,
        name=store.name(path),
        size=state.size,
        stamp=state.stamp,
    )


def _streamed(store: AnyStore, path: str, state: ObjectState, in_memory: int) -> Blob:
    with store.stream(path) as stream:
        blob = stream_blob(store.name(path), stream, in_memory=in_memory)
    if state.size not in {None, blob.size}:
        blob.close()
        raise ShortReadError
    return blob


def _files(store: AnyStore, address: Address) -> list[Found]:
    path = f"{address.path}?{address.query}" if address.query else address.path
    varies = bool(MAGIC & set(address.path))
    if address.is_web and (varies or address.path[-1:] in {"", "/"}):
        raise InputError(
            "web_folder",
            f"{store.name(path)}: folders and patterns of web servers are not read.",
            hint="Name the parts: the address of each in a list, in Python; or copy them here.",
        )
    entry = store.ask(store.look, path)
    if entry is not None and not entry.is_folder:
        return [(path, ())]
    if varies:
        return _ordered(store, _matching(store, address.path), address)
    if entry is None:
        raise InputError("no_such_file", f"There is no file {store.name(path)}.")
    return _ordered(store, _below(store, entry.path), address)


def _ordered(store: AnyStore, found: Iterable[Found], address: Address) -> list[Found]:
    parts = sorted(found, key=lambda one: store.shown(one[0]).encode("utf-8", "surrogateescape"))
    if not parts:
        raise no_parts(address.name(address.path))
    return parts


def _names(store: AnyStore, path: str) -> tuple[str, ...]:
    return tuple(store.shown(part) for part in path.split("/") if part)


def _below(store: AnyStore, folder: str) -> Iterator[Found]:
    """Yield the visible objects below ``folder``."""
    depth = len(_names(store, folder))
    for entry in store.ask(store.below, folder):
        names = _names(store, entry.path)[depth:]
        if names and all(map(is_visible, names)):
            yield entry.path, names[:-1]


def _matching(store: AnyStore, pattern: str) -> Iterator[Found]:
    parts = [part for part in pattern.split("/") if part]
    first = next(at for at, part in enumerate(parts) if MAGIC & set(part))
    # Two stars can reach a file in several ways.
    for path in dict.fromkeys(_expanded(store, "/".join(parts[:first]), parts[first:])):
        yield path, _names(store, path)[first:-1]


def _expanded(store: AnyStore, folder: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield the objects below ``folder`` that match ``parts``, a name each; ``**`` any folders."""
    part, rest = parts[0], parts[1:]
    if part == "**" and rest:
        yield from _expanded(store, folder, rest)
    for entry in store.ask(store.children, folder):
        if not _fits(store.shown(entry.path.rpartition("/")[2]), part):
            continue
        if not entry.is_folder and not rest:
            yield entry.path
        if entry.is_folder and part == "**":
            yield from _expanded(store, entry.path, parts)
        elif entry.is_folder and rest:
            yield from _expanded(store, entry.path, rest)


def _fits(name: str, part: str) -> bool:
    # What is spelt out is wanted, also where it is hidden.
    return name == part or (is_visible(name) and (part == "**" or fnmatchcase(name, part)))
