"""Opens what is in memory: arrays, data frames, Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import InputError
from mipaudit.reading.source.opening import open_groups
from mipaudit.reading.source.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mipaudit.reading.source.request import NanPolicy
    from mipaudit.reading.source.source import ScoreSource


def open_arrays(
    members: ArrayLike,
    holdout: ArrayLike,
    *,
    names: Sequence[str] = (),
    nan: NanPolicy = "error",
) -> ScoreSource:
    """Open the scores of both classes from arrays.

    Args:
        members: shape (n,) or (n, d), numbers or booleans.
        holdout: shape (m,) or (m, d).
        names: of the d scores; by default ``score``, or ``score_0`` and so on.
        nan: what to do with a missing score.

    Raises:
        InputError: a wrong shape or type, or a class without scores.
    """
    from mipaudit.reading.source.frame_part import array_part

    parts = (array_part("members", members, names), array_part("holdout", holdout, names))
    widths = [len(part.fields) for part in parts]
    if widths[0] != widths[1]:
        raise InputError(
            "columns_differ",
            f"Members have {widths[0]} scores a record, and holdout {widths[1]}.",
        )
    titles = tuple(field.name for field in parts[0].fields)
    request = ReadRequest(score_columns=titles, nan=nan)
    return open_groups([(True, parts[:1]), (False, parts[1:])], request)


def open_frame(frame: object, request: ReadRequest) -> ScoreSource:
    """Open a pandas or polars frame, or an Arrow table.

    Args:
        frame: anything with ``__arrow_c_stream__``.
        request: how to understand it; its files are not looked at.

    Raises:
        InputError: the frame cannot be audited as it is.
    """
    from mipaudit.reading.source.frame_part import open_arrow

    return open_groups([(None, (open_arrow(frame),))], request)


def open_frames(members: object, holdout: object, request: ReadRequest) -> ScoreSource:
    """Open one frame for each class; their columns are paired by name.

    Args:
        members: anything with ``__arrow_c_stream__``.
        holdout: the same.
        request: how to understand them; its files are not looked at.

    Raises:
        InputError: the frames cannot be audited as they are.
    """
    from mipaudit.reading.source.frame_part import open_arrow

    parts = (open_arrow(members, "the members' frame"), open_arrow(holdout, "the holdout frame"))
    return open_groups([(True, parts[:1]), (False, parts[1:])], request)
