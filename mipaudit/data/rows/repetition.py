"""Rows that count again and again: ids that repeat, equal files, rows that were copied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.column import column_hashes, missing_cells
from mipaudit.data.words import id_kind
from mipaudit.errors import InputError
from mipaudit.maths.exact_tests import copied, sequence_bits
from mipaudit.model.message import Finding
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.verdict import ROWS_TAKEN
from mipaudit.summaries.rows import splitmix64

if TYPE_CHECKING:
    from mipaudit.data.column import Chunk
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.rows.partition import PiecePartition
    from mipaudit.data.source import ScoreSource
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


# Of about so many rows the multiplicities are counted: values are chosen by their hash.
_COUNTED: Final = 1 << 15
# Enough to see that two files of independent rows would differ.
_FIRST: Final = 1 << 12
# Two files of independent rows are equal with a chance of at most two to the minus that.
_SURE_BITS: Final = 48.0
_FINE: Final = 100.0
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
# Bits of the fraction that are kept, from all of them: copies may differ in the others. Of a large
# input those of a value are chosen together, which are alike in so many as the last of its list.
_ALL_KEPT: Final = (52, *range(48, 11, -4))
_CHOSEN_KEPT: Final = (52, 44, 36, 28)
# Cells end where no round number is.
_SHIFT: Final = 0x0005555555555555


def check_copies(source: ScoreSource, request: ReadRequest) -> tuple[Finding, ...]:
    """Look for files with the same rows and for rows that were copied within a class.

    Rows with the ids of persons are left to the column of the persons, and what is far away is
    not read once more for this.

    Returns:
        That they are taken for independent, if the request says so.

    Raises:
        InputError: ``identical_parts`` or ``copied_rows``.
    """
    total = source.rows_hint
    if request.unit_column is not None or source.remote or total > _COMPARED:
        return ()
    several = len({partition.part for partition in source.every_row()}) > 1
    fine = [at for at, one in enumerate(source.columns) if one.kind == "float"]
    if not several and not fine:
        return ()
    parts: dict[str, _PartRows] = defaultdict(_PartRows)
    look = _Look(places=fine, bits=max(0, (total // _COUNTED).bit_length() - 1))
    for partition in source.every_row():
        for _, rows in partition.looked_at():
            if several:
                parts[partition.part].add(rows)
            if fine:
                look.add(rows)
    found = _equal_parts(parts) or _copied_rows(look)
    if found is None:
        return ()
    refused, taken = found
    if request.rows_are != "independent":
        raise refused
    return (taken,)


@dataclass(slots=True, kw_only=True, eq=False)
class _PartRows:
    """What was seen of the rows of a part.

    Attributes:
        size: how many rows.
        digests: of the classes, and of every score.
        first: hashes of the first rows.
    """

    size: int = 0
    digests: list[Any] = field(default_factory=list)
    first: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))

    def add(self, rows: Rows) -> None:
        """Look at the next rows."""
        self.size += rows.member.size
        self.digests = self.digests or [blake2b() for _ in (0, *rows.scores)]
        self.digests[0].update(np.ascontiguousarray(rows.member))
        for digest, score in zip(self.digests[1:], rows.scores, strict=True):
            digest.update(score + 0.0)
        if self.first.size < _FIRST:
            self.first = np.append(self.first, _row_words(rows.head(_FIRST)))


@dataclass(slots=True, kw_only=True, eq=False)
class _Look:
    """What was seen of the scores that may be continuous, by class.

    Attributes:
        places: of these scores.
        bits: one value in 2 to the power of it is counted.
        values: by the bits that are kept, too, hashes of the scores that are counted.
        fine: of the rows that are counted, whether they need more than two decimals.
        rows: of all.
    """

    places: Sequence[int]
    bits: int
    values: dict[tuple[bool, int], list[Hashes]] = field(default_factory=lambda: defaultdict(list))
    fine: dict[bool, list[NDArray[np.bool_]]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[bool, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def kept(self) -> tuple[int, ...]:
        """Return how many bits of a score's fraction are compared, from all to few."""
        return _CHOSEN_KEPT if self.bits else _ALL_KEPT

    def add(self, rows: Rows) -> None:
        """Look at further rows."""
        member = rows.member
        for side in (True, False):
            self.rows[side] += int(np.count_nonzero(member == side))
        scores = [rows.scores[at] for at in self.places]
        if self.bits:
            # A multiplication is hash enough to choose by, and quick.
            mixed = _cells(scores[0], self.kept[-1]) * _ODD >> np.uint64(64 - self.bits)
            chosen = np.flatnonzero(mixed == 0)
            member, scores = member[chosen], [score[chosen] for score in scores]
        sides = [(side, member == side) for side in (True, False)]
        for kept in self.kept:
            hashes = splitmix64(_cells(scores[0], kept), 1)
            for score in scores[1:]:
                hashes = splitmix64(hashes ^ _cells(score, kept), 2)
            for side, own in sides:
                self.values[side, kept].append(hashes[own])
        fine = np.zeros(member.size, dtype=np.bool_)
        with np.errstate(invalid="ignore", over="ignore"):
            for score in scores:
                hundreds = score * _FINE
                fine |= np.abs(hundreds - np.rint(hundreds)) > 1e-6  # noqa: PLR2004
        for side, own in sides:
            self.fine[side].append(fine[own])


def _equal_parts(seen: Mapping[str, _PartRows]) -> tuple[InputError, Finding] | None:
    """Return the error for files that hold the same rows in the same order, and the finding."""
    alike: dict[tuple[bytes, ...], list[_PartRows]] = defaultdict(list)
    for part in seen.values():
        if part.size:
            alike[tuple(one.digest() for one in part.digests)].append(part)
    parts = sum(map(len, alike.values()))
    sure = _SURE_BITS + 2 * np.log2(max(parts, 2))
    groups = [same for same in alike.values() if len(same) > 1]
    copies = sum(len(same) - 1 for same in groups if sequence_bits(_codes(same[0].first)) >= sure)
    if not copies:
        return None
    taken = Finding.of(ROWS_TAKEN, case="files", copies=copies, parts=parts)
    refused = InputError(
        "identical_parts",
        f"{copies:,} of {parts:,} files hold the same rows as another, in the same order: their "
        "rows are no records of their own, and no limit would be true.",
        hint="Leave the copies out, by naming the files to read; or give `where` 'COLUMN = VALUE' "
        "if they are several audits, or `rows_are` independent if they are other records (it is "
        "said with every verdict).",
    )
    return refused, taken


def _codes(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.unique(words, return_inverse=True)[1].astype(np.int64)


def _row_words(rows: Rows) -> NDArray[np.uint64]:
    words = rows.member.astype(np.uint64)
    for score in rows.scores:
        words = splitmix64(words ^ (score + 0.0).view(np.uint64), 3)
    return words


def _cells(score: NDArray[np.float64], kept: int) -> Hashes:
    """Return the scores with so many bits of their fraction, in nested cells; all 52: exactly."""
    words: Hashes = (score + 0.0).view(np.uint64)
    if kept == _ALL_KEPT[0]:
        return words
    return words + np.uint64(_SHIFT) >> np.uint64(52 - kept)


def _copied_rows(look: _Look) -> tuple[InputError, Finding] | None:
    """Return the error for rows of one class that repeat as independent rows do not; the finding.

    First as they are; then but for their last digits, by few of them or more: a copy that was
    changed a little is no record of its own, either.
    """
    exact = look.kept[0]
    for finer, kept in ((exact, exact), *pairwise(look.kept)):
        found = sum(_repeated(look, side, kept, finer) for side in (True, False))
        if found:
            break
    else:
        return None
    nearly = kept != exact
    about = "About " if look.bits else ""
    last = " but for their last digits" if nearly else ""
    refused = InputError(
        "copied_rows",
        f"{about}{found:,} scores of one class are there several times{last}, as often as no "
        " independent rows would have it: rows were copied, and no limit would be true.",
        hint="Leave the copies out; or give `unit_col` NAME for the person behind a row, "
        "`where` 'COLUMN = VALUE' if the file holds several audits, or `rows_are` independent if "
        "they are (it is said with every verdict).",
    )
    taken = Finding.of(
        ROWS_TAKEN, case="scores", rows=int(found), sampled=bool(look.bits), nearly=nearly
    )
    return refused, taken


def _repeated(look: _Look, side: bool, kept: int, finer: int) -> int:  # noqa: FBT001
    """Return how many cells of a class hold copies, which are in one finer cell as a rule."""
    rows = look.rows[side]
    fine = np.concatenate(look.fine[side] or [np.empty(0, np.bool_)])
    if rows < 2 or not fine.size or np.count_nonzero(fine) * 2 < fine.size:  # noqa: PLR2004 - nothing can repeat
        return 0
    cells = np.concatenate(look.values[side, kept])
    # Sorting is quick, and finding who is where is not: it is for what looks like copies.
    if not copied(_multiplicities(np.sort(cells))[1], rows):
        return 0
    order = np.argsort(cells)
    starts, counts = _multiplicities(cells[order])
    within = np.concatenate(look.values[side, finer])[order]
    first = np.repeat(within[starts], counts)
    tight = np.logical_and.reduceat(within == first, starts)
    return copied(counts, rows, tight) << look.bits


def _multiplicities(ordered: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each value begins in what is sorted, and how often it occurs."""
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return starts, np.diff(starts, append=ordered.size)
