"""Rows that count again and again: equal files under several names, and rows that were copied."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.audit.finding import Finding
from mipaudit.audit.verdict import ROWS_TAKEN
from mipaudit.errors import InputError
from mipaudit.maths.multiplicities import copied, sequence_bits
from mipaudit.summaries.identity import splitmix64
from mipaudit.tables.intake import Intake

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.summaries.rows import Rows
    from mipaudit.tables.request import ReadRequest
    from mipaudit.tables.source import PiecePartition, ScoreSource

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


def check_copies(source: ScoreSource, request: ReadRequest) -> tuple[Finding, ...]:
    """Look for files with the same rows and for rows that were copied within a class.

    Rows with the ids of persons are left to the column of the persons, and what is far away is
    not read once more for this.

    Returns:
        That they are taken for independent, if the request says so.

    Raises:
        InputError: ``identical_parts`` or ``copied_rows``.
    """
    total = source.rows_hint or 0
    if request.unit_column is not None or source.remote or total > _LOOKED_AT:
        return ()
    look = _Look(places=_fine_places(source), bits=max(0, (total // _COUNTED).bit_length() - 1))
    several = len({partition.part for partition in source.every_row()}) > 1
    if not several and not look.places:
        return ()
    for partition in source.every_row():
        look.take(partition, several=several)
    found = _equal_parts(look) or _copied_rows(look)
    if found is None:
        return ()
    if request.rows_are != "independent":
        raise found
    text = f"{found.message} They are taken for independent because --rows-are independent says so."
    return (Finding(code=ROWS_TAKEN, text=text),)


def _fine_places(source: ScoreSource) -> tuple[int, ...]:
    """Return the scores that may be continuous."""
    return tuple(at for at, one in enumerate(source.columns) if one.kind == "float")


@dataclass(slots=True, kw_only=True, eq=False)
class _Look:
    """What was seen of the rows.

    Attributes:
        places: of the scores that may be continuous.
        bits: one value in 2 to the power of it is counted.
        digests: of each part, of its classes and of every score; the number of its rows.
        first: of each part, hashes of the first of its rows.
        values: by class, hashes of the scores of the rows that are counted.
        fine: of these, whether they need more than two decimals.
        rows: by class.
    """

    places: tuple[int, ...]
    bits: int
    digests: dict[str, list[Any]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    first: dict[str, NDArray[np.uint64]] = field(default_factory=dict)
    values: dict[bool, list[NDArray[np.uint64]]] = field(default_factory=lambda: defaultdict(list))
    fine: dict[bool, list[NDArray[np.bool_]]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[bool, int] = field(default_factory=lambda: defaultdict(int))

    def take(self, partition: PiecePartition, *, several: bool) -> None:
        """Look at the rows of a partition."""
        assembly = replace(partition.assembly, key=None, groups=None, named=False)
        for chunk in partition.chunks(assembly.columns):
            rows = assembly.rows(chunk, Intake())
            if several:
                self._digest(partition.part, rows)
            if self.places:
                self._count(rows)

    def _digest(self, part: str, rows: Rows) -> None:
        found = self.digests.setdefault(part, [blake2b() for _ in (0, *rows.scores)])
        found[0].update(np.ascontiguousarray(rows.member))
        for digest, score in zip(found[1:], rows.scores, strict=True):
            digest.update(score + 0.0)
        self.sizes[part] += rows.member.size
        known = self.first.get(part, np.empty(0, np.uint64))
        if known.size < _FIRST:
            self.first[part] = np.append(known, _row_words(rows.head(_FIRST)))

    def _count(self, rows: Rows) -> None:
        member = rows.member
        scores = [rows.scores[at] for at in self.places]
        if self.bits:
            # A multiplication is hash enough to choose by, and quick.
            mixed = scores[0].view(np.uint64) * _ODD >> np.uint64(64 - self.bits)
            chosen = np.flatnonzero(mixed == 0)
            member, scores = member[chosen], [score[chosen] for score in scores]
        hashes = splitmix64((scores[0] + 0.0).view(np.uint64), 1)
        for score in scores[1:]:
            hashes = splitmix64(hashes ^ (score + 0.0).view(np.uint64), 2)
        with np.errstate(invalid="ignore", over="ignore"):
            fine = np.zeros(hashes.size, dtype=np.bool_)
            for score in scores:
                hundreds = score * _FINE
                fine |= np.abs(hundreds - np.rint(hundreds)) > 1e-6  # noqa: PLR2004
        for side in (True, False):
            self.values[side].append(hashes[member == side])
            self.fine[side].append(fine[member == side])
        inside = int(np.count_nonzero(rows.member))
        self.rows[True] += inside
        self.rows[False] += rows.member.size - inside


def _equal_parts(look: _Look) -> InputError | None:
    """Return the error for files that hold the same rows in the same order."""
    alike: dict[tuple[bytes, ...], list[str]] = defaultdict(list)
    for part, digests in look.digests.items():
        if look.sizes[part]:
            alike[tuple(one.digest() for one in digests)].append(part)
    parts = sum(map(len, alike.values()))
    sure = _SURE_BITS + 2 * np.log2(max(parts, 2))
    groups = [same for same in alike.values() if len(same) > 1]
    groups = [same for same in groups if sequence_bits(_codes(look.first[same[0]])) >= sure]
    if not groups:
        return None
    copies = sum(len(same) - 1 for same in groups)
    return InputError(
        "identical_parts",
        f"{copies:,} of {parts:,} files hold the same rows as another, in the same order: their "
        "rows are no records of their own, and no limit would be true.",
        hint="Leave the copies out, by naming the files to read; or give --where 'COLUMN = VALUE' "
        "if they are several audits, or --rows-are independent if they are other records (it is "
        "said with every verdict).",
    )


def _codes(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.unique(words, return_inverse=True)[1].astype(np.int64)


def _row_words(rows: Rows) -> NDArray[np.uint64]:
    words = rows.member.astype(np.uint64)
    for score in rows.scores:
        words = splitmix64(words ^ (score + 0.0).view(np.uint64), 3)
    return words


def _copied_rows(look: _Look) -> InputError | None:
    """Return the error for rows of one class that repeat as no independent rows do."""
    found = 0
    for side, batches in look.values.items():
        if look.rows[side] < 2:  # noqa: PLR2004 - nothing can repeat
            continue
        values, fine = np.concatenate(batches), np.concatenate(look.fine[side])
        ordered = np.sort(values)
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        counts = np.diff(starts, append=ordered.size)
        if starts.size == ordered.size or np.count_nonzero(fine) * 2 < fine.size:
            continue
        found += copied(counts, look.rows[side]) << look.bits
    if not found:
        return None
    about = "" if not look.bits else "about "
    return InputError(
        "copied_rows",
        f"{about.capitalize()}{found:,} scores of one class are there several times, as often as "
        "no independent rows would have it: rows were copied, and no limit would be true.",
        hint="Leave the copies out; or give --unit-col NAME for the person behind a row, --where "
        "'COLUMN = VALUE' if the file holds several audits, or --rows-are independent if they are "
        "(it is said with every verdict).",
    )
