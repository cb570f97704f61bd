"""A digest of rows in their order, the same for any batches and any file format.

A sum of hashes would need no order of the batches, and whoever writes the rows could solve
for the sum that he wants (Wagner 2002). A hash of the stream cannot be aimed at.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.summaries.rows import Rows

DIGEST_BYTES: Final = 32


class RowStream:
    """Takes rows in, batch after batch in their order.

    Attributes:
        rows: that are present.
        members: of them.
    """

    __slots__ = ("_absent", "_columns", "_keys", "_member", "_names", "members", "rows")

    def __init__(self, names: Sequence[str]) -> None:
        """Start empty, for score columns of these names."""
        self._names = tuple(names)
        self._columns = tuple(_hash() for _ in names)
        self._member, self._keys, self._absent = _hash(), _hash(), _hash()
        self.rows = self.members = 0

    def add(self, rows: Rows) -> None:
        """Take in the batch that comes next."""
        self.rows += rows.member.size
        self.members += int(np.count_nonzero(rows.member))
        self._member.update(_bytes(rows.member, np.uint8))
        for one, scores in zip(self._columns, rows.scores, strict=True):
            one.update(_bytes(scores + 0.0, "<f8"))  # minus zero is zero
        if rows.keys is not None:
            self._keys.update(_bytes(rows.keys, "<u8"))
        if rows.kept is not None:
            absent = np.ones(rows.source_rows, dtype=bool)
            absent[rows.kept] = False
            self._absent.update(_bytes(np.flatnonzero(absent) + rows.first_row, "<i8"))

    def digest(self) -> bytes:
        """Return the digest of all rows; the place of a column among them does not matter."""
        whole = _hash()
        for part in (self._member, self._keys, self._absent):
            whole.update(part.digest())
        for name, column in sorted(zip(self._names, self._columns, strict=True), key=_by_name):
            whole.update(_hash(name.encode("utf-8", "surrogatepass")).digest() + column.digest())
        return whole.digest()


def _by_name(column: tuple[str, blake2b]) -> str:
    return column[0]


def _hash(data: bytes = b"") -> blake2b:
    return blake2b(data, digest_size=DIGEST_BYTES)


def _bytes(values: NDArray[np.generic], form: str | type[np.uint8]) -> memoryview:
    return np.ascontiguousarray(values, dtype=form).data
