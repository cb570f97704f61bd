"""What a Parquet file's footer says of its row groups, read without pyarrow.

pyarrow's own accessors of row groups and column chunks end the process (C++ ``terminate``)
where a footer contradicts itself, as one with a flipped bit may: nothing catches their
exceptions. Opening a file and decoding it are safe; this module is asked for the rest.

Source: the Parquet format's ``parquet.thrift`` (the numbers of the fields) and Thrift's
compact protocol.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAGIC: Final = b"PAR1"
# The footer's length, and the magic bytes.
TRAILER: Final = 8
# Nothing in a footer is nested deeper: its schema is a flat list.
_DEEPEST: Final = 24
_LONGEST_VARINT: Final = 63
_MORE: Final = 0x80
_LOW: Final = 0x0F
# Types of the compact protocol.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY = 1, 2, 3, 7, 8
_LIST, _SET, _MAP, _STRUCT, _UUID = 9, 10, 11, 12, 13
_VARINTS: Final = frozenset({4, 5, 6})
# A flag is in the head of its field; in lists and maps it takes a byte.
_FIXED: Final = {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8, _UUID: 16}
# Fields: FileMetaData.row_groups; RowGroup.columns and .num_rows; ColumnChunk.meta_data,
# .crypto_metadata and .encrypted_column_metadata.
_ROW_GROUPS, _COLUMNS, _NUM_ROWS, _META_DATA, _CRYPTO, _ENCRYPTED = 4, 1, 3, 3, 8, 9
# ColumnMetaData.num_values, .total_compressed_size, .data_page_offset, .dictionary_page_offset.
_KEPT: Final = {5: 0, 7: 1, 9: 2, 11: 3}
_NONE: Final = -1
_PER_COLUMN: Final = 5


def _heads(*kinds: int) -> bytes:
    """Return a class of bytes: the heads of fields of these types, numbered by difference."""
    heads = (difference << 4 | kind for difference in range(1, 16) for kind in kinds)
    return b"[" + b"".join(re.escape(bytes([head])) for head in heads) + b"]"


def _binaries(longest: int) -> bytes:
    """Return a pattern of byte strings up to ``longest``, each behind its length."""
    sized = (re.escape(bytes([size])) + b"." * size for size in range(longest + 1))
    return b"(?:" + b"|".join(sized) + b")"


# A wide file has 10^5 column chunks, most of which is statistics: numbers, flags and short
# strings in a row, which a pattern steps over faster than a loop.
_VARINT: Final = rb"[\x80-\xff]*+[\x00-\x7f]"
_PLAIN_FIELDS: Final = re.compile(
    b"(?:%b%b|%b|%b%b)*+"
    % (_heads(*_VARINTS), _VARINT, _heads(_TRUE, _FALSE), _heads(_BINARY), _binaries(16)),
    re.DOTALL,
)


class BadFooterError(Exception):
    """The bytes are no footer, or contradict themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPlace:
    """One column of one row group, by its leaf.

    Attributes:
        values: cells, missing ones included.
        size: bytes in the file.
        data: where its first data page begins.
        dictionary: where its dictionary begins; None for none.
        encrypted: whether a key is needed.
    """

    values: int
    size: int
    data: int
    dictionary: int | None
    encrypted: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Footer:
    """The row groups of a file.

    Attributes:
        rows: of each row group.
        width: columns, leaves of nested ones each on its own.
    """

    rows: tuple[int, ...]
    width: int
    numbers: array[int]

    @classmethod
    def parse(cls, data: bytes, width: int) -> Footer:
        """Find the row groups of a file of ``width`` columns.

        Raises:
            BadFooterError: no footer; a negative number of rows; or other columns in a row
                group than in the schema.
        """
        numbers = array("q")
        try:
            rows = tuple(_row_groups(data, width, numbers))
        except (IndexError, OverflowError):  # it ends early; a number beyond 64 bits
            raise BadFooterError from None
        return cls(rows=rows, width=width, numbers=numbers)

    def values(self, leaf: int) -> tuple[int, ...]:
        """Return how many cells a column has in each row group, missing ones included."""
        return tuple(self.numbers[leaf * _PER_COLUMN :: self.width * _PER_COLUMN])

    def column(self, group: int, leaf: int) -> ColumnPlace:
        """Return a column of a row group."""
        start = (group * self.width + leaf) * _PER_COLUMN
        values, size, data, dictionary, encrypted = self.numbers[start : start + _PER_COLUMN]
        return ColumnPlace(
            values=values,
            size=size,
            data=data,
            dictionary=None if dictionary == _NONE else dictionary,
            encrypted=bool(encrypted),
        )


def _row_groups(data: bytes, width: int, numbers: array[int]) -> Iterator[int]:
    """Yield the rows of each row group, while ``numbers`` takes what is said of its columns."""
    at, field = 0, 0
    while data[at]:
        field, kind, at = _field(data, at, field)
        if field != _ROW_GROUPS or kind != _LIST:
            at = _skip(data, at, kind, 0)
            continue
        count, kind, at = _list_head(data, at)
        for _ in range(count):
            if kind != _STRUCT:
                raise BadFooterError
            rows, at = _row_group(data, at, width, numbers)
            yield rows


def _row_group(data: bytes, at: int, width: int, numbers: array[int]) -> tuple[int, int]:
    rows, found, field = _NONE, _NONE, 0
    while data[at]:
        field, kind, at = _field(data, at, field)
        if field == _NUM_ROWS and kind in _VARINTS:
            rows, at = _integer(data, at)
        elif field == _COLUMNS and kind == _LIST:
            found, kind, at = _list_head(data, at)
            for _ in range(found):
                if kind != _STRUCT:
                    raise BadFooterError
                at = _column(data, at, numbers)
        else:
            at = _skip(data, at, kind, 0)
    if rows < 0 or found != width:
        raise BadFooterError
    return rows, at + 1


def _column(data: bytes, at: int, numbers: array[int]) -> int:
    """Add what is said of a column chunk to ``numbers``; return where it ends."""
    kept, encrypted, field = [0, 0, 0, _NONE], 0, 0
    while data[at]:
        field, kind, at = _field(data, at, field)
        if field == _META_DATA and kind == _STRUCT:
            at = _column_metadata(data, at, kept)
            continue
        if field in {_CRYPTO, _ENCRYPTED}:
            encrypted = 1
        at = _skip(data, at, kind, 0)
    numbers.extend(kept)
    numbers.append(encrypted)
    return at + 1


def _column_metadata(data: bytes, at: int, kept: list[int]) -> int:
    field = 0
    while data[at]:
        field, kind, at = _field(data, at, field)
        if field in _KEPT and kind in _VARINTS:
            kept[_KEPT[field]], at = _integer(data, at)
        else:
            at = _skip(data, at, kind, 0)
    return at + 1


def _field(data: bytes, at: int, last: int) -> tuple[int, int, int]:
    """Return the number and the type of a field, and where its value begins."""
    head = data[at]
    if head > _LOW:
        return last + (head >> 4), head & _LOW, at + 1
    number, at = _integer(data, at + 1)
    return number, head, at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < _MORE:
            return value, at
        shift += 7
        if shift > _LONGEST_VARINT:
            raise BadFooterError


def _integer(data: bytes, at: int) -> tuple[int, int]:
    value, at = _unsigned(data, at)
    return (value >> 1) ^ -(value & 1), at


def _list_head(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the length of a list, the type of its items and where they begin."""
    head = data[at]
    count, at = head >> 4, at + 1
    if count == _LOW:  # longer ones say so apart
        count, at = _unsigned(data, at)
    if count > len(data) - at:  # every item takes a byte at least
        raise BadFooterError
    return count, head & _LOW, at


def _skip(data: bytes, at: int, kind: int, depth: int) -> int:
    """Return where the value that begins at ``at`` ends."""
    if kind in _VARINTS:
        while data[at] >= _MORE:
            at += 1
        return at + 1
    if kind == _BINARY:
        size, at = _unsigned(data, at)
        return at + size
    if depth > _DEEPEST:
        raise BadFooterError
    if kind == _STRUCT:
        return _skip_struct(data, at, depth + 1)
    if kind in {_LIST, _SET}:
        return _skip_list(data, at, depth + 1)
    if kind == _MAP:
        return _skip_map(data, at, depth + 1)
    if kind not in _FIXED:
        raise BadFooterError
    return at + _FIXED[kind]


def _skip_struct(data: bytes, at: int, depth: int) -> int:
    at = _plain_end(data, at)
    while data[at]:
        _, kind, at = _field(data, at, 0)
        at = _plain_end(data, _skip(data, at, kind, depth))
    return at + 1


def _plain_end(data: bytes, at: int) -> int:
    """Return where a run of plain fields ends, which may be empty."""
    found = _PLAIN_FIELDS.match(data, at)
    return at if found is None else found.end()


def _skip_list(data: bytes, at: int, depth: int) -> int:
    count, kind, at = _list_head(data, at)
    if kind <= _FALSE:
        return at + count
    for _ in range(count):
        at = _skip(data, at, kind, depth)
    return at


def _skip_map(data: bytes, at: int, depth: int) -> int:
    count, at = _unsigned(data, at)
    if not count:
        return at
    if 2 * count > len(data) - at:
        raise BadFooterError
    kinds, at = (data[at] >> 4, data[at] & _LOW), at + 1
    for _ in range(count):
        for kind in kinds:
            at = at + 1 if kind <= _FALSE else _skip(data, at, kind, depth)
    return at
