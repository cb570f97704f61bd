"""Opens whatever the caller has: files, a frame, an Arrow table, two arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mipaudit.data.csv_cells import column_kind
from mipaudit.errors import InputError, UsageError
from mipaudit.reading.columns.column import FRACTIONS, INTEGERS, Field, Numbers, column_hashes
from mipaudit.reading.columns.column_cache import ChunkStore, StoredPart, slice_column
from mipaudit.reading.columns.names import unique_names
from mipaudit.reading.source.opening import open_groups, open_scores
from mipaudit.reading.source.part import CHUNK_ROWS
from mipaudit.reading.source.request import ReadRequest

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.options.plain_values import Given
    from mipaudit.reading.source.part import Load
    from mipaudit.reading.source.request import NanPolicy
    from mipaudit.reading.source.source import ScoreSource


def open_input(
    data: Given,
    members: Given,
    holdout: Given,
    request: ReadRequest,
    *,
    load: Callable[[Sequence[Load]], None] | None = None,
) -> ScoreSource:
    """Return the opened input.

    Args:
        data: a path, several, a directory, glob, ``"-"``, a data frame or an Arrow table;
            or None.
        members: the members' path, frame or array, with ``holdout``; or None.
        holdout: the holdout's path, frame or array, of the same form.
        request: what to read; its paths are filled in here.
        load: gets the files ready; None for one after the other.

    Raises:
        UsageError: neither or both forms are given, or only one of the two classes.
        InputError: the input cannot be read.
    """
    _require_one_form(data, members, holdout)
    if data is not None:
        paths = _paths(data)
        if paths is None:
            return open_frame(data, request)
        return open_scores(replace(request, scores=paths), load=load)
    member_path, holdout_path = _path(members), _path(holdout)
    if member_path is not None and holdout_path is not None:
        return open_scores(replace(request, members=member_path, holdout=holdout_path), load=load)
    frames = (is_frame(members), is_frame(holdout))
    if member_path is not None or holdout_path is not None or frames[0] != frames[1]:
        raise UsageError(
            "mixed_inputs",
            "Members and holdout are not given in the same form.",
            hint="Give two files, two frames, or two arrays.",
        )
    if frames[0]:
        return open_frames(members, holdout, request)
    _check_arrays(request)
    return open_arrays(members, holdout, nan=request.nan)


def is_frame(data: object) -> bool:
    """Tell a table from a series, which offers the same stream without columns."""
    has_columns = hasattr(data, "__arrow_c_stream__") or type(data).__name__ == "DataFrame"
    return has_columns and (hasattr(data, "columns") or hasattr(data, "schema"))


def _check_arrays(request: ReadRequest) -> None:
    """Raise UsageError for what asks for a column by name: arrays have none."""
    given = {
        "score_col": bool(request.score_columns),
        "member_col": request.member_column is not None,
        "member_value": request.member_value is not None,
        "where": request.where is not None,
        "unit_col": request.unit_column is not None,
        "unit_rows": request.unit_rows is not None,
        "key_col": request.key_column is not None,
        request.group_option.strip("`"): bool(request.group_columns),
    }
    named = [name for name, present in given.items() if present]
    if named:
        raise UsageError(
            "not_for_arrays",
            f"{', '.join(named)}: arrays have no named columns.",
            hint="Give members and holdout as two frames instead.",
        )


def _paths(data: object) -> tuple[str, ...] | None:
    """Return one path or several, None for what is no path."""
    listed = data if isinstance(data, (list, tuple)) else (data,)
    paths = [path for path in map(_path, listed) if path is not None]
    return tuple(paths) if paths and len(paths) == len(listed) else None


def _path(data: object) -> str | None:
    if isinstance(data, str):
        return data
    if not isinstance(data, PathLike):
        return None
    name = fspath(data)
    return name.decode() if isinstance(name, bytes) else str(name)


def _require_one_form(data: object, members: object, holdout: object) -> None:
    if data is not None and (members is not None or holdout is not None):
        raise UsageError(
            "two_inputs",
            "Scores are given twice: SCORES, and `members` or `holdout`.",
            hint="Give SCORES alone, or `members` and `holdout`.",
        )
    if data is None and (members is None or holdout is None):
        raise UsageError(
            "no_input",
            "No scores are given."
            if members is None and holdout is None
            else "Only one of members and holdout is given.",
            hint="Give a score file, or `members` and `holdout`.",
        )


# What is in memory already costs nothing more to keep there.
_UNLIMITED = 1 << 62


class ArrowPart(StoredPart):
    """A table in memory, in Arrow's form."""

    blob = None

    def __init__(self, name: str, table: pa.Table) -> None:
        """Keep ``table``; its columns are converted when asked for."""
        from mipaudit.reading.parquet.arrow import arrow_fields

        self.name = name
        unique_names(table.schema.names, self.name)
        self.table = table
        self.fields = arrow_fields(table.schema)
        self.rows_about: int = table.num_rows
        self._store = ChunkStore(in_memory=_UNLIMITED)

    def load(
        self, names: Collection[str], hashed: Collection[str], keys: Collection[str] = ()
    ) -> None:
        """Convert the named columns."""
        del keys  # the table has types
        from mipaudit.reading.parquet.arrow import ArrowReader, read_columns

        readers = {name: ArrowReader() for name in names}
        self._store = ChunkStore(in_memory=_UNLIMITED)
        for batch in self.table.select(list(names)).to_batches(max_chunksize=CHUNK_ROWS):
            if batch.num_rows:
                columns = read_columns(batch, readers, self.name)
                for name in set(hashed) & set(columns):
                    columns[name] = column_hashes(columns[name])
                self._store.append(columns, batch.num_rows)


def open_arrow(frame: object, name: str = "the frame") -> ArrowPart:
    """Return a pandas or polars frame, or an Arrow table, as a part.

    Args:
        frame: anything with ``__arrow_c_stream__``.
        name: what messages call it.

    Raises:
        InputError: ``not_a_frame`` or ``no_rows``.
    """
    table = arrow_table(frame)
    if not table.num_rows:
        raise InputError("no_rows", f"{name.capitalize()} has no rows.")
    return ArrowPart(name, table)


def arrow_table(frame: object) -> pa.Table:
    """Return a frame as an Arrow table.

    Args:
        frame: anything with ``__arrow_c_stream__``.

    Raises:
        InputError: ``not_a_frame``.
    """
    import pyarrow as pa

    if not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            "not_a_frame",
            f"An object of type {type(frame).__name__} is no table.",
            hint="Pass a path, a pandas or polars DataFrame, or an Arrow table.",
        )
    try:
        return frame if isinstance(frame, pa.Table) else pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError):
        # Arrow's message may quote the data.
        raise InputError(
            "not_a_frame", "A column of the frame mixes types and cannot be read."
        ) from None


class ArrayPart(StoredPart):
    """The scores of one class, one numpy array per score."""

    blob = None

    def __init__(self, name: str, numbers: Mapping[str, Numbers]) -> None:
        """Take columns of equal length."""
        self.name = name
        self.fields = tuple(_array_field(column, found) for column, found in numbers.items())
        rows = self.rows_about = next(iter(numbers.values())).values.size
        self._store = ChunkStore(in_memory=_UNLIMITED)
        for start in range(0, rows, CHUNK_ROWS):
            stop = min(start + CHUNK_ROWS, rows)
            chunk = {n: slice_column(column, start, stop) for n, column in numbers.items()}
            self._store.append(chunk, stop - start)

    def load(
        self, names: Collection[str], hashed: Collection[str], keys: Collection[str] = ()
    ) -> None:
        """Do nothing: everything is there."""


def _array_field(name: str, numbers: Numbers) -> Field:
    dtype = numbers.values.dtype
    return Field(
        name=name, kind=column_kind(numbers), storage=dtype.name if dtype.kind == "f" else None
    )


def array_part(side: str, values: ArrayLike) -> ArrayPart:
    """Return the scores of one class as a part, called ``score``, or ``score_0`` and so on.

    Args:
        side: ``"members"`` or ``"holdout"``.
        values: shape (n,) or (n, d), numbers or booleans; masked values are missing.

    Raises:
        InputError: ``bad_array`` or ``empty_class``.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(
            "bad_array", f"The {side} scores are not an array: their rows differ in length."
        ) from None
    if array.dtype.kind not in "biuf" or array.ndim not in {1, 2}:
        raise InputError(
            "bad_array", f"The {side} scores must be numbers in one or two dimensions."
        )
    table = array.reshape(len(array), -1) if array.size else array.reshape(0, 1)
    if not table.size:
        raise InputError("empty_class", f"There are no {side} scores.")
    width = table.shape[1]
    titles = ["score"] if width == 1 else [f"score_{at}" for at in range(width)]
    masks = _masks(values, table.shape)
    return ArrayPart(
        side,
        {
            name: _numbers(table[:, at], None if masks is None else masks[:, at])
            for at, name in enumerate(titles)
        },
    )


def _numbers(values: NDArray[Any], missing: NDArray[np.bool_] | None) -> Numbers:
    """Return an array's column; floats of more than 64 bits as those that are nearest."""
    if values.dtype.kind != "f" or values.dtype.itemsize <= np.dtype(np.float64).itemsize:
        return Numbers(values=values, missing=missing)
    with np.errstate(over="ignore", under="ignore"):
        nearest = values.astype(np.float64)
    lost = (nearest != values) & ~np.isnan(values)
    marks = lost * np.where(np.floor(values) == values, np.uint8(INTEGERS), np.uint8(FRACTIONS))
    return Numbers(values=nearest, missing=missing, rounded=marks if lost.any() else None)


def _masks(values: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_] | None:
    """Return which values a masked array hides, None for no masked array."""
    if not isinstance(values, np.ma.MaskedArray):
        return None
    return np.ma.getmaskarray(values).reshape(shape)


def open_arrays(
    members: ArrayLike,
    holdout: ArrayLike,
    *,
    nan: NanPolicy = "error",
) -> ScoreSource:
    """Open the scores of both classes from arrays.

    Args:
        members: shape (n,) or (n, d), numbers or booleans.
        holdout: shape (m,) or (m, d).
        nan: what to do with a missing score.

    Raises:
        InputError: a wrong shape or type, or a class without scores.
    """
    parts = (array_part("members", members), array_part("holdout", holdout))
    widths = [len(part.fields) for part in parts]
    if widths[0] != widths[1]:
        raise InputError(
            "columns_differ",
            f"Members have {widths[0]} scores a record, and holdout {widths[1]}.",
        )
    titles = tuple(field.name for field in parts[0].fields)
    request = ReadRequest(score_columns=titles, nan=nan, arrays=True)
    return open_groups([(True, parts[:1]), (False, parts[1:])], request)


def open_frame(frame: object, request: ReadRequest) -> ScoreSource:
    """Open a pandas or polars frame, or an Arrow table.

    Args:
        frame: anything with ``__arrow_c_stream__``.
        request: how to understand it; its files are not looked at.

    Raises:
        InputError: the frame cannot be audited as it is.
    """
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
    parts = (open_arrow(members, "the members' frame"), open_arrow(holdout, "the holdout frame"))
    return open_groups([(True, parts[:1]), (False, parts[1:])], request)
