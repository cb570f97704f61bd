"""Stores that fsspec reads: web servers, memory, and whatever else is registered with it."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from mipaudit.reading.stores.fault import ShortReadError
from mipaudit.reading.stores.remote_store import Entry, ObjectState

if TYPE_CHECKING:
    from mipaudit.reading.stores.address import Address

# What changes when an object is written again, in the words of different stores.
_STAMPS: Final = (
    *("ETag", "etag", "e_tag", "Content-MD5", "md5Hash", "checksum", "generation", "version_id"),
    *("Last-Modified", "LastModified", "last_modified", "mtime", "updated", "modified", "created"),
)


class FsspecStore:
    """A file system of fsspec, from one place of it on."""

    credentials = None
    tries_again = False

    def __init__(self, address: Address, system: Any, root: str) -> None:  # noqa: ANN401 - fsspec has no types
        """Keep the system, and where in it the paths begin."""
        self.address = address
        self._system = system
        self._root = root.rstrip("/")

    def shown(self, path: str) -> str:
        """Return ``path`` as it is."""
        return path

    def look(self, path: str) -> Entry | None:
        """Return what is at ``path``."""
        try:
            info = self._system.info(self._full(path))
        except FileNotFoundError:
            return None
        return Entry(path=path.rstrip("/"), is_folder=info["type"] == "directory")

    def children(self, path: str) -> list[Entry]:
        """Return what lies in a folder."""
        try:
            found = self._system.ls(self._full(path), detail=True, refresh=True)
        except TypeError:  # not every system keeps listings to refresh
            found = self._system.ls(self._full(path), detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [
            Entry(path=self._relative(info["name"]), is_folder=info["type"] == "directory")
            for info in found
        ]

    def below(self, path: str) -> list[Entry]:
        """Return all objects below a folder."""
        found = self._system.find(self._full(path))
        return [Entry(path=self._relative(name), is_folder=False) for name in found]

    def state(self, path: str) -> ObjectState:
        """Return the size and a stamp."""
        return object_state(self._system.info(self._full(path)))

    def ranges(self, path: str, size: int) -> FsspecRanges:  # noqa: ARG002 - others need it
        """Open an object."""
        return FsspecRanges(self._system, self._full(path))

    def stream(self, path: str) -> IO[bytes]:
        """Open an object."""
        stream: IO[bytes] = self._system.open(self._full(path), "rb")
        return stream

    def _full(self, path: str) -> str:
        return f"{self._root}/{path}".rstrip("/") or "/"

    def _relative(self, name: str) -> str:
        name = str(self._system._strip_protocol(name))  # noqa: SLF001 - fsspec's own way
        return name.removeprefix(self._root).strip("/")


class FsspecRanges:
    """Ranges of one object, one request each."""

    def __init__(self, system: Any, path: str) -> None:  # noqa: ANN401
        """Keep both."""
        self._system, self._path = system, path

    def read(self, offset: int, size: int) -> bytes:
        """Read one range."""
        data: bytes = self._system.cat_file(self._path, start=offset, end=offset + size)
        if len(data) != size:
            raise ShortReadError
        return data

    def close(self) -> None:
        """Hold nothing."""


def object_state(info: dict[str, Any]) -> ObjectState:
    """Return the state that ``info`` tells."""
    size = info.get("size")
    stamp = next((f"{name} {info[name]}" for name in _STAMPS if info.get(name) is not None), "")
    if size is None or info.get("partial") is False:
        return ObjectState(size=None, stamp=stamp)
    return ObjectState(size=int(size), stamp=stamp)
