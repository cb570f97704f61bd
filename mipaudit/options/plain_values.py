"""Settings made plain: numbers may come as numpy's, and every one has its range."""

from __future__ import annotations

import math
import operator
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


def optional(code: str, value: object, accepted: str | None = None) -> float | None:
    """Return a plain float, or None for None; ``accepted`` as for :func:`number`."""
    return None if value is None else number(code, value, accepted)


def whole(code: str, value: object) -> int:
    """Return a plain whole number."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(code, f"{code} must be a whole number.") from None


def whole_number(code: str, value: object) -> int:
    """Return a whole number that may be written as a float: 1e4."""
    found = number(code, value)
    require(math.isfinite(found) and found == int(found), code, f"{code} must be a whole number.")
    return int(found)


def pair(code: str, value: object) -> tuple[float, float] | None:
    """Return a pair (TPR, FPR) of plain floats, or None for None."""
    if value is None:
        return None
    if isinstance(value, (tuple, list)) and len(value) == len(("tpr", "fpr")):
        return number(code, value[0]), number(code, value[1])
    raise UsageError(code, f"{code} must be a pair (TPR, FPR).")


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
