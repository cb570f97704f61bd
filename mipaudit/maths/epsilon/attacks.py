"""Attacks that are settled before a label is looked at: sets at ranks of all scores together.

An attack guesses one class at or above a threshold, the other at or below another, and abstains
between. The thresholds stand at ranks of both classes' scores in one row, and a rank within ties
moves to the nearer end of them, so they follow from the scores and from the sizes of the classes
alone. Each attack has a share of the error, fixed by its place: all of them may then be judged
on all rows, and the greatest limit taken (Bonferroni). No row has to be set aside for a choice,
and no draw decides which rows choose and which judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.maths.epsilon.conditional import GuessCounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Numerator = Literal["member", "holdout", "both"]

# How far sets at both ends reach, as a share of all that can be guessed; from the last on, each
# reaches half as far as the one before. This and the shares of the error were settled by
# simulation on Gaussian noise, sampled records, Laplace noise and randomized response, of 100 to
# 25,000 runs of each kind.
_WIDE: Final = (0.94, 0.75, 0.5)
_LEAST_ROWS: Final = 8  # of a class; smaller sets refute too little to be worth a share
# Shares of the error of sets at both ends; sets at one end, and thresholds, have the rest.
_OF_BOTH: Final = 0.75
_OF_HALVES: Final = 0.5
# Shares of sets at both ends fall by this power of their place, the widest being the first.
_FALL: Final = 0.75
# Shares of right guesses for which sets at both ends are cut in unequal classes.
_RIGHT: Final = (0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """Sets at the two ends of the ordered scores of both classes.

    Attributes:
        above: rows of the upper set; 0 for none.
        below: rows of the lower set; 0 for none; the two share no row.
        share: of the error, in (0, 1].
        ways: whether *member* is guessed above, for each way round that is tried.
    """

    above: int
    below: int
    share: float
    ways: tuple[bool, ...] = (True, False)


def planned_attacks(ordered: NDArray[np.floating], sizes: tuple[int, int]) -> tuple[Attack, ...]:
    """Return attacks that abstain between their sets, the widest first; shares sum to 1 at most.

    Args:
        ordered: scores of both classes in rising order, shape (n1 + n0,), no NaN.
        sizes: n1 and n0, above 0.
    """
    return _merged(ordered, [*_at_both_ends(sizes), *_at_one_end(sum(sizes))])


def planned_cuts(ordered: NDArray[np.floating], sizes: tuple[int, int]) -> tuple[Attack, ...]:
    """Return attacks without abstention: an upper set, all other rows being guessed otherwise.

    Args as for `planned_attacks`.
    """
    rows = sum(sizes)
    reaches = _reaches(rows // 2, *_WIDE)
    each = (1 - _OF_HALVES) / (2 * len(reaches))
    depths = [max(1, round(reach * rows / 2)) for reach in reaches]
    halves = [Attack(above=size, below=0, share=_OF_HALVES / 2) for size in sizes]
    tops = [Attack(above=depth, below=0, share=each) for depth in depths]
    bottoms = [Attack(above=rows - depth, below=0, share=each) for depth in depths]
    return _merged(ordered, [*halves, *tops, *bottoms])


def guess_counts(
    attack: Attack,
    ordered: NDArray[np.floating],
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
) -> GuessCounts:
    """Return the guesses of an attack that guesses *member* above.

    Args:
        attack: one that was planned for these rows.
        ordered: scores of both classes in rising order.
        members: those of the members, in rising order.
        holdout: those of the holdout records, in rising order.
    """
    tp = fn = 0
    if attack.above:
        first = ordered[ordered.size - attack.above]
        tp = members.size - int(np.searchsorted(members, first, side="left"))
    if attack.below:
        fn = int(np.searchsorted(members, ordered[attack.below - 1], side="right"))
    return GuessCounts(
        tp=tp,
        fp=attack.above - tp,
        tn=attack.below - fn,
        fn=fn,
        n_members=members.size,
        n_holdout=holdout.size,
    )


def _at_both_ends(sizes: tuple[int, int]) -> Iterator[Attack]:
    """Yield sets that hold equal shares of the classes that they guess, and of the others.

    Where one class is larger they lie elsewhere for members high and for members low, and the
    more so the more a set says of its rows: with equal sizes all that reach equally far are one.
    """
    reaches = _reaches(min(sizes), *_WIDE)
    weights = np.arange(1.0, len(reaches) + 1) ** -_FALL
    shares = _OF_BOTH * weights / weights.sum() / (2 * len(_RIGHT))
    for reach, share in zip(reaches, shares.tolist(), strict=True):
        for right in _RIGHT:
            for high in (True, False):
                top, bottom = sizes if high else sizes[::-1]
                above = reach * (right * top + (1 - right) * bottom)
                below = reach * (right * bottom + (1 - right) * top)
                yield Attack(
                    above=max(1, round(above)),
                    below=max(1, round(below)),
                    share=share,
                    ways=(high,),
                )


def _at_one_end(rows: int) -> Iterator[Attack]:
    reaches = _reaches(rows // 2, _WIDE[-1])
    share = (1 - _OF_BOTH) / (2 * len(reaches))
    for reach in reaches:
        depth = max(1, round(reach * rows / 2))
        yield Attack(above=depth, below=0, share=share)
        yield Attack(above=0, below=depth, share=share)


def _reaches(size: int, *wide: float) -> list[float]:
    """Return shares of ``size`` that leave enough rows, the last halved on; the first always."""
    found = [*wide]
    while found[-1] * size >= 2 * _LEAST_ROWS:
        found.append(found[-1] / 2)
    return [one for at, one in enumerate(found) if at == 0 or one * size >= _LEAST_ROWS]


def _merged(ordered: NDArray[np.floating], wanted: list[Attack]) -> tuple[Attack, ...]:
    """Move sets to the ends of ties; those that become one add their shares."""
    found: dict[tuple[int, int], tuple[float, set[bool]]] = {}
    for one in wanted:
        above = _rows_above(ordered, one.above) if one.above else 0
        below = _rows_below(ordered, one.below) if one.below else 0
        below = min(below, ordered.size - above)
        if above + below > 0 and max(above, below) < ordered.size:
            share, ways = found.get((above, below), (0.0, set()))
            found[above, below] = share + one.share, {*ways, *one.ways}
    return tuple(
        Attack(above=a, below=b, share=share, ways=tuple(sorted(ways, reverse=True)))
        for (a, b), (share, ways) in found.items()
    )


def _rows_above(ordered: NDArray[np.floating], wanted: int) -> int:
    """Return the rows from the nearest place on where the values change, at least one."""
    value = ordered[ordered.size - wanted]
    fewer = ordered.size - int(np.searchsorted(ordered, value, side="right"))
    return _nearest(wanted, fewer, ordered.size - int(np.searchsorted(ordered, value, side="left")))


def _rows_below(ordered: NDArray[np.floating], wanted: int) -> int:
    """Do as `_rows_above` does for the other end."""
    value = ordered[wanted - 1]
    fewer = int(np.searchsorted(ordered, value, side="left"))
    return _nearest(wanted, fewer, int(np.searchsorted(ordered, value, side="right")))


def _nearest(wanted: int, fewer: int, more: int) -> int:
    return fewer if fewer > 0 and wanted - fewer <= more - wanted else more
