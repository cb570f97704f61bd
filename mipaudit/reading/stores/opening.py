"""Which store an address means: one that Arrow reads, a web server, or what fsspec knows."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mipaudit.errors import MipauditError, UsageError
from mipaudit.reading.stores.address import STORE_TIMEOUT
from mipaudit.reading.stores.fault import missing_library, store_error

if TYPE_CHECKING:
    from mipaudit.reading.stores.address import Address
    from mipaudit.reading.stores.cloud_store import CloudStore
    from mipaudit.reading.stores.fsspec_store import FsspecStore

    AnyStore = CloudStore | FsspecStore

# What a store is built from, beside its address.
_ENVIRONMENT: Final = (
    *("AWS_", "AZURE_", "CLOUDSDK_", "FSSPEC_", "GOOGLE_", "STORAGE_", "SSL_"),
    STORE_TIMEOUT,
)


def open_store(address: Address) -> AnyStore:
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
def _store(address: Address, _environment: tuple[tuple[str, str], ...], _process: int) -> AnyStore:
    if address.store in {"s3", "gs", "az"}:
        from mipaudit.reading.stores.cloud_access import arrow_access
        from mipaudit.reading.stores.cloud_store import CloudStore

        access = arrow_access(address)
        if access is not None:
            return CloudStore(address, access)
    return _fsspec_store(address)


def _fsspec_store(address: Address) -> FsspecStore:
    """Return the store of ``address``.

    Raises:
        MissingExtraError: fsspec, or what it needs for this scheme, is not installed.
        UsageError: ``unknown_scheme``.
    """
    try:
        import fsspec
    except ImportError:
        raise missing_library(address, "https") from None
    from mipaudit.reading.stores.fsspec_store import FsspecStore, WebStore

    try:
        if address.is_web:
            return WebStore(address)
        base = f"{address.scheme}://{address.authority}/"
        return FsspecStore(address, *fsspec.core.url_to_fs(base))
    except ImportError:
        raise missing_library(address, "https" if address.is_web else None) from None
    except ValueError:
        raise UsageError(
            "unknown_scheme",
            f"Nothing reads {address.scheme}:// here.",
            hint="s3://, gs://, az://, abfs:// and https:// are read, and what fsspec knows, "
            "where it is allowed.",
        ) from None
    except MipauditError:
        raise
    except Exception as error:  # noqa: BLE001 - libraries raise what they like
        raise store_error(error, address, address.name(""), credentials=None) from None
