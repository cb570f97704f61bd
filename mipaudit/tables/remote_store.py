"""A store of objects somewhere else: what it can be asked, and which one an address means."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Final, Protocol, TypeVar

from mipaudit.errors import MipauditError
from mipaudit.tables.store_fault import ShortReadError, is_transient, store_error
from mipaudit.tables.store_terms import STORE_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.tables.address import Address

# What a store is built from, beside its address.
_ENVIRONMENT: Final = (
    *("AWS_", "AZURE_", "CLOUDSDK_", "FSSPEC_", "GOOGLE_", "STORAGE_", "SSL_"),
    STORE_TIMEOUT,
)
# Seconds before each further try.
_PAUSES: Final = (0.1, 0.5, 2.0)

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something in a store: its path there, and whether others are below it."""

    path: str
    is_folder: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectState:
    """An object as it is now: bytes, and what changes when it is written again.

    ``size`` is None where parts of it cannot be asked for.
    """

    size: int | None
    stamp: str


class Ranges(Protocol):
    """Bytes of one object, by position; from one thread at a time."""

    def read(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes from ``offset`` on."""
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


class Store(Protocol):
    """What can be asked of a store. Paths are relative to its bucket or server.

    Any error of the library underneath may come out: ask through ``ask_store``.
    """

    @property
    def address(self) -> Address:
        """Of something in the store."""
        ...

    @property
    def credentials(self) -> bool | None:
        """Whether some were found; None where that is not known."""
        ...

    @property
    def tries_again(self) -> bool:
        """Whether its library tries again by itself."""
        ...

    def shown(self, path: str) -> str:
        """Return ``path`` as people write it: percent signs of a web address undone."""
        ...

    def look(self, path: str) -> Entry | None:
        """Return what is at ``path``, None for nothing."""
        ...

    def children(self, path: str) -> Sequence[Entry]:
        """Return what lies in a folder."""
        ...

    def below(self, path: str) -> Sequence[Entry]:
        """Return all objects below a folder, at any depth."""
        ...

    def state(self, path: str) -> ObjectState:
        """Return the state of an object."""
        ...

    def ranges(self, path: str, size: int) -> Ranges:
        """Open an object to read parts of it."""
        ...

    def stream(self, path: str) -> IO[bytes]:
        """Open an object to read all of it, once."""
        ...


def open_store(address: Address) -> Store:
    """Return the store of ``address``: the same one for the same environment and process.

    Raises:
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
def _store(address: Address, _environment: tuple[tuple[str, str], ...], _process: int) -> Store:
    from mipaudit.tables.fsspec_store import fsspec_store

    if address.store in {"s3", "gs", "az"}:
        from mipaudit.tables.arrow_store import ArrowStore
        from mipaudit.tables.store_access import arrow_access

        access = arrow_access(address)
        if access is not None:
            return ArrowStore(address, access)
    return fsspec_store(address)


def ask_store(store: Store, path: str, ask: Callable[[], ResultT]) -> ResultT:
    """Return what ``ask`` returns, tried again where the fault may pass.

    Args:
        store: that is asked.
        path: what it is asked about.
        ask: calls the store.

    Raises:
        MipauditError: the store failed, in our words.
    """
    name = store.address.name(store.shown(path))
    for pause in (*_PAUSES, None):
        try:
            return ask()
        except MipauditError:
            raise
        except Exception as error:  # noqa: BLE001 - libraries raise what they like
            lasting = store.tries_again and not isinstance(error, ShortReadError)
            if pause is None or lasting or not is_transient(error):
                failure = store_error(error, store.address, name, credentials=store.credentials)
            else:
                time.sleep(pause)
                continue
        raise failure
    raise AssertionError  # the last pause is None
