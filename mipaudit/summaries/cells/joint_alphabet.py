"""All combinations of discrete coordinates that the burn-in shows, as one discrete score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.summaries.cells.cells import Cells, build_cells
from mipaudit.summaries.cells.product_grid import rank_by_share
from mipaudit.summaries.identity.row_rank import splitmix64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_PATTERNS: Final = 2048
MOST_PATTERNS_ASKED: Final = 8192
_ONCE_SHARE: Final = 0.1
_FRACTION: Final = 2.0**-53


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointAlphabet:
    """Known combinations by their hash, and the number of each.

    Attributes:
        hashes: uint64, increasing, shape (K,).
        codes: float64, shape (K,), a permutation of 0 to K-1.
    """

    hashes: NDArray[np.uint64]
    codes: NDArray[np.float64]

    @property
    def count(self) -> int:
        """Return the number of known combinations."""
        return int(self.codes.size)

    @property
    def cells(self) -> Cells:
        """Return a cell for each known combination, and one for all that the burn-in lacks."""
        known = np.arange(self.count, dtype=np.float64)
        return build_cells(known, known, prior=0.5, coarse=0, fine=0, discrete=True, grid=False)

    def score(self, columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the number of each row's combination, shape (n,).

        One that the burn-in lacks gets a number of its own above K - 1/2.
        """
        found = row_hashes(columns)
        at = np.minimum(np.searchsorted(self.hashes, found), self.count - 1)
        fraction = (found >> np.uint64(11)).astype(np.float64) * _FRACTION
        return np.where(self.hashes[at] == found, self.codes[at], self.count - 0.5 + fraction)


def row_hashes(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each row's values; equal rows have equal hashes."""
    mixed = np.zeros(columns[0].size, dtype=np.uint64)
    for index, column in enumerate(columns):
        bits = (column + 0.0).view(np.uint64)  # + 0.0: a zero has no sign
        mixed = splitmix64(mixed ^ bits, index + 1)
    return mixed


def joint_alphabet(
    columns: Sequence[NDArray[np.float64]], member: NDArray[np.bool_], *, most: int, asked: bool
) -> JointAlphabet | None:
    """Return the alphabet of discrete coordinates, or None where it is not small.

    Args:
        columns: burn-in values, each of shape (n,).
        member: shape (n,), for the order of the numbers alone.
        most: combinations allowed.
        asked: the user says that the alphabet is small: none need recur.
    """
    found = row_hashes(columns)
    hashes, place, times = np.unique(found, return_inverse=True, return_counts=True)
    once = int(np.count_nonzero(times == 1))
    if not hashes.size or hashes.size > most:
        return None
    if not asked and once > _ONCE_SHARE * found.size:
        return None
    rank = rank_by_share(place, member, hashes.size)
    return JointAlphabet(hashes=hashes, codes=rank.astype(np.float64))
