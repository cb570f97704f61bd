"""Ids that repeat within a class, or occur in both: rows that are not independent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.reading.columns.column import column_hashes
from mipaudit.reading.columns.names import id_kind
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name, safe_name
from mipaudit.statements.verdict import ROWS_TAKEN
from mipaudit.summaries.identity.row_rank import splitmix64

if TYPE_CHECKING:
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.source import PiecePartition, ScoreSource


Hashes = NDArray[np.uint64]

# Up to here all rows are compared, with 8 bytes a row and column; of a larger input so many
# are looked at, in so many places.
_COMPARED: Final = 1 << 22
_LOOKED_AT: Final = 1 << 21
_PLACES: Final = 32
_INDEPENDENT: Final = "`rows_are` independent if they are (it is said with every verdict)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """A column of ids that do not tell the rows apart.

    Attributes:
        column: its name.
        ids: how many of its values name more than one row of a class; or rows of both.
        most: the largest number of rows of one class with the same value.
        both: whether they were counted across the classes.
    """

    column: str
    ids: int
    most: int
    both: bool


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
    ids = tuple(name for name in source.choice.ids if name != source.member_column)
    if not ids:
        return ()
    units = request.unit_column
    seen = _Seen.of(source, (*ids, *([units] if units else [])), run=request.run_column)
    doubtful = [name for name in ids if seen.repeats(name)]
    looks = ((find, name) for find in (_across, _within) for name in doubtful)
    found = next((one for find, name in looks if (one := find(name, seen, units))), None)
    if found is None:
        return ()
    if request.rows_are == "independent":
        return (_taken(found),)
    seen = _Seen.of(source, (found.column, *source.choice.splits))
    splits = (
        name for name in source.choice.splits if name not in {found.column, source.member_column}
    )
    raise _error(found, tuple(name for name in splits if _tells(name, found, seen)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Seen:
    """Hashes by column, one for each row; null where the mask says so."""

    member: NDArray[np.bool_]
    hashes: dict[str, Hashes]
    known: dict[str, NDArray[np.bool_]]

    @classmethod
    def of(cls, source: ScoreSource, columns: Sequence[str], run: str | None = None) -> _Seen:
        """Read some columns; where there are runs an id is one of its run."""
        names = tuple(dict.fromkeys((*columns, *([] if run is None else [run]))))
        found = [
            one for partition, most in _places(source) for one in _collected(partition, names, most)
        ]
        member, hashed, told = zip(*found, strict=True)
        hashes = {name: np.concatenate([one[name] for one in hashed]) for name in names}
        if run is not None:
            salt = splitmix64(hashes.pop(run), 1)
            hashes = {name: splitmix64(found ^ salt, 2) for name, found in hashes.items()}
        known = {name: np.concatenate([one[name] for one in told]) for name in names}
        return cls(member=np.concatenate(member), hashes=hashes, known=known)

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


def _collected(
    partition: PiecePartition, names: Sequence[str], most: int
) -> Iterator[tuple[NDArray[np.bool_], dict[str, Hashes], dict[str, NDArray[np.bool_]]]]:
    """Yield class, hashes and what is known of the first rows of a partition, at most so many."""
    for chunk, every in partition.looked_at(names, scores=False):
        rows = every.head(most)
        kept = slice(most) if rows.kept is None else rows.kept
        hashes = {name: column_hashes(chunk.columns[name]) for name in names}
        known = {
            name: np.ones(rows.member.size, dtype=np.bool_)
            if one.missing is None
            else ~one.missing[kept]
            for name, one in hashes.items()
        }
        yield rows.member, {name: one.values[kept] for name, one in hashes.items()}, known
        most -= chunk.rows
        if most <= 0:
            break


def _places(source: ScoreSource) -> Iterator[tuple[PiecePartition, int]]:
    """Yield the partitions to look at, each with the most rows to read of it."""
    partitions = source.every_row()
    total = source.rows_hint
    if total <= _COMPARED:
        for one in partitions:
            yield one, total
        return
    count = min(len(partitions), _PLACES)
    for at in np.unique(np.linspace(0, len(partitions) - 1, count).astype(int)):
        yield partitions[int(at)], _LOOKED_AT // count


def _within(column: str, seen: _Seen, unit_column: str | None) -> Repetition | None:
    """Return a column whose ids repeat within a class."""
    hashes = seen.hashes[column][seen.known[column]]
    if not hashes.size or (hashes == hashes[0]).all():
        # The same in all rows: it says where the file is from.
        return None
    counts = [_counts(seen.ids(column, member, unit_column)) for member in (True, False)]
    repeated = sum(int(np.count_nonzero(one > 1)) for one in counts)
    if not repeated:
        return None
    most = max(int(one.max()) for one in counts if one.size)
    return Repetition(column=column, ids=repeated, most=most, both=False)


def _across(column: str, seen: _Seen, unit_column: str | None) -> Repetition | None:
    """Return a column of records that has the same ids in both classes."""
    if id_kind(column) != "record":
        return None
    members, holdout = (np.sort(seen.ids(column, member, unit_column)) for member in (True, False))
    members, holdout = members[_starts(members)], holdout[_starts(holdout)]
    shared = int(np.intersect1d(members, holdout, assume_unique=True).size)
    if not shared or members.size == holdout.size == 1:
        return None
    return Repetition(column=column, ids=shared, most=1, both=True)


def _tells(name: str, found: Repetition, seen: _Seen) -> bool:
    """Tell whether a column tells the rows of an id apart, all of them."""
    known = seen.known[found.column] & seen.known[name]
    pairs = splitmix64(seen.hashes[found.column] ^ splitmix64(seen.hashes[name], 1), 2)
    classes = [known] if found.both else [known & seen.member, known & ~seen.member]
    return bool(known.any()) and all(bool((_counts(pairs[one]) == 1).all()) for one in classes)


def _counts(hashes: Hashes) -> NDArray[np.int64]:
    """Return how often every distinct hash occurs."""
    # numpy's unique hashes integers, which takes ten times as long as sorting them.
    starts = np.flatnonzero(_starts(np.sort(hashes)))
    counts: NDArray[np.int64] = np.diff(starts, append=hashes.size)
    return counts


def _starts(ordered: Hashes) -> NDArray[np.bool_]:
    """Return where a value begins in what is sorted."""
    new = np.ones(ordered.size, dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return new


def _error(found: Repetition, splits: Sequence[str]) -> InputError:
    if found.both:
        return InputError(
            "duplicate_ids",
            f"{_values(found)} in both classes; a record is either a member or holdout.",
            hint=_ways_out(found, splits),
        )
    return InputError(
        "repeated_ids",
        f"{_values(found)} in several rows of one class, up to {found.most:,}: such rows are "
        "not independent, and no limit would be true.",
        hint=_ways_out(found, splits),
    )


def _values(found: Repetition) -> str:
    return f"{found.ids:,} values of column {quoted_name(found.column)} occur"


def _ways_out(found: Repetition, splits: Sequence[str]) -> str:
    if splits:
        name = safe_name(splits[0])
        audits = f"`where` '{name} = VALUE' for one of the audits that column '{name}' tells apart"
    else:
        audits = "`where` 'COLUMN = VALUE' if the file holds several audits"
    unit = f"`unit_col` {safe_name(found.column)} `unit_rows` one|mean|max|min|sum"
    return f"Give {unit} for one score each, or {audits}, or {_INDEPENDENT}."


def _taken(found: Repetition) -> Finding:
    case, most = ("ids_in_both", None) if found.both else ("ids", found.most)
    return Finding.of(ROWS_TAKEN, case=case, ids=found.ids, column=found.column, most=most)
