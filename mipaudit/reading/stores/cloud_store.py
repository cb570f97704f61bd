"""Object stores that Arrow reads: S3, Google Cloud Storage, Azure."""

from __future__ import annotations

from collections import OrderedDict
from typing import IO, TYPE_CHECKING, Final, TypeVar

from mipaudit.reading.stores.fault import fault_kind
from mipaudit.reading.stores.remote_store import Entry, ObjectState, Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyarrow.fs import FileSystem
    from pyarrow.lib import NativeFile

    from mipaudit.reading.stores.address import Address
    from mipaudit.reading.stores.cloud_access import ArrowAccess

_KEPT_OPEN: Final = 256

ResultT = TypeVar("ResultT")


class CloudStore(Store):
    """A bucket or container, reached in the first way that is not refused."""

    tries_again = True

    def __init__(self, address: Address, access: ArrowAccess) -> None:
        """Try no way yet."""
        super().__init__(address)
        self.credentials = access.credentials
        self._ways = access.ways
        self._systems: dict[int, FileSystem] = {}
        self._way = 0
        self._root = f"{access.container}/"
        # Ordered, since its oldest goes in one step, whatever other threads do.
        self._files: OrderedDict[str, NativeFile] = OrderedDict()

    def look(self, path: str) -> Entry | None:
        """Return what is at ``path``, None for nothing."""
        from pyarrow.fs import FileType

        info = self._call(lambda system: system.get_file_info(self._full(path)))
        if info.type == FileType.NotFound:
            return None
        return Entry(path.rstrip("/"), info.type == FileType.Directory)

    def children(self, path: str) -> list[Entry]:
        """Return what lies in a folder."""
        if self.address.store != "gs":
            return self._listed(path, deep=False)
        # Arrow does not list a folder of Google's that is only part of names.
        start = f"{path}/".lstrip("/")
        found: dict[str, Entry] = {}
        for entry in self._listed(path, deep=True):
            name, below, _ = entry.path.removeprefix(start).partition("/")
            found.setdefault(name, Entry(start + name, bool(below) or entry.is_folder))
        return list(found.values())

    def below(self, path: str) -> list[Entry]:
        """Return all objects below a folder, at any depth."""
        return [entry for entry in self._listed(path, deep=True) if not entry.is_folder]

    def state(self, path: str) -> ObjectState:
        """Return the size, and the etag or the time of the last change."""
        file = self._opened(path)
        said = file.metadata() or {}
        facts = {_text(key).casefold(): _text(value) for key, value in said.items()}
        stamp = facts.get("etag") or facts.get("generation") or facts.get("last-modified")
        if not stamp:
            info = self._call(lambda system: system.get_file_info(self._full(path)))
            stamp = str(info.mtime_ns)
        return ObjectState(int(file.size()), stamp)

    def fetch(self, path: str, offset: int, size: int) -> bytes:
        """Return a part of an object; several threads may ask for parts of the same."""
        data: bytes = (self._files.get(path) or self._opened(path)).read_at(size, offset)
        return data

    def stream(self, path: str) -> IO[bytes]:
        """Open an object to read all of it, once."""
        stream: IO[bytes] = self._call(lambda system: system.open_input_file(self._full(path)))
        return stream

    def _listed(self, path: str, *, deep: bool) -> list[Entry]:
        from pyarrow.fs import FileSelector, FileType

        selector = FileSelector(self._full(path), recursive=deep, allow_not_found=True)
        return [
            Entry(info.path.removeprefix(self._root), info.type == FileType.Directory)
            for info in self._call(lambda system: system.get_file_info(selector))
        ]

    def _opened(self, path: str) -> NativeFile:
        """Open an object and keep it: that is a request, and each row group would make one."""
        file: NativeFile = self._call(lambda system: system.open_input_file(self._full(path)))
        self._files[path] = file
        if len(self._files) > _KEPT_OPEN:
            self._files.popitem(last=False)
        return file

    def _full(self, path: str) -> str:
        return f"{self._root}{path}".rstrip("/")

    def _call(self, ask: Callable[[FileSystem], ResultT]) -> ResultT:
        while True:
            way = self._way
            try:
                if way not in self._systems:
                    self._systems[way] = self._ways[way]()
                return ask(self._systems[way])
            except OSError as error:
                if fault_kind(error) != "forbidden" or way + 1 >= len(self._ways):
                    raise
            # Another thread may have moved on already.
            self._way = max(self._way, way + 1)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
