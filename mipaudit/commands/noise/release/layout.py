"""How a released vector lies in its file, so that it can be written the same way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from mipaudit.commands.noise.options import ReleaseFormat


_SUFFIXES: Final[dict[str, ReleaseFormat]] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".json": "json",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvLayout:
    """One row of d cells, or d rows of one.

    Attributes:
        across: whether the vector is one row.
        delimiter: between two cells.
        newline: at the end of a row.
        header: everything before the first row, as it was written.
    """

    across: bool
    delimiter: str
    newline: str
    header: str
    format: Literal["csv"] = "csv"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParquetLayout:
    """One row of numbers and lists of numbers, or d rows of one number.

    Attributes:
        across: whether the vector is one row.
        schema: the columns with their types.
        widths: how many numbers each column holds in a row.
    """

    across: bool
    schema: pa.Schema
    widths: tuple[int, ...]
    format: Literal["parquet"] = "parquet"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArrayLayout:
    """An array: its shape, type and order in memory."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    format: Literal["npy"] = "npy"


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLayout:
    """Nested lists of some shape, or an object, which may be the only one in a list."""

    shape: tuple[int, ...]
    wrapped: bool = False
    format: Literal["json"] = "json"


Layout = CsvLayout | ParquetLayout | ArrayLayout | JsonLayout


def suffix_format(path: str) -> ReleaseFormat | None:
    """Return the format that the suffix of ``path`` means; None for any other suffix."""
    return _SUFFIXES.get(PurePath(path).suffix.casefold())
