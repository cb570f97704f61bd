"""Opens each file by its first bytes, many at once where they are far away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import InputError
from mipaudit.reading.bytes.bad_parts import BadPartsError, named_fault
from mipaudit.reading.bytes.blob import ZIP_MAGIC, blob_format, each_at_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.bytes.paths import FoundBlob
    from mipaudit.reading.source.part import Part


def open_parts(files: Sequence[FoundBlob]) -> tuple[tuple[Part, ...], tuple[Blob, ...]]:
    """Return the parts, and what has a header alone: fine unless nothing else is there."""
    blobs = [one.blob for one in files]
    parts: list[Part] = []
    bare: list[Blob] = []
    opened = each_at_once(_open_or_error, blobs, remote=any(blob.remote for blob in blobs))
    bad = [one for one in opened if isinstance(one, BadPartsError)]
    if bad:
        raise BadPartsError.together(bad)
    for blob, part in zip(blobs, _with_keys(opened, files), strict=True):
        if isinstance(part, InputError):
            if blob is blobs[-1] and not parts:
                raise part
            bare.append(blob)
        else:
            parts.append(part)
    return tuple(parts), tuple(bare)


def _with_keys(
    opened: Sequence[Part | InputError], files: Sequence[FoundBlob]
) -> Sequence[Part | InputError]:
    """Return the parts with the columns that their folders name."""
    if not any("=" in folder for one in files for folder in one.folders):
        return opened
    from mipaudit.reading.parquet.hive import folder_keys
    from mipaudit.reading.parquet.hive_part import HivePart

    keys = folder_keys([(one.blob.name, one.folders) for one in files])
    return [
        part if isinstance(part, InputError) else HivePart(part, own)
        for part, own in zip(opened, keys, strict=True)
    ]


def _open_or_error(blob: Blob) -> Part | InputError:
    """Return the part, or the error of a file with a header alone or one that is damaged."""
    try:
        return open_part(blob)
    except InputError as error:
        found = named_fault(error, blob.name)
        if error.code != "no_rows" and not isinstance(found, BadPartsError):
            raise
        return found


def open_part(blob: Blob) -> Part:
    """Open one file by its first bytes."""
    found = blob_format(blob)
    if found == "csv":
        _refuse_archive(blob)
    if found == "parquet":
        from mipaudit.reading.parquet.parquet import open_parquet

        return open_parquet(blob)
    from mipaudit.reading.csv.part import CsvPart

    return CsvPart(blob, found)


def _refuse_archive(blob: Blob) -> None:
    """Refuse a zip archive, which may well be a summary under another name."""
    with blob.open() as stream:
        head = stream.read(len(ZIP_MAGIC))
    if head == ZIP_MAGIC:
        raise InputError(
            "zip_file",
            f"{blob.name}: a zip archive, not a table of scores.",
            hint="A summary of counts is named *.summary; cuts are given with --cuts.",
        )
