"""Rows that count again and again: ids that repeat, equal files, rows that were copied."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.column import Chunk, column_hashes, missing_cells
from mipaudit.data.words import id_kind
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Floats, Ints
from mipaudit.maths.exact_tests import copied, sequence_bits
from mipaudit.model.message import Finding
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.verdict import ROWS_TAKEN
from mipaudit.summaries.rows import Rows, splitmix64

if TYPE_CHECKING:
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.source import PiecePartition, ScoreSource

Mask = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
# A column of ids, one hash a row, and in which rows there is one.
Ids = tuple[Hashes, Mask]
# A column of ids that do not tell rows apart: its name, how many of its values, and the largest
# number of rows of one class with the same; None where values are in both classes.
Repetition = tuple[str, int, int | None]

# Up to here all rows are compared, with 8 bytes a row and column; of a larger input so many
# are looked at, in so many places.
_COMPARED: Final = 1 << 22
_LOOKED_AT: Final = 1 << 21
_PLACES: Final = 32
_COMPARED_FILES: Final = (
    "If each file is of a different model: `mipaudit compare FILES --baseline NAME`, or in Python "
    "`mipaudit.estimate_many`. "
)
_SEVERAL: Final = 3  # files; two may be the members and the holdout
_ONE_AUDIT: Final = 'If the file holds several audits, take one: `where` "COLUMN = VALUE".'
_ON_YOUR_WORD: Final = "`rows_are` independent (verdicts will state that you said so)."
_INDEPENDENT: Final = f"If the rows are independent: {_ON_YOUR_WORD}"


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
    found = _repetition(source, named, units, request.run_column) if named else None
    if found is None:
        return ()
    column, ids, most = found
    if request.rows_are == "independent":
        case = "ids_in_both" if most is None else "ids"
        return (Finding.of(ROWS_TAKEN, case=case, ids=ids, column=column, most=most),)
    splits = [name for name in choice.splits if name not in {column, source.member_column}]
    hint = _ways_out(column, _telling(source, found, splits))
    if most is None:
        raise InputError(
            "duplicate_ids",
            f"Column {quoted_name(column)} has {ids:,} of its values both among members and among "
            "holdout records. A record is one or the other.",
            f"{files_hint(source, _SEVERAL)}{hint}",
        )
    raise InputError(
        "repeated_ids",
        f"Column {quoted_name(column)} repeats {ids:,} of its values among members or among "
        f"holdout records, up to {most:,} times. Such rows are not independent, so no "
        "confidence limit would hold.",
        f"{files_hint(source, most)}{hint}",
    )


def files_hint(source: ScoreSource, most: int) -> str:
    """Return what compares several files that each have a row of the same records."""
    files = len({partition.part for partition in source.every_row()})
    return _COMPARED_FILES if 1 < most <= files else ""


# What files are called that are parts of one data set: by a word, or by numbers or a hash alone.
_PART: Final = re.compile(
    r"(?<![a-z])(?:part(?:ition)?|shard|chunk|block|slice|piece|page|worker|site|of)"
    r"(?![a-z])|^[\W\d_]+$|^[0-9a-f-]{16,}$"
)


def several_files(source: ScoreSource) -> tuple[Finding, ...]:
    """Return that files count as one data set, unless they look like parts of one.

    Files with the same members in the same order are of the same records, whatever they are
    called. What is far away or large is not read once more for this.
    """
    both = [one for one in source.every_row() if one.side is None]
    # The rows of one file, or of files that were given for one class, are not read for this.
    if len({one.part for one in both}) <= 1 or source.remote or source.rows_hint > _COMPARED:
        return ()
    seen: dict[str, list[Mask]] = defaultdict(list)
    for partition in both:
        seen[partition.part] += [one.member for _, one in partition.looked_at(scores=False)]
    found = {part: np.concatenate(some) for part, some in seen.items() if some}
    found = {part: one for part, one in found.items() if one.any() and not one.all()}
    names = (PurePath(part).name.partition(".")[0].lower() for part in found)
    sequences = Counter(one.tobytes() for one in found.values())
    sure = _SURE_BITS + 2 * np.log2(max(len(found), 2))
    alike = sum(
        files
        for one, files in sequences.items()
        if files > 1 and sequence_bits(np.frombuffer(one, np.uint8).astype(np.int64)) >= sure
    )
    if len(found) <= 1 or (not alike and all(map(_PART.search, names))):
        return ()
    case = "alike" if alike else "named"
    return (Finding.of("files_as_one", case=case, files=len(seen), alike=alike or None),)


def _repetition(
    source: ScoreSource, named: Sequence[str], units: str | None, run: str | None
) -> Repetition | None:
    """Return the first column of ids that are in both classes, or else often in one."""
    member, seen = _ids_of(source, (*named, *([units] if units else [])), run)
    # Whether an id is there twice, in whatever class, takes one sort: most columns need no more.
    every = {name: np.sort(seen[name][0][seen[name][1]]) for name in named}
    every = {name: ids for name, ids in every.items() if (ids[1:] == ids[:-1]).any()}
    persons = None if units is None else seen[units]
    sides = {
        name: [_of_class(seen[name], member == side, persons) for side in (True, False)]
        for name in every
    }
    for name, ids in sides.items():
        members, holdout, both = (_counts(one).size for one in (*ids, np.concatenate(ids)))
        shared = members + holdout - both
        if id_kind(name) == "record" and shared and (members, holdout) != (1, 1):
            return name, shared, None
    for name, ids in sides.items():
        counts = np.concatenate([_counts(one) for one in ids])
        repeated = int(np.count_nonzero(counts > 1))
        # The same in all rows says where the file is from.
        if repeated and every[name][0] != every[name][-1]:
            return name, repeated, int(counts.max())
    return None


def _ids_of(
    source: ScoreSource, names: Sequence[str], run: str | None = None
) -> tuple[Mask, dict[str, Ids]]:
    """Return who is a member, and columns of ids; where there are runs an id is one of its run."""
    columns = dict.fromkeys((*names, *([] if run is None else [run])))
    member: list[Mask] = []
    found: dict[str, list[Ids]] = {name: [] for name in columns}
    for chunk, rows in _looked_at(source, tuple(columns)):
        kept = slice(rows.source_rows) if rows.kept is None else rows.kept
        member.append(rows.member)
        for name, parts in found.items():
            one = column_hashes(chunk.columns[name])
            parts.append((one.values[kept], ~missing_cells(one)[kept]))
    joined = {
        name: (np.concatenate([one for one, _ in parts]), np.concatenate([one for _, one in parts]))
        for name, parts in found.items()
    }
    if run is not None:
        runs = joined.pop(run)[0]
        joined = {name: (_pairs(one, runs), known) for name, (one, known) in joined.items()}
    return np.concatenate(member), joined


def _of_class(ids: Ids, side: Mask, persons: Ids | None) -> Hashes:
    """Return the ids of a class, one for each row; or for each person, where persons count.

    An id that is the same in all rows of a person, as that of a household, may still be
    that of several persons. One that is not, as that of a run, tells the person's rows
    apart, and is none to look at.
    """
    if persons is None:
        return ids[0][ids[1] & side]
    known = ids[1] & side & persons[1]
    found, units = ids[0][known], persons[0][known]
    order = np.argsort(units)
    found, units = found[order], units[order]
    new = _starts(units)
    nested = bool((new[1:] | (found[1:] == found[:-1])).all())
    return found[new] if nested else found[:0]


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


def _telling(source: ScoreSource, found: Repetition, splits: Sequence[str]) -> str | None:
    """Return a column that tells the rows of an id apart, all of them; None for no such one."""
    column, _, most = found
    member, seen = _ids_of(source, (column, *splits))
    ids, known = seen[column]
    for name in splits:
        pairs, both = _pairs(ids, seen[name][0]), known & seen[name][1]
        classes = [both] if most is None else [both & member, both & ~member]
        if both.any() and all((_counts(pairs[one]) == 1).all() for one in classes):
            return name
    return None


def _pairs(one: Hashes, other: Hashes) -> Hashes:
    return splitmix64(one ^ splitmix64(other, 1), 2)


def _starts(ordered: Hashes) -> Mask:
    """Return where a value begins in what is sorted."""
    return np.append(np.ones(min(ordered.size, 1), np.bool_), ordered[1:] != ordered[:-1])


def _counts(hashes: Hashes) -> Ints:
    """Return how often every distinct hash occurs, by increasing hash."""
    # numpy's unique hashes integers, which takes ten times as long as sorting them.
    return np.diff(np.flatnonzero(_starts(np.sort(hashes))), append=hashes.size)


def _ways_out(column: str, split: str | None) -> str:
    name = safe_name(column)
    each = f"For one score per {name}: `unit_col` {name} `unit_rows` one|mean|max|min|sum."
    ways = each, _ONE_AUDIT
    if split is not None:
        # It comes first: one score of a person from all audits would be an audit of none.
        name = safe_name(split)
        ways = f'To audit one {name} alone: `where` "{name} = VALUE".', each
    return " ".join((*ways, _INDEPENDENT))


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
    places = [at for at, one in enumerate(source.columns) if one.kind == "float"]
    if not several and not places:
        return ()
    # Of each part the digest of all rows, and hashes of the first.
    digests: dict[str, Any] = defaultdict(blake2b)
    first: dict[str, Hashes] = defaultdict(lambda: np.empty(0, np.uint64))
    bits, looks = max(0, (total // _COUNTED).bit_length() - 1), []
    for partition in source.every_row():
        for _, rows in partition.looked_at():
            if several:
                words = _row_hashes(rows)
                digests[partition.part].update(words)
                if first[partition.part].size < _FIRST:
                    first[partition.part] = np.append(first[partition.part], words[:_FIRST])
            if places:
                looks.append(_look(rows, places, bits))
    seen = [(one.digest(), first[part]) for part, one in digests.items()]
    found = _equal_parts(seen) or (_copied_rows(looks, bits) if looks else None)
    if found is None:
        return ()
    refused, taken = found
    if request.rows_are != "independent":
        raise refused
    return (taken,)


def _row_hashes(rows: Rows) -> Hashes:
    words = rows.member.astype(np.uint64)
    for score in rows.scores:
        words = splitmix64(words ^ (score + 0.0).view(np.uint64), 3)
    return words


def _equal_parts(seen: Iterable[tuple[bytes, Hashes]]) -> tuple[InputError, Finding] | None:
    """Return the error for files that hold the same rows in the same order, and the finding."""
    alike: dict[bytes, list[Hashes]] = defaultdict(list)
    for digest, first in seen:
        if first.size:
            alike[digest].append(first)
    parts = sum(map(len, alike.values()))
    sure = _SURE_BITS + 2 * np.log2(max(parts, 2))
    copies = sum(
        len(same) - 1
        for same in alike.values()
        if len(same) > 1 and sequence_bits(np.unique(same[0], return_inverse=True)[1]) >= sure
    )
    if not copies:
        return None
    taken = Finding.of(ROWS_TAKEN, case="files", copies=copies, parts=parts)
    refused = InputError(
        "identical_parts",
        f"Some files ({copies:,} of {parts:,}) repeat the rows of another in the same order. Their "
        "rows are not new records, so no confidence limit would hold.",
        'Leave the copies out. If they are several audits, take one: `where` "COLUMN = VALUE". If '
        f"they are other records: {_ON_YOUR_WORD}",
    )
    return refused, taken


# Of rows that were looked at the class of all; of those whose values are counted the class, whether
# they need more than two decimals, and hashes of them by the bits that are kept, a line for each.
_Look = tuple[Mask, Mask, Mask, NDArray[np.uint64]]


def _look(rows: Rows, places: Sequence[int], bits: int) -> _Look:
    """Look at scores that may be continuous; one value in 2 to the power of ``bits`` is counted."""
    levels = _CHOSEN_KEPT if bits else _ALL_KEPT
    member, scores = rows.member, [rows.scores[at] for at in places]
    if bits:
        # A multiplication is hash enough to choose by, and quick.
        mixed = _cells(scores[0], levels[-1]) * _ODD >> np.uint64(64 - bits)
        chosen = np.flatnonzero(mixed == 0)
        member, scores = member[chosen], [score[chosen] for score in scores]
    hashes = np.empty((len(levels), member.size), np.uint64)
    for at, kept in enumerate(levels):
        hashes[at] = splitmix64(_cells(scores[0], kept), 1)
        for score in scores[1:]:
            hashes[at] = splitmix64(hashes[at] ^ _cells(score, kept), 2)
    fine = np.zeros(member.size, dtype=np.bool_)
    with np.errstate(invalid="ignore", over="ignore"):
        for score in scores:
            hundreds = score * _FINE
            fine |= np.abs(hundreds - np.rint(hundreds)) > 1e-6  # noqa: PLR2004
    return rows.member, member, fine, hashes


def _cells(score: Floats, kept: int) -> Hashes:
    """Return the scores with so many bits of their fraction, in nested cells; all 52: exactly."""
    words: Hashes = (score + 0.0).view(np.uint64)
    if kept == _ALL_KEPT[0]:
        return words
    return words + np.uint64(_SHIFT) >> np.uint64(52 - kept)


def _copied_rows(looks: Sequence[_Look], bits: int) -> tuple[InputError, Finding] | None:
    """Return the error for rows of one class that repeat as independent rows do not; the finding.

    First as they are; then but for their last digits, by few of them or more: a copy that was
    changed a little is no record of its own, either.
    """
    every, member, fine, hashes = (np.concatenate(one, axis=-1) for one in zip(*looks, strict=True))
    classes = []
    for side in (True, False):
        own, rows = member == side, int(np.count_nonzero(every == side))
        # Where half of the rows have two decimals at most, values repeat by nature.
        if rows > 1 and own.any() and 2 * np.count_nonzero(fine[own]) >= np.count_nonzero(own):
            classes.append((hashes[:, own], rows))
    for at in range(len(hashes)):
        found = sum(_repeated(own[at], own[max(at - 1, 0)], rows) << bits for own, rows in classes)
        if found:
            break
    else:
        return None
    about = "About " if bits else ""
    last = ", except for their last digits" if at else ""
    refused = InputError(
        "copied_rows",
        f"{about}{found:,} scores occur several times among members or among holdout records"
        f"{last}. Independent rows repeat less often: rows were copied, and no limit would hold.",
        "Remove the copies. If a person has several rows: `unit_col` NAME. "
        f"{_ONE_AUDIT} {_INDEPENDENT}",
    )
    taken = Finding.of(
        ROWS_TAKEN, case="scores", rows=int(found), sampled=bool(bits), nearly=bool(at)
    )
    return refused, taken


def _repeated(cells: Hashes, finer: Hashes, rows: int) -> int:
    """Return how many cells of a class hold copies, which are in one finer cell as a rule."""
    # Sorting is quick, and finding who is where is not: it is for what looks like copies.
    counts = _counts(cells)
    if not copied(counts, rows):
        return 0
    order = np.argsort(cells)
    starts = np.flatnonzero(_starts(cells[order]))
    within = finer[order]
    tight = np.logical_and.reduceat(within == np.repeat(within[starts], counts), starts)
    return copied(counts, rows, tight)
