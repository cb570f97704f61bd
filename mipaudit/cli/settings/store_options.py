"""``--allow-scheme`` and ``--store-timeout``, of every command that reads files."""

from __future__ import annotations

import os
from typing import Any

from typer.core import TyperOption


def store_options() -> list[TyperOption]:
    """Return the two options; what they say is in the environment while the command runs."""
    return [
        TyperOption(
            param_decls=["allow_scheme", "--allow-scheme"],
            metavar="NAME",
            multiple=True,
            expose_value=False,
            callback=_allow,
            help="Read addresses of this scheme too, as sftp, with what fsspec has installed for "
            "it; repeat for several.",
        ),
        TyperOption(
            param_decls=["store_timeout", "--store-timeout"],
            metavar="SECONDS",
            expose_value=False,
            callback=_wait,
            help="How long a store may take to connect, and send no byte. [default: 30]",
        ),
    ]


def _allow(context: Any, option: Any, value: tuple[str, ...]) -> None:  # noqa: ANN401, ARG001
    if not value or context.resilient_parsing:
        return
    from mipaudit.reading.stores.address import ALLOW_SCHEME, allowed_schemes

    # A name with a blank in it would pass for two.
    names = ["?" if set(name) & set(" \t\n") else name for name in value]
    _set(context, ALLOW_SCHEME, " ".join(names))
    allowed_schemes()


def _wait(context: Any, option: Any, value: str | None) -> None:  # noqa: ANN401, ARG001
    if value is None or context.resilient_parsing:
        return
    from mipaudit.reading.stores.address import STORE_TIMEOUT, store_seconds

    _set(context, STORE_TIMEOUT, value)
    store_seconds()


def _set(context: Any, name: str, value: str) -> None:  # noqa: ANN401
    """Set a variable until the command has ended."""
    before = os.environ.get(name)
    os.environ[name] = value

    def put_back() -> None:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before

    context.call_on_close(put_back)
