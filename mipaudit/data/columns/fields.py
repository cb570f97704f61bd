"""The columns that several files have together, and how differently the files store them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from mipaudit.data.columns.column import Field, Kind
from mipaudit.data.columns.names import NUMBERS
from mipaudit.data.rows.intake import Coarse

if TYPE_CHECKING:
    from mipaudit.data.parts import Part

# Floats that round more than text and float64 do, the coarsest first.
_COARSE: Final = ("float16", "float32")
_NAMED: Final = 3


def merge_fields(parts: Iterable[Part]) -> tuple[Field, ...]:
    """Return the columns of all parts, each once, with the kind that fits everywhere."""
    found: dict[str, Field] = {}
    for part in parts:
        for one in part.fields:
            known = found.get(one.name)
            found[one.name] = Field(
                name=one.name,
                kind=one.kind if known is None else merged_kind({known.kind, one.kind}),
                folder=one.folder or (known is not None and known.folder),
                lists=one.lists or (known is not None and known.lists),
            )
    return tuple(found.values())


def merged_kind(kinds: set[Kind]) -> Kind:
    """Return the kind of a column that has these kinds in different places."""
    present = kinds - {"empty"}
    if not present:
        return "empty"
    if len(present) == 1:
        return next(iter(present))
    if present <= {"float", "integer"}:
        return "float"
    return "integer" if present == {"integer", "bool"} else "other"


def uneven_storage(
    names: Iterable[str], parts: Iterable[Part]
) -> tuple[dict[str, Coarse], tuple[str, ...]]:
    """Return columns that some loaded parts store more coarsely, and the others of several types.

    Scores on a coarser grid in one class tell the classes apart although nothing leaks. Text and
    integers are taken for as fine as can be.
    """
    # For all columns at once: a file may have thousands.
    stored: dict[str, list[tuple[Field, str]]] = {}
    for part in parts:
        for field in part.fields if part.rows_about else ():
            stored.setdefault(field.name, []).append((field, part.name))
    rounded: dict[str, Coarse] = {}
    mixed: list[str] = []
    for name in names:
        found = stored.get(name, [])
        kinds = {one.kind for one, _ in found} - {"empty"}
        types = {one.storage for one, _ in found if one.kind != "empty"}
        coarse = next((one for one in _COARSE if one in types), None)
        if coarse is not None and len(types) > 1 and kinds <= NUMBERS:
            where = _first_of([part for one, part in found if one.storage == coarse])
            rounded[name] = Coarse(precision=coarse, where=where)
        elif len(kinds) > 1 or len({one.storage for one, _ in found} - {None}) > 1:
            mixed.append(name)
    return rounded, tuple(mixed)


def _first_of(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
