"""Object stores that Arrow reads: S3, Google Cloud Storage, Azure.

Endpoints and credentials come from the usual variables and files, or from the role of a machine of
the cloud. The libraries look for them too, for up to a minute: where there are none, we say it.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property, partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from mipaudit.errors import UsageError
from mipaudit.reading.stores.address import anonymous, store_seconds
from mipaudit.reading.stores.store import Entry, ObjectState, Store, no_credentials

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyarrow.fs import FileSystem
    from pyarrow.lib import NativeFile

    from mipaudit.reading.stores.address import Address

_AWS_SIGNS: Final = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_AZURE_SIGNS: Final = (
    *("AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_CONFIG_DIR"),
    *("IDENTITY_ENDPOINT", "MSI_ENDPOINT"),
)
# Where a machine of each cloud asks for its role: all at one address, and each answers its own.
_ROLES_HOST: Final = "169.254.169.254"
_ROLES_SECONDS: Final = 1.0
_ROLES: Final = {
    "s3": ("/latest/meta-data/", {}),
    "gs": ("/computeMetadata/v1/", {"Metadata-Flavor": "Google"}),
    "az": ("/metadata/instance?api-version=2021-02-01", {"Metadata": "true"}),
}
# Amazon's may want a token first: it is there.
_ANSWERED: Final = frozenset({200, 401})


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrowAccess:
    """How a container may be reached.

    Attributes:
        container: the bucket or container.
        make: makes the file system.
        credentials: whether they are used.
    """

    container: str
    make: Callable[[], FileSystem]
    credentials: bool


def arrow_access(address: Address) -> ArrowAccess | None:
    """Return how to reach the bucket of ``address``; None where this Arrow cannot.

    Raises:
        InputError: ``no_credentials``.
        UsageError: ``no_account``, for Azure.
    """
    name, access = {
        "s3": ("S3FileSystem", _s3),
        "gs": ("GcsFileSystem", _google),
        "az": ("AzureFileSystem", _azure),
    }[address.store]
    try:
        import pyarrow.fs

        getattr(pyarrow.fs, name)
    except (AttributeError, ImportError):
        return None
    return access(address)


def _variable(*names: str) -> str | None:
    """Return the first of these environment variables that is set."""
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _any_file(*paths: str) -> bool:
    return any(Path(path).expanduser().is_file() for path in paths)


def _access(
    address: Address, container: str, make: Callable[..., FileSystem], *, signs: bool
) -> ArrowAccess:
    """Return how to reach a container: without credentials where that is asked for.

    Raises:
        InputError: ``no_credentials``.
    """
    if not (anonymous() or signs or _has_role(address.store)):
        raise no_credentials(address)
    return ArrowAccess(
        container=container,
        make=partial(make, anonymous=anonymous()),
        credentials=not anonymous(),
    )


def _has_role(store: str) -> bool:
    """Tell within seconds whether this machine is one of the store's cloud, and can have a role."""
    if store == "s3" and _variable("AWS_EC2_METADATA_DISABLED") in {"true", "True", "TRUE"}:
        return False
    path, headers = _ROLES[store]
    asked = HTTPConnection(_ROLES_HOST, timeout=_ROLES_SECONDS)
    try:
        asked.request("GET", path, headers=headers)
        return asked.getresponse().status in _ANSWERED
    except (OSError, HTTPException):
        return False
    finally:
        asked.close()


def _s3(address: Address) -> ArrowAccess:
    signs = _variable(*_AWS_SIGNS) is not None or _any_file(
        os.environ.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"),
        os.environ.get("AWS_CONFIG_FILE", "~/.aws/config"),
    )
    return _access(address, address.place, partial(_s3_system, address.place), signs=signs)


def _s3_system(bucket: str, *, anonymous: bool) -> FileSystem:
    from pyarrow.fs import S3FileSystem, resolve_s3_region

    wait = store_seconds()
    options: dict[str, Any] = {
        "anonymous": anonymous,
        "connect_timeout": wait,
        "request_timeout": wait,
    }
    endpoint = _variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    if endpoint is not None:
        options["scheme"], options["endpoint_override"] = _endpoint(endpoint)
    region = _variable("AWS_REGION", "AWS_DEFAULT_REGION")
    if region is None:
        region = "us-east-1" if endpoint is not None else resolve_s3_region(bucket)
    bundle = _variable("AWS_CA_BUNDLE")
    if bundle is not None and Path(bundle).is_file():
        options["tls_ca_file_path"] = bundle
    try:
        return S3FileSystem(region=region, **options)
    except TypeError:  # an Arrow that takes the authorities' file for all stores at once only
        options.pop("tls_ca_file_path", None)
        return S3FileSystem(region=region, **options)


def _endpoint(url: str) -> tuple[str, str]:
    """Return scheme and host of an endpoint; https where it names none."""
    scheme, mark, host = url.rpartition("://")
    return (scheme if mark else "https"), host.rstrip("/")


def _google(address: Address) -> ArrowAccess:
    folder = os.environ.get("CLOUDSDK_CONFIG", "~/.config/gcloud")
    signs = _variable("GOOGLE_APPLICATION_CREDENTIALS", "STORAGE_EMULATOR_HOST") is not None
    signs = signs or _any_file(f"{folder}/application_default_credentials.json")
    return _access(address, address.place, _google_system, signs=signs)


def _google_system(*, anonymous: bool) -> FileSystem:
    from datetime import timedelta

    from pyarrow.fs import GcsFileSystem

    # The library itself would try for a quarter of an hour.
    options: dict[str, Any] = {"retry_time_limit": timedelta(seconds=store_seconds())}
    emulator = _variable("STORAGE_EMULATOR_HOST")
    if emulator is not None:
        scheme, options["endpoint_override"] = _endpoint(emulator)
        options["scheme"] = scheme if "://" in emulator else "http"
    return GcsFileSystem(anonymous=anonymous or emulator is not None, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Account:
    """A storage account of Azure."""

    name: str
    key: str | None
    token: str | None
    endpoint: str | None


def _azure(address: Address) -> ArrowAccess:
    container, account = _azure_account(address)
    secrets = account.key is not None or account.token is not None
    signs = (
        secrets or _variable(*_AZURE_SIGNS) is not None or _any_file("~/.azure/azureProfile.json")
    )
    return _access(address, container, partial(_azure_system, account), signs=signs)


def _azure_account(address: Address) -> tuple[str, _Account]:
    """Return the container of ``az://container/...`` or ``abfs://container@account.../...``."""
    container, mark, host = address.authority.partition("@")
    pairs = (_variable("AZURE_STORAGE_CONNECTION_STRING") or "").split(";")
    facts = dict(pair.partition("=")[::2] for pair in pairs if "=" in pair)
    name = host.partition(".")[0] if mark else None
    name = name or _variable("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME")
    name = name or facts.get("AccountName")
    if name is None:
        raise UsageError(
            "no_account",
            f"{address.scheme}://{container}: which storage account?",
            hint="Set AZURE_STORAGE_ACCOUNT, or write "
            "abfs://container@account.dfs.core.windows.net/path.",
        )
    key = _variable("AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY") or facts.get("AccountKey")
    token = _variable("AZURE_STORAGE_SAS_TOKEN") or facts.get("SharedAccessSignature")
    return container, _Account(
        name=name,
        key=key,
        token=None if key is not None or token is None else token.removeprefix("?"),
        endpoint=facts.get("BlobEndpoint"),
    )


def _azure_system(account: _Account, *, anonymous: bool) -> FileSystem:
    from pyarrow.fs import AzureFileSystem, FileSystem

    options: dict[str, Any] = {}
    query = {"credential_kind": "anonymous"}
    if account.endpoint is not None:
        parts = urlsplit(account.endpoint)
        for service in ("blob", "dfs"):
            options[f"{service}_storage_scheme"] = parts.scheme
            options[f"{service}_storage_authority"] = parts.netloc
            query[f"{service}_storage_authority"] = parts.netloc
        query["enable_tls"] = str(parts.scheme == "https").lower()
    if anonymous:
        account_host = f"{account.name}.dfs.core.windows.net"
        return FileSystem.from_uri(f"abfs://x@{account_host}/?{urlencode(query)}")[0]
    if account.token is not None:
        options["sas_token"] = account.token
    return AzureFileSystem(account.name, account_key=account.key, **options)


_KEPT_OPEN: Final = 256


class CloudStore(Store):
    """A bucket or container."""

    tries_again = True

    def __init__(self, address: Address, access: ArrowAccess) -> None:
        """Ask for nothing yet."""
        super().__init__(address)
        self.credentials = access.credentials
        self._make = access.make
        self._root = f"{access.container}/"
        # Ordered, since its oldest goes in one step, whatever other threads do.
        self._files: OrderedDict[str, NativeFile] = OrderedDict()

    def look(self, path: str) -> Entry | None:
        """Return what is at ``path``, None for nothing."""
        from pyarrow.fs import FileType

        info = self._system.get_file_info(self._full(path))
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
            info = self._system.get_file_info(self._full(path))
            stamp = str(info.mtime_ns)
        return ObjectState(int(file.size()), stamp)

    def fetch(self, path: str, offset: int, size: int) -> bytes:
        """Return a part of an object; several threads may ask for parts of the same."""
        data: bytes = (self._files.get(path) or self._opened(path)).read_at(size, offset)
        return data

    def stream(self, path: str) -> IO[bytes]:
        """Open an object to read all of it, once."""
        stream: IO[bytes] = self._system.open_input_file(self._full(path))
        return stream

    def _listed(self, path: str, *, deep: bool) -> list[Entry]:
        from pyarrow.fs import FileSelector, FileType

        selector = FileSelector(self._full(path), recursive=deep, allow_not_found=True)
        return [
            Entry(info.path.removeprefix(self._root), info.type == FileType.Directory)
            for info in self._system.get_file_info(selector)
        ]

    def _opened(self, path: str) -> NativeFile:
        """Open an object and keep it: that is a request, and each row group would make one."""
        file: NativeFile = self._system.open_input_file(self._full(path))
        self._files[path] = file
        if len(self._files) > _KEPT_OPEN:
            self._files.popitem(last=False)
        return file

    def _full(self, path: str) -> str:
        return f"{self._root}{path}".rstrip("/")

    @cached_property
    def _system(self) -> FileSystem:
        return self._make()


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
