"""JSON documents of numbers, read with every way to mislead a reader closed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from mipaudit.data.column import EXACT, Column, Field, Kind
from mipaudit.data.files.contents import plain_stream, read_whole
from mipaudit.data.formats.cells import labels_of
from mipaudit.data.formats.csv_text import decode_text
from mipaudit.data.parts import MemoryPart
from mipaudit.data.rows.intake import Fault
from mipaudit.errors import InputError
from mipaudit.report.codec import NameTwiceError, read_once
from mipaudit.statements.printable_names import quoted_name

if TYPE_CHECKING:
    from mipaudit.data.files.blob import Blob, Format

_BRACKETS: Final = (b"[", b"{")
# The kind of a column that has a cell of a type, the widest first.
_KINDS: Final[dict[type, Kind]] = {float: "float", int: "integer", bool: "bool"}
# What a JSON document holds.
Json: TypeAlias = Any
Cells = Mapping[str, Sequence[Json]]


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
        code, what = "duplicate_columns", "an object has the same name twice"
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, character {error.colno}"
        code, what = "bad_json", f"not JSON, from {place} on"
    except (ValueError, RecursionError):
        # Thousands of digits or of brackets, or a name that is no text.
        code, what = "bad_json", "not a JSON document of plain numbers"
    raise InputError(code, f"{blob.name}: {what}.")


def cells_part(name: str, cells: Cells) -> MemoryPart:
    """Return columns of cells as a part; one with a number in it is numeric.

    Asked for such a column, it raises InputError ``unparsable`` or ``large_integers``.
    """
    fields = tuple(Field(name=one, kind=_kind(own)) for one, own in cells.items())
    texts = {one.name for one in fields if one.kind == "string"}
    rows = len(next(iter(cells.values()), ()))

    def column(one: str) -> Column:
        """Return the cells of a name as text or as numbers."""
        if one in texts:
            return labels_of(["" if cell is None else cell for cell in cells[one]])
        return _numbers(cells[one], one, name)

    return MemoryPart(
        name, fields, rows, lambda names: iter([(rows, {one: column(one) for one in names})])
    )


def json_cells(document: Json, name: str) -> tuple[Cells, bool]:
    """Return a list of lists, or a list of objects, as columns, and whether these have names.

    Args:
        document: what ``load_json`` returned.
        name: what messages call the file.

    Raises:
        InputError: ``wrong_shape``, ``no_rows``, ``ragged_rows`` or ``columns_differ``.
    """
    kinds = set(map(type, document)) if isinstance(document, list) else {NoneType}
    if not kinds:
        raise InputError("no_rows", f"{name}: the list is empty.")
    if kinds == {list}:
        for at, row in enumerate(document):
            if len(row) != len(document[0]):
                raise InputError(
                    "ragged_rows",
                    f"{name}: the number of cells in data row {at + 1} is {len(row)}, but "
                    f"{len(document[0])} in the first.",
                )
        return {f"c{at}": column for at, column in enumerate(zip(*document, strict=True))}, False
    if kinds == {dict}:
        for at, row in enumerate(document):
            if row.keys() != document[0].keys():
                raise InputError(
                    "columns_differ",
                    f"{name}: data row {at + 1} has other names than the first row.",
                    "Write every name in every row.",
                )
        return {column: [row[column] for row in document] for column in document[0]}, True
    raise InputError(
        "wrong_shape",
        f"{name}: neither a list of lists nor a list of objects.",
        "Write one list, or one object, for each row.",
    )


def _kind(cells: Sequence[Json]) -> Kind:
    found = set(map(type, cells)) - {NoneType}
    for kind, name in _KINDS.items():
        if kind in found:
            return name
    if not found:
        return "empty"
    return "string" if found == {str} else "other"


def _numbers(cells: Sequence[Json], name: str, source: str) -> Column:
    inexact = Fault()
    for at, cell in enumerate(cells):
        if type(cell) is int and abs(cell) > EXACT:
            inexact.add(1, at)
        elif type(cell) not in _KINDS and cell is not None:
            raise InputError(
                "unparsable",
                f"{source}: data row {at + 1}, column {quoted_name(name)}: not a number.",
                "Write numbers without quotes.",
            )
    if inexact.count:
        raise InputError(
            "large_integers",
            f"{source}: integers beyond 2^53, which cannot be told apart: column "
            f"{quoted_name(name)} in {inexact.told}.",
            "Subtract a constant, or store them as floats if their last digits do not matter.",
        )
    missing = np.array([cell is None for cell in cells], dtype=np.bool_)
    values = np.array([0.0 if cell is None else float(cell) for cell in cells], dtype=np.float64)
    return Column(values=values, missing=missing if missing.any() else None)
