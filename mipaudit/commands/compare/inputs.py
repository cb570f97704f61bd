"""The inputs of ``compare``: their names, and rows matched by key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.errors import InputError, UsageError
from mipaudit.options.plain_values import path_of, require
from mipaudit.statements.finding import Finding
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.summaries.rows import Rows

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


def reports_alone(inputs: Sequence[NamedInput], members: object, holdout: object) -> bool:
    """Return whether reports are compared, and refuse them beside scores."""
    reports = sum(is_report(one.data) for one in inputs)
    mixed = reports not in {0, len(inputs)} or (reports and not members is holdout is None)
    require(
        not mixed,
        "mixed_inputs",
        "Some inputs are reports (.json) and others are scores.",
        "Compare reports with reports, and score files with score files.",
    )
    return reports > 0


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
            hint="Give several files, or a file with several score columns (--score-col).",
        )
    if len(set(flat)) < len(flat):
        raise UsageError(
            "same_names",
            "Two queries have the same name.",
            hint="Name the inputs: name=path.",
        )
    return names


def by_key(rows: Rows) -> Rows:
    """Return the rows of one input in order of key.

    Raises:
        InputError: a key repeats.
    """
    keys = _keys(rows)
    order = np.argsort(keys, kind="stable")
    if (np.diff(keys[order]) == 0).any():
        raise InputError(
            "repeated_keys",
            "The key column repeats its values: it does not tell rows apart.",
            hint="Name another --key-col: rows are matched by it.",
        )
    return rows.reordered(order)


def match_rows(inputs: Sequence[Rows], names: Sequence[str]) -> tuple[Rows, tuple[Finding, ...]]:
    """Return the rows whose key is in every input, and how many were left out.

    Args:
        inputs: all rows of each, read with the same key column.
        names: of the inputs.

    Returns:
        The rows under all queries, in order of key, and what to say of the others.

    Raises:
        InputError: a key repeats, none matches, or a record is a member in one input and a
            holdout record in another.
    """
    found = [by_key(one) for one in inputs]
    keys = _keys(found[0])
    for one in found[1:]:
        keys = np.intersect1d(keys, _keys(one), assume_unique=True)
    if not keys.size:
        raise InputError(
            "no_matching_keys",
            "No key is in every input: there are no rows to match.",
            hint="Is --key-col written alike in all of them? Leave it out to compare them apart.",
        )
    places = [np.searchsorted(_keys(one), keys) for one in found]
    members = [one.member[at] for one, at in zip(found, places, strict=True)]
    differing = int(np.count_nonzero(np.any([m != members[0] for m in members], axis=0)))
    if differing:
        raise InputError(
            "membership_differs",
            f"{differing:,} records are members in one input and holdout records in another.",
            hint="Were the inputs made with the same membership?",
        )
    if members[0].all() or not members[0].any():
        found_only, missing = ("members", "holdout") if members[0].any() else ("holdout", "members")
        raise InputError(
            "no_matching_keys",
            f"The {keys.size:,} records whose key is in every input are all {found_only}: "
            f"no key of the {missing} records matches.",
            hint="Is --key-col written alike for both classes in all inputs?",
        )
    scores = tuple(
        column[at] for one, at in zip(found, places, strict=True) for column in one.scores
    )
    findings = tuple(
        _unmatched(name, _keys(one).size - keys.size, keys.size)
        for name, one in zip(names, found, strict=True)
        if _keys(one).size > keys.size
    )
    return replace(found[0].reordered(places[0]), scores=scores), findings


def _keys(rows: Rows) -> NDArray[np.uint64]:
    return np.empty(0, dtype=np.uint64) if rows.keys is None else rows.keys


def _unmatched(name: str, left_out: int, matched: int) -> Finding:
    return Finding(
        code="unmatched_rows",
        text=(
            f"Input '{safe_name(name)}': {left_out:,} rows have a key that is not in every input "
            f"and were left out; {matched:,} are compared."
        ),
    )
