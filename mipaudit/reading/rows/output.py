"""Rows that are written as they are made: CSV, compressed or not, and Parquet.

The file of records: what the caller opened, or a path of which all or nothing is written.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal

from mipaudit.errors import InputError, OutputError, UsageError
from mipaudit.options.plain_values import Given, path_of
from mipaudit.statements.text.printable_names import inert_text, safe_name

if TYPE_CHECKING:
    import pyarrow as pa
    from _typeshed import SupportsWrite
    from numpy.typing import NDArray

RowFormat = Literal["csv", "csv.gz", "parquet"]
SUFFIXES: Final[Mapping[str, RowFormat]] = {
    ".csv": "csv",
    ".csv.gz": "csv.gz",
    ".parquet": "parquet",
}
# zlib's own default: more takes twice the time for a percent.
_COMPRESSION: Final = 6
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_PRIVATE_MODE: Final = 0o600
_LONGEST_NAME: Final = 200


def row_format(name: str) -> RowFormat | None:
    """Return the form that the end of a file's name asks for, if any."""
    folded = name.lower()
    return next((form for end, form in SUFFIXES.items() if folded.endswith(end)), None)


def write_rows(
    file: BinaryIO,
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
    if inert:
        chunks = map(_inert, chunks)
    if form == "parquet":
        _write_parquet(file, chunks, columns, repeating)
        return
    if form == "csv":
        _write_csv(file, chunks, columns, quoted=quoted)
        return
    from gzip import GzipFile

    # Neither a name nor a time: equal rows make equal bytes.
    with GzipFile(
        fileobj=file, mode="wb", filename="", mtime=0, compresslevel=_COMPRESSION
    ) as compressed:
        _write_csv(compressed, chunks, columns, quoted=quoted)


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


def _write_csv(
    file: SupportsWrite[bytes],
    chunks: Iterable[Mapping[str, NDArray[Any]]],
    columns: Sequence[str],
    *,
    quoted: bool,
) -> None:
    import pyarrow as pa
    from pyarrow import csv

    heads = [name.replace('"', '""') for name in columns]
    line = ",".join(f'"{head}"' if set(head) & set('",\r\n') else head for head in heads)
    file.write(f"{line}\n".encode())
    style: Literal["needed", "none"] = "needed" if quoted else "none"
    options = csv.WriteOptions(include_header=False, quoting_style=style)
    schema = None
    for chunk in chunks:
        table = _same_types(_table(chunk, columns), schema)
        schema = table.schema if quoted else None
        text = pa.BufferOutputStream()
        csv.write_csv(table, text, options)
        file.write(text.getvalue())


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
            hint="Store it as text everywhere, or leave `key_col` out: rows are numbered.",
        ) from None


def _write_parquet(
    file: BinaryIO,
    chunks: Iterable[Mapping[str, NDArray[Any]]],
    columns: Sequence[str],
    repeating: Sequence[str],
) -> None:
    from pyarrow import parquet

    writer = None
    try:
        for chunk in chunks:
            table = _same_types(_table(chunk, columns), None if writer is None else writer.schema)
            if writer is None:
                # Scores hardly repeat: a dictionary of them is built only to be given up.
                writer = parquet.ParquetWriter(file, table.schema, use_dictionary=[*repeating])
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def record_format(
    output: Given,
    given: str | None,
    *,
    what: str = "records",
    example: str = "risks",
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
    found = given if given is not None else row_format(str(name))
    if found not in SUFFIXES.values():
        raise UsageError(
            "output",
            f"The {what} go to a file that ends in .csv, .csv.gz or .parquet.",
            hint=f"For example: `output` {example}.parquet. The report itself goes to standard "
            "output.",
        )
    return found  # type: ignore[return-value]


def require_csv(form: RowFormat | None, *, safe_csv: bool) -> None:
    """Raise UsageError ``safe_csv`` where no CSV is written that it could be about."""
    if safe_csv and form not in {"csv", "csv.gz"}:
        raise UsageError(
            "safe_csv",
            "`safe_csv` is about records in a CSV file, and none is written.",
            hint="Name one with `output`, such as risks.csv, or leave `safe_csv` out.",
        )


@contextmanager
def record_file(output: Given, *, inputs: Iterable[Any] = ()) -> Iterator[BinaryIO]:
    """Yield a binary file; one given by its path is there when all of it is written.

    A new file is readable by its owner alone: it holds what belongs to persons.

    Args:
        output: a path, or an open binary file.
        inputs: what is read; a path among them may not be written to.

    Raises:
        UsageError: ``output_is_input``.
        OutputError: the system refused.
    """
    for read in inputs:
        paths = isinstance(read, (str, PathLike)) and isinstance(output, (str, PathLike))
        if paths and os.path.realpath(read) == os.path.realpath(output):
            raise UsageError(
                "output_is_input",
                "The records would take the place of the scores.",
                hint="Choose another file for the records.",
            )
    if not isinstance(output, (str, PathLike)):
        yield output
        return
    path = Path(path_of(output))
    beside = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        with os.fdopen(os.open(beside, _NEW, _PRIVATE_MODE), "wb") as file:
            if path.exists() and hasattr(os, "fchmod"):  # Windows has it from Python 3.13 on
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            yield file
        beside.replace(path)
    except OSError as error:
        raise OutputError(
            "unwritable_output",
            f"The output {safe_name(str(path), longest=_LONGEST_NAME)} cannot be written: "
            f"{os.strerror(error.errno or 5)}.",
            hint="Choose another file for `output`, in a directory that exists and may be "
            "written to.",
        ) from None
    finally:
        beside.unlink(missing_ok=True)
