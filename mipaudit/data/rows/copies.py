"""Rows that count again and again: equal files under several names, and rows that were copied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.maths.exact_tests import copied, sequence_bits
from mipaudit.model.message import Finding
from mipaudit.statements.verdict import ROWS_TAKEN
from mipaudit.summaries.identity.row_rank import splitmix64

if TYPE_CHECKING:
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.source import ScoreSource
    from mipaudit.summaries.rows import Rows


Hashes = NDArray[np.uint64]

# Up to here every row is looked at; above it files alone, by what they begin with.
_LOOKED_AT: Final = 1 << 22
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
    if request.unit_column is not None or source.remote or total > _LOOKED_AT:
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
