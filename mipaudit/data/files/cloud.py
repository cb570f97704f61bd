"""Object stores that Arrow reads: S3, Google Cloud Storage, Azure.

Endpoints and credentials come from the usual variables and files, or from the role of a machine of
the cloud. The libraries look for them too, for up to a minute: where there are none, we say it.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from functools import cached_property, partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from mipaudit.data.files.store import (
    Address,
    Entry,
    State,
    Store,
    anonymous,
    asked,
    missing_library,
    store_error,
    store_seconds,
    whole,
)
from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyarrow.fs import FileSystem
    from pyarrow.lib import NativeFile


# The variables that say that there are credentials, by how their names begin.
_SIGNS: Final = {
    "s3": r"AWS_(ACCESS_KEY_ID|PROFILE|ROLE_ARN|WEB_IDENTITY_TOKEN|CONTAINER_CREDENTIALS)",
    "gs": r"GOOGLE_APPLICATION_CREDENTIALS|STORAGE_EMULATOR_HOST",
    "az": r"AZURE_(STORAGE_(KEY|ACCOUNT_KEY|SAS|CONN)|CLIENT_ID|FEDERATED|CONFIG)|IDENTITY_|MSI_",
}
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
_KEPT_OPEN: Final = 256


def cloud_store(address: Address) -> CloudStore:
    """Return the store of ``address``.

    Raises:
        InputError: ``no_credentials``.
        MissingExtraError: this Arrow was built without it.
        UsageError: ``no_account``, for Azure.
    """
    name, make = {
        "s3": ("S3FileSystem", _s3),
        "gs": ("GcsFileSystem", _google),
        "az": ("AzureFileSystem", _azure),
    }[address.store]
    import pyarrow.fs

    try:
        getattr(pyarrow.fs, name)
    except ImportError:
        raise missing_library(address, None) from None
    if address.store == "az":
        _account(address)
    if not (anonymous() or _has_credentials(address.store) or _has_role(address.store)):
        raise store_error("no_credentials", address, address.path)
    return CloudStore(address, partial(make, address))


def _variable(*names: str) -> str | None:
    """Return the first of these environment variables that is set."""
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _has_credentials(store: str) -> bool:
    """Tell whether anything in the environment says that there are credentials."""
    google = _variable("CLOUDSDK_CONFIG") or "~/.config/gcloud"
    files = {
        "s3": (
            _variable("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials",
            _variable("AWS_CONFIG_FILE") or "~/.aws/config",
        ),
        "gs": (f"{google}/application_default_credentials.json",),
        "az": ("~/.azure/azureProfile.json",),
    }
    told = any(value and re.match(_SIGNS[store], name) for name, value in os.environ.items())
    return told or any(Path(file).expanduser().is_file() for file in files[store])


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


def _s3(address: Address) -> FileSystem:
    from pyarrow.fs import S3FileSystem, resolve_s3_region

    wait = store_seconds()
    options: dict[str, Any] = {"connect_timeout": wait, "request_timeout": wait}
    endpoint = _variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    if endpoint is not None:
        options["scheme"], options["endpoint_override"] = _endpoint(endpoint, "https")
    region = _variable("AWS_REGION", "AWS_DEFAULT_REGION")
    if region is None:
        region = "us-east-1" if endpoint is not None else resolve_s3_region(address.place)
    make = partial(S3FileSystem, region=region, anonymous=anonymous(), **options)
    bundle = _variable("AWS_CA_BUNDLE")
    if bundle is not None and Path(bundle).is_file():
        try:
            return make(tls_ca_file_path=bundle)
        except TypeError:  # an Arrow that takes the authorities' file for all stores at once only
            pass
    return make()


def _endpoint(url: str, usual: str) -> tuple[str, str]:
    """Return scheme and host of an endpoint; the usual scheme where it names none."""
    scheme, mark, host = url.rpartition("://")
    return (scheme if mark else usual), host.rstrip("/")


def _google(_: Address) -> FileSystem:
    from datetime import timedelta

    from pyarrow.fs import GcsFileSystem

    # The library itself would try for a quarter of an hour.
    options: dict[str, Any] = {"retry_time_limit": timedelta(seconds=store_seconds())}
    emulator = _variable("STORAGE_EMULATOR_HOST")
    if emulator is not None:
        options["scheme"], options["endpoint_override"] = _endpoint(emulator, "http")
    return GcsFileSystem(anonymous=anonymous() or emulator is not None, **options)


def _facts() -> dict[str, str]:
    """Return what the connection string of Azure says, by name."""
    pairs = (_variable("AZURE_STORAGE_CONNECTION_STRING") or "").split(";")
    return dict(pair.partition("=")[::2] for pair in pairs if "=" in pair)


def _account(address: Address) -> str:
    """Return the storage account of an address of Azure."""
    container, _, host = address.authority.partition("@")
    named = _variable("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME")
    account = host.partition(".")[0] or named or _facts().get("AccountName")
    if not account:
        raise UsageError(
            "no_account",
            f"{address.scheme}://{container}: no storage account is given.",
            "Set AZURE_STORAGE_ACCOUNT, or write "
            "abfs://container@account.dfs.core.windows.net/path.",
        )
    return account


def _azure(address: Address) -> FileSystem:
    """Return the file system of ``az://container/...`` or ``abfs://container@account.../...``."""
    from pyarrow.fs import AzureFileSystem, FileSystem

    facts, account = _facts(), _account(address)
    key = _variable("AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY") or facts.get("AccountKey")
    token = _variable("AZURE_STORAGE_SAS_TOKEN") or facts.get("SharedAccessSignature")
    secret = {"account_key": key} if key else {}
    if token and not key:
        secret = {"sas_token": token.removeprefix("?")}
    place = urlsplit(facts.get("BlobEndpoint") or "https:")
    services = ("blob", "dfs") if place.netloc else ()
    hosts = {f"{one}_storage_authority": place.netloc for one in services}
    if not anonymous():
        schemes = {f"{one}_storage_scheme": place.scheme for one in services}
        return AzureFileSystem(account, **schemes, **hosts, **secret)
    # Arrow takes it from an address alone.
    encrypted = str(place.scheme == "https").lower()
    query = {"credential_kind": "anonymous", "enable_tls": encrypted, **hosts}
    return FileSystem.from_uri(f"abfs://x@{account}.dfs.core.windows.net/?{urlencode(query)}")[0]


class CloudStore(Store):
    """A bucket or container."""

    tries_again = True

    def __init__(self, address: Address, make: Callable[[], FileSystem]) -> None:
        """Ask for nothing yet."""
        super().__init__(address)
        self._make = make
        # Of Azure an account may follow the container.
        self._root = f"{address.place.partition('@')[0]}/"
        # Ordered, since its oldest goes in one step, whatever other threads do.
        self._files: OrderedDict[str, NativeFile] = OrderedDict()

    @asked
    def is_folder(self, path: str) -> bool | None:
        """Tell whether ``path`` is a folder, None where nothing is."""
        from pyarrow.fs import FileType

        found = self._system.get_file_info(self._full(path)).type
        return None if found == FileType.NotFound else bool(found == FileType.Directory)

    @asked
    def children(self, folder: str) -> list[Entry]:
        """Return what lies in a folder."""
        if self.address.store != "gs":
            return list(self._listed(folder, deep=False))
        # Arrow does not list a folder of Google's that is only part of names.
        start = f"{folder}/".lstrip("/")
        found: dict[str, Entry] = {}
        for path, is_folder in self._listed(folder, deep=True):
            name, below, _ = path.removeprefix(start).partition("/")
            found.setdefault(name, (start + name, bool(below) or is_folder))
        return list(found.values())

    @asked
    def below(self, folder: str) -> list[str]:
        """Return all objects below a folder, at any depth."""
        return [path for path, is_folder in self._listed(folder, deep=True) if not is_folder]

    @asked
    def state(self, path: str) -> State:
        """Return the size, and the etag or the time of the last change."""
        file = self._opened(path)
        said = file.metadata() or {}
        facts = {_text(key).casefold(): _text(value) for key, value in said.items()}
        stamp = facts.get("etag") or facts.get("generation") or facts.get("last-modified")
        stamp = stamp or str(self._system.get_file_info(self._full(path)).mtime_ns)
        return int(file.size()), stamp

    @asked
    def fetch(self, path: str, offset: int, size: int) -> bytes:
        """Return a part of an object; several threads may ask for parts of the same."""
        return whole((self._files.get(path) or self._opened(path)).read_at(size, offset), size)

    def stream(self, path: str) -> IO[bytes]:
        """Open an object to read all of it, once."""
        stream: IO[bytes] = self._system.open_input_file(self._full(path))
        return stream

    def _listed(self, folder: str, *, deep: bool) -> Iterator[Entry]:
        from pyarrow.fs import FileSelector, FileType

        selector = FileSelector(self._full(folder), recursive=deep, allow_not_found=True)
        for info in self._system.get_file_info(selector):
            yield info.path.removeprefix(self._root), info.type == FileType.Directory

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
