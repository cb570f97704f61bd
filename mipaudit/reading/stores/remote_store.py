"""A store of objects somewhere else: what it can be asked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, Protocol, TypeVar

from mipaudit.errors import MipauditError
from mipaudit.reading.stores.fault import ShortReadError, is_transient, store_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.reading.stores.address import Address

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
