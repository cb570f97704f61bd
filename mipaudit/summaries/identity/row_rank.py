"""The pseudo-random rank of a row: a function of (seed, row identity) and nothing else.

Ranks are independent between rows, whatever the order of the file, and do not
depend on scores, labels, batches, threads or the order in which parts finish.
The top byte alone decides the micro-block, so that the counting pass needs one
byte per row: Philox (Salmon et al. 2011) in counter mode gives it to any range of
positions at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mipaudit.summaries.rows import Rows

MICRO_BLOCKS: Final = 64
_BYTES_PER_MICRO_BLOCK_LOG2: Final = 2
_ROWS_PER_COUNTER: Final = 32  # one Philox block is 256 bits
_PHILOX_SALT: Final = 0x6D69705F626C6F63
_GOLDEN: Final = 0x9E3779B97F4A7C15
_MASK64: Final = (1 << 64) - 1


def splitmix64(values: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Return a 64-bit mix of each value (Steele et al. 2014, the splitmix64 finalizer)."""
    mixed = values + np.uint64((seed * 2 + 1) * _GOLDEN & _MASK64)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def position_bytes(seed: int, first_row: int, count: int) -> NDArray[np.uint8]:
    """Return the top rank byte of ``count`` consecutive positions, shape (count,)."""
    skip = first_row % _ROWS_PER_COUNTER
    words = -(-(skip + count) // 8)
    generator = np.random.Philox(
        key=np.array([seed & _MASK64, _PHILOX_SALT], dtype=np.uint64),
        counter=first_row // _ROWS_PER_COUNTER,
    )
    return generator.random_raw(words).astype("<u8", copy=False).view(np.uint8)[skip : skip + count]


def rank_bytes(rows: Rows, seed: int) -> NDArray[np.uint8]:
    """Return the top rank byte of each present row, shape (n,)."""
    if rows.keys is not None:
        return (splitmix64(rows.keys, seed) >> np.uint64(56)).astype(np.uint8)
    span = position_bytes(seed, rows.first_row, rows.source_rows)
    return span if rows.kept is None else span[rows.kept]


def ranks(
    rows: Rows, seed: int, chosen: NDArray[np.intp], top: NDArray[np.uint8]
) -> NDArray[np.uint64]:
    """Return the full 64-bit rank of the chosen rows, whose top bytes are given."""
    if rows.keys is not None:
        return splitmix64(rows.keys[chosen], seed)
    offsets = chosen if rows.kept is None else rows.kept[chosen]
    low = splitmix64((offsets + rows.first_row).astype(np.uint64), seed) >> np.uint64(8)
    return (top.astype(np.uint64) << np.uint64(56)) | low


def micro_blocks(top: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the micro-block, in [0, 64), of rows with these top rank bytes."""
    return top >> np.uint8(_BYTES_PER_MICRO_BLOCK_LOG2)


def micro_labels(top: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return twice the `micro_blocks`: by one shift, as shifts of bytes are slow."""
    labels = top >> np.uint8(_BYTES_PER_MICRO_BLOCK_LOG2 - 1)
    labels &= np.uint8(0xFE)
    return labels
