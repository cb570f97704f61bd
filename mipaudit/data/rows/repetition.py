"""Ids that repeat within a class, or occur in both: rows that are not independent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.columns.column import column_hashes, missing_cells
from mipaudit.data.columns.names import id_kind
from mipaudit.errors import InputError
from mipaudit.model.message import Finding
from mipaudit.statements.text.printable_names import quoted_name, safe_name
from mipaudit.statements.verdict import ROWS_TAKEN
from mipaudit.summaries.identity.row_rank import splitmix64

if TYPE_CHECKING:
    from mipaudit.data.columns.column import Chunk
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.source import PiecePartition, ScoreSource
    from mipaudit.summaries.rows import Rows


Hashes = NDArray[np.uint64]

# Up to here all rows are compared, with 8 bytes a row and column; of a larger input so many
# are looked at, in so many places.
_COMPARED: Final = 1 << 22
_LOOKED_AT: Final = 1 << 21
_PLACES: Final = 32
_INDEPENDENT: Final = "`rows_are` independent if they are (it is said with every verdict)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repetition:
    """A column of ids that do not tell the rows apart.

    Attributes:
        column: its name.
        ids: how many of its values name more than one row of a class; or rows of both.
        most: the largest number of rows of one class with the same value; None where they
            were counted across the classes.
    """

    column: str
    ids: int
    most: int | None = None

    @property
    def values(self) -> str:
        """How many of its values are told of."""
        return f"{self.ids:,} values of column {quoted_name(self.column)} occur"


def check_ids(source: ScoreSource, request: ReadRequest) -> tuple[Finding, ...]:
    """Look for ids that repeat.

    Up to 4,194,304 rows all are compared; of a larger input about 2,097,152 rows from 32
    places, so that what is rare may be missed there.

    Returns:
        That rows are taken for independent although ids repeat, if the request says so.

    Raises:
        InputError: ``repeated_ids`` for rows of one class with the same id, ``duplicate_ids``
            for an id in both classes.
    """
    choice, units = source.choice, request.unit_column
    named = [name for name in choice.ids if name != source.member_column]
    if not named:
        return ()
    seen = _Seen.of(source, (*named, *([units] if units else [])), run=request.run_column)
    doubtful = [name for name in named if seen.repeats(name)]
    looks = ((find, name) for find in (_across, _within) for name in doubtful)
    found = next((one for find, name in looks if (one := find(name, seen, units))), None)
    if found is None:
        return ()
    if request.rows_are == "independent":
        case = "ids_in_both" if found.most is None else "ids"
        ids, column = found.ids, found.column
        return (Finding.of(ROWS_TAKEN, case=case, ids=ids, column=column, most=found.most),)
    splits = [name for name in choice.splits if name not in {found.column, source.member_column}]
    seen = _Seen.of(source, (found.column, *splits))
    hint = _ways_out(found, [name for name in splits if _tells(name, found, seen)])
    if found.most is None:
        raise InputError(
            "duplicate_ids",
            f"{found.values} in both classes; a record is either a member or holdout.",
            hint=hint,
        )
    raise InputError(
        "repeated_ids",
        f"{found.values} in several rows of one class, up to {found.most:,}: such rows are not "
        "independent, and no limit would be true.",
        hint=hint,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Seen:
    """Who is a member; hashes by column, one for each row, and whether they are known."""

    member: NDArray[np.bool_]
    hashes: dict[str, Hashes]
    known: dict[str, NDArray[np.bool_]]

    @classmethod
    def of(cls, source: ScoreSource, columns: Sequence[str], run: str | None = None) -> _Seen:
        """Read some columns; where there are runs an id is one of its run."""
        names = dict.fromkeys((*columns, *([] if run is None else [run])))
        member: list[NDArray[np.bool_]] = []
        hashes: dict[str, list[Hashes]] = {name: [] for name in names}
        known: dict[str, list[NDArray[np.bool_]]] = {name: [] for name in names}
        for chunk, rows in _looked_at(source, tuple(names)):
            kept = slice(rows.source_rows) if rows.kept is None else rows.kept
            member.append(rows.member)
            for name in names:
                one = column_hashes(chunk.columns[name])
                hashes[name].append(one.values[kept])
                known[name].append(~missing_cells(one)[kept])
        joined = {name: np.concatenate(one) for name, one in hashes.items()}
        if run is not None:
            salt = splitmix64(joined.pop(run), 1)
            joined = {name: splitmix64(one ^ salt, 2) for name, one in joined.items()}
        return cls(
            member=np.concatenate(member),
            hashes=joined,
            known={name: np.concatenate(one) for name, one in known.items()},
        )

    def repeats(self, column: str) -> bool:
        """Tell whether an id is there twice, in whatever class: all others take one sort."""
        ordered = np.sort(self.hashes[column][self.known[column]])
        return bool((ordered[1:] == ordered[:-1]).any())

    def ids(self, column: str, member: bool, unit_column: str | None) -> Hashes:  # noqa: FBT001
        """Return the ids of a class, one for each row; or for each person, where persons count.

        An id that is the same in all rows of a person, as that of a household, may still be
        that of several persons. One that is not, as that of a run, tells the person's rows
        apart, and is none to look at.
        """
        known = self.known[column] & (self.member == member)
        if unit_column is not None:
            known &= self.known[unit_column]
        ids: Hashes = self.hashes[column][known]
        if unit_column is None:
            return ids
        units = self.hashes[unit_column][known]
        order = np.argsort(units)
        ids, units = ids[order], units[order]
        new = _starts(units)
        nested = bool((new[1:] | (ids[1:] == ids[:-1])).all())
        return ids[new] if nested else ids[:0]


def _looked_at(source: ScoreSource, names: Sequence[str]) -> Iterator[tuple[Chunk, Rows]]:
    """Yield the chunks to look at with their rows: all, or the first of some partitions."""
    partitions: Sequence[PiecePartition] = source.every_row()
    most = source.rows_hint
    if most > _COMPARED:
        count = min(len(partitions), _PLACES)
        places = np.unique(np.linspace(0, len(partitions) - 1, count).astype(int)).tolist()
        partitions, most = [partitions[at] for at in places], _LOOKED_AT // count
    for partition in partitions:
        left = most
        for chunk, rows in partition.looked_at(names, scores=False):
            yield chunk, rows.head(left)
            left -= chunk.rows
            if left <= 0:
                break


def _within(column: str, seen: _Seen, unit_column: str | None) -> _Repetition | None:
    """Return a column whose ids repeat within a class."""
    hashes = seen.hashes[column][seen.known[column]]
    if not hashes.size or (hashes == hashes[0]).all():
        # The same in all rows: it says where the file is from.
        return None
    counts = np.concatenate([_counts(seen.ids(column, one, unit_column)) for one in (True, False)])
    repeated = int(np.count_nonzero(counts > 1))
    return _Repetition(column=column, ids=repeated, most=int(counts.max())) if repeated else None


def _across(column: str, seen: _Seen, unit_column: str | None) -> _Repetition | None:
    """Return a column of records that has the same ids in both classes."""
    if id_kind(column) != "record":
        return None
    members, holdout = (_distinct(seen.ids(column, one, unit_column)) for one in (True, False))
    shared = int(np.intersect1d(members, holdout, assume_unique=True).size)
    if not shared or members.size == holdout.size == 1:
        return None
    return _Repetition(column=column, ids=shared)


def _tells(name: str, found: _Repetition, seen: _Seen) -> bool:
    """Tell whether a column tells the rows of an id apart, all of them."""
    known = seen.known[found.column] & seen.known[name]
    pairs = splitmix64(seen.hashes[found.column] ^ splitmix64(seen.hashes[name], 1), 2)
    classes = [known] if found.most is None else [known & seen.member, known & ~seen.member]
    return bool(known.any()) and all(bool((_counts(pairs[one]) == 1).all()) for one in classes)


def _counts(hashes: Hashes) -> NDArray[np.int64]:
    """Return how often every distinct hash occurs."""
    # numpy's unique hashes integers, which takes ten times as long as sorting them.
    starts = np.flatnonzero(_starts(np.sort(hashes)))
    counts: NDArray[np.int64] = np.diff(starts, append=hashes.size)
    return counts


def _distinct(hashes: Hashes) -> Hashes:
    ordered = np.sort(hashes)
    return ordered[_starts(ordered)]


def _starts(ordered: Hashes) -> NDArray[np.bool_]:
    """Return where a value begins in what is sorted."""
    new = np.ones(ordered.size, dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return new


def _ways_out(found: _Repetition, splits: Sequence[str]) -> str:
    audits = "`where` 'COLUMN = VALUE' if the file holds several audits"
    if splits:
        name = safe_name(splits[0])
        audits = f"`where` '{name} = VALUE' for one of the audits that column '{name}' tells apart"
    unit = f"`unit_col` {safe_name(found.column)} `unit_rows` one|mean|max|min|sum"
    return f"Give {unit} for one score each, or {audits}, or {_INDEPENDENT}."
