"""The inputs of ``compare``: their names, and rows matched by key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from mipaudit.api.checking import path_of, require
from mipaudit.audit.finding import Finding
from mipaudit.engine.fold import fold
from mipaudit.errors import InputError, UsageError
from mipaudit.report.names import safe_name
from mipaudit.summaries.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from mipaudit.engine.workers import Workers
    from mipaudit.tables.intake import Intake
    from mipaudit.tables.source import ScoreSource

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


class KeptRows:
    """All rows of an input, by key: membership and scores."""

    __slots__ = ("_keys", "_members", "_scores")

    def __init__(self) -> None:
        """Start empty."""
        self._keys: list[NDArray[np.uint64]] = []
        self._members: list[NDArray[np.bool_]] = []
        self._scores: list[tuple[NDArray[np.float64], ...]] = []

    def add(self, rows: Rows) -> None:
        """Keep a batch."""
        if rows.keys is not None:
            self._keys.append(rows.keys)
            self._members.append(rows.member)
            self._scores.append(rows.scores)

    def merge(self, other: Self) -> None:
        """Take in the rows of another part."""
        self._keys += other._keys
        self._members += other._members
        self._scores += other._scores

    def by_key(self) -> Rows:
        """Return the rows in order of key.

        Raises:
            InputError: a key repeats.
        """
        keys = np.concatenate(self._keys) if self._keys else np.empty(0, dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        if (keys[1:] == keys[:-1]).any():
            raise InputError(
                "repeated_keys",
                "The key column repeats its values: it does not tell rows apart.",
                hint="Name another --key-col: rows are matched by it.",
            )
        member = np.concatenate(self._members)[order]
        columns = zip(*self._scores, strict=True)
        scores = tuple(np.concatenate(column)[order] for column in columns)
        return _rows(keys, member, scores)


def _rows(
    keys: NDArray[np.uint64], member: NDArray[np.bool_], scores: tuple[NDArray[np.float64], ...]
) -> Rows:
    return Rows(
        first_row=0, source_rows=keys.size, kept=None, keys=keys, member=member, scores=scores
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MatchedRows:
    """The rows that every input has, under all queries: one partition in memory."""

    rows: Rows

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows; what was left out of them is known already."""
        del intake
        yield self.rows


def match_rows(
    sources: Sequence[ScoreSource],
    names: Sequence[str],
    *,
    workers: Workers,
    progress: Callable[[int], None] | None,
) -> tuple[MatchedRows, tuple[Finding, ...]]:
    """Return the rows whose key is in every input, and how many were left out.

    Args:
        sources: opened with the same key column.
        names: of the inputs.
        workers: threads of this process.
        progress: called with the number of rows of each batch.

    Raises:
        InputError: a key repeats, none matches, or a record is a member in one input and a
            holdout record in another.
    """
    found = [
        fold(source.partitions(), KeptRows, workers=workers, progress=progress).by_key()
        for source in sources
    ]
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
    return MatchedRows(rows=_rows(keys, members[0], scores)), findings


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
