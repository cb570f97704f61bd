"""The first rows of a CSV file, or all of a small one: what its columns hold."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final, NamedTuple

from mipaudit.data.columns.names import is_cell, is_known, is_score_like
from mipaudit.data.csv.blocks import MisfitError, read_block
from mipaudit.data.csv.cells import (
    MISSING,
    booleans_of,
    column_kind,
    looks_numeric,
    numbers_of,
    without,
)
from mipaudit.data.csv.dialect import Dialect, diagnose_csv, unlike_csv
from mipaudit.errors import InputError

if TYPE_CHECKING:
    from mipaudit.data.columns.column import Kind, Labels

# A first line with so many of its names among the cells below is a record.
_OWN_WORDS: Final = 2


class CsvHead(NamedTuple):
    """What some rows show.

    Attributes:
        rows: how many.
        kinds: of the columns.
        exact: the columns of numbers some of which say more than a float64 can hold.
    """

    rows: int
    kinds: dict[str, Kind]
    exact: frozenset[str]


def read_head(body: bytes, dialect: Dialect, name: str) -> CsvHead:
    """Split ``body``, whole records in UTF-8 after the header, into cells.

    Raises:
        InputError: ``ragged_rows``, ``bad_quotes``, ``no_rows`` or ``no_header``.
    """
    rows, written = _words(body, dialect)
    if rows is None:
        diagnose_csv(io.BytesIO(body), dialect, (), name)
        raise unlike_csv(name)
    if not rows:
        raise InputError("no_rows", f"{name}: there is a header and no row.")
    cells = {one: without(column, MISSING) for one, column in written.items()}
    numbers = {one: numbers_of(column) or booleans_of(column) for one, column in cells.items()}
    numeric = {one for one, column in numbers.items() if column is not None}
    # A column ``member`` may say "member", and one of numbers be called "nan".
    own = {one for one, column in written.items() if one in column.vocabulary.words}
    if _is_record(dialect.names, own, numeric):
        raise InputError(
            "no_header",
            f"{name}: the first line is a record, or files were joined with their "
            "headers: it holds values, or says that one is missing, where names are expected.",
            hint="Add a header line, and leave out those that are repeated.",
        )
    kinds: dict[str, Kind] = {}
    for one, found in numbers.items():
        if found is not None:
            kinds[one] = column_kind(found)
        else:
            meant = looks_numeric(cells[one], score_like=is_score_like(one))
            kinds[one] = "float" if meant else "string"
    exact = [one for one, column in numbers.items() if column and column.lost is not None]
    return CsvHead(rows, kinds, frozenset(exact))


def _words(body: bytes, dialect: Dialect) -> tuple[int | None, dict[str, Labels]]:
    """Return rows and columns, with the words that say that a cell is empty.

    None for the rows where the text is no such table.
    """
    import pyarrow as pa

    from mipaudit.data.parquet.arrow import ArrowReader

    words = pa.dictionary(pa.int32(), pa.string())
    try:
        rows, columns = read_block(body, dialect, dict.fromkeys(dialect.names, words))
    except MisfitError:
        return None, {}
    return rows, {name: ArrowReader().labels(column) for name, column in columns.items()}


def _is_record(names: tuple[str, ...], own: set[str], numeric: set[str]) -> bool:
    """Tell whether the names are cells of a record.

    Args:
        names: in order.
        own: those that are words of their own columns. Of a header few are.
        numeric: those of columns of numbers or booleans.
    """
    if len(own) >= min(_OWN_WORDS, len(names)):
        return True
    # A column of numbers that is called as a missing number is written. The first may lack a
    # name: it counts the rows where a frame was written.
    stray = any(is_cell(name) and name in numeric for name in names[1:])
    # A name that records do not hold: a column's, or one above numbers.
    headed = any(
        is_known(name) or (name in numeric and not is_cell(name))
        for name in names
        if name not in own
    )
    return (bool(own) or stray) and not headed
