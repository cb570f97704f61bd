"""Object stores that Arrow reads: S3, Google Cloud Storage, Azure."""

from __future__ import annotations

import threading
from typing import IO, TYPE_CHECKING, Final, TypeVar

from mipaudit.reading.stores.fault import ShortReadError, fault_kind
from mipaudit.reading.stores.remote_store import Entry, ObjectState

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyarrow.fs import FileInfo, FileSystem
    from pyarrow.lib import NativeFile

    from mipaudit.reading.stores.address import Address
    from mipaudit.reading.stores.cloud_access import ArrowAccess

_KEPT_OPEN: Final = 256

ResultT = TypeVar("ResultT")


class ArrowStore:
    """A bucket or container."""

    tries_again = True

    def __init__(self, address: Address, access: ArrowAccess) -> None:
        """Try the ways of access in their order, the next where one is refused."""
        self.address = address
        self._ways = access.ways
        self._made: dict[int, FileSystem] = {}
        self._way = 0
        self._known = access.credentials
        self._root = f"{access.container}/"
        self._files: dict[str, NativeFile] = {}
        self._lock = threading.Lock()

    @property
    def credentials(self) -> bool:
        """Whether some were found."""
        return self._known

    def shown(self, path: str) -> str:
        """Return ``path``: keys are written as they are."""
        return path

    def look(self, path: str) -> Entry | None:
        """Return what is at ``path``."""
        from pyarrow.fs import FileType

        info = self._ask(lambda system: system.get_file_info(self._full(path)))
        if info.type == FileType.NotFound:
            return None
        return Entry(path=path.rstrip("/"), is_folder=info.type == FileType.Directory)

    def children(self, path: str) -> list[Entry]:
        """Return what lies in a folder."""
        if self.address.store != "gs":
            return self._listed(path, deep=False)
        # Arrow does not list a folder of Google's that is only part of names.
        start = f"{path}/".lstrip("/")
        found: dict[str, Entry] = {}
        for entry in self._listed(path, deep=True):
            name, below, _ = entry.path.removeprefix(start).partition("/")
            folder = bool(below) or entry.is_folder
            found.setdefault(name, Entry(path=start + name, is_folder=folder))
        return list(found.values())

    def below(self, path: str) -> list[Entry]:
        """Return all objects below a folder."""
        return [entry for entry in self._listed(path, deep=True) if not entry.is_folder]

    def _listed(self, path: str, *, deep: bool) -> list[Entry]:
        from pyarrow.fs import FileSelector, FileType

        selector = FileSelector(self._full(path), recursive=deep, allow_not_found=True)
        found: list[FileInfo] = self._ask(lambda system: system.get_file_info(selector))
        return [
            Entry(
                path=info.path.removeprefix(self._root),
                is_folder=info.type == FileType.Directory,
            )
            for info in found
        ]

    def state(self, path: str) -> ObjectState:
        """Return the size, and the etag or the time of the last change."""
        file = self._opened(path)
        size, facts = int(file.size()), _facts(file)
        if not facts:
            info = self._ask(lambda system: system.get_file_info(self._full(path)))
            facts = str(info.mtime_ns)
        return ObjectState(size=size, stamp=facts)

    def ranges(self, path: str, size: int) -> ArrowRanges:  # noqa: ARG002 - others need it
        """Open an object, or take it as it was opened last."""
        with self._lock:
            file = self._files.get(path)
        return ArrowRanges(file or self._opened(path))

    def _opened(self, path: str) -> NativeFile:
        """Open an object and keep it: that is a request, and each row group would make one."""
        file: NativeFile = self._ask(lambda system: system.open_input_file(self._full(path)))
        with self._lock:
            self._files[path] = file
            while len(self._files) > _KEPT_OPEN:
                del self._files[next(iter(self._files))]
        return file

    def stream(self, path: str) -> IO[bytes]:
        """Open an object."""
        stream: IO[bytes] = self._ask(lambda system: system.open_input_file(self._full(path)))
        return stream

    def _full(self, path: str) -> str:
        return f"{self._root}{path}".rstrip("/")

    def _ask(self, ask: Callable[[FileSystem], ResultT]) -> ResultT:
        while True:
            way = self._way
            try:
                if way not in self._made:
                    self._made[way] = self._ways[way]()
                return ask(self._made[way])
            except OSError as error:
                if fault_kind(error) != "forbidden" or way + 1 >= len(self._ways):
                    raise
            # Another thread may have moved on already.
            self._way = max(self._way, way + 1)


class ArrowRanges:
    """An open object, which several threads may read at once."""

    def __init__(self, file: NativeFile) -> None:
        """Keep ``file``."""
        self._file = file

    def read(self, offset: int, size: int) -> bytes:
        """Read one range."""
        data: bytes = self._file.read_at(size, offset)
        if len(data) != size:
            raise ShortReadError
        return data

    def close(self) -> None:
        """Leave it open for the next reader: it holds no connection."""


def _facts(file: NativeFile) -> str:
    """Return what a store says about an object that another content would change."""
    facts = {str(k).casefold(): v for k, v in _text_items(file.metadata())}
    tag = facts.get("etag") or facts.get("generation")
    return tag or facts.get("last-modified") or ""


def _text_items(found: object) -> list[tuple[str, str]]:
    if not isinstance(found, dict):
        return []
    return [(_text(key), _text(value)) for key, value in found.items()]


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
