"""Stores: their addresses, on what terms they are asked, and what went wrong in them.

The terms, which schemes are read, whether without credentials, and how long an answer is waited
for, are in the environment, as all else that stores are made from: they reach every process that
opens a part. What went wrong is said in our words: the libraries' own hold addresses and noise.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, field
from functools import wraps
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import unquote

from mipaudit.data.files.blob import LONGEST
from mipaudit.errors import InputError, MipauditError, MissingExtraError, UsageError
from mipaudit.statements.printable_names import public_path, safe_name

if TYPE_CHECKING:
    from collections.abc import Callable

ALLOW_SCHEME: Final = "MIPAUDIT_ALLOW_SCHEME"
ANONYMOUS: Final = "MIPAUDIT_ANONYMOUS"
STORE_TIMEOUT: Final = "MIPAUDIT_STORE_TIMEOUT"
DEFAULT_SECONDS: Final = 30.0
_MOST_SECONDS: Final = 86_400.0
# Two letters at least: one is a drive of Windows.
_NAME: Final = r"[A-Za-z][A-Za-z0-9+.-]+"
_SCHEME: Final = re.compile(rf"({_NAME})://")
_SAME_STORE: Final = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "az", "abfss": "az"}
_WEB: Final = frozenset({"http", "https"})
# Stores that Arrow reads.
CLOUDS: Final = frozenset({"s3", "gs", "az"})
# What is read unasked. Other schemes may be turned into hosts that nobody named.
_ALLOWED: Final = frozenset({*CLOUDS, "http"})

# By fault, in the order in which they are looked for, in what the error and its causes say.
_SIGNS: Final = {
    "certificate": r"certificate|SSL_CONNECT|SSLError|CURL ?(code:|error \[)? ?(35|60)\b",
    "forbidden": r"ACCESS_?DENIED|PERMISSION_?DENIED|Permission denied|not permitted|Forbidden|"
    r"UNAUTHENTICATED|Authenticat|Authoriz|Unauthori[sz]ed|credential|Anonymous caller|"
    r"Invalid_?Access_?Key|SIGNATURE_?DOES_?NOT_?MATCH|(Expired|Invalid|Missing)\w*_?Token|"
    r"INVALID_CLIENT|UNRECOGNIZED_CLIENT|Public ?access ?is ?not|"
    r"status:? ?(code:? ?)?40[13]\b|\b40[13], message",
    "missing": r"NO_?SUCH_?(BUCKET|KEY)|NOT_?FOUND|Bucket '.*' not found|does not exist|"
    r"No such file|status:? ?(code:? ?)?404\b|\b404, message",
    "unreachable": r"NETWORK_CONNECTION|(?<!\w)UNAVAILABLE|Could not (connect|resolve)|"
    r"Failed to connect|get a new connection|timed? ?out|DEADLINE_EXCEEDED|Connection|"
    r"Cannot connect|Name or service|getaddrinfo|SLOW_?DOWN|Disconnected|INTERNAL_FAILURE|"
    r"SERVICE_UNAVAILABLE|Payload ?(is not completed|Error)|"
    r"status:? ?(code:? ?)?(429|5\d\d)\b|\b(429|5\d\d), message",
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
}
# Code, sentence and hint of every fault.
_SAID: Final = {
    "missing": ("no_such_file", "There is no file {name}.", None),
    "forbidden": (
        "no_permission",
        "{name}: the store refuses to read it.",
        "Check {ask}; `anonymous` reads only public files. Perhaps the file does not exist.",
    ),
    "certificate": (
        "no_network",
        "{name}: the server's certificate is not trusted.",
        "Name the authority's file in SSL_CERT_FILE or AWS_CA_BUNDLE.",
    ),
    "unreachable": (
        "no_network",
        "{name}: the store cannot be reached, or does not answer.",
        "Check the network, the proxy and {endpoint}, and try again; {slow}.",
    ),
    "other": (
        "store_failed",
        "{name}: the store did not answer as expected.",
        "Try again, or copy the file here.",
    ),
    "no_credentials": (
        "no_credentials",
        "{name}: no credentials were found.",
        "If the file is public, add `anonymous`; otherwise set {ask}.",
    ),
}
# Seconds before each further try.
_PAUSES: Final = (0.1, 0.5, 2.0)

ResultT = TypeVar("ResultT")
# The path of what lies in a folder, and whether others lie below it.
Entry = tuple[str, bool]
# An object as it is now: its bytes, None where parts of it cannot be asked for, and what changes
# when it is written again.
State = tuple[int | None, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """What the user typed, in parts.

    Attributes:
        store: the kind of store: ``s3``, ``gs``, ``az``, ``http``, or another scheme.
        scheme: as it was typed, in lower case.
        authority: bucket, container or host, as it was typed: it may hold a password.
        path: what follows the authority, without its leading slash.
        query: of a web address, such as a signature: it may hold a secret.
    """

    store: str
    scheme: str
    authority: str = field(repr=False)
    path: str
    query: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """The bucket, container or host, without what is secret."""
        if self.store == "az":
            return self.authority
        return self.authority.rpartition("@")[2]

    @property
    def is_web(self) -> bool:
        """Tell whether it is http or https."""
        return self.store == "http"

    def name(self, path: str) -> str:
        """Return what messages call ``path`` of the same store, safe to print.

        Of a web address without its escapes and its query.
        """
        shown = public_path(unquote(path.partition("?")[0])) if self.is_web else path
        return safe_name(f"{self.scheme}://{self.place}/{shown}", longest=LONGEST)


def parse_address(spec: str) -> Address | None:
    """Return ``spec`` as an address, or None for a path on this machine.

    Raises:
        UsageError: ``scheme_not_allowed``; ``credentials_in_address``, or ``empty_path`` where
            no bucket or host is named.
    """
    found = _SCHEME.match(spec)
    if found is None or found[1].lower() == "file":
        return None
    scheme = found[1].lower()
    store = "http" if scheme in _WEB else _SAME_STORE.get(scheme, scheme)
    if store not in _ALLOWED | allowed_schemes():
        raise UsageError(
            "scheme_not_allowed",
            f"{safe_name(scheme)}:// is not read unless it is allowed.",
            f"Copy the file here, or name {safe_name(scheme)} in `allow_scheme`. In Python: "
            f"{ALLOW_SCHEME}. Always allowed are files, s3://, gs://, az://, abfs://, http:// and "
            "https://.",
        )
    rest, query = spec[found.end() :], ""
    if store == "http":
        rest, _, query = rest.partition("#")[0].partition("?")
    authority, _, path = rest.partition("/")
    if store in CLOUDS and (":" in authority or (store != "az" and "@" in authority)):
        raise UsageError(
            "credentials_in_address",
            f"{scheme}:// addresses hold no credentials.",
            "Set them as environment variables: addresses end up in logs.",
        )
    if not authority and store in {*CLOUDS, "http"}:
        container = {"http": "server", "az": "container"}.get(store, "bucket")
        raise UsageError("empty_path", f"{scheme}:// names no {container}.")
    return Address(store=store, scheme=scheme, authority=authority, path=path, query=query)


def local_path(spec: str) -> str:
    """Return a path on this machine that may be written as ``file://``.

    Raises:
        UsageError: ``uri`` for a file of another machine.
    """
    found = _SCHEME.match(spec)
    if found is None or found[1].lower() != "file":
        return spec
    host, slash, path = spec[found.end() :].partition("/")
    if host not in {"", "localhost"} or not slash:
        raise UsageError(
            "uri", "A file:// address names a file of this machine: file:///folder/scores.parquet."
        )
    return unquote(f"/{path}")


def allowed_schemes() -> frozenset[str]:
    """Return the schemes that are read beside those that always are, in lower case.

    Raises:
        UsageError: ``allow_scheme``: one is none.
    """
    found = os.environ.get(ALLOW_SCHEME, "").split()
    if not all(re.fullmatch(_NAME, one) for one in found):
        raise UsageError(
            "allow_scheme",
            "`allow_scheme` takes the name of a scheme, in letters.",
            "For example sftp, without ://.",
        )
    return frozenset(one.lower() for one in found)


def anonymous() -> bool:
    """Tell whether objects are to be read without credentials."""
    return os.environ.get(ANONYMOUS, "").strip().lower() not in {"", "0", "false", "no", "off"}


def store_seconds() -> float:
    """Return how many seconds a store may take to connect, and between two bytes.

    Raises:
        UsageError: ``store_timeout``: no number, or outside (0, 86,400].
    """
    text = os.environ.get(STORE_TIMEOUT, "").strip() or str(DEFAULT_SECONDS)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MOST_SECONDS:
        raise UsageError(
            "store_timeout",
            "`store_timeout` takes a number of seconds above 0 and at most 86,400.",
            "For example 120.",
        )
    return seconds


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


def _fault(error: BaseException) -> str:
    """Return the kind of fault that ``error`` and its causes name."""
    chain = _chain(error)
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
            if re.search(signs, text, re.IGNORECASE):
                return fault
    return "other"


def _of_status(status: int) -> str:
    if status in {401, 403, 407}:
        return "forbidden"
    if status in {404, 410}:
        return "missing"
    return "unreachable" if status >= 500 or status in {408, 425, 429} else "other"  # noqa: PLR2004


def store_error(fault: str | BaseException, address: Address, path: str) -> InputError:
    """Return what went wrong in our words.

    Args:
        fault: what it was, a word of ours, or what a library raised.
        address: of the store.
        path: of the object.
    """
    code, message, hint = _SAID[_fault(fault) if isinstance(fault, BaseException) else fault]
    words = {
        "name": address.name(path),
        "ask": _PERMISSION_ASK.get(address.store, "the store's own environment variables"),
        "slow": "a slow one may need a longer `store_timeout`",
        "endpoint": _ENDPOINT.get(address.store, "the address"),
    }
    return InputError(code, message.format(**words), hint and hint.format(**words))


def missing_library(address: Address, extra: str | None) -> MissingExtraError:
    """Return the error for a kind of store whose library is not installed."""
    return MissingExtraError(
        "missing_extra",
        f"Reading {address.scheme}:// needs a library that is not installed.",
        hint=f'Install it with: pip install "mipaudit[{extra}]"'
        if extra
        else "For s3, gs, az install pyarrow from PyPI. For others, fsspec lists what to install.",
    )


class ShortReadError(OSError):
    """A store sent fewer bytes than there should be."""


def asked(work: Callable[..., ResultT]) -> Callable[..., ResultT]:
    """Let a method of a store be tried again where the fault may pass, and fail in our words.

    Any error of the library underneath may come out of it; a library may have made another error
    of one of ours.
    """

    @wraps(work)
    def trying(store: Store, path: str, *more: object) -> ResultT:
        """Ask, and ask again while the fault may pass."""
        pauses = iter(_PAUSES)
        while True:
            try:
                return work(store, path, *more)
            except Exception as error:  # noqa: BLE001 - libraries raise what they like
                ours = next((one for one in _chain(error) if isinstance(one, MipauditError)), None)
                pause = None if ours or not _may_pass(error, store) else next(pauses, None)
                failure = ours or store_error(error, store.address, path)
            if pause is None:
                raise failure
            time.sleep(pause)

    return trying


def _may_pass(error: BaseException, store: Store) -> bool:
    """Tell whether the same request may well succeed a moment later.

    One that ran out of time has been given all the time that it was to have.
    """
    if any(isinstance(one, TimeoutError) for one in _chain(error)):
        return False
    again = not store.tries_again and _fault(error) in {"unreachable", "other"}
    return again or isinstance(error, ShortReadError)


def whole(data: bytes, size: int) -> bytes:
    """Return what a store sent, if it is as much as was asked for."""
    if len(data) != size:
        raise ShortReadError
    return data


class Store:
    """What all stores have. Paths are relative to the bucket, container or server.

    Attributes:
        address: of something in the store.
        tries_again: whether its library tries again by itself.
    """

    tries_again = False

    def __init__(self, address: Address) -> None:
        """Keep the address."""
        self.address = address

    def sends_parts(self, path: str, state: State) -> bool:  # noqa: ARG002 - some ask
        """Tell whether parts can be asked for, and a change between them would show."""
        return state[0] is not None


# What changes when an object is written again, in the words of different stores: first those
# that another content would change for certain.
CONTENT_STAMPS: Final = ("ETag", "Content-MD5")
_STAMPS: Final = (
    *(*CONTENT_STAMPS, "etag", "e_tag", "md5Hash", "checksum", "generation", "version_id"),
    *("Last-Modified", "LastModified", "last_modified", "mtime", "updated", "modified", "created"),
)


class FsspecStore(Store):
    """A file system of fsspec, from one place of it on.

    It is asked directly: Arrow's handler of fsspec's systems takes a web server's refusals for
    nothing there, loses etags, asks three times to open a file, and leaves out folders that cannot
    be listed.
    """

    def __init__(self, address: Address, system: Any, root: str) -> None:  # noqa: ANN401 - fsspec has no types
        """Keep the system, and where in it the paths begin."""
        super().__init__(address)
        self.system = system
        self.root = root.rstrip("/")

    @asked
    def is_folder(self, path: str) -> bool | None:
        """Tell whether ``path`` is a folder now, None where nothing is."""
        self.system.invalidate_cache()
        try:
            return bool(self.system.info(self.full(path))["type"] == "directory")
        except FileNotFoundError:
            return None

    @asked
    def children(self, folder: str) -> list[Entry]:
        """Return what lies in a folder."""
        try:
            found = self.system.ls(self.full(folder), detail=True)
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

    @asked
    def state(self, path: str) -> State:
        """Return the size and a stamp."""
        return found_state(self.system.info(self.full(path)))

    @asked
    def fetch(self, path: str, offset: int, size: int) -> bytes:
        """Return a part of an object, in one request."""
        return whole(self.system.cat_file(self.full(path), start=offset, end=offset + size), size)

    def stream(self, path: str) -> IO[bytes]:
        """Open an object to read all of it, once."""
        stream: IO[bytes] = self.system.open(self.full(path), "rb")
        return stream

    def full(self, path: str) -> str:
        """Return the path within the whole system."""
        return f"{self.root}/{path}".rstrip("/") or "/"

    def _relative(self, info: dict[str, Any]) -> str:
        name = str(self.system._strip_protocol(info["name"]))  # noqa: SLF001 - fsspec's own way
        return name.removeprefix(self.root).strip("/")


def found_state(info: dict[str, Any]) -> State:
    """Return the size and a stamp from what fsspec says of an object."""
    size = info.get("size") if info.get("partial") is not False else None
    stamp = next((f"{name} {info[name]}" for name in _STAMPS if info.get(name) is not None), "")
    return None if size is None else int(size), stamp
