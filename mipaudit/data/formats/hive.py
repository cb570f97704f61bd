"""Folders that name a column and its value, such as ``member=1``.

A file with the columns that its folders name: every row has the same value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final
from urllib.parse import unquote

import numpy as np

from mipaudit.data.column import CHUNK_ROWS, Chunk, Column, Field, Kind, Part, Piece, text_column
from mipaudit.errors import InputError
from mipaudit.statements.printable_names import quoted_name

_MISSING: Final = "__HIVE_DEFAULT_PARTITION__"
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


# Of a column that one value fills: its kind, and the value; None where it is missing.
FolderValue = tuple[Kind, int | float | str | None]


def _filled(kind: Kind, value: float | str | None, rows: int) -> Column:
    """Return a column of so many rows."""
    if kind == "string":
        codes = np.full(rows, -1 if value is None else 0, dtype=np.int8)
        return text_column(codes, [str(value)])
    wide = np.min_scalar_type(value or 0) if kind == "integer" else np.float64
    missing = np.ones(rows, dtype=np.bool_) if value is None else None
    return Column(values=np.full(rows, value or 0, dtype=wide), missing=missing)


def folder_keys(files: Sequence[tuple[str, Sequence[str]]]) -> list[dict[str, FolderValue]]:
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
    first = [key for key, _ in pairs[0]]
    for (name, _), own in zip(files, pairs, strict=True):
        keys = [key for key, _ in own]
        if len(set(keys)) < len(keys):
            raise InputError(
                "duplicate_columns", f"{name}: two of its folders are called by the same key."
            )
        if keys != first:
            raise InputError(
                "folders_differ",
                f"{name} lies below {_listed(keys)}, and {files[0][0]} below {_listed(first)}.",
                hint="All files need the same key=value folders in the same order: name the "
                "folder or a pattern in which they agree, or move the others away.",
            )
    columns = {key: _typed([own[at][1] for own in pairs]) for at, key in enumerate(first)}
    return [
        {key: (kind, values[at]) for key, (kind, values) in columns.items()}
        for at in range(len(files))
    ]


def _pairs(folders: Sequence[str]) -> list[tuple[str, str | None]]:
    found = [folder.partition("=") for folder in folders]
    return [
        (unquote(key), None if value in {"", _MISSING} else unquote(value))
        for key, equals, value in found
        if key and equals
    ]


def _typed(values: Sequence[str | None]) -> tuple[Kind, list[int | float | str | None]]:
    """Return what kind of values a key has, and the values."""
    present = {value for value in values if value is not None}
    kind, read = _kind(present)
    return kind, [None if value is None else read(value) for value in values]


def _kind(present: Collection[str]) -> tuple[Kind, Callable[[str], int | float | str]]:
    if not present:
        return "empty", str
    if all(map(_INTEGER.fullmatch, present)):
        return "integer", int
    # Folders 007 and 7 are two, and so are 1.0 and 1.
    if all(map(_DECIMAL.fullmatch, present)) and len(set(map(float, present))) == len(present):
        return "float", float
    return "string", str


def _listed(keys: Sequence[str]) -> str:
    if not keys:
        return "no key=value folder"
    names = ", ".join(map(quoted_name, keys))
    return f"key=value folders of {names}"


class HivePart(Part):
    """A part, and the keys of the folders that it lies in."""

    def __init__(self, part: Part, keys: Mapping[str, FolderValue]) -> None:
        """Keep both."""
        self._part, self._keys = part, keys
        self.name, self.blob, self.rows_about = part.name, part.blob, part.rows_about
        self._take_fields()

    def _take_fields(self) -> None:
        """Have the file's columns, then the keys, which go before a column of the same name."""
        own = (field for field in self._part.fields if field.name not in self._keys)
        keys = self._keys.items()
        named = (Field(name=name, kind=kind, folder=True) for name, (kind, _) in keys)
        self.fields = (*own, *named)

    def load(
        self, names: Collection[str], hashed: Collection[str] = (), keys: Collection[str] = ()
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
        self._take_fields()

    def pieces(self) -> Sequence[Piece]:
        """Return the file's pieces with the keys in them."""
        return [
            replace(piece, chunks=partial(_with_keys, piece, self._keys))
            for piece in self._part.pieces()
        ]

    def close(self) -> None:
        """Release what is held."""
        self._part.close()


def _with_keys(
    piece: Piece, keys: Mapping[str, FolderValue], names: Collection[str], first_row: int
) -> Iterator[Chunk]:
    """Yield the named columns of a piece; the file is read only for what is in it."""
    filled = {name: value for name, value in keys.items() if name in names}
    own = [name for name in names if name not in filled]
    found = piece.chunks(own, first_row) if own else _bare(piece.rows, first_row)
    for chunk in found:
        fills = {name: _filled(*value, chunk.rows) for name, value in filled.items()}
        yield replace(chunk, columns={**chunk.columns, **fills})


def _bare(rows: int, first_row: int) -> Iterator[Chunk]:
    for start in range(0, rows, CHUNK_ROWS):
        yield Chunk(first_row=first_row + start, rows=min(CHUNK_ROWS, rows - start), columns={})
