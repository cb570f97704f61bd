"""JSON documents of numbers, read with every way to mislead a reader closed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from mipaudit.data.csv_cells import parse_labels
from mipaudit.data.csv_dialect import decode_text
from mipaudit.errors import InputError
from mipaudit.reading.bytes.unpacked import plain_stream, read_whole
from mipaudit.reading.columns.column import EXACT, Column, Field, Kind, Numbers
from mipaudit.reading.rows.intake import Fault
from mipaudit.reading.sheets.tile import TextSheet, large_integers
from mipaudit.statements.reports.codec import NameTwiceError, read_once
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from mipaudit.reading.bytes.blob import Blob, Format

_BRACKETS: Final = (b"[", b"{")
_NUMBERS: Final = frozenset({bool, int, float})
# What a JSON document holds.
Json: TypeAlias = Any


def looks_like_json(head: bytes) -> bool:
    """Tell whether a text that begins with ``head`` is JSON rather than CSV."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_BRACKETS)


def load_json(blob: Blob, kind: Format) -> Json:
    """Return the document in ``blob``.

    Args:
        blob: the bytes.
        kind: how they are compressed; ``csv`` for not at all.

    Raises:
        InputError: ``bad_json``, ``duplicate_columns``, ``not_utf8``.
    """
    with plain_stream(blob, kind) as stream:
        text = decode_text(read_whole(stream, blob, kind), blob.name)
    # json's messages quote the text: they end here.
    try:
        return read_once(text)
    except NameTwiceError:
        raise InputError(
            "duplicate_columns", f"{blob.name}: an object has the same name twice."
        ) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, character {error.colno}"
        raise InputError("bad_json", f"{blob.name}: not JSON, from {place} on.") from None
    except (ValueError, RecursionError):
        # Thousands of digits or of brackets, or a name that is no text.
        raise InputError(
            "bad_json", f"{blob.name}: not a JSON document of plain numbers."
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JsonTable(TextSheet):
    """Rows of a JSON document as columns; ``named`` when the document names them."""

    name: str
    cells: Mapping[str, Sequence[Any]]
    rows: int
    named: bool

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns by kind; one with a number in it is numeric."""
        return tuple(Field(name=name, kind=_kind(cells)) for name, cells in self.cells.items())

    def numbers(self, name: str) -> Numbers:
        """Return a column of numbers, which text is not."""
        return _numbers(self.cells[name], name, self.name)

    def column(self, name: str) -> Column:
        """Return the column ``name`` as numbers, or as labels when it is text."""
        cells = self.cells[name]
        if _kind(cells) == "string":
            return parse_labels(["" if cell is None else cell for cell in cells])
        return self.numbers(name)


def json_table(document: Json, name: str) -> JsonTable:
    """Return a list of lists, or a list of objects, as columns.

    Args:
        document: what ``load_json`` returned.
        name: what messages call the file.

    Raises:
        InputError: ``wrong_shape``, ``no_rows``, ``ragged_rows`` or ``columns_differ``.
    """
    if isinstance(document, list) and not document:
        raise InputError("no_rows", f"{name}: the list is empty.")
    if isinstance(document, list) and all(isinstance(row, list) for row in document):
        return _table_of_lists(document, name)
    if isinstance(document, list) and all(isinstance(row, dict) for row in document):
        return _table_of_objects(document, name)
    raise InputError(
        "wrong_shape",
        f"{name}: neither a list of lists nor a list of objects.",
        hint="Write one list, or one object, for each row.",
    )


def _table_of_lists(rows: list[list[Any]], name: str) -> JsonTable:
    width = len(rows[0])
    for at, row in enumerate(rows):
        if len(row) != width:
            raise InputError(
                "ragged_rows",
                f"{name}: data row {at + 1} has {len(row)} cells where the first has {width}.",
            )
    cells = {f"c{at}": column for at, column in enumerate(zip(*rows, strict=True))}
    return JsonTable(name=name, cells=cells, rows=len(rows), named=False)


def _table_of_objects(rows: list[dict[str, Any]], name: str) -> JsonTable:
    names = rows[0].keys()
    for at, row in enumerate(rows):
        if row.keys() != names:
            raise InputError(
                "columns_differ",
                f"{name}: data row {at + 1} has other names than the first.",
                hint="Write every name in every row.",
            )
    cells = {column: [row[column] for row in rows] for column in names}
    return JsonTable(name=name, cells=cells, rows=len(rows), named=True)


def _kind(cells: Sequence[Any]) -> Kind:
    kinds = set(map(type, cells)) - {NoneType}
    if float in kinds:
        return "float"
    if int in kinds:
        return "integer"
    if bool in kinds:
        return "bool"
    if not kinds:
        return "empty"
    return "string" if kinds == {str} else "other"


def _numbers(cells: Sequence[Any], name: str, source: str) -> Numbers:
    missing = np.array([cell is None for cell in cells], dtype=np.bool_)
    inexact = Fault()
    for at, cell in enumerate(cells):
        kind = type(cell)
        if kind is int and abs(cell) > EXACT:
            inexact.add(1, at)
        elif kind not in _NUMBERS and cell is not None:
            raise InputError(
                "unparsable",
                f"{source}: data row {at + 1}, column {quoted_name(name)}: not a number.",
                hint="Write numbers without quotes.",
            )
    if inexact.count:
        raise large_integers({0: inexact}, (name,), source)
    values = np.array([0.0 if cell is None else float(cell) for cell in cells], dtype=np.float64)
    return Numbers(values=values, missing=missing if missing.any() else None)
