"""Settings made plain: numbers may come as numpy's, and every one has its range."""

from __future__ import annotations

import math
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


def number(code: str, value: object, accepted: str | None = None) -> float:
    """Return a plain float.

    Args:
        code: the setting.
        value: what was given for it.
        accepted: what the error says; it should name the range.

    Raises:
        UsageError: not a number, or NaN.
    """
    try:
        if not isinstance(value, (str, bytes)) and not math.isnan(value):  # type: ignore[arg-type]
            return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(code, accepted or f"{code} must be a number.")


def path_of(value: Any) -> Any:  # noqa: ANN401 - a path, or data in memory
    """Return a path as text, and anything else as it is."""
    if not isinstance(value, PathLike):
        return value
    path = fspath(value)
    return path.decode() if isinstance(path, bytes) else path


def require(holds: bool, code: str, message: str, hint: str | None = None) -> None:  # noqa: FBT001
    """Raise a UsageError unless a condition holds."""
    if not holds:
        raise UsageError(code, message, hint=hint)


def one_of(code: str, value: object, allowed: Sequence[str]) -> None:
    """Raise a UsageError unless a choice is among the allowed."""
    require(
        isinstance(value, str) and value in allowed,
        code,
        f"{code} must be one of: {', '.join(allowed)}.",
    )
