"""Folders that name a column and its value, such as ``member=1``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mipaudit.reading.columns.column import Kind

_MISSING: Final = "__HIVE_DEFAULT_PARTITION__"
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderKey:
    """A column that one value fills: the folder's, None where it is missing."""

    name: str
    kind: Kind
    value: int | float | str | None


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
