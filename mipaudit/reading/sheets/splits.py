"""Released vectors over random splits: one row per split, one column per coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import describe_blob
from mipaudit.reading.sheets.coordinates import coordinate_hints, read_coordinates
from mipaudit.reading.sheets.opening import array_sheet, only_blob, open_sheet
from mipaudit.reading.sheets.sheet import PartSheet
from mipaudit.statements.origin import InputFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.sheets.coordinates import Coordinates
    from mipaudit.reading.sheets.sheet import Sheet

# What messages call splits that are in memory.
_IN_MEMORY: Final = "the splits"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Splits:
    """The vectors that one algorithm released over B random splits.

    Attributes:
        columns: the d names of the coordinates; c0, c1 and so on when not ``named``.
        values: shape (B, d), finite; in either memory order.
        named: whether the file names its columns.
        skipped: columns that were passed over: they name the rows, or were to be ignored.
        source: the file, with its rows and its hash.
    """

    columns: tuple[str, ...]
    values: NDArray[np.float64]
    named: bool
    skipped: tuple[str, ...]
    source: InputFile


def read_splits(path: str, *, columns: Sequence[str] = (), ignore: Sequence[str] = ()) -> Splits:
    """Read one vector per row from CSV, Parquet, ``.npy`` or JSON.

    CSV may be compressed (gzip, zstd), and have no header if it holds only numbers. A Parquet
    column of lists is a vector; JSON is a list of lists or of objects. Booleans count
    as 0 and 1.

    Args:
        path: a file, or ``-`` for standard input.
        columns: the coordinates by name; by default all columns but row labels.
        ignore: columns that are left out.

    Raises:
        UsageError: an empty or remote path, or a column with two roles.
        InputError: there is no such table, or a cell of it is not a finite number.
    """
    blob = only_blob(path)
    try:
        with coordinate_hints():
            sheet = open_sheet(blob)
            found = read_coordinates(sheet, blob.name, columns=columns, ignore=ignore)
        return _splits(found, sheet, describe_unchanged(blob, len(found.values)))
    finally:
        blob.close()


def splits_of(data: object, *, columns: Sequence[str] = (), ignore: Sequence[str] = ()) -> Splits:
    """Return vectors that are in memory, one per row.

    Args:
        data: an array of shape (B, d), masked values being missing; or a pandas or polars
            frame, or an Arrow table.
        columns: the coordinates by name; by default all columns but row labels.
        ignore: columns that are left out.

    Raises:
        UsageError: a column with two roles.
        InputError: ``bad_array``, or as ``read_splits``.
    """
    sheet = _sheet_of(data)
    found = read_coordinates(sheet, _IN_MEMORY, columns=columns, ignore=ignore)
    return _splits(found, sheet, InputFile(name=_IN_MEMORY, rows=len(found.values), bytes=None))


def _splits(found: Coordinates, sheet: Sheet, source: InputFile) -> Splits:
    return Splits(
        columns=found.columns,
        values=found.values,
        named=sheet.named,
        skipped=found.skipped,
        source=source,
    )


def _sheet_of(data: object) -> Sheet:
    if hasattr(data, "__arrow_c_stream__"):
        from mipaudit.reading.source.frame_part import open_arrow

        return PartSheet(part=open_arrow(data, _IN_MEMORY))
    try:
        array = np.asanyarray(data)
    except (TypeError, ValueError):
        raise _bad_array("they differ in length") from None
    if array.dtype.kind not in "biuf":
        raise _bad_array("they hold something else than numbers")
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    return array_sheet(np.asarray(array), _IN_MEMORY)


def _bad_array(why: str) -> InputError:
    return InputError("bad_array", f"The splits are no array of numbers: {why}.")


def describe_unchanged(blob: Blob, rows: int) -> InputFile:
    """Return how the report names ``blob``.

    Raises:
        InputError: ``input_changed`` when it is not as it was when it was opened.
    """
    described = describe_blob(blob, rows, hash_all=False)
    if blob.changed():
        raise InputError(
            "input_changed",
            f"{blob.name}: the file changed while it was read.",
            hint="Read a copy that nobody writes to.",
        )
    return described
