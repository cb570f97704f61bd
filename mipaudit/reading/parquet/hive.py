"""Folders that name a column and its value, such as ``member=1``.

A file with the columns that its folders name: every row has the same value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import numpy as np

from mipaudit.errors import InputError
from mipaudit.reading.columns.column import Chunk, Column, Field, Kind, Labels, Numbers, Vocabulary
from mipaudit.reading.columns.column_cache import CHUNK_ROWS
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from mipaudit.data.parts import Part, Piece
    from mipaudit.reading.bytes.blob import Blob

_MISSING: Final = "__HIVE_DEFAULT_PARTITION__"
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderKey:
    """A column that one value fills: the folder's, None where it is missing."""

    name: str
    kind: Kind
    value: int | float | str | None

    def column(self, rows: int) -> Column:
        """Return a column of so many rows."""
        if self.kind == "string":
            codes = np.full(rows, -1 if self.value is None else 0, dtype=np.int8)
            return Labels(codes=codes, vocabulary=Vocabulary((str(self.value),)))
        missing = np.ones(rows, dtype=np.bool_) if self.value is None else None
        value = self.value or 0
        wide = np.float64 if self.kind != "integer" else np.min_scalar_type(value)
        return Numbers(values=np.full(rows, value, dtype=wide), missing=missing)


def folder_keys(
    files: Sequence[tuple[str, Sequence[str]]],
) -> list[tuple[FolderKey, ...]]:
    """Return the columns that the folders of each file name.

    A key's values are whole numbers if all files of the input have such values, else decimal
    numbers if all have those and no two are the same number, else text. Nothing at all and
    ``__HIVE_DEFAULT_PARTITION__`` are a missing value; percent signs are undone.

    Args:
        files: what messages call each file, and the names of its folders.

    Raises:
        InputError: ``folders_differ`` unless all files have the same keys in the same order;
            ``duplicate_columns`` for a key twice.
    """
    pairs = [_pairs(folders) for _, folders in files]
    for (name, _), own in zip(files, pairs, strict=True):
        keys = [key for key, _ in own]
        if len(set(keys)) < len(keys):
            raise InputError(
                "duplicate_columns", f"{name}: two of its folders are called by the same key."
            )
        if keys != [key for key, _ in pairs[0]]:
            raise _folders_differ(name, keys, files[0][0], [key for key, _ in pairs[0]])
    columns = list(zip(*pairs, strict=True))
    kinds = [_kind(value for _, value in column) for column in columns]
    return [
        tuple(
            FolderKey(name=key, kind=kind, value=_typed(value, kind))
            for (key, value), kind in zip(own, kinds, strict=True)
        )
        for own in pairs
    ]


def _pairs(folders: Sequence[str]) -> list[tuple[str, str | None]]:
    found = [folder.partition("=") for folder in folders]
    return [(unquote(key), _value(value)) for key, equals, value in found if key and equals]


def _value(text: str) -> str | None:
    return None if text in {"", _MISSING} else unquote(text)


def _kind(values: Iterable[str | None]) -> Kind:
    present = [value for value in values if value is not None]
    if not present:
        return "empty"
    if all(map(_INTEGER.fullmatch, present)):
        return "integer"
    decimal = all(map(_DECIMAL.fullmatch, present))
    # Folders 007 and 7 are two, and so are 1.0 and 1.
    told = decimal and len(set(map(float, present))) == len(set(present))
    return "float" if told else "string"


def _typed(value: str | None, kind: Kind) -> int | float | str | None:
    if value is None or kind == "empty":
        return None
    match kind:
        case "integer":
            return int(value)
        case "float":
            return float(value)
        case _:
            return value


def _folders_differ(
    name: str, keys: Sequence[str], first: str, others: Sequence[str]
) -> InputError:
    return InputError(
        "folders_differ",
        f"{name} lies below {_listed(keys)}, and {first} below {_listed(others)}.",
        hint="All files need the same key=value folders in the same order: name the folder "
        "or a pattern in which they agree, or move the others away.",
    )


def _listed(keys: Sequence[str]) -> str:
    if not keys:
        return "no key=value folder"
    names = ", ".join(map(quoted_name, keys))
    return f"key=value folders of {names}"


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
        for chunk in found:
            fills = {name: key.column(chunk.rows) for name, key in keys.items()}
            yield replace(chunk, columns={**chunk.columns, **fills})

    def _bare(self, first_row: int) -> Iterator[Chunk]:
        for start in range(0, self.rows, CHUNK_ROWS):
            rows = min(CHUNK_ROWS, self.rows - start)
            yield Chunk(first_row=first_row + start, rows=rows, columns={})
