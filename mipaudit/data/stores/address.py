"""Addresses such as ``s3://bucket/key``, and on what terms stores are asked.

The terms, which schemes are read, whether without credentials, and how long an answer is waited
for, are in the environment, as all else that stores are made from: they reach every process that
opens a part.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from mipaudit.errors import UsageError
from mipaudit.statements.text.printable_names import public_path, safe_name

ALLOW_SCHEME: Final = "MIPAUDIT_ALLOW_SCHEME"
ANONYMOUS: Final = "MIPAUDIT_ANONYMOUS"
STORE_TIMEOUT: Final = "MIPAUDIT_STORE_TIMEOUT"
DEFAULT_SECONDS: Final = 30.0
_MOST_SECONDS: Final = 86_400.0
_LONGEST: Final = 400
# Two letters at least: one is a drive of Windows.
_NAME: Final = r"[A-Za-z][A-Za-z0-9+.-]+"
_SCHEME: Final = re.compile(rf"({_NAME})://")
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

    def name(self, path: str) -> str:
        """Return what messages call ``path`` of the same store, safe to print.

        Of a web address without its escapes and its query.
        """
        shown = public_path(unquote(path.partition("?")[0])) if self.is_web else path
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
            hint=f"Copy the file here, or name {safe_name(scheme)} in `allow_scheme`. In Python: "
            f"{ALLOW_SCHEME}. Read as they are: files, s3://, gs://, az://, abfs://, http:// and "
            "https://.",
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
            "uri",
            "A file:// address names a file of this machine: file:///folder/scores.parquet.",
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
            "`allow_scheme` wants the name of a scheme, in letters.",
            hint="For example sftp, without ://.",
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
            "`store_timeout` wants a number of seconds above 0 and at most 86,400.",
            hint="For example 120.",
        )
    return seconds
