"""From an address to its store and the objects that it means, each the bytes of one input."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import IO, TYPE_CHECKING, ClassVar, Final

from mipaudit.data.files.blob import AHEAD_MOST, Blob, PositionedReader, each_at_once, stream_blob
from mipaudit.data.files.search import MAGIC, FoundFile, found_files
from mipaudit.data.stores.store import (
    ANONYMOUS,
    STORE_TIMEOUT,
    Address,
    ShortReadError,
    anonymous,
    missing_library,
    store_error,
)
from mipaudit.errors import InputError, MipauditError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mipaudit.data.files.search import Entry
    from mipaudit.data.stores.cloud_store import CloudStore
    from mipaudit.data.stores.fsspec_store import FsspecStore

    AnyStore = CloudStore | FsspecStore

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
    return _store(replace(address, path="", query=""), known, os.getpid())


@lru_cache(maxsize=32)
def _store(address: Address, _environment: tuple[tuple[str, str], ...], _process: int) -> AnyStore:
    if address.store in _WITHOUT_CREDENTIALS:
        from mipaudit.data.stores.cloud_store import cloud_store

        found = cloud_store(address)
        if found is not None:
            return found
    return _fsspec_store(address)


def _fsspec_store(address: Address) -> FsspecStore:
    """Return the store of ``address``.

    Raises:
        MissingExtraError: fsspec, or what it needs for this scheme, is not installed.
        UsageError: ``unknown_scheme``.
    """
    extra: str | None = "https"
    try:
        import fsspec

        from mipaudit.data.stores.fsspec_store import FsspecStore, WebStore

        if address.is_web:
            return WebStore(address)
        extra = None
        base = f"{address.scheme}://{address.authority}/"
        options = _WITHOUT_CREDENTIALS.get(address.store, {}) if anonymous() else {}
        return FsspecStore(address, *fsspec.core.url_to_fs(base, **options))
    except ImportError:
        raise missing_library(address, extra) from None
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
        raise store_error(error, address, address.name("")) from None


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

    def _reader(self, *, ahead: bool) -> PositionedReader:
        store = open_store(self.address)
        fetch = partial(store.ask, partial(_whole_part, store), self.path)
        return PositionedReader(fetch, self.size, ahead=ahead)


def _whole_part(store: AnyStore, path: str, offset: int, size: int) -> bytes:
    data = store.fetch(path, offset, size)
    if len(data) != size:
        raise ShortReadError
    return data


class _Asked:
    """The folders of a store, as they are searched; its faults are said in our words."""

    def __init__(self, store: AnyStore) -> None:
        self._store = store

    def is_folder(self, path: str) -> bool | None:
        return self._store.ask(self._store.is_folder, path)

    def children(self, folder: str) -> Iterable[Entry]:
        return self._store.ask(self._store.children, folder)

    def below(self, folder: str) -> Iterable[str]:
        return self._store.ask(self._store.below, folder.rstrip("/"))


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
    store, path = open_store(address), address.path
    name = address.name(path)
    if address.is_web and (path[-1:] in {"", "/"} or MAGIC & set(path)):
        raise InputError(
            "web_folder",
            f"{name}: folders and patterns of web servers are not read.",
            hint="Name the parts: the address of each in a list, in Python; or copy them here.",
        )
    found: list[FoundFile] | None
    if address.is_web:
        path = f"{path}?{address.query}" if address.query else path
        found = [(path, ())] if store.ask(store.is_folder, path) is not None else None
    else:
        found = found_files(_Asked(store), path, name)
    if found is None:
        raise store_error("missing", address, name)

    def opened(file: FoundFile) -> tuple[Blob, tuple[str, ...]]:
        return _blob(store, file[0], in_memory), file[1]

    return each_at_once(opened, found, remote=True)


def _blob(store: AnyStore, path: str, in_memory: int) -> Blob:
    state = store.ask(store.state, path)
    size, stamp = state
    if size is None or not store.sends_parts(path, state):
        return store.ask(partial(_streamed, store), path, size, in_memory)
    return RemoteBlob(
        address=store.address,
        path=path,
        name=store.address.name(path),
        size=size,
        stamp=stamp,
        # What no other object has.
        identity=(store.address.store, store.address.place, path),
    )


def _streamed(store: AnyStore, path: str, size: int | None, in_memory: int) -> Blob:
    with store.stream(path) as stream:
        blob = stream_blob(store.address.name(path), stream, in_memory=in_memory)
    if size not in {None, blob.size}:
        blob.close()
        raise ShortReadError
    return blob
