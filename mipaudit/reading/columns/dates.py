"""Days, points in time, times of day and durations as numbers of days.

Arrow stores them as whole numbers of some unit. A point in time without a zone, and a
text without one, counts from 1970 as if in UTC; one with a zone is in UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

Moment = Literal["day", "zoned", "time", "duration"]

_DATE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?(Z|[+-]\d{2}:?\d{2})?"
)
_SECONDS_A_DAY: Final = 86_400
_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = timedelta(days=1)
_UNITS_A_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def moment_of(kind: pa.DataType) -> Moment | None:
    """Return what an Arrow type says of time: ``day`` with or without a time; None for nothing."""
    from pyarrow import types

    if types.is_timestamp(kind):
        return "day" if kind.tz is None else "zoned"
    if types.is_date(kind):
        return "day"
    if types.is_time(kind):
        return "time"
    return "duration" if types.is_duration(kind) else None


def moment_days(ticks: NDArray[np.int64], kind: pa.DataType) -> NDArray[np.float64]:
    """Return days, shape (n,): the same for the same moment in any unit.

    Args:
        ticks: as stored, shape (n,).
        kind: their Arrow type, of which `moment_of` is not None.
    """
    a_day = _ticks_a_day(kind)
    # Whole days first: nanoseconds since 1970 are beyond what a float64 tells apart.
    whole, rest = np.divmod(ticks, a_day)
    return np.asarray(whole + rest / a_day, dtype=np.float64)


def _ticks_a_day(kind: pa.DataType) -> int:
    from pyarrow import types

    if types.is_date32(kind):
        return 1
    if types.is_date64(kind):
        return _SECONDS_A_DAY * 1000
    return _SECONDS_A_DAY * _UNITS_A_SECOND[kind.unit]


def tick_dtype(kind: pa.DataType) -> str:
    """Return numpy's name of the stored whole numbers: ``int32`` or ``int64``."""
    return f"int{kind.bit_width}"


def is_day(word: str) -> bool:
    """Tell whether a text has the form of a day, 2024-05-31, with or without a time."""
    return _DATE.fullmatch(word.strip()) is not None


def are_days(words: Sequence[str]) -> bool:
    """Tell whether there are words, and all are days of the calendar."""
    return bool(words) and word_days(words) is not None


def word_days(words: Sequence[str]) -> NDArray[np.float64] | None:
    """Return days since 1970; None where a word is no day of the calendar (ISO 8601)."""
    if not all(map(is_day, words)):
        return None
    try:
        moments = [datetime.fromisoformat(word.strip()) for word in words]
    except ValueError:
        return None
    aware = (m if m.tzinfo is not None else m.replace(tzinfo=UTC) for m in moments)
    # As of stored ticks, so that both forms of a moment are the same number.
    since = [moment - _START for moment in aware]
    return np.array([one.days + (one - timedelta(one.days)) / _DAY for one in since])
