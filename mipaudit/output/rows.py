"""Rows that are written as they are made: CSV, compressed or not, and Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, Final, Literal, cast

from mipaudit.errors import InputError, UsageError
from mipaudit.options.shown import form_of
from mipaudit.options.values import Given, path_of
from mipaudit.statements.printable_names import inert_text, safe_name

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

RowFormat = Literal["csv", "csv.gz", "parquet"]
SUFFIXES: Final[Mapping[str, RowFormat]] = {
    ".csv": "csv",
    ".csv.gz": "csv.gz",
    ".parquet": "parquet",
}
# zlib's own default: more takes twice the time for a percent.
_COMPRESSION: Final = 6


def row_format(name: str) -> RowFormat | None:
    """Return the form that the end of a file's name asks for, if any."""
    folded = name.lower()
    return next((form for end, form in SUFFIXES.items() if folded.endswith(end)), None)


def write_rows(
    file: IO[bytes],
    chunks: Iterable[Mapping[str, NDArray[Any]]],
    form: RowFormat,
    *,
    columns: Sequence[str],
    repeating: Sequence[str] = ("group",),
    quoted: bool = False,
    inert: bool = False,
) -> None:
    """Write chunks of columns one after the other; only one is in memory at a time.

    Args:
        file: open for writing; it stays open.
        chunks: columns of equal length by name.
        form: CSV has a header and the shortest numbers that read back the same.
        columns: which, in order.
        repeating: columns of few values: Parquet keeps each once.
        quoted: names and text may hold separators, and are put in quotes in CSV.
        inert: text that a spreadsheet would run as a formula is written so that it is not.

    Raises:
        InputError: ``types_differ``, when a column changes its type between chunks.
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    style: Literal["needed", "none"] = "needed" if quoted else "none"
    options = csv.WriteOptions(include_header=False, quoting_style=style)
    writer = schema = None
    with ExitStack() as stack:
        if form == "csv.gz":
            from gzip import GzipFile

            # Neither a name nor a time: equal rows make equal bytes.
            packed = GzipFile("", "wb", _COMPRESSION, file, mtime=0)
            file = cast("IO[bytes]", stack.enter_context(packed))
        if form != "parquet":
            heads = [name.replace('"', '""') for name in columns]
            line = ",".join(f'"{head}"' if set(head) & set('",\r\n') else head for head in heads)
            file.write(f"{line}\n".encode())
        for chunk in map(_inert, chunks) if inert else chunks:
            table = _same_types(_table(chunk, columns), schema)
            schema = table.schema
            if form != "parquet":
                text = pa.BufferOutputStream()
                csv.write_csv(table, text, options)
                file.write(text.getvalue())
                continue
            if writer is None:
                # Scores hardly repeat: a dictionary of them is built only to be given up.
                writer = parquet.ParquetWriter(file, schema, use_dictionary=[*repeating])
                stack.enter_context(writer)
            writer.write_table(table)


def _inert(chunk: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
    import numpy as np

    return {
        name: np.array([inert_text(str(one)) for one in values], dtype=object)
        if values.dtype.kind in "OSU"
        else values
        for name, values in chunk.items()
    }


def table_of(chunks: Iterable[Mapping[str, NDArray[Any]]], *, columns: Sequence[str]) -> pa.Table:
    """Return chunks of columns as one Arrow table."""
    import pyarrow as pa

    return pa.concat_tables([_table(chunk, columns) for chunk in chunks])


def _table(chunk: Mapping[str, NDArray[Any]], columns: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array(chunk[name]) for name in columns})


def _same_types(table: pa.Table, schema: pa.Schema | None) -> pa.Table:
    """Return the table with the types of those before it.

    Raises:
        InputError: ``types_differ``.
    """
    import pyarrow as pa

    if schema is None or table.schema.equals(schema):
        return table
    try:
        return table.cast(schema)
    except (pa.ArrowException, ValueError):
        # Arrow's message may quote the data.
        raise InputError(
            "types_differ",
            "The key column has different types in different parts of the input.",
            "Store it as text everywhere, or leave `key_col` out: rows are numbered.",
        ) from None


def record_format(
    output: Given, given: str | None, *, what: str = "records", example: str = "risks"
) -> RowFormat | None:
    """Return the form to write in, or None where nothing is to be written.

    Args:
        output: a path, or an open file.
        given: the form; None for that of the name.
        what: is written, as errors say it.
        example: of a name.

    Raises:
        UsageError: neither the name nor ``given`` says which.
    """
    if output is None:
        return None
    name = path_of(output) if isinstance(output, (str, PathLike)) else ""
    found = row_format(str(name)) if given is None else given
    if found not in SUFFIXES.values():
        report = f"`report` {safe_name(name)}" if form_of(name) else "standard output"
        raise UsageError(
            "output",
            f"The {what} go to a file that ends in .csv, .csv.gz or .parquet.",
            f"For example: `output` {example}.parquet. The report itself goes to {report}.",
        )
    return found  # type: ignore[return-value]


def require_csv(form: RowFormat | None, *, safe_csv: bool) -> None:
    """Raise UsageError ``safe_csv`` where no CSV is written that it could be about."""
    if safe_csv and form not in {"csv", "csv.gz"}:
        raise UsageError(
            "safe_csv",
            "`safe_csv` is for a CSV file of records, but none is written.",
            "Name one with `output`, such as risks.csv, or leave `safe_csv` out.",
        )
