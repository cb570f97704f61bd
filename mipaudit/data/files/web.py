"""Web servers: files by ranged requests.

A body must come fast enough, and a redirect lead to where one may go.
"""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from aiohttp import ClientResponse, ClientTimeout
from fsspec.asyn import sync
from fsspec.implementations.http import HTTPFileSystem
from yarl import URL

from mipaudit.data.files.store import (
    CONTENT_STAMPS,
    Address,
    FsspecStore,
    State,
    asked,
    found_state,
    store_seconds,
)
from mipaudit.errors import InputError
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from aiohttp.connector import Connection


# A body that brings less than so many bytes a second while it is waited for so long is given up.
SLOWEST: Final = 1024
SECONDS: Final = 60.0
_BLOCK: Final = 1 << 16
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_THIS_MACHINE: Final = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})
ResultT = TypeVar("ResultT")
# From which host to which other it was said that one was led.
_TOLD: Final[set[tuple[str | None, str | None]]] = set()

_HEADERS: Final = {"Accept-Encoding": "identity"}
_PARTIAL_CONTENT: Final = 206
# What an address may hold; percent signs too, where they are escapes already.
_PLAIN: Final = "/:=&?~#+!$,;'@()*[]%"
_LOOSE_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


class WebStore(FsspecStore):
    """A web server: files by ranged requests. It lists no folders."""

    def __init__(self, address: Address) -> None:
        """Make a client that honours proxies and .netrc, and never asks for compression.

        Where it may be led, and how slow a server may be, its answers say.
        """
        wait = store_seconds()
        timeout = ClientTimeout(total=None, sock_connect=wait, sock_read=wait)
        system = HTTPFileSystem(
            encoded=True,
            headers=_HEADERS,
            client_kwargs={"trust_env": True, "timeout": timeout, "response_class": WebResponse},
            skip_instance_cache=True,
        )
        super().__init__(address, system, f"{address.scheme}://{address.authority}")

    @asked
    def state(self, path: str) -> State:
        """Return size and etag.

        Raises:
            InputError: ``web_page``.
        """
        info = self.system.info(self.full(path))
        if info.get("mimetype") == "text/html":
            raise InputError(
                "web_page",
                f"{self.address.name(path)}: a web page, not a file of scores.",
                "Is a log-in needed?",
            )
        return found_state(info)

    def stream(self, path: str) -> IO[bytes]:
        """Open a file to read all of it, once."""
        stream: IO[bytes] = self.system.open(self.full(path), "rb", block_size=0, size=1)
        return stream

    def sends_parts(self, path: str, state: State) -> bool:
        """Tell whether parts can be asked for, and a change between them would show.

        The time of the last change counts in whole seconds: a server that gives nothing better
        could send parts of two files. Some send the whole file when they are asked for a part.
        """
        size, stamp = state
        if not size or not stamp.startswith(CONTENT_STAMPS):
            return size == 0
        return self._answers_partly(path)

    @asked
    def _answers_partly(self, path: str) -> bool:
        partly: bool = sync(self.system.loop, self._asked_for_a_byte, self.full(path))
        return partly

    async def _asked_for_a_byte(self, url: str) -> bool:
        session = await self.system.set_session()
        headers = {**_HEADERS, "Range": "bytes=0-0"}
        async with session.get(self.system.encode_url(url), headers=headers) as answer:
            answer.raise_for_status()
            partial: bool = answer.status == _PARTIAL_CONTENT
            return partial

    def full(self, path: str) -> str:
        """Return the whole address, its loose percent signs escaped."""
        return f"{self.root}/{quote(_LOOSE_PERCENT.sub('%25', path), safe=_PLAIN)}"


class WebResponse(ClientResponse):
    """An answer that is refused where it leads astray, or takes for ever.

    A server that sends a byte now and then is never silent, so that no wait between two bytes
    ends it.
    """

    async def start(self, connection: Connection) -> WebResponse:
        """Take in the head of the answer.

        Raises:
            InputError: ``redirect``, or ``slow_store``.
        """
        await _within(SECONDS + store_seconds(), super().start(connection), self.url)
        if self.status in _REDIRECTS:
            _require_fit(self.url, self.headers.get("Location") or self.headers.get("URI"))
        self.content: Any = _Watched(self.content, self.url)
        return self


class _Watched:
    """The body of an answer, as aiohttp has it, but for how long is waited for it."""

    def __init__(self, content: Any, url: URL) -> None:  # noqa: ANN401 - a stream of aiohttp
        self._content, self._url = content, url
        self._waited, self._got = 0.0, 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self._content, name)

    async def read(self, size: int = -1) -> bytes:
        """Return what there is, of at most ``size`` bytes; all that comes where it is negative.

        Raises:
            InputError: ``slow_store``.
        """
        if size < 0:
            blocks = []
            while block := await self.read(_BLOCK):
                blocks.append(block)
            return b"".join(blocks)
        clock = asyncio.get_running_loop().time
        began = clock()
        found: bytes = await _within(SECONDS - self._waited, self._content.read(size), self._url)
        self._waited += clock() - began
        self._got += len(found)
        if self._got >= SLOWEST * SECONDS:
            self._waited, self._got = 0.0, 0
        return found


async def _within(seconds: float, work: Awaitable[ResultT], url: URL) -> ResultT:
    """Return what is waited for.

    Raises:
        InputError: ``slow_store``.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await work
    except TimeoutError:
        if not limit.expired():
            raise
    raise InputError(
        "slow_store",
        f"{_shown(url)} sends less than 1 KiB a second.",
        "Try again later, or copy the file here.",
    )


def _require_fit(url: URL, location: str | None) -> None:
    """Refuse a redirect that takes away encryption, or leads inside; say where another leads.

    A public server can send its readers to what only this machine, or this network, can reach.

    Raises:
        InputError: ``redirect``.
    """
    try:
        target = url.join(URL(location or ""))
    except ValueError:
        return  # no address: aiohttp refuses it
    why = None
    if url.scheme == "https" and target.scheme != "https":
        why = "from https to an address that is not encrypted"
    elif _is_public(url.host) and not _is_public(target.host):
        why = "from a public server to an address of this machine or of a private network"
    if why is not None:
        raise InputError(
            "redirect",
            f"{_shown(url)} redirects {why}, which is not followed.",
            "If the file is there, give that address.",
        )
    hosts = url.host, target.host
    if target.host != url.host and hosts not in _TOLD:
        _TOLD.add(hosts)
        # Nobody may listen there, and a note is not worth a failure.
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"{_shown(url)} redirects to {_shown(target)}.\n")


def _shown(url: URL) -> str:
    return safe_name(f"{url.scheme}://{url.host}")


def _is_public(host: str | None) -> bool:
    """Tell whether a host is neither this machine nor, by its number, one of a private network.

    What a name means is not looked up: it may be another a moment later.
    """
    name = (host or "").rstrip(".").lower()
    if name in _THIS_MACHINE or name.endswith(".localhost"):
        return False
    address = _literal(name)
    return address is None or address.is_global


def _literal(name: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(name.partition("%")[0])
    except ValueError:
        try:
            # 127.1, 0x7f000001 and 2130706433 are the loopback address, too.
            return IPv4Address(socket.inet_aton(name))
        except (OSError, UnicodeError):
            return None
    return getattr(found, "ipv4_mapped", None) or found
