"""A store of objects somewhere else: how it is asked, what it answers, and what went wrong in it.

What went wrong is said in our words: the libraries' own hold addresses and noise.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Concatenate, Final, Literal, NamedTuple, ParamSpec, TypeVar

from mipaudit.errors import InputError, MipauditError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.reading.stores.address import Address

Fault = Literal["missing", "forbidden", "unreachable", "certificate", "other"]

# In the order in which they are looked for, in what the error and its causes say.
_SIGNS: Final[dict[Fault, tuple[str, ...]]] = {
    "certificate": (r"certificate", r"SSL_CONNECT|SSLError", r"CURL ?(code:|error \[)? ?(35|60)\b"),
    "forbidden": (
        r"ACCESS_?DENIED|PERMISSION_?DENIED|Permission denied|not permitted|Forbidden",
        r"UNAUTHENTICATED|Authenticat|Authoriz|Unauthori[sz]ed|credential|Anonymous caller",
        r"Invalid_?Access_?Key|SIGNATURE_?DOES_?NOT_?MATCH|(Expired|Invalid|Missing)\w*_?Token",
        r"INVALID_CLIENT|UNRECOGNIZED_CLIENT|Public ?access ?is ?not",
        r"status:? ?(code:? ?)?40[13]\b|\b40[13], message",
    ),
    "missing": (
        r"NO_?SUCH_?(BUCKET|KEY)|NOT_?FOUND|Bucket '.*' not found|does not exist|No such file",
        r"status:? ?(code:? ?)?404\b|\b404, message",
    ),
    "unreachable": (
        r"NETWORK_CONNECTION|(?<!\w)UNAVAILABLE|Could not (connect|resolve)|Failed to connect",
        r"get a new connection|timed? ?out|DEADLINE_EXCEEDED|Connection|Cannot connect",
        r"Name or service|getaddrinfo|SLOW_?DOWN|Disconnected|INTERNAL_FAILURE",
        r"SERVICE_UNAVAILABLE|Payload ?(is not completed|Error)",
        r"status:? ?(code:? ?)?(429|5\d\d)\b|\b(429|5\d\d), message",
    ),
}
_PERMISSION_ASK: Final = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS (or run: gcloud auth application-default login)",
    "az": "AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN (or run: az login)",
    "http": "an address that is signed, or ~/.netrc",
}
_ENDPOINT: Final = {
    "s3": "AWS_ENDPOINT_URL and AWS_REGION",
    "gs": "STORAGE_EMULATOR_HOST",
    "az": "AZURE_STORAGE_ACCOUNT",
    "http": "the address",
}


class ShortReadError(OSError):
    """A store sent fewer bytes than there should be."""


def fault_kind(error: BaseException) -> Fault:
    """Return what kind of fault ``error`` and its causes speak of."""
    chain = list(_chain(error))
    for one in chain:
        status = getattr(one, "status", None)
        if isinstance(status, int):
            return _of_status(status)
    # Some libraries say "no such file" for whatever went wrong: the cause knows better.
    for one in reversed(chain):
        if isinstance(one, PermissionError):
            return "forbidden"
        if isinstance(one, FileNotFoundError):
            return "missing"
        text = f"{type(one).__name__}: {one}"
        for fault, signs in _SIGNS.items():
            if any(re.search(sign, text, re.IGNORECASE) for sign in signs):
                return fault
    return "other"


def _of_status(status: int) -> Fault:
    if status in {401, 403, 407}:
        return "forbidden"
    if status in {404, 410}:
        return "missing"
    return "unreachable" if status >= 500 or status in {408, 425, 429} else "other"  # noqa: PLR2004


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


def is_transient(error: BaseException) -> bool:
    """Tell whether the same request may well succeed a moment later.

    One that ran out of time has been given all the time that it was to have.
    """
    if any(isinstance(one, TimeoutError) for one in _chain(error)):
        return False
    return isinstance(error, ShortReadError) or fault_kind(error) in {"unreachable", "other"}


def store_error(
    error: BaseException, address: Address, name: str, *, credentials: bool | None
) -> MipauditError:
    """Return ``error`` in our words.

    Args:
        error: what a library raised.
        address: of the store.
        name: of the object, safe to print.
        credentials: whether they are used; None where that is not known.
    """
    ask = _PERMISSION_ASK.get(address.store, "the store's own environment variables")
    match fault_kind(error):
        case "missing":
            return InputError("no_such_file", f"There is no file {name}.")
        case "forbidden" if credentials is False:
            return InputError(
                "no_permission",
                f"{name}: not public, or not there.",
                hint=f"Without `anonymous`, set {ask}.",
            )
        case "forbidden":
            return InputError(
                "no_permission",
                f"{name}: the store refuses to read it with the credentials that it was given."
                if credentials
                else f"{name}: the store refuses to read it.",
                hint=f"Check {ask}; "
                + ("`anonymous` reads what is public; " if credentials else "")
                + "some stores say so of what is not there, too.",
            )
        case "certificate":
            return InputError(
                "no_network",
                f"{name}: the server's certificate is not trusted.",
                hint="Name the authority's file in SSL_CERT_FILE or AWS_CA_BUNDLE.",
            )
        case "unreachable":
            endpoint = _ENDPOINT.get(address.store, "the address")
            return InputError(
                "no_network",
                f"{name}: the store cannot be reached, or does not answer.",
                hint=f"Check the network, the proxy and {endpoint}, and try again; a slow one may "
                "need a longer `store_timeout`.",
            )
        case _:
            return InputError(
                "store_failed",
                f"{name}: the store did not answer as expected.",
                hint="Try again, or copy the file here.",
            )


def no_credentials(address: Address) -> InputError:
    """Return the error for a store that is to be read with credentials, of which there are none."""
    return InputError(
        "no_credentials",
        f"{address.name(address.path)}: no credentials are found.",
        hint=f"Say `anonymous` where it is public; else set {_PERMISSION_ASK[address.store]}.",
    )


def missing_library(address: Address, extra: str | None) -> MissingExtraError:
    """Return the error for a kind of store whose library is not installed."""
    return MissingExtraError(
        "missing_extra",
        f"Reading {address.scheme}:// needs a library that is not installed.",
        hint=f'Install it with: pip install "mipaudit[{extra}]"'
        if extra
        else "fsspec lists which library reads which scheme; install that one.",
    )


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
        credentials: whether they are used; None where that is not known.
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
                ours = next((one for one in _chain(error) if isinstance(one, MipauditError)), None)
                if ours is not None:  # a library made another error of it
                    raise ours from None
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
