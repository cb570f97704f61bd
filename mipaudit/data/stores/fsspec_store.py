"""Stores that fsspec reads: web servers, memory, and whatever else is registered with it.

Asked directly: Arrow's handler of its systems takes a web server's refusals for nothing there,
loses etags, asks three times to open a file, and leaves out folders that cannot be listed.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mipaudit.data.stores.store import State, Store, store_seconds
from mipaudit.errors import InputError

if TYPE_CHECKING:
    from mipaudit.data.files.search import Entry
    from mipaudit.data.stores.store import Address

# What changes when an object is written again, in the words of different stores: first those
# that another content would change for certain.
_CONTENT_STAMPS: Final = ("ETag", "Content-MD5")
_STAMPS: Final = (
    *(*_CONTENT_STAMPS, "etag", "e_tag", "md5Hash", "checksum", "generation", "version_id"),
    *("Last-Modified", "LastModified", "last_modified", "mtime", "updated", "modified", "created"),
)
_HEADERS: Final = {"Accept-Encoding": "identity"}
_PARTIAL_CONTENT: Final = 206
# What an address may hold; percent signs too, where they are escapes already.
_PLAIN: Final = "/:=&?~#+!$,;'@()*[]%"
_LOOSE_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


class FsspecStore(Store):
    """A file system of fsspec, from one place of it on."""

    def __init__(self, address: Address, system: Any, root: str) -> None:  # noqa: ANN401 - fsspec has no types
        """Keep the system, and where in it the paths begin."""
        super().__init__(address)
        self._system = system
        self._root = root.rstrip("/")

    def is_folder(self, path: str) -> bool | None:
        """Tell whether ``path`` is a folder now, None where nothing is."""
        self._system.invalidate_cache()
        try:
            return bool(self._system.info(self._full(path))["type"] == "directory")
        except FileNotFoundError:
            return None

    def children(self, folder: str) -> list[Entry]:
        """Return what lies in a folder."""
        try:
            found = self._system.ls(self._full(folder), detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        entries = [(self._relative(info), info["type"] == "directory") for info in found]
        return [entry for entry in entries if entry[0] != folder.strip("/")]

    def below(self, folder: str) -> list[str]:
        """Return all objects below a folder, at any depth.

        fsspec's own ways down leave out the folders that cannot be listed.
        """
        found: list[str] = []
        for path, is_folder in self.children(folder):
            found += self.below(path) if is_folder else [path]
        return found

    def state(self, path: str) -> State:
        """Return the size and a stamp."""
        return _state(self._system.info(self._full(path)))

    def fetch(self, path: str, offset: int, size: int) -> bytes:
        """Return a part of an object, in one request."""
        data: bytes = self._system.cat_file(self._full(path), start=offset, end=offset + size)
        return data

    def stream(self, path: str) -> IO[bytes]:
        """Open an object to read all of it, once."""
        stream: IO[bytes] = self._system.open(self._full(path), "rb")
        return stream

    def _full(self, path: str) -> str:
        return f"{self._root}/{path}".rstrip("/") or "/"

    def _relative(self, info: dict[str, Any]) -> str:
        name = str(self._system._strip_protocol(info["name"]))  # noqa: SLF001 - fsspec's own way
        return name.removeprefix(self._root).strip("/")


class WebStore(FsspecStore):
    """A web server: files by ranged requests. It lists no folders."""

    def __init__(self, address: Address) -> None:
        """Make a client that honours proxies and .netrc, and never asks for compression.

        Where it may be led, and how slow a server may be, its answers say.
        """
        import aiohttp
        from fsspec.implementations.http import HTTPFileSystem

        from mipaudit.data.stores.web_response import WebResponse

        wait = store_seconds()
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=wait, sock_read=wait)
        system = HTTPFileSystem(
            encoded=True,
            headers=_HEADERS,
            client_kwargs={"trust_env": True, "timeout": timeout, "response_class": WebResponse},
            skip_instance_cache=True,
        )
        super().__init__(address, system, f"{address.scheme}://{address.authority}")

    def is_folder(self, path: str) -> bool | None:
        """Tell that ``path`` is a file, None where nothing is."""
        try:
            self._system.info(self._full(path))
        except FileNotFoundError as error:
            # It stands for any fault. The server itself must have said that there is nothing.
            if error.__cause__ is None or getattr(error.__cause__, "status", 0) in {404, 410}:
                return None
            raise
        return False

    def state(self, path: str) -> State:
        """Return size and etag.

        Raises:
            InputError: ``web_page``.
        """
        info = self._system.info(self._full(path))
        if info.get("mimetype") == "text/html":
            raise InputError(
                "web_page",
                f"{self.address.name(path)}: a web page, not a file of scores.",
                hint="Is a log-in needed?",
            )
        return _state(info)

    def stream(self, path: str) -> IO[bytes]:
        """Open a file to read all of it, once."""
        stream: IO[bytes] = self._system.open(self._full(path), "rb", block_size=0, size=1)
        return stream

    def sends_parts(self, path: str, state: State) -> bool:
        """Tell whether parts can be asked for, and a change between them would show.

        The time of the last change counts in whole seconds: a server that gives nothing better
        could send parts of two files. Some send the whole file when they are asked for a part.
        """
        from fsspec.asyn import sync

        size, stamp = state
        if not size or not stamp.startswith(_CONTENT_STAMPS):
            return size == 0
        partly: bool = self.ask(
            lambda path: sync(self._system.loop, self._answers_partly, self._full(path)), path
        )
        return partly

    async def _answers_partly(self, url: str) -> bool:
        session = await self._system.set_session()
        headers = {**_HEADERS, "Range": "bytes=0-0"}
        async with session.get(self._system.encode_url(url), headers=headers) as answer:
            answer.raise_for_status()
            partial: bool = answer.status == _PARTIAL_CONTENT
            return partial

    def _full(self, path: str) -> str:
        return f"{self._root}/{quote(_LOOSE_PERCENT.sub('%25', path), safe=_PLAIN)}"


def _state(info: dict[str, Any]) -> State:
    size = info.get("size") if info.get("partial") is not False else None
    stamp = next((f"{name} {info[name]}" for name in _STAMPS if info.get(name) is not None), "")
    return None if size is None else int(size), stamp
