"""64-bit hashes of row identities: fixed for ever, equal on every machine."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.summaries.identity.row_rank import splitmix64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def mix64(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return splitmix64 of each word: a bijection of the 64-bit integers."""
    return splitmix64(words, 0)


def words64(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return blake2b-64 of the UTF-8 form of each word."""
    digests = b"".join(
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)
