"""Whether a release belongs to the splits that its noise was calibrated on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.errors import InputError
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.commands.noise.mechanisms.clipping import Ball
    from mipaudit.commands.noise.options import Unlike
    from mipaudit.commands.noise.release.likeness import Likeness
    from mipaudit.reading.sheets.splits import Splits

_SHOWN: Final = 3
_TRY: Final = (
    "Compare units, the order of the columns and the algorithm: noise is made to measure of the "
    "splits, and for another release it promises nothing. If the release is right, add splits like "
    "it, or say `release_unlike_splits` accept."
)


def among_splits(
    vector: NDArray[np.float64],
    splits: Splits,
    name: str,
    unlike: Unlike,
    ball: Ball | None = None,
) -> tuple[Finding, ...]:
    """Return what the owner of a release must know of it beside its splits.

    No number of the release is in it.

    Args:
        vector: the release, in the order of the splits' coordinates.
        splits: of the same algorithm.
        name: of the release's file.
        unlike: what to do with a release that can hardly be one more of the splits.
        ball: into which both are clipped: what is compared is what the algorithm ends with.

    Raises:
        InputError: ``release_unlike_splits``.
    """
    from mipaudit.commands.noise.release.likeness import likeness

    values = splits.values
    if ball is not None:
        from mipaudit.commands.noise.mechanisms.clipping import clip

        values, vector = clip(values, ball), clip(vector[None, :], ball)[0]
    found = likeness(values, vector)
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
        text = (
            f"The release is row {rows}{more} of the splits, number for number. If it is one of "
            "them, its training set is not independent of theirs: leave that row out and "
            "calibrate again. Releases of few values can be equal by chance."
        )
        told.append(Finding(code="release_among_splits", text=text))
    if found.beyond:
        odd = f"; all splits agree{_where(found.odd, splits)}, and the release does not"
        text = (
            f"The release lies beyond all of its {found.splits} splits"
            f"{_where(found.far, splits)}{odd if found.odd.size else ''}. One more split of the "
            f"same algorithm does so in at most 2 of {found.splits + 1} tables. {_TRY}"
        )
        told.append(Finding(code="release_beyond_splits", text=text))
    return told


def _where(places: NDArray[np.intp], splits: Splits) -> str:
    """Name the coordinates, or nothing where no single one stands out."""
    if not places.size:
        return ""
    shown = ", ".join(quoted_name(splits.columns[at]) for at in places[:_SHOWN])
    more = f" and {places.size - _SHOWN} more" if places.size > _SHOWN else ""
    return f" in {shown}{more}"
