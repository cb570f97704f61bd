"""The audits of an array or of a frame, one after the other, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mipaudit.data.parts import arrow_table, is_frame
from mipaudit.errors import UsageError
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from mipaudit.commands.estimate.many.options import EstimateManyOptions

_TABLE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit:
    """What `estimate` would be given for one audit: a frame, or the two classes apart."""

    data: Any = None
    members: Any = None
    holdout: Any = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audits:
    """All audits, and what names each in the table."""

    each: tuple[Audit, ...]
    names: pd.Index


def audits_of(asked: EstimateManyOptions) -> Audits:
    """Return the audits that are asked for.

    Raises:
        UsageError: ``member``, ``by`` or ``scores`` do not go together.
    """
    frame = _frame(asked.scores)
    if frame is None:
        return _of_array(asked)
    if asked.member is not None:
        raise UsageError(
            "member",
            "A frame has its membership in a column.",
            hint="Leave member= out, and name the column with `member_col` if it is not found.",
        )
    return _of_frame(frame, asked)


def _frame(scores: Any) -> pd.DataFrame | None:  # noqa: ANN401 - an array or a frame of any kind
    import pandas as pd

    if isinstance(scores, pd.DataFrame):
        return scores
    if not is_frame(scores):
        return None
    import pyarrow as pa

    # A number that is missing in one audit must not make fractions of the whole numbers of all.
    return arrow_table(scores).to_pandas(
        types_mapper=lambda kind: pd.ArrowDtype(kind) if pa.types.is_integer(kind) else None
    )


def _of_frame(frame: pd.DataFrame, asked: EstimateManyOptions) -> Audits:
    by = list(asked.by)
    if not by:
        raise UsageError(
            "by",
            "A frame is split into audits by the values of a column.",
            hint="Name it with `by`; for one audit use `mipaudit.estimate`.",
        )
    for name in by:
        if name not in frame.columns:
            raise UsageError(
                "by",
                f"There is no column {quoted_name(name)} to split the frame by.",
                hint="Check how the name is written.",
            )
    try:
        # Columns, not their names: an index may have one of them, too.
        groups = frame.groupby([frame[name] for name in by], dropna=False, observed=True)
        names = groups.size().index
    except (TypeError, ValueError):  # what is said may quote the data
        raise UsageError(
            "by",
            "The frame cannot be split by these columns.",
            hint="Each must be there once and hold numbers, texts or dates.",
        ) from None
    if not names.size:
        raise UsageError("scores", "The frame has no rows.", hint="Give it some.")
    return Audits(each=tuple(Audit(data=rows.drop(columns=by)) for _, rows in groups), names=names)


def _of_array(asked: EstimateManyOptions) -> Audits:
    import numpy as np
    import pandas as pd

    if asked.by:
        raise UsageError(
            "by", "An array has no columns to split it by.", hint="Leave `by` out, or give a frame."
        )
    scores = asked.scores
    if not isinstance(scores, np.ma.MaskedArray):  # whose masks say what is missing
        try:
            scores = np.asarray(scores)
        except ValueError:  # rows of unlike number
            scores = np.empty(len(scores))
    if scores.ndim != _TABLE or not scores.size:
        raise UsageError(
            "scores",
            f"The scores must be an array of shape (audits, rows), not {scores.shape}.",
            hint="One audit is scores[None, :]; rows of unlike number go into a frame with `by`.",
        )
    member = _member(asked.member, scores.shape)
    return Audits(
        each=tuple(
            Audit(members=row[inside], holdout=row[~inside])
            for row, inside in zip(scores, member, strict=True)
        ),
        names=pd.RangeIndex(len(scores), name="audit"),
    )


def _member(given: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:  # noqa: ANN401 - as above
    """Return who is a member, of the shape of the scores."""
    import numpy as np

    if given is None:
        raise UsageError(
            "member",
            "Who is a member is not said.",
            hint="Give member=, an array of shape (rows,) or (audits, rows).",
        )
    member = np.asarray(given)
    if member.shape not in {shape, shape[1:]}:
        raise UsageError(
            "member",
            f"member= has the shape {member.shape}, and the scores have {shape}.",
            hint=f"Its shape must be {shape[1:]} or {shape}.",
        )
    if np.ma.is_masked(given) or not (member.dtype == bool or np.isin(member, (0, 1)).all()):
        raise UsageError(
            "member",
            "member= must be bool, or hold 0 and 1 alone.",
            hint="Compare labels first: member = labels == 'train'.",
        )
    return np.broadcast_to(member.astype(bool), shape)
