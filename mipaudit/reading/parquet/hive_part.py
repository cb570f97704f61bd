"""A file with the columns that its folders name: every row has the same value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.errors import InputError
from mipaudit.reading.columns.column import Chunk, Field, Labels, Numbers, Vocabulary
from mipaudit.reading.source.part import CHUNK_ROWS
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.columns.column import Column
    from mipaudit.reading.parquet.hive import FolderKey
    from mipaudit.reading.source.part import Part, Piece


class HivePart:
    """A part, and the keys of the folders that it lies in."""

    def __init__(self, part: Part, keys: Sequence[FolderKey]) -> None:
        """Keep both; ``keys`` have different names."""
        self._part = part
        self._keys = {key.name: key for key in keys}

    @property
    def name(self) -> str:
        """The file's name."""
        return self._part.name

    @property
    def blob(self) -> Blob | None:
        """The file's bytes."""
        return self._part.blob

    @property
    def rows_about(self) -> int:
        """As the file says."""
        return self._part.rows_about

    @property
    def fields(self) -> tuple[Field, ...]:
        """The file's columns, then the keys, which go before a column of the same name."""
        own = tuple(field for field in self._part.fields if field.name not in self._keys)
        keys = self._keys.values()
        return (*own, *(Field(name=key.name, kind=key.kind, folder=True) for key in keys))

    def load(
        self, names: Collection[str], hashed: Collection[str], keys: Collection[str] = ()
    ) -> None:
        """Get ready to read the named columns.

        Raises:
            InputError: ``folder_column`` for a key that is a column of the file, too.
        """
        for field in self._part.fields:
            if field.name in self._keys and field.name in names:
                raise InputError(
                    "folder_column",
                    f"{self.name}: {quoted_name(field.name)} is a column of the file and a key "
                    "of its folders, and nothing says that they agree.",
                    hint="Name the files by a pattern below these folders, or remove the column.",
                )
        folders = self._keys.keys()
        self._part.load(set(names) - folders, set(hashed) - folders, set(keys) - folders)

    def pieces(self) -> Sequence[Piece]:
        """Return the file's pieces with the keys in them."""
        keys = tuple(self._keys.values())
        return tuple(HivePiece(piece=piece, keys=keys) for piece in self._part.pieces())

    def close(self) -> None:
        """Release what is held."""
        self._part.close()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HivePiece:
    """A piece of a file, with the keys of its folders."""

    piece: Piece
    keys: tuple[FolderKey, ...]

    @property
    def rows(self) -> int:
        """How many rows."""
        return self.piece.rows

    @property
    def stays(self) -> bool:
        """Tell whether the rows must be read in this process."""
        return self.piece.stays

    def chunks(self, names: Collection[str], first_row: int) -> Iterator[Chunk]:
        """Yield the named columns; the file is read only for what is in it."""
        keys = {key.name: key for key in self.keys if key.name in names}
        own = [name for name in names if name not in keys]
        found = self.piece.chunks(own, first_row) if own else self._bare(first_row)
        fills = {name: _Fill(key) for name, key in keys.items()}
        for chunk in found:
            yield Chunk(
                first_row=chunk.first_row,
                rows=chunk.rows,
                columns=_filled(chunk, fills),
            )

    def _bare(self, first_row: int) -> Iterator[Chunk]:
        for start in range(0, self.rows, CHUNK_ROWS):
            rows = min(CHUNK_ROWS, self.rows - start)
            yield Chunk(first_row=first_row + start, rows=rows, columns={})


def _filled(chunk: Chunk, fills: Mapping[str, _Fill]) -> dict[str, Column]:
    return {**chunk.columns, **{name: fill.rows(chunk.rows) for name, fill in fills.items()}}


class _Fill:
    """Makes columns of one value."""

    def __init__(self, key: FolderKey) -> None:
        self._key = key
        self._vocabulary = Vocabulary((str(key.value),))

    def rows(self, rows: int) -> Column:
        value, kind = self._key.value, self._key.kind
        if kind == "string":
            code = -1 if value is None else 0
            return Labels(codes=np.full(rows, code, dtype=np.int8), vocabulary=self._vocabulary)
        missing = np.ones(rows, dtype=np.bool_) if value is None else None
        wide = np.float64 if kind != "integer" else np.min_scalar_type(value or 0)
        return Numbers(values=np.full(rows, value or 0, dtype=wide), missing=missing)
