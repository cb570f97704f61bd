"""Summary files: what a site tells of its scores, and what can be added up with others'.

A file holds either *cuts* (where the scores lie, in cells of many records) or *counts*
(by cells that all sites agree on), and who made it from what. Neither holds a score. It is a zip
archive of one JSON text and some arrays of whole numbers or floats, checksummed: any zip tool shows
what is in it, since who lets a file out of a secure room wants to look. Users name files or
what `summarize` returned.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.parts import ScoreColumn
from mipaudit.errors import InputError, UsageError
from mipaudit.maths.arrays import Ints
from mipaudit.model.message import Finding
from mipaudit.options.values import Given, path_of
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.provenance import InputFile, Setting
from mipaudit.statements.rounding import count_text
from mipaudit.summaries.plan import Plan

TEXT_NAME: Final = "summary.json"
_SUFFIX: Final = ".npy"
_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)
_LARGEST_MEMBER: Final = 64 << 20
_LARGEST: Final = 128 << 20
# What zip, numpy and msgspec raise over bytes that are not as they were written, and we.
_DAMAGED: Final = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError),
    *(RuntimeError, ValueError, TypeError, OverflowError),
)


# An array's file as this module writes it: nothing else is parsed, nor memory taken for it.
_HEADER: Final = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<descr>[<>|][bfu][1248])', 'fortran_order': False, "
    rb"'shape': \((?P<shape>[0-9, ]{0,100})\), \} *\n",
    re.DOTALL,
)


def pack(text: bytes, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the archive; the same bytes for the same content.

    The comment of the archive is the sha256 of its text, which holds those of the arrays.
    """
    files = {TEXT_NAME: text} | {name + _SUFFIX: array_bytes(one) for name, one in arrays.items()}
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, _NO_TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(info, data)
        packed.comment = sha256(text).hexdigest().encode()
    return archive.getvalue()


def array_bytes(array: NDArray[Any]) -> bytes:
    """Return an array in numpy's own file format."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
    return file.getvalue()


def narrow(counts: Ints) -> NDArray[Any]:
    """Return counts in the smallest type that holds them."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))), copy=False)


def _unpacked(data: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Return the text, and each array's file by its name.

    Raises:
        ValueError: what `pack` does not write: other compressions, names twice, great sizes; or
            another text.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        sizes = [one.file_size for one in members]
        _require(
            {one.compress_type for one in members} == {zipfile.ZIP_DEFLATED}
            and len({one.filename for one in members}) == len(members)
            and max(sizes) <= _LARGEST_MEMBER
            and sum(sizes) <= _LARGEST
        )
        files = {one.filename: archive.read(one) for one in members}
        text = files.pop(TEXT_NAME, b"")
        _require(sha256(text).hexdigest().encode() == archive.comment)
    return text, {name.removesuffix(_SUFFIX): file for name, file in files.items()}


def _array_of(file: bytes) -> NDArray[Any]:
    header = _HEADER.match(file)
    if header is None:
        raise ValueError
    shape = tuple(int(one) for one in header["shape"].split(b",") if one.strip())
    found = np.frombuffer(file, header["descr"].decode(), offset=header.end()).reshape(shape)
    _require(found.dtype != np.bool_ or found.view(np.uint8).max(initial=0) <= 1)
    return found


def _require(holds: bool) -> None:  # noqa: FBT001 - an assertion
    if not holds:
        raise ValueError


# 1 had one public seed for all sites: its rows are counted by other coins. 2 had no names of sites,
# and 3 did not say by whose cuts it counted.
SCHEMA: Final = "mipaudit.summary/4"
_FAMILY: Final = "mipaudit.summary/"
_LARGEST_FILE: Final = 64 << 20
# Of all arrays of a file: many times as many as any run writes.
_MOST_NUMBERS: Final = 1 << 24
SUFFIX: Final = ".summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRows:
    """A site by whose cuts is counted, and the rows that it has."""

    name: str
    n_members: int
    n_holdout: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a summary file says of itself, in the order in which a reader wants it.

    Attributes:
        schema: of this format.
        content: ``cuts`` or ``counts``.
        mipaudit: the version that wrote it.
        created: UTC time.
        scores: in order.
        n_members, n_holdout: rows that count.
        site: the name that no other site has; None where the rows are all there are.
        sites: by whose cuts the counts are, this one among them, in order; none in cuts.
        keyed: rows are told apart by a key column, not by their position.
        seed: of this site's row assignment: its cuts and its counts have the same.
        burn_in: micro-blocks that only train, of 64.
        prior: the weight of the members in the cells, None in cuts.
        least: fewest records of any count above zero, None for no such promise.
        plan: sha256 of the cells that the counts are by, None in cuts.
        member_column: where membership was read, None where files said it.
        skipped_columns: columns that were not taken.
        findings: what a reader of the counts must know about rows left out.
        inputs: what was read.
        settings: how.
        arrays: sha256 of every array's file, by name.
    """

    schema: str
    content: Literal["cuts", "counts"]
    mipaudit: str
    created: str
    scores: tuple[ScoreColumn, ...]
    n_members: int
    n_holdout: int
    site: str | None
    sites: tuple[SiteRows, ...]
    keyed: bool
    seed: int
    burn_in: int
    prior: float | None
    least: int | None
    plan: str | None
    member_column: str | None
    skipped_columns: tuple[str, ...]
    findings: tuple[Finding, ...]
    inputs: tuple[InputFile, ...]
    settings: tuple[Setting, ...]
    arrays: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SummaryFile:
    """A summary file in memory.

    Attributes:
        name: what messages call it.
        manifest: what it says of itself.
        arrays: by name.
        size: bytes of the file, None for a summary that was never in one.
        sha256: of the file, likewise.
    """

    name: str
    manifest: Manifest
    arrays: Mapping[str, NDArray[Any]]
    size: int | None = None
    sha256: str | None = None

    def headline(self, size: int) -> str:
        """Return in a sentence what the file of ``size`` bytes holds."""
        one = self.manifest
        what = "Cuts" if one.content == "cuts" else "Counts"
        scores = "1 score" if len(one.scores) == 1 else f"{len(one.scores)} scores"
        return (
            f"{what} of {scores} of {count_text(one.n_members)} members and "
            f"{count_text(one.n_holdout)} holdout records, in {count_text(-(-size // 1000))} kB."
        )

    def to_bytes(self) -> bytes:
        """Return the file's content, the same for the same summary."""
        import msgspec

        text = msgspec.json.format(msgspec.json.encode(self.manifest), indent=1)
        return pack(text, self.arrays)


def checksums(arrays: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    """Return the sha256 of every array's file."""
    return {name: sha256(array_bytes(array)).hexdigest() for name, array in arrays.items()}


def plan_digest(plan: Plan, scores: Sequence[ScoreColumn], seeds: Iterable[int]) -> str:
    """Return the sha256 of everything that decides where a row is counted.

    Args:
        plan: made from the cuts of all sites.
        scores: their names and kinds.
        seeds: of all sites, in any order.
    """
    digest = sha256(f"{plan.burn_in} {sorted(seeds)}".encode())
    for score, column in zip(scores, plan.columns, strict=True):
        cells = column.cells
        digest.update(f"\0{score.name}\0{column.discrete}\0".encode())
        for array in (cells.edges, cells.single, cells.coarse.astype(np.int64)):
            digest.update(array_bytes(array))
    return digest.hexdigest()


def read_summary(name: str, data: bytes) -> SummaryFile:
    """Return the summary file that ``data`` is.

    Args:
        name: what messages call it, safe to print.
        data: the whole file.

    Raises:
        InputError: ``bad_summary`` or ``summary_version``.
    """
    import msgspec

    try:
        _require(len(data) <= _LARGEST_FILE)
        text, files = _unpacked(data)
        said = msgspec.json.decode(text, type=dict)
        schema = str(said.get("schema"))
        _require(schema.startswith(_FAMILY))
        if schema == SCHEMA:
            manifest = msgspec.convert(said, Manifest)
            arrays = {key: _array_of(file) for key, file in files.items()}
            sums = {key: sha256(file).hexdigest() for key, file in files.items()}
            _require(sums == manifest.arrays)
            _require(sum(one.size for one in arrays.values()) <= _MOST_NUMBERS)
            return SummaryFile(
                name=name,
                manifest=manifest,
                arrays=arrays,
                size=len(data),
                sha256=sha256(data).hexdigest(),
            )
    except _DAMAGED:
        raise bad_summary(name) from None
    raise InputError(
        "summary_version",
        f"{name}: a summary in the format {safe_name(schema)}, but this version reads {SCHEMA}.",
        "Make it again with mipaudit summarize, or use the version that wrote it.",
    )


def bad_summary(name: str) -> InputError:
    """Return the error for a file that is not as it was written."""
    return InputError(
        "bad_summary",
        f"{name}: not a complete summary file.",
        "Was it damaged or edited? Make it again with mipaudit summarize.",
    )


def listed(data: Given) -> list[Any]:
    """Return what was given as a list: one path, or several in a list or a tuple."""
    return list(data) if isinstance(data, (list, tuple)) else [data]


def are_summaries(data: Given) -> bool:
    """Tell whether the input is summaries: by their name, or because they are in memory.

    Raises:
        UsageError: ``mixed_inputs``: some are, some are not.
    """
    found = [
        isinstance(one, SummaryFile)
        or (isinstance(one, (str, PathLike)) and str(path_of(one)).endswith(SUFFIX))
        for one in listed(data)
    ]
    if any(found) and not all(found):
        raise UsageError(
            "mixed_inputs",
            "Summaries and scores are given together.",
            "Summarize the scores too: mipaudit summarize SCORES -o part.summary.",
        )
    return any(found)


def read_summaries(data: Iterable[Any]) -> tuple[SummaryFile, ...]:
    """Return the summaries, in the order of their names where a glob finds several.

    Raises:
        InputError: a file is not there, cannot be read, or is no summary.
    """
    from mipaudit.data.files.paths import input_blobs

    files: list[SummaryFile] = []
    for one in data:
        if isinstance(one, SummaryFile):
            files.append(one)
            continue
        for blob in input_blobs(str(path_of(one))):
            with closing(blob), blob.open() as stream:
                files.append(read_summary(blob.name, stream.read()))
    return tuple(files)
