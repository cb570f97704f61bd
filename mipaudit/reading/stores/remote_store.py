"""A store of objects somewhere else: how it is asked, and what it answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

from mipaudit.errors import MipauditError
from mipaudit.reading.stores.fault import ShortReadError, is_transient, store_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.reading.stores.address import Address

# Seconds before each further try.
_PAUSES: Final = (0.1, 0.5, 2.0)

MoreT = ParamSpec("MoreT")
ResultT = TypeVar("ResultT")


class Entry(NamedTuple):
    """Something in a store: its path there, and whether others are below it."""

    path: str
    is_folder: bool


class ObjectState(NamedTuple):
    """An object as it is now: bytes, and what changes when it is written again.

    ``size`` is None where parts of it cannot be asked for.
    """

    size: int | None
    stamp: str


class Store:
    """What all stores have. Paths are relative to the bucket, container or server.

    Any error of the library underneath may come out of what they do: it is done by ``ask``.

    Attributes:
        address: of something in the store.
        credentials: whether some were found; None where that is not known.
        tries_again: whether its library tries again by itself.
    """

    credentials: bool | None = None
    tries_again = False

    def __init__(self, address: Address) -> None:
        """Keep the address."""
        self.address = address

    def shown(self, path: str) -> str:
        """Return ``path`` as people write it."""
        return path

    def name(self, path: str) -> str:
        """Return what messages call ``path``, safe to print."""
        return self.address.name(self.shown(path))

    def ask(
        self,
        work: Callable[Concatenate[str, MoreT], ResultT],
        path: str,
        *more: MoreT.args,
        **named: MoreT.kwargs,
    ) -> ResultT:
        """Return ``work(path, ...)``, tried again where the fault may pass.

        Raises:
            MipauditError: the store failed, in our words.
        """
        for pause in (*_PAUSES, None):
            try:
                return work(path, *more, **named)
            except MipauditError:
                raise
            except Exception as error:  # noqa: BLE001 - libraries raise what they like
                lasting = self.tries_again and not isinstance(error, ShortReadError)
                if pause is None or lasting or not is_transient(error):
                    failure = store_error(
                        error, self.address, self.name(path), credentials=self.credentials
                    )
                else:
                    time.sleep(pause)
                    continue
            raise failure
        raise AssertionError  # the last pause is None

    def sends_parts(self, path: str, state: ObjectState) -> bool:  # noqa: ARG002 - some ask
        """Tell whether parts can be asked for, and a change between them would show."""
        return state.size is not None
