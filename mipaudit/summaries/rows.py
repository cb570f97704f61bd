"""Rows as they come and as they are held, and the pseudo-random rank of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints, Places

ScoreKind = Literal["float", "integer", "bool", "string"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Consecutive rows of the input, with their identity.

    The identity of a row is its global position in the input (parts in bytewise
    path order, members first), unless ``keys`` gives another one: a 64-bit hash
    of a key or of a person.

    Attributes:
        first_row: global position, from 0, of the first source row of the batch.
        source_rows: how many source rows the batch spans.
        kept: offsets (int64, increasing) within the span of the rows that are
            present, or None when all are.
        keys: uint64 hash per present row, or None when positions identify rows.
        member: bool per present row, True for members.
        scores: one float64 array per score column; never NaN.
        groups: uint64 hash of the row's group per present row, or None where no group
            was asked for.
        names: the key column's values per present row, or None unless they are to be
            written out.
    """

    first_row: int
    source_rows: int
    kept: Ints | None
    keys: NDArray[np.uint64] | None
    member: Bools
    scores: tuple[Floats, ...]
    groups: NDArray[np.uint64] | None = None
    names: NDArray[Any] | None = None

    @property
    def stays(self) -> bool:
        """Whether the rows are in this process, as a partition of them is asked."""
        return True

    def batches(self, intake: object = None) -> Iterator[Rows]:
        """Yield the rows as one batch of a partition; what was left out of them is known."""
        del intake
        yield self

    def positions(self) -> Ints:
        """Return the global position, from 0, of each present row."""
        offsets = np.arange(self.source_rows) if self.kept is None else self.kept
        return np.asarray(offsets + self.first_row, dtype=np.int64)

    def head(self, source_rows: int) -> Rows:
        """Return the part within the first ``source_rows`` source rows of the batch."""
        return self.between(0, source_rows)

    def of_columns(self, places: Sequence[int]) -> Rows:
        """Return the rows with some of their scores alone."""
        return replace(self, scores=tuple(self.scores[at] for at in places))

    def reordered(self, order: Places) -> Rows:
        """Return the present rows in another order, as one batch from position 0."""
        return self.picked(order, first_row=0, source_rows=int(order.size), kept=None)

    def between(self, start: int, stop: int) -> Rows:
        """Return the part within the source rows ``start`` to ``stop`` - 1 of the batch."""
        stop = min(stop, self.source_rows)
        if start == 0 and stop == self.source_rows:
            return self
        kept = self.kept
        first, last = (start, stop) if kept is None else np.searchsorted(kept, (start, stop))
        present = slice(int(first), int(last))
        return self.picked(
            present,
            first_row=self.first_row + start,
            source_rows=stop - start,
            kept=None if kept is None else kept[present] - start,
        )

    def picked(
        self, at: Places | slice, *, first_row: int, source_rows: int, kept: Ints | None
    ) -> Rows:
        """Return some of the present rows, by their places among them, as another batch."""
        return Rows(
            first_row=first_row,
            source_rows=source_rows,
            kept=kept,
            keys=None if self.keys is None else self.keys[at],
            member=self.member[at],
            scores=tuple(column[at] for column in self.scores),
            groups=None if self.groups is None else self.groups[at],
            names=None if self.names is None else self.names[at],
        )


# The rank of a row is a function of (seed, row identity) and nothing else. Ranks are independent
# between rows, whatever the order of the file, and do not depend on scores, labels, batches,
# threads or the order in which parts finish. The top byte alone decides the micro-block, so that
# the counting pass needs one byte per row: Philox (Salmon et al. 2011) in counter mode gives it to
# any range of positions at once.
MICRO_BLOCKS: Final = 64
_BYTES_PER_MICRO_BLOCK_LOG2: Final = 2
_ROWS_PER_COUNTER: Final = 32  # one Philox block is 256 bits
_PHILOX_SALT: Final = 0x6D69705F626C6F63
_GOLDEN: Final = 0x9E3779B97F4A7C15
_MASK64: Final = (1 << 64) - 1


def splitmix64(values: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Return a 64-bit mix of each value (Steele et al. 2014, the splitmix64 finalizer)."""
    mixed = values + np.uint64((seed * 2 + 1) * _GOLDEN & _MASK64)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def position_bytes(seed: int, first_row: int, count: int) -> NDArray[np.uint8]:
    """Return the top rank byte of ``count`` consecutive positions, shape (count,)."""
    skip = first_row % _ROWS_PER_COUNTER
    words = -(-(skip + count) // 8)
    generator = np.random.Philox(
        key=np.array([seed & _MASK64, _PHILOX_SALT], dtype=np.uint64),
        counter=first_row // _ROWS_PER_COUNTER,
    )
    return generator.random_raw(words).astype("<u8", copy=False).view(np.uint8)[skip : skip + count]


def rank_bytes(rows: Rows, seed: int) -> NDArray[np.uint8]:
    """Return the top rank byte of each present row, shape (n,)."""
    if rows.keys is not None:
        return (splitmix64(rows.keys, seed) >> np.uint64(56)).astype(np.uint8)
    span = position_bytes(seed, rows.first_row, rows.source_rows)
    return span if rows.kept is None else span[rows.kept]


def ranks(rows: Rows, seed: int, chosen: Places, top: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the full 64-bit rank of the chosen rows, whose top bytes are given."""
    if rows.keys is not None:
        return splitmix64(rows.keys[chosen], seed)
    offsets = chosen if rows.kept is None else rows.kept[chosen]
    low = splitmix64((offsets + rows.first_row).astype(np.uint64), seed) >> np.uint64(8)
    return (top.astype(np.uint64) << np.uint64(56)) | low


def micro_blocks(top: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the micro-block, in [0, 64), of rows with these top rank bytes."""
    return top >> np.uint8(_BYTES_PER_MICRO_BLOCK_LOG2)


def micro_labels(top: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return twice the `micro_blocks`: by one shift, as shifts of bytes are slow."""
    labels = top >> np.uint8(_BYTES_PER_MICRO_BLOCK_LOG2 - 1)
    labels &= np.uint8(0xFE)
    return labels


# Apart from the stream that says in which block a person is.
_STREAM: Final = 1
_HALF: Final = np.uint64(32)


class HeldRows:
    """Collects batches, in any order and from several threads, and joins them.

    For what no table of counts serves.
    """

    def __init__(self) -> None:
        """Start without a row."""
        self._batches: list[Rows] = []

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        self._batches.append(rows)

    def merge(self, other: Self) -> None:
        """Take in what another thread collected."""
        self._batches += other._batches

    def joined(self) -> Rows | None:
        """Return all rows as one batch; None without a batch."""
        if not self._batches:
            return None
        batches = sorted(self._batches, key=lambda one: one.first_row)
        first = batches[0].first_row
        last = batches[-1]
        return Rows(
            first_row=first,
            source_rows=last.first_row + last.source_rows - first,
            kept=np.concatenate([one.positions() - first for one in batches]),
            keys=_join([one.keys for one in batches]),
            member=np.concatenate([one.member for one in batches]),
            scores=tuple(
                np.concatenate(column)
                for column in zip(*(one.scores for one in batches), strict=True)
            ),
            groups=_join([one.groups for one in batches]),
        )


def row_blocks(rows: Rows, seed: int) -> NDArray[np.uint8]:
    """Return the micro-block of each row, in [0, 64)."""
    return micro_blocks(rank_bytes(rows, seed))


def _join(parts: Sequence[NDArray[np.uint64] | None]) -> NDArray[np.uint64] | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassScores:
    """All rows of one class, in an order that the input's own order of rows settles.

    With keys it is the order of their hashes, so that shuffling a file changes nothing.

    Attributes:
        scores: one float64 array of shape (n,) for each column.
        ids: uint64, shape (n,): the hash of each row's key, else its position; None
            where they were not asked for.
        keyed: whether the rows have keys.
    """

    scores: tuple[Floats, ...]
    ids: NDArray[np.uint64] | None
    keyed: bool

    @property
    def size(self) -> int:
        """Return the number of rows."""
        return int(self.scores[0].size)

    def repeats(self) -> bool:
        """Tell whether two rows have the same key."""
        return self.keyed and self.ids is not None and bool((np.diff(self.ids) == 0).any())


class _Shelf:
    """Room for one class: a batch's rows are put where the batch begins in the input.

    Batches may come in any order and from several threads. Memory is only touched, and so
    only taken, where rows of the class are put; closing the gaps takes no more.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.scores = [np.empty(rows, dtype=np.float64) for _ in range(columns)]
        self.ids = np.empty(rows, dtype=np.uint64)
        self.filled: dict[int, int] = {}

    def put(
        self, first_row: int, chosen: Places, rows: Rows, ids: NDArray[np.uint64] | None
    ) -> None:
        """Keep the chosen rows of a batch."""
        if not chosen.size:
            return
        place = slice(first_row, first_row + chosen.size)
        for room, column in zip(self.scores, rows.scores, strict=True):
            # Any mode but "raise" writes without a copy; the indices are within.
            np.take(column, chosen, out=room[place], mode="clip")
        if ids is not None:
            self.ids[place] = ids[chosen]
        self.filled[first_row] = chosen.size

    def joined(self, room: NDArray[Any]) -> NDArray[Any]:
        """Return what was put into ``room``, without the gaps."""
        end = 0
        for start, count in sorted(self.filled.items()):
            if end < start:
                room[end : end + count] = room[start : start + count]
            end += count
        return room[:end]


class KeptScores:
    """Collects rows, in any order of batches, and gives them back by class."""

    def __init__(self, columns: int, *, rows: int, ids: bool) -> None:
        """Make room.

        Args:
            columns: number of score columns.
            rows: source rows of the whole input.
            ids: keep positions where there are no keys.
        """
        self._shelves = {member: _Shelf(columns, rows) for member in (True, False)}
        self._ids = ids
        self._keyed = False

    def add(self, rows: Rows) -> None:
        """Take in a batch of rows."""
        self._keyed = self._keyed or rows.keys is not None
        ids = _identities(rows) if self._ids or rows.keys is not None else None
        for member, shelf in self._shelves.items():
            chosen = np.flatnonzero(rows.member if member else ~rows.member)
            shelf.put(rows.first_row, chosen, rows, ids)

    def shared(self) -> Self:
        """Return itself, for every thread: there is room for all of the input."""
        return self

    def merge(self, other: Self) -> None:
        """Do nothing: the owner of the shared room has put the rows there."""

    def members(self) -> ClassScores:
        """Return the members."""
        return self._settled(self._shelves[True])

    def holdout(self) -> ClassScores:
        """Return the holdout records."""
        return self._settled(self._shelves[False])

    def _settled(self, shelf: _Shelf) -> ClassScores:
        scores = [shelf.joined(room) for room in shelf.scores]
        ids = shelf.joined(shelf.ids) if self._ids or self._keyed else None
        if ids is not None and self._keyed:
            order = np.argsort(ids, kind="stable")
            ids, scores = ids[order], [column[order] for column in scores]
        return ClassScores(scores=tuple(scores), ids=ids, keyed=self._keyed)


def _identities(rows: Rows) -> NDArray[np.uint64]:
    if rows.keys is not None:
        return rows.keys
    return rows.positions().astype(np.uint64)


def one_of_each(rows: Rows, seed: int) -> Rows:
    """Choose for each person and class one row, each of them with the same chance.

    A hash of (seed, person) says which of the person's rows, in the order of their scores:
    neither their order in the file nor anything else that the file's writer can choose.

    Args:
        rows: in canonical order, with the hash of their person as keys.
        seed: in use for them.

    Returns:
        One row for each person and class, in order of the person's hash, holdout first.
    """
    assert rows.keys is not None  # noqa: S101 - read with a key column
    order = np.lexsort((rows.member, rows.keys))  # stable: the scores stay in order
    keys, member = rows.keys[order], rows.member[order]
    new = np.ones(keys.size, dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (member[1:] != member[:-1])
    starts = np.flatnonzero(new)
    counts = np.diff(starts, append=keys.size)
    drawn = splitmix64(splitmix64(keys[starts], seed), _STREAM) >> _HALF
    chosen = order[starts + ((drawn * counts.astype(np.uint64)) >> _HALF).astype(np.intp)]
    return rows.reordered(chosen)


UnitRule = Literal["one", "mean", "max", "min", "sum"]
# Apart from the streams that say in which block a person is, and which row is picked.
_CLASS_STREAM: Final = 0x636C6173
_TOP: Final = np.uint64(63)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitScores:
    """One row for each person, in the order of the persons' hashes.

    Whatever is made of the rows' scores is a new score, with a meaning of its own: an attacker who
    sees all rows of a person may do better with another function of them. It does not depend on the
    order of the rows: scores are sorted before they are added.

    Attributes:
        rows: of each person a row that stands for it, as an index into all rows.
        sizes: how many rows each person has.
        scores: of each column the person's score.
        undefined: persons with both infinities, of which there is no sum.
    """

    rows: Places
    sizes: Ints
    scores: tuple[Floats, ...]
    undefined: int


def one_class_each(persons: NDArray[np.uint64], member: Bools, seed: int) -> tuple[Bools, int]:
    """Return which rows are left when every person is in one class, and how many were in both.

    A coin for each person, tossed by the seed and the person alone, says in which class: the
    scores of the two classes are then independent of each other.

    Args:
        persons: a hash for each row.
        member: the class of each row.
        seed: that of `rows_seed`.
    """
    order = np.lexsort((member, persons))
    ids, sides = persons[order], member[order]
    starts = _starts(ids)
    # Sorted by class within a person: the first row and the last differ where both are there.
    both = ~sides[starts] & sides[np.append(starts[1:], ids.size) - 1]
    split = ids[starts][both]
    if not split.size:
        return np.ones(member.size, dtype=np.bool_), 0
    shared = np.isin(persons, split)
    inside = splitmix64(splitmix64(persons, seed), _CLASS_STREAM) >> _TOP == 1
    return ~shared | (member == inside), int(split.size)


def rows_seed(
    persons: NDArray[np.uint64], member: Bools, scores: Sequence[Floats], seed: int
) -> int:
    """Return a seed that follows from the rows, in any order, and from a stated one.

    A person who names the persons cannot choose for a seed that is known: another name, class or
    score changes it. Hashes of rows are added, not XORed, so that equal rows do not cancel.
    """
    digest = blake2b(f"mipaudit/2|units|{seed}|{member.size}".encode(), digest_size=8)
    for stream in (1, 2):
        words = splitmix64(persons, stream) + member.astype(np.uint64)
        for score in scores:
            words = splitmix64(words, stream) ^ (score + 0.0).view(np.uint64)
        total = splitmix64(words, stream).sum(dtype=np.uint64)
        digest.update(int(total).to_bytes(8, "big"))
    return int.from_bytes(digest.digest(), "big")


def unit_scores(
    persons: NDArray[np.uint64], scores: Sequence[Floats], rule: UnitRule
) -> UnitScores:
    """Return the mean, largest, smallest or sum of every person's scores.

    Args:
        persons: a hash for each row; each person in one class.
        scores: of each column the rows' scores, without NaN.
        rule: any but ``"one"``.
    """
    order = np.lexsort((*scores[::-1], persons))
    starts = _starts(persons[order])
    sizes = np.diff(starts, append=persons.size)
    made = [_made(persons, score, rule, starts, sizes) for score in scores]
    undefined = np.zeros(starts.size, dtype=np.bool_)
    for one in made:
        undefined |= np.isnan(one)
    return UnitScores(
        rows=order[starts],
        sizes=sizes,
        scores=tuple(made),
        undefined=int(np.count_nonzero(undefined)),
    )


def _made(
    persons: NDArray[np.uint64], score: Floats, rule: UnitRule, starts: Places, sizes: Ints
) -> Floats:
    # A zero has no sign here: -0.0 and 0.0 are one score, and sorting does not order them.
    ordered: Floats = score[np.lexsort((score, persons))] + 0.0
    least: Floats = ordered[starts]
    most: Floats = ordered[starts + sizes - 1]
    if rule in {"min", "max"}:
        return least if rule == "min" else most
    with np.errstate(invalid="ignore", over="ignore"):
        total: Floats = np.add.reduceat(ordered, starts)
        if rule == "sum":
            return total
        # The mean of finite scores is finite, and no rounding takes it out of their range.
        halved = np.add.reduceat(ordered / 2.0**64, starts) / sizes * 2.0**64
        finite = np.isfinite(least) & np.isfinite(most) & np.isinf(total)
        mean: Floats = np.clip(np.where(finite, halved, total / sizes), least, most)
    return mean


def _starts(ordered: NDArray[np.uint64]) -> Places:
    """Return where every value begins in what is sorted."""
    new = np.ones(ordered.size, dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(new)
