"""JSON documents of numbers, read with every way to mislead a reader closed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from mipaudit.data.csv.cells import labels_of
from mipaudit.data.csv.dialect import decode_text
from mipaudit.data.memory import MemoryPart
from mipaudit.errors import InputError
from mipaudit.reading.bytes.unpacked import plain_stream, read_whole
from mipaudit.reading.columns.column import EXACT, Column, Field, Kind, Numbers
from mipaudit.reading.rows.intake import Fault
from mipaudit.report.codec import NameTwiceError, read_once
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


def cells_part(name: str, cells: Mapping[str, Sequence[Json]]) -> MemoryPart:
    """Return columns of cells as a part; one with a number in it is numeric.

    Asked for such a column, it raises InputError ``unparsable`` or ``large_integers``.
    """
    kinds = {one: _kind(own) for one, own in cells.items()}
    rows = len(next(iter(cells.values()), ()))

    def column(one: str) -> Column:
        if kinds[one] == "string":
            return labels_of(["" if cell is None else cell for cell in cells[one]])
        return _numbers(cells[one], one, name)

    fields = tuple(Field(name=one, kind=kind) for one, kind in kinds.items())
    return MemoryPart(
        name, fields, rows, lambda names: iter([(rows, {one: column(one) for one in names})])
    )


def json_part(document: Json, name: str) -> tuple[MemoryPart, bool]:
    """Return a list of lists, or a list of objects, as columns, and whether these have names.

    Args:
        document: what ``load_json`` returned.
        name: what messages call the file.

    Raises:
        InputError: ``wrong_shape``, ``no_rows``, ``ragged_rows`` or ``columns_differ``.
    """
    if isinstance(document, list) and not document:
        raise InputError("no_rows", f"{name}: the list is empty.")
    if isinstance(document, list) and all(isinstance(row, list) for row in document):
        return cells_part(name, _of_lists(document, name)), False
    if isinstance(document, list) and all(isinstance(row, dict) for row in document):
        return cells_part(name, _of_objects(document, name)), True
    raise InputError(
        "wrong_shape",
        f"{name}: neither a list of lists nor a list of objects.",
        hint="Write one list, or one object, for each row.",
    )


def _of_lists(rows: list[list[Json]], name: str) -> dict[str, Sequence[Json]]:
    width = len(rows[0])
    for at, row in enumerate(rows):
        if len(row) != width:
            raise InputError(
                "ragged_rows",
                f"{name}: data row {at + 1} has {len(row)} cells where the first has {width}.",
            )
    return {f"c{at}": column for at, column in enumerate(zip(*rows, strict=True))}


def _of_objects(rows: list[dict[str, Json]], name: str) -> dict[str, Sequence[Json]]:
    names = rows[0].keys()
    for at, row in enumerate(rows):
        if row.keys() != names:
            raise InputError(
                "columns_differ",
                f"{name}: data row {at + 1} has other names than the first.",
                hint="Write every name in every row.",
            )
    return {column: [row[column] for row in rows] for column in names}


def _kind(cells: Sequence[Json]) -> Kind:
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


def _numbers(cells: Sequence[Json], name: str, source: str) -> Numbers:
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
        raise InputError(
            "large_integers",
            f"{source}: integers beyond 2^53, which cannot be told apart: column "
            f"{quoted_name(name)} in {inexact.told}.",
            hint="Subtract a constant, or store them as floats if their last digits do not matter.",
        )
    values = np.array([0.0 if cell is None else float(cell) for cell in cells], dtype=np.float64)
    return Numbers(values=values, missing=missing if missing.any() else None)
