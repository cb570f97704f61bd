"""Whether a release can be one more of the splits that its noise is made to measure of.

If the release and the B splits are exchangeable, as draws of one algorithm are, so are
figures that are the same function of each of the B + 1 vectors and of their set. The
release then has the strictly largest with a probability of at most 1 / (B + 1), for any
law: an exact rank test. It has one that is several times the largest of the splits far
more rarely.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.options import Unlike
from mipaudit.data.tables.splits import Splits
from mipaudit.errors import InputError
from mipaudit.model.message import Finding
from mipaudit.statements.text.printable_names import quoted_name

Floats = NDArray[np.float64]


# How many times as far as the farthest split is too far, by the number of splits: of few
# splits the farthest may be near the centre by chance. Measured in mipaudit help methods.
_TOO_FAR: Final = ((20, 3.0), (8, 5.0), (5, 30.0), (0, 10_000.0))
_MOST: Final = 1e70  # steps whose squares can be added
_SHOWN: Final = 3
_TRY: Final = (
    "Compare units, the order of the columns and the algorithm: noise is made to measure of the "
    "splits, and for another release it promises nothing. If the release is right, add splits like "
    "it, or say `release_unlike_splits` accept."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Likeness:
    """How a release lies among its splits.

    Attributes:
        ratio: its distance from the centre by the largest of the splits'; infinite where the
            splits are all one vector and the release is another.
        far: coordinates that by themselves lie farther than any split's, as often as
            `too_far` says.
        odd: coordinates in which all splits agree and the release does not.
        equal: splits that are the release, number for number.
        splits: B.
    """

    ratio: float
    far: NDArray[np.intp]
    odd: NDArray[np.intp]
    equal: NDArray[np.intp]
    splits: int

    @property
    def beyond(self) -> bool:
        """Tell whether the release is farther from the centre than any split, or odd."""
        return self.ratio > 1 or self.odd.size > 0

    @property
    def unlike(self) -> bool:
        """Tell whether the release can hardly be one more of the splits."""
        # Where all splits agree nothing is known of how far is far.
        return too_far(self.splits) < self.ratio < np.inf


def too_far(splits: int) -> float:
    """Return how many times as far as the farthest of so many splits is too far."""
    return next(factor for least, factor in _TOO_FAR if splits >= least)


def likeness(splits: Floats, release: Floats) -> Likeness:
    """Compare a release with its splits.

    Distances are in units of each coordinate's median deviation from the median, over splits
    and release alike: the largest coordinate, and the root mean square of all.

    Args:
        splits: (B, d), finite, B at least 1.
        release: (d,), finite, in the order of the splits' coordinates.
    """
    steps = _steps(np.concatenate([release[None, :], splits]))
    figures = np.stack([steps.max(axis=1), np.sqrt((steps**2).mean(axis=1))], axis=1)
    by_column = _ratios(steps)
    constant = (splits == splits[0]).all(axis=0)
    return Likeness(
        ratio=float(_ratios(figures).max()),
        far=np.flatnonzero((by_column > too_far(len(splits))) & ~constant),
        odd=np.flatnonzero(constant & (splits[0] != release)),
        equal=np.flatnonzero((splits == release).all(axis=1)),
        splits=len(splits),
    )


def _steps(pool: Floats) -> Floats:
    """Return how far each vector's coordinates lie from the middle, in units of the spread.

    Where more than half of the vectors agree the mean deviation of all but the farthest is
    the unit; where that is 0 too, the farthest has no unit, and counts as one step.
    """
    half = pool / 2  # so that no difference overflows
    away = np.abs(half - np.median(half, axis=0))
    unit = np.median(away, axis=0)
    flat = unit == 0
    if flat.any():
        rest = np.sort(away[:, flat], axis=0)[:-1].mean(axis=0)
        unit[flat] = np.where(rest > 0, rest, away[:, flat].max(axis=0))
        unit[unit == 0] = 1.0
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(away / unit, _MOST))


def _ratios(figures: Floats) -> Floats:
    """Return for each column the first figure by the largest of the others."""
    first, others = figures[0], figures[1:].max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(first > others, first / others, 0.0)


def among_splits(
    vector: NDArray[np.float64], splits: Splits, name: str, unlike: Unlike
) -> tuple[Finding, ...]:
    """Return what the owner of a release must know of it beside its splits.

    No number of the release is in it.

    Args:
        vector: the release, in the order of the splits' coordinates.
        splits: of the same algorithm.
        name: of the release's file.
        unlike: what to do with a release that can hardly be one more of the splits.

    Raises:
        InputError: ``release_unlike_splits``.
    """
    found = likeness(splits.values, vector)
    if found.unlike and unlike == "refuse":
        raise InputError(
            "release_unlike_splits",
            f"{name}: the release lies far beyond all of its {found.splits} splits"
            f"{_where(found.far, splits)}.",
            hint=_TRY,
        )
    return tuple(_findings(found, splits))


def _findings(found: Likeness, splits: Splits) -> list[Finding]:
    told = []
    if found.equal.size:
        rows = ", ".join(str(at + 1) for at in found.equal[:_SHOWN])
        more = "" if found.equal.size <= _SHOWN else f" and {found.equal.size - _SHOWN} more"
        told.append(Finding.of("release_among_splits", rows=f"{rows}{more}"))
    if found.beyond:
        told.append(
            Finding.of(
                "release_beyond_splits",
                case="odd" if found.odd.size else "far",
                splits=found.splits,
                tables=found.splits + 1,
                far=_where(found.far, splits),
                odd=_where(found.odd, splits),
            )
        )
    return told


def _where(places: NDArray[np.intp], splits: Splits) -> str:
    """Name the coordinates, or nothing where no single one stands out."""
    if not places.size:
        return ""
    shown = ", ".join(quoted_name(splits.columns[at]) for at in places[:_SHOWN])
    more = f" and {places.size - _SHOWN} more" if places.size > _SHOWN else ""
    return f" in {shown}{more}"
