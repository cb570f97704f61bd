"""An object of a store as the bytes of one input: read by ranges, tried again, never whole."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, ClassVar, Final

from mipaudit.errors import MipauditError
from mipaudit.reading.bytes.blob import AHEAD_MOST, PositionedReader, stream_blob
from mipaudit.reading.stores.fault import ShortReadError
from mipaudit.reading.stores.opening import open_store
from mipaudit.reading.stores.remote_store import ask_store

if TYPE_CHECKING:
    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.stores.address import Address
    from mipaudit.reading.stores.remote_store import ObjectState, Store

# What a web server says of a file that another content would change.
_CONTENT_STAMPS: Final = ("ETag ", "Content-MD5 ")


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteBlob:
    """An object, with the state in which it was found.

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

    def _reader(self, *, ahead: bool) -> PositionedReader:
        store = open_store(self.address)

        def fetch(offset: int, size: int) -> bytes:
            return ask_store(
                store, self.path, lambda: store.ranges(self.path, self.size).read(offset, size)
            )

        return PositionedReader(fetch, self.size, ahead=ahead)

    def changed(self) -> bool:
        """Compare size and etag, or the time of the last change."""
        store = open_store(self.address)
        try:
            now = ask_store(store, self.path, lambda: store.state(self.path))
        except MipauditError:
            return True
        return (now.size, now.stamp) != (self.size, self.stamp)

    def close(self) -> None:
        """Hold nothing."""


def remote_blob(address: Address, path: str, *, in_memory: int) -> Blob:
    """Return an object as a blob; one that cannot be read twice is fetched as a stream.

    Args:
        address: of its store.
        path: in the store.
        in_memory: most bytes of a stream that are kept in memory.

    Raises:
        MipauditError: as ``ask_store``.
    """
    store = open_store(address)
    name = address.name(store.shown(path))
    state = ask_store(store, path, lambda: store.state(path))
    if state.size is None or not _can_be_read_twice(store, path, state):
        return ask_store(store, path, lambda: _streamed(store, path, name, state, in_memory))
    return RemoteBlob(address=address, path=path, name=name, size=state.size, stamp=state.stamp)


def _can_be_read_twice(store: Store, path: str, state: ObjectState) -> bool:
    """Tell whether parts can be asked for, and a change between them would show.

    The time of the last change counts in whole seconds: a web server that gives nothing
    better could send parts of two files.
    """
    from mipaudit.reading.stores.web_store import WebStore

    if not isinstance(store, WebStore) or not state.size:
        return True
    if not state.stamp.startswith(_CONTENT_STAMPS):
        return False
    return ask_store(store, path, lambda: store.sends_ranges(path))


def _streamed(store: Store, path: str, name: str, state: ObjectState, in_memory: int) -> Blob:
    with store.stream(path) as stream:
        blob = stream_blob(name, stream, in_memory=in_memory)
    if state.size not in {None, blob.size}:
        blob.close()
        raise ShortReadError
    return blob
