"""The address of something in a store: ``s3://bucket/key``, ``https://host/path``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import unquote

from mipaudit.errors import UsageError
from mipaudit.reading.stores.terms import allowed_schemes
from mipaudit.statements.text.printable_names import public_path, safe_name

_LONGEST: Final = 400
# Two letters at least: one is a drive of Windows.
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_SAME_STORE: Final = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "az", "abfss": "az"}
_WEB: Final = frozenset({"http", "https"})
_KEYS_ARE_RAW: Final = frozenset({"s3", "gs", "az"})
# What is read unasked. Other schemes may be turned into hosts that nobody named.
_ALLOWED: Final = frozenset({*_KEYS_ARE_RAW, "http"})


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

    def store_only(self) -> Address:
        """Return the address of the store itself."""
        return replace(self, path="", query="")

    def name(self, path: str) -> str:
        """Return what messages call ``path`` of the same store, safe to print."""
        shown = public_path(path) if self.is_web else path
        return safe_name(f"{self.scheme}://{self.place}/{shown}", longest=_LONGEST)


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
            hint=f"Copy the file here, or allow it with --allow-scheme {safe_name(scheme)}. Read "
            "as they are: files, s3://, gs://, az://, abfs://, http:// and https://.",
        )
    rest, query = spec[found.end() :], ""
    if store == "http":
        rest, _, query = rest.partition("#")[0].partition("?")
    authority, _, path = rest.partition("/")
    if store in _KEYS_ARE_RAW and (":" in authority or (store != "az" and "@" in authority)):
        raise UsageError(
            "credentials_in_address",
            f"{scheme}:// addresses hold no credentials.",
            hint="Set them as environment variables: addresses end up in logs.",
        )
    if not authority and store in {*_KEYS_ARE_RAW, "http"}:
        raise UsageError("empty_path", f"{scheme}:// names no {_container(store)}.")
    return Address(store=store, scheme=scheme, authority=authority, path=path, query=query)


def _container(store: str) -> str:
    return {"http": "server", "az": "container"}.get(store, "bucket")


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
            "uri",
            "A file:// address names a file of this machine: file:///folder/scores.parquet.",
        )
    return unquote(f"/{path}")
