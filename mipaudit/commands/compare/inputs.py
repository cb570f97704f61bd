"""The inputs of ``compare`` and their names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import UsageError
from mipaudit.options.plain_values import path_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_SUFFIXES: Final = frozenset({".csv", ".gz", ".zst", ".parquet", ".pq", ".tsv", ".txt", ".json"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedInput:
    """An input and the name that the user or its path gives it; '' for data in memory."""

    name: str
    data: Any


def named_input(given: object, position: int) -> NamedInput:
    """Return an input with its name: ``name=path``, or the path's stem.

    Args:
        given: a path, ``name=path``, or data in memory.
        position: its place, from 1, which names data in memory.
    """
    data = path_of(given)
    if not isinstance(data, str):
        return NamedInput(name=f"input {position}", data=data)
    name, mark, path = data.partition("=")
    # A path may hold the sign itself: what exists is a path.
    if not (mark and name and path) or "/" in name or Path(data).exists():
        name, path = "", data
    return NamedInput(name=name or _stem(path), data=path)


def is_report(data: object) -> bool:
    """Return whether an input is a report: a ``.json`` file, or what a command returned."""
    if isinstance(data, str):
        return data.lower().endswith((".json", ".json.gz"))
    return isinstance(getattr(data, "schema", None), str) and hasattr(data, "provenance")


def _stem(path: str) -> str:
    if path == "-":
        return "standard input"
    found = Path(path)
    while found.suffix.lower() in _SUFFIXES:
        found = found.with_suffix("")
    return found.name or path


def query_names(inputs: Sequence[tuple[str, Sequence[str]]]) -> list[list[str]]:
    """Return the name of every query: its input's, its column's, or both.

    Args:
        inputs: (name, score columns) of each.

    Raises:
        UsageError: two queries would have the same name, or there is only one.
    """
    if len(inputs) == 1:
        names = [list(inputs[0][1])]
    else:
        names = [
            [name] if len(columns) == 1 else [f"{name}:{column}" for column in columns]
            for name, columns in inputs
        ]
    flat = [name for some in names for name in some]
    if len(flat) < 2:  # noqa: PLR2004 - a comparison takes two
        raise UsageError(
            "one_query",
            "There is only one query: nothing to compare it with.",
            hint="Give several files, or a file with several score columns (`score_columns`).",
        )
    if len(set(flat)) < len(flat):
        raise UsageError(
            "same_names",
            "Two queries have the same name.",
            hint="Name the inputs: name=path.",
        )
    return names
