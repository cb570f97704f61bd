"""Decimals as float64s, and which of them have more digits than those tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

# Decimals of so many digits go to different float64s; IEEE 754 promises no more.
_TOLD_APART: Final = 15
# Beyond it, different integers are the same float64.
_EXACT: Final = 2**53
# 10^22 is the last power of ten that a float64 holds exactly.
_EXACT_POWERS: Final = 22


def decimal_floats(array: pa.Array) -> NDArray[np.float64]:
    """Return the float64 that is nearest to each decimal; what nulls become has no meaning.

    Arrow's own conversion may miss by one unit in the last place, so that the same number
    would differ from what a CSV file of it holds.

    Args:
        array: decimals of any width.
    """
    import pyarrow as pa

    scale = array.type.scale
    words = _words(array)
    low = words[:, 0]
    if 0 <= scale <= _EXACT_POWERS and _are_plain(words).all() and not _beyond(low).any():
        # Both are exact, so that their quotient is rounded once.
        quotients: NDArray[np.float64] = low / 10.0**scale
        return quotients
    floats = array.cast(pa.string()).cast(pa.float64())
    at = 8 * floats.offset
    return np.frombuffer(floats.buffers()[1], dtype=np.float64, count=len(array), offset=at)


def merges_decimals(array: pa.Array) -> NDArray[np.bool_] | None:
    """Return where others may round to the same float64; None where the type forbids it.

    Integers (a scale of 0 or less) are those beyond 2^53. Others have more than 15 digits,
    zeros at the end left out: 0.5 with 18 decimal places has one.

    Args:
        array: decimals of any width; what nulls hold is of no meaning.
    """
    kind = array.type
    if kind.precision <= _TOLD_APART:
        return None
    words = _words(array)
    low, plain = words[:, 0], _are_plain(words)
    mask = _beyond(low) if kind.scale <= 0 else _many_digits(low)
    wide = np.flatnonzero(~plain)
    if kind.scale <= 0:
        mask[wide] = True
    elif wide.size:
        mask[wide] = [_wide_digits(words[at]) for at in wide]
    return mask


def _are_plain(words: NDArray[np.int64]) -> NDArray[np.bool_]:
    # Of two's complement, the least word says it all if the others repeat its sign.
    return np.asarray((words[:, 1:] == (words[:, 0] >> 63)[:, None]).all(axis=1))


def _words(array: pa.Array) -> NDArray[np.int64]:
    """Return the integers behind the decimals, of shape (rows, words), the least word first."""
    width = array.type.byte_width
    data, size, offset = array.buffers()[1], len(array), array.offset
    if data is None or not size:
        return np.zeros((size, max(1, width // 8)), dtype=np.int64)
    held: Any = np.dtype(np.int32 if width == 4 else np.int64)  # noqa: PLR2004 - bytes
    each = max(1, width // 8)
    words = np.frombuffer(data, dtype=held, count=size * each, offset=offset * width)
    return words.reshape(size, each).astype(np.int64, copy=False)


def _beyond(integers: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray((integers < -_EXACT) | (integers > _EXACT))


def _many_digits(integers: NDArray[np.int64]) -> NDArray[np.bool_]:
    # The least integer of all has no positive twin; as unsigned it has.
    size = np.abs(integers).view(np.uint64)
    mask = np.zeros(size.shape, dtype=np.bool_)
    for more in range(1, 20 - _TOLD_APART):
        # From the first number of 15 digits and so many more on.
        at = size >= np.uint64(10 ** (_TOLD_APART + more - 1))
        if not at.any():
            break
        mask = np.where(at, size % np.uint64(10**more) != 0, mask)
    return mask


def _wide_digits(words: NDArray[np.int64]) -> bool:
    number = abs(int.from_bytes(words.astype("<i8").tobytes(), "little", signed=True))
    return len(str(number).rstrip("0")) > _TOLD_APART
