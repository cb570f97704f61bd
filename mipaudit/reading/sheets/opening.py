"""From a path to a sheet: which file, and which format it is in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import ZIP_MAGIC, Blob, Format, blob_format
from mipaudit.reading.bytes.npy import NPY_MAGIC, read_npy
from mipaudit.reading.bytes.paths import input_blobs
from mipaudit.reading.csv.dialect import plain_stream
from mipaudit.reading.sheets.json_numbers import json_table, load_json, looks_like_json
from mipaudit.reading.sheets.sheet import ArraySheet, PartSheet, Sheet, TextSheet

if TYPE_CHECKING:
    from numpy.typing import NDArray


_STDIN_IN_MEMORY: Final = 4 << 20
_HEAD: Final = 4096
_TEXT_SUFFIXES: Final = (".csv", ".tsv", ".txt")
# No header, or lines longer than what CsvPart reads to find the columns: the text
# as a whole says which.
_SECOND_LOOK: Final = frozenset({"no_header", "not_a_table", "no_rows", "long_row"})


def only_blob(path: str) -> Blob:
    """Return the one file that ``path`` means; ``-`` is standard input.

    Raises:
        InputError: ``several_files``, or as ``input_blobs``.
        UsageError: as ``input_blobs``.
    """
    blobs = input_blobs(path, in_memory=_STDIN_IN_MEMORY)
    if len(blobs) == 1:
        return blobs[0]
    raise InputError(
        "several_files",
        f"{len(blobs)} files where one is expected.",
        hint="Give one file, not a directory or a pattern.",
    )


def content_kind(blob: Blob, kind: Format) -> str:
    """Tell ``parquet``, ``npy``, ``json`` and ``csv`` apart by the first bytes.

    Raises:
        InputError: ``empty_file``, ``archive`` or ``truncated``.
    """
    if kind == "parquet":
        return "parquet"
    with plain_stream(blob, kind) as stream:
        head = stream.read(_HEAD)
    if head.startswith(ZIP_MAGIC):
        raise InputError(
            "archive",
            f"{blob.name}: a zip archive, such as .npz, can hold several arrays.",
            hint="Save one array with numpy.save.",
        )
    suffixed = blob.name.removesuffix(".gz").removesuffix(".zst").casefold()
    if head.startswith(NPY_MAGIC) or suffixed.endswith(".npy"):
        return "npy"
    if suffixed.endswith(".json"):
        return "json"
    return "json" if looks_like_json(head) and not suffixed.endswith(_TEXT_SUFFIXES) else "csv"


def open_sheet(blob: Blob) -> Sheet:
    """Open one file by its first bytes and its suffix.

    Raises:
        InputError: it is none of CSV, Parquet, .npy and JSON, or damaged.
    """
    kind = blob_format(blob)
    match content_kind(blob, kind):
        case "parquet":
            return parquet_sheet(blob)
        case "npy":
            return array_sheet(read_npy(blob, kind), blob.name)
        case "json":
            return TextSheet(table=json_table(load_json(blob, kind), blob.name))
        case _:
            return _csv_sheet(blob, kind)


def parquet_sheet(blob: Blob) -> PartSheet:
    """Open a Parquet file.

    Raises:
        InputError: ``bad_parquet``, ``duplicate_columns`` or ``no_rows``.
    """
    from mipaudit.reading.parquet.list_column import is_number_list, read_lists
    from mipaudit.reading.parquet.parquet import open_parquet

    part = open_parquet(blob)
    if not part.rows_about:
        raise InputError("no_rows", f"{blob.name}: there are columns and no row.")
    schema = part.metadata.schema.to_arrow_schema()
    lists = frozenset(field.name for field in schema if is_number_list(field.type))
    return PartSheet(part=part, schema=schema, lists=lists, read_lists=partial(read_lists, part))


def array_sheet(array: NDArray[Any], name: str) -> ArraySheet:
    """Return an array as a sheet.

    Raises:
        InputError: ``wrong_shape`` or ``no_rows``.
    """
    if array.ndim != 2:  # noqa: PLR2004
        raise InputError(
            "wrong_shape",
            f"{name}: an array of {array.ndim} dimensions where rows and columns are expected.",
            hint="Reshape it: one row per split, also where a split is one number.",
        )
    if not array.shape[0]:
        raise InputError("no_rows", f"{name}: the array has no rows.")
    return ArraySheet(name=name, array=array)


def _csv_sheet(blob: Blob, kind: Format) -> Sheet:
    from mipaudit.reading.csv.part import CsvPart
    from mipaudit.reading.csv.text import read_csv_text

    try:
        return PartSheet(part=CsvPart(blob, kind))
    except InputError as error:
        if error.code not in _SECOND_LOOK:
            raise
    return TextSheet(table=read_csv_text(blob, kind))
