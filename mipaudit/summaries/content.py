"""The order and the digest of rows that follow from the rows alone.

Both are the same for any order of the rows, any parts, any file format, and any increasing
map of a score: what counts of an ordered score is the rank of each row among the distinct
values. Rows that are equal in all that is looked at are exchangeable, so that it does not
matter which of them stands first.

A sum of hashes would need no order of the batches, and a writer of the rows could solve
for the sum that he wants (Wagner 2002). A hash of the stream cannot be aimed at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Places
from mipaudit.maths.class_limits.roc_counts import ladder_of_rows
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.seed import Content, ContentKind

_WORD_BITS: Final = 64
_RANK: Final = np.dtype(">u4")
_WORD: Final = np.dtype(">u8")
DIGEST_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContentColumn:
    """One column that the order of the rows may depend on.

    Attributes:
        name: of the column; columns are taken in the order of their names.
        values: no NaN, shape (n,): numbers, or hashes of labels, which have no order but
            must be told apart.
        labels: whether the values are such hashes.
    """

    name: str
    values: Floats | NDArray[np.uint64]
    labels: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Canonical:
    """An order of rows, and the digest of the rows in it.

    Attributes:
        order: int64, shape (n,): where each row of the order stood.
        content: what a seed depends on.
    """

    order: Places
    content: Content


def canonical_scores(
    scores: Floats, member: Bools, *, labels: bool = False
) -> tuple[Rows, Content]:
    """Return the rows of one score column in increasing order, holdout first among ties.

    As `canonical_order` would have them, several times faster: one sort of each class.

    Args:
        scores: shape (n,), no NaN; missing ones are the lowest.
        member: shape (n,).
        labels: the scores are hashes of labels.
    """
    # -0 and 0 are one value, and must be told the same wherever a value is shown.
    halves = [np.sort(scores[side]) + 0.0 for side in (~member, member)]
    both = np.concatenate(halves)
    # A stable sort finds the two runs, and merges them.
    order = np.argsort(both, kind="stable")
    both, inside = both[order], order >= halves[0].size
    return _in_memory(inside, (both,), None), ladder_content(both, inside, labels=labels)


def canonical_order(
    columns: Sequence[ContentColumn],
    member: Bools,
    keys: NDArray[np.uint64] | None = None,
    *,
    units: bool = False,
) -> Canonical:
    """Return the order of rows of any number of columns, joined by row.

    Args:
        columns: at least one.
        member: shape (n,).
        keys: hash of each row's key or person; then the order is theirs.
        units: the keys are persons', who may have several rows.
    """
    named = sorted(columns, key=lambda one: one.name)
    words = [_words(one) for one in named]
    order = _order(words, member, keys)
    inside = member[order]
    if keys is None and len(named) == 1:
        (only,) = named
        return Canonical(
            order=order, content=ladder_content(only.values[order], inside, labels=only.labels)
        )
    digest = blake2b(digest_size=DIGEST_BYTES)
    for word in words if keys is None else [keys, *words]:
        digest.update(_stored(word[order]).data)
    digest.update(np.packbits(inside).data)
    kind: ContentKind = "rows"
    if keys is not None:
        kind = "rows of units" if units else "keyed rows"
    digest.update(f"|{''.join('l' if one.labels else 'r' for one in named)}".encode())
    return Canonical(order=order, content=_content(kind, inside, digest.digest()))


def canonical_rows(
    columns: Sequence[ContentColumn],
    member: Bools,
    keys: NDArray[np.uint64] | None = None,
    *,
    units: bool = False,
) -> tuple[Rows, Content]:
    """Return the rows of score columns in canonical order, as one batch from position 0.

    The scores keep the order of ``columns``; for the rest see `canonical_order`.
    """
    if keys is None and len(columns) == 1:
        (only,) = columns
        values = only.values.astype(np.float64, copy=False)
        return canonical_scores(values, member, labels=only.labels)
    found = canonical_order(columns, member, keys, units=units)
    scores = tuple(one.values[found.order].astype(np.float64, copy=False) + 0.0 for one in columns)
    own = None if keys is None else keys[found.order]
    return _in_memory(member[found.order], scores, own), found.content


def ladder_content(
    scores: Floats | NDArray[np.uint64], member: Bools, *, labels: bool = False
) -> Content:
    """Return the digest of rows in increasing order: (members, holdout) of each value.

    Args:
        scores: increasing, shape (n,).
        member: shape (n,).
        labels: the values count too, since labels have no order.
    """
    ladder = ladder_of_rows(scores, member.view(np.uint8))
    steps = np.empty((ladder.members.size, 2), dtype="<i8")
    steps[:, 0], steps[:, 1] = ladder.members, ladder.holdout
    digest = blake2b(steps.data, digest_size=DIGEST_BYTES)
    if labels:
        first = np.append(np.ones(min(scores.size, 1), dtype=bool), scores[1:] != scores[:-1])
        digest.update(_stored(_label_words(scores[first])).data)
    return _content("labels" if labels else "ladder", member, digest.digest())


def dense_ranks(values: Floats | NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the place of each value among the distinct ones, from 0, shape (n,)."""
    order = np.argsort(values)
    ordered = values[order]
    new = np.zeros(values.size, dtype=np.uint32)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:], casting="unsafe")
    ranks = np.empty(values.size, dtype=np.uint32)
    ranks[order] = np.cumsum(new, dtype=np.uint32)
    return ranks


def _words(column: ContentColumn) -> NDArray[np.uint32] | NDArray[np.uint64]:
    return _label_words(column.values) if column.labels else dense_ranks(column.values)


def _label_words(values: Floats | NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return hashes of labels as words that order as they do, a missing label as 0."""
    if values.dtype == np.uint64:
        return values.astype(np.uint64)
    return np.where(np.isneginf(values), 0.0, values + 1.0).astype(np.uint64)


def _order(
    words: Sequence[NDArray[np.uint32] | NDArray[np.uint64]],
    member: Bools,
    keys: NDArray[np.uint64] | None,
) -> Places:
    """Return the order by key, then by the words, then by class, holdout first."""
    packed, whole = _packed(words, member)
    leading = packed if keys is None else keys
    order = np.argsort(leading)
    ordered = leading[order]
    if (whole and keys is None) or not (ordered[1:] == ordered[:-1]).any():
        return order
    if whole:
        return np.lexsort((packed, leading))
    return np.argsort(_records([*([] if keys is None else [keys]), *words], member))


def _packed(
    words: Sequence[NDArray[np.uint32] | NDArray[np.uint64]], member: Bools
) -> tuple[NDArray[np.uint64], bool]:
    """Return the first words in one word that orders as they do, and whether all are in it."""
    packed, used = np.zeros(member.size, dtype=np.uint64), 0
    for word in (*words, member):
        bits = int(word.max(initial=0)).bit_length()
        if used + bits > _WORD_BITS:
            return packed, False
        packed = (packed << np.uint64(bits % _WORD_BITS)) | word.astype(np.uint64)
        used += bits
    return packed, True


def _records(
    words: Sequence[NDArray[np.uint32] | NDArray[np.uint64]], member: Bools
) -> NDArray[np.bytes_]:
    """Return each row as bytes that order as its words do, then by class."""
    sizes = [word.dtype.itemsize for word in words]
    room = np.empty((member.size, sum(sizes) + 1), dtype=np.uint8)
    start = 0
    for word, size in zip(words, sizes, strict=True):
        room[:, start : start + size] = _stored(word).view(np.uint8).reshape(-1, size)
        start += size
    room[:, start] = member
    return room.view(f"S{room.shape[1]}").ravel()


def _stored(word: NDArray[np.uint32] | NDArray[np.uint64]) -> NDArray[Any]:
    """Return words with the highest byte first, so that their bytes order as they do."""
    return np.ascontiguousarray(word, dtype=_WORD if word.dtype == np.uint64 else _RANK)


def _content(kind: ContentKind, member: Bools, digest: bytes) -> Content:
    inside = int(np.count_nonzero(member))
    return Content(kind=kind, n_members=inside, n_holdout=int(member.size) - inside, digest=digest)


def _in_memory(member: Bools, scores: tuple[Floats, ...], keys: NDArray[np.uint64] | None) -> Rows:
    return Rows(
        first_row=0,
        source_rows=int(member.size),
        kept=None,
        keys=keys,
        member=member,
        scores=scores,
    )


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
