"""On what terms stores are asked: which schemes, and how long to wait for an answer.

The terms are in the environment, as all else that stores are made from: they reach every
process that opens a part.
"""

from __future__ import annotations

import os
import re
from typing import Final

from mipaudit.errors import UsageError

ALLOW_SCHEME: Final = "MIPAUDIT_ALLOW_SCHEME"
STORE_TIMEOUT: Final = "MIPAUDIT_STORE_TIMEOUT"
DEFAULT_SECONDS: Final = 30.0
_MOST_SECONDS: Final = 86_400.0
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+")


def allowed_schemes() -> frozenset[str]:
    """Return the schemes that are read beside those that always are, in lower case.

    Raises:
        UsageError: ``allow_scheme``: one is none.
    """
    found = os.environ.get(ALLOW_SCHEME, "").split()
    if not all(_SCHEME.fullmatch(one) for one in found):
        raise UsageError(
            "allow_scheme",
            "--allow-scheme wants the name of a scheme, in letters.",
            hint="For example: --allow-scheme sftp, without ://.",
        )
    return frozenset(one.lower() for one in found)


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
            "--store-timeout wants a number of seconds above 0 and at most 86,400.",
            hint="For example: --store-timeout 120.",
        )
    return seconds
