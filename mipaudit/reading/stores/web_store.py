"""Files of a web server, by ranged requests; its folders by the pages that list them."""

from __future__ import annotations

import re
from html import unescape
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from mipaudit.errors import InputError
from mipaudit.reading.stores.fsspec_store import FsspecRanges, object_state
from mipaudit.reading.stores.remote_store import Entry, ObjectState
from mipaudit.reading.stores.terms import store_seconds

if TYPE_CHECKING:
    from mipaudit.reading.stores.address import Address

_DEEPEST: Final = 16
_HEADERS: Final = {"Accept-Encoding": "identity"}
_PARTIAL_CONTENT: Final = 206
# What an address may hold; percent signs too, where they are escapes already.
_PLAIN: Final = "/:=&?~#+!$,;'@()*[]%"
_LOOSE_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


class WebStore:
    """A web server."""

    credentials = None
    tries_again = False

    def __init__(self, address: Address) -> None:
        """Make a client that honours proxies and .netrc, and never asks for compression."""
        import aiohttp
        from fsspec.implementations.http import HTTPFileSystem

        self.address = address
        wait = store_seconds()
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=wait, sock_read=wait)
        self._system: Any = HTTPFileSystem(
            simple_links=False,
            encoded=True,
            headers=_HEADERS,
            client_kwargs={"trust_env": True, "timeout": timeout},
            skip_instance_cache=True,
        )
        self._base = f"{address.scheme}://{address.authority}/"

    def shown(self, path: str) -> str:
        """Return ``path`` without its escapes and its query."""
        return unquote(path.partition("?")[0])

    def look(self, path: str) -> Entry | None:
        """Return a folder where ``path`` ends in a slash, else the file there."""
        if not path or path.endswith("/"):
            return Entry(path=path.rstrip("/"), is_folder=True)
        try:
            self._system.info(self._url(path))
        except FileNotFoundError as error:
            if getattr(error.__cause__, "status", 404) in {404, 410} and _said(error):
                return None
            raise
        return Entry(path=path, is_folder=False)

    def children(self, path: str) -> list[Entry]:
        """Return what the page of a folder links to, below it."""
        folder = f"{path.rstrip('/')}/" if path else ""
        start = self._url(folder)
        found: dict[str, Entry] = {}
        for link in self._system.ls(start, detail=False):
            name = re.split(r"[?#]", unescape(link), maxsplit=1)[0]
            rest = name.removeprefix(start).removeprefix("./")
            one = rest.rstrip("/")
            if name.startswith(start) and one and "/" not in one and one not in {".", ".."}:
                found[one] = Entry(path=f"{folder}{one}", is_folder=rest.endswith("/"))
        return list(found.values())

    def below(self, path: str) -> list[Entry]:
        """Return all files below a folder, page by page."""
        found: list[Entry] = []
        folders = [(path, 0)]
        while folders:
            folder, depth = folders.pop()
            for entry in self.children(folder):
                if not entry.is_folder:
                    found.append(entry)
                elif depth < _DEEPEST:
                    folders.append((entry.path, depth + 1))
        return found

    def state(self, path: str) -> ObjectState:
        """Return size and etag.

        Raises:
            InputError: ``web_page``.
        """
        info = self._system.info(self._url(path))
        if info.get("mimetype") == "text/html":
            raise InputError(
                "web_page",
                f"{self.address.name(self.shown(path))}: a web page, not a file of scores.",
                hint="Is a log-in needed? The address of a folder ends in a slash.",
            )
        return object_state(info)

    def ranges(self, path: str, size: int) -> FsspecRanges:  # noqa: ARG002 - others need it
        """Open a file."""
        return FsspecRanges(self._system, self._url(path))

    def stream(self, path: str) -> IO[bytes]:
        """Open a file."""
        stream: IO[bytes] = self._system.open(self._url(path), "rb", block_size=0, size=1)
        return stream

    def sends_ranges(self, path: str) -> bool:
        """Tell whether a part can be asked for: some servers send the whole file instead."""
        from fsspec.asyn import sync

        answer: bool = sync(self._system.loop, self._answers_partly, self._url(path))
        return answer

    async def _answers_partly(self, url: str) -> bool:
        session = await self._system.set_session()
        headers = {**_HEADERS, "Range": "bytes=0-0"}
        async with session.get(self._system.encode_url(url), headers=headers) as answer:
            answer.raise_for_status()
            partial: bool = answer.status == _PARTIAL_CONTENT
            return partial

    def _url(self, path: str) -> str:
        safe = _LOOSE_PERCENT.sub("%25", path)
        return self._base + quote(safe, safe=_PLAIN)


def _said(error: BaseException) -> bool:
    """Tell whether the server itself said that there is nothing."""
    return error.__cause__ is None or hasattr(error.__cause__, "status")
