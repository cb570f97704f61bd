"""64-bit hashes of row identities: fixed for ever, equal on every machine."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators".
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def mix64(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return splitmix64 of each word: a bijection of the 64-bit integers."""
    mixed = words + _GAMMA
    mixed ^= mixed >> np.uint64(30)
    mixed *= _MIX_1
    mixed ^= mixed >> np.uint64(27)
    mixed *= _MIX_2
    mixed ^= mixed >> np.uint64(31)
    return mixed


def words64(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return blake2b-64 of the UTF-8 form of each word."""
    digests = b"".join(
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)
