"""A score for each person, made of the scores of their rows.

Whatever is made of them is a new score, with a meaning of its own: an attacker who sees all rows
of a person may do better with another function of them. It does not depend on the order of the
rows: scores are sorted before they are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.identity.row_rank import splitmix64

UnitRule = Literal["one", "mean", "max", "min", "sum"]
# Apart from the streams that say in which block a person is, and which row is picked.
_CLASS_STREAM: Final = 0x636C6173
_TOP: Final = np.uint64(63)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitScores:
    """One row for each person, in the order of the persons' hashes.

    Attributes:
        rows: of each person a row that stands for it, as an index into all rows.
        sizes: how many rows each person has.
        scores: of each column the person's score.
        undefined: persons with both infinities, of which there is no sum.
    """

    rows: NDArray[np.intp]
    sizes: NDArray[np.int64]
    scores: tuple[NDArray[np.float64], ...]
    undefined: int


def one_class_each(
    persons: NDArray[np.uint64], member: NDArray[np.bool_], seed: int
) -> tuple[NDArray[np.bool_], int]:
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
    persons: NDArray[np.uint64],
    member: NDArray[np.bool_],
    scores: Sequence[NDArray[np.float64]],
    seed: int,
) -> int:
    """Return a seed that follows from the rows, in any order, and from a stated one.

    Whoever names the persons cannot choose for a seed that is known: another name, class or
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
    persons: NDArray[np.uint64],
    scores: Sequence[NDArray[np.float64]],
    rule: UnitRule,
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
    persons: NDArray[np.uint64],
    score: NDArray[np.float64],
    rule: UnitRule,
    starts: NDArray[np.intp],
    sizes: NDArray[np.int64],
) -> NDArray[np.float64]:
    # A zero has no sign here: -0.0 and 0.0 are one score, and sorting does not order them.
    ordered: NDArray[np.float64] = score[np.lexsort((score, persons))] + 0.0
    least: NDArray[np.float64] = ordered[starts]
    most: NDArray[np.float64] = ordered[starts + sizes - 1]
    if rule in {"min", "max"}:
        return least if rule == "min" else most
    with np.errstate(invalid="ignore", over="ignore"):
        total: NDArray[np.float64] = np.add.reduceat(ordered, starts)
        if rule == "sum":
            return total
        # The mean of finite scores is finite, and no rounding takes it out of their range.
        halved = np.add.reduceat(ordered / 2.0**64, starts) / sizes * 2.0**64
        finite = np.isfinite(least) & np.isfinite(most) & np.isinf(total)
        mean: NDArray[np.float64] = np.clip(np.where(finite, halved, total / sizes), least, most)
    return mean


def _starts(ordered: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return where every value begins in what is sorted."""
    new = np.ones(ordered.size, dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(new)
