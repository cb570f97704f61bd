"""An object of a store as the bytes of one input: read by ranges, tried again, never whole."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, ClassVar, Final

from mipaudit.errors import MipauditError
from mipaudit.reading.stores.fault import ShortReadError
from mipaudit.reading.stores.opening import open_store
from mipaudit.reading.stores.remote_store import ask_store

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.stores.address import Address
    from mipaudit.reading.stores.remote_store import ObjectState, Ranges, Store

# What is read at once: at first what is asked for, then more and more up to here.
_AHEAD_LEAST: Final = 1 << 18
_AHEAD_MOST: Final = 4 << 20
_BUFFER: Final = 1 << 13
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
        return io.BufferedReader(_RemoteReader(self, ahead=True), _BUFFER)

    def open_ranges(self) -> io.RawIOBase:
        """Return a reader that reads nothing but what it is asked for, at once."""
        return _RemoteReader(self, ahead=False)

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
    from mipaudit.reading.bytes.blob import stream_blob

    with store.stream(path) as stream:
        blob = stream_blob(name, stream, in_memory=in_memory)
    if state.size not in {None, blob.size}:
        blob.close()
        raise ShortReadError
    return blob


class _RemoteReader(io.RawIOBase):
    """Reads an object at its own position."""

    def __init__(self, blob: RemoteBlob, *, ahead: bool) -> None:
        self._blob = blob
        self._store = open_store(blob.address)
        self._ranges: Ranges | None = None
        self._at = 0
        self._ahead = ahead
        self._more = 0  # bytes to read at least, once reading goes on where it ended
        self._kept, self._kept_at = b"", 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        place = offset + (0, self._at, self._blob.size)[whence]
        if place != self._at:
            self._more = 0
        self._at = place
        return place

    def tell(self) -> int:
        return self._at

    def readall(self) -> bytes:
        return self.read(max(0, self._blob.size - self._at))

    def read(self, size: int = -1, /) -> bytes:
        if size < 0:
            return self.readall()
        data = self._take(size)
        self._at += len(data)
        return data

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def _take(self, size: int) -> bytes:
        size = max(0, min(size, self._blob.size - self._at))
        start = self._at - self._kept_at
        kept = self._kept[start : start + size] if 0 <= start < len(self._kept) else b""
        if len(kept) == size:
            return kept
        first = self._at + len(kept)
        wanted = size - len(kept)
        most = min(max(wanted, self._more), self._blob.size - first)
        data = self._fetch(first, most)
        if self._ahead:
            self._more = min(max(_AHEAD_LEAST, 2 * self._more), _AHEAD_MOST)
            self._kept, self._kept_at = (data, first) if most > wanted else (b"", 0)
        return kept + data[:wanted] if kept or most > wanted else data

    def _fetch(self, offset: int, size: int) -> bytes:
        blob, store = self._blob, self._store

        def read() -> bytes:
            if self._ranges is None:
                self._ranges = store.ranges(blob.path, blob.size)
            return self._ranges.read(offset, size)

        return ask_store(store, blob.path, read)

    def close(self) -> None:
        self._kept = b""
        if self._ranges is not None and not self.closed:
            self._ranges.close()
        super().close()
