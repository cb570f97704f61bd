"""What a file holds by its first bytes, and what is read without its compression."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.data.files.blob import ZIP_MAGIC, Blob, Format
from mipaudit.errors import InputError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# As much as tells any of them apart, the name of an archive's first member with it.
HEAD: Final = 256
# Of an entry of a zip archive: where the length of its name stands, and where its name begins.
_NAME_LENGTH: Final = slice(26, 28)
_NAME: Final = 30
_JSON: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*\"")


class Foreign(NamedTuple):
    """What is no table, and how to make one of it. None is opened: a pickle could run code.

    Attributes:
        what: it is.
        hint: what to do with it; ``{name}`` is its name and ``{stem}`` that without its ending.
        endings: of its files.
        heads: with which its files begin.
        member: with which the name of the first file in it ends, of a zip archive.
        numbers: whether it is read where numbers are wanted that need no names.
    """

    what: str
    hint: str
    endings: tuple[str, ...]
    heads: tuple[bytes, ...] = ()
    member: str = "\0"
    numbers: bool = False


_BY_PANDAS: Final = (
    "In Python: import pandas; pandas.{0}('{{name}}'{1}).to_parquet('{{stem}}.parquet')"
)
_OF_MODELS: Final = (
    "To make scores from a model's outputs: `mipaudit query losses --logits {name} -o "
    "scores.parquet`. From shadow models: `mipaudit query lira --shadow {name} -o scores.parquet`."
)
_TABLE: Final = (
    Foreign(
        "a PyTorch checkpoint, which is never opened: it could run code",
        "Save the model's outputs: numpy.savez('model.npz', logits=..., labels=..., "
        "membership=...); then mipaudit query losses --logits model.npz -o scores.parquet",
        (".pt", ".pth", ".ckpt"),
        member="data.pkl",
    ),
    Foreign(
        "counts or cuts from `mipaudit summarize`, not scores",
        "Give counts (*.summary) to `mipaudit estimate`, whose reports (-f json) `mipaudit "
        "compare` takes. Give cuts to `mipaudit summarize`.",
        (),
        member="summary.json",
    ),
    Foreign(
        "an archive of arrays",
        _OF_MODELS + " If it holds scores and who is a member, make a table of it in Python: "
        "pandas.DataFrame(dict(numpy.load('{name}'))).to_parquet('{stem}.parquet')",
        (".npz",),
        member=".npy",
        numbers=True,
    ),
    Foreign(
        "an array, whose columns have no names",
        _OF_MODELS + " If it holds scores, name its columns in Python, one of them member: "
        "pandas.DataFrame(numpy.load('{name}'), columns=[...]).to_parquet('{stem}.parquet')",
        (".npy",),
        (b"\x93NUMPY",),
        numbers=True,
    ),
    Foreign(
        "an Excel workbook",
        _BY_PANDAS.format("read_excel", "") + ", or save it as CSV.",
        (".xlsx", ".xls", ".xlsm", ".ods"),
        (b"\xd0\xcf\x11\xe0",),
        member="[Content_Types].xml",
    ),
    Foreign(
        "a pickle, which is never opened: it could run code",
        "If you trust its source, in Python: import pandas; "
        "pandas.read_pickle('{name}').to_parquet('{stem}.parquet')",
        (".pkl", ".pickle", ".joblib"),
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
    ),
    Foreign(
        "an Arrow file (Feather)",
        _BY_PANDAS.format("read_feather", ""),
        (".feather", ".arrow", ".ipc"),
        (b"ARROW1", b"FEA1"),
    ),
    Foreign(
        "an HDF5 file", _BY_PANDAS.format("read_hdf", ""), (".h5", ".hdf5"), (b"\x89HDF\r\n\x1a\n",)
    ),
    Foreign("a Stata file", _BY_PANDAS.format("read_stata", ""), (".dta",)),
    Foreign("a SAS file", _BY_PANDAS.format("read_sas", ""), (".sas7bdat", ".xpt")),
    Foreign("an SPSS file", _BY_PANDAS.format("read_spss", ""), (".sav",)),
    Foreign(
        "an SQLite database",
        "In Python: pandas.read_sql('select ...', sqlite3.connect('{name}'))"
        ".to_parquet('{stem}.parquet')",
        (".db", ".sqlite"),
        (b"SQLite format 3",),
    ),
    Foreign("a picture", "Give the scores, as CSV or Parquet.", (".png",), (b"\x89PNG",)),
    Foreign("a PDF document", "Save its table as CSV.", (".pdf",), (b"%PDF-",)),
    Foreign(
        "a web page, not a table",
        "Perhaps a sign-in page was saved instead of the file: fetch the file itself. To show a "
        "report of mipaudit: mipaudit render {name}.",
        (".html", ".htm"),
        (b"<!DOCTYPE html", b"<!doctype html", b"<html", b"<HTML"),
    ),
    Foreign(
        "JSON, one record a line",
        _BY_PANDAS.format("read_json", ", lines=True"),
        (".jsonl", ".ndjson"),
    ),
    Foreign(
        "JSON, not a table",
        "A report of mipaudit? Show it: mipaudit render {name}. A table? "
        + _BY_PANDAS.format("read_json", ""),
        (".json",),
        numbers=True,
    ),
)


def foreign(name: str, head: bytes = b"") -> Foreign | None:
    """Return what a file is that is no table; None for what may be one.

    Args:
        name: of the file, which counts less than how it begins.
        head: its first bytes, where they are known.
    """
    first = ""
    if head.startswith(ZIP_MAGIC):
        length = int.from_bytes(head[_NAME_LENGTH], "little")
        first = head[_NAME : _NAME + length].decode(errors="replace")
    for one in _TABLE:
        if head.startswith(one.heads or (b"\0",)) or first.endswith(one.member):
            return one
    lower = name.lower()
    text = not head or _JSON.match(head) or b"\0" in head
    return next((one for one in _TABLE if text and lower.endswith(one.endings)), None) or (
        _TABLE[-1] if _JSON.match(head) else None
    )


def what_to_do(found: Foreign, name: str) -> str:
    """Return the hint for a file of that name."""
    return found.hint.format(name=name, stem=name.rsplit(".", 1)[0])


def require_table(name: str, head: bytes, *, numbers: bool = False) -> None:
    """Refuse what is no table.

    Args:
        name: of the file, already safe to print.
        head: its first `HEAD` bytes.
        numbers: whether arrays and JSON are wanted, too.

    Raises:
        InputError: ``not_a_table``, or ``zip_file``.
    """
    found = foreign(name, head)
    if found is not None and not (numbers and found.numbers):
        raise InputError("not_a_table", f"{name}: {found.what}.", what_to_do(found, name))
    if head.startswith(ZIP_MAGIC) and not numbers:
        raise InputError(
            "zip_file",
            f"{name}: a zip archive, not a table.",
            "Unpack it, and give the files in it; .csv.gz is read as it is.",
        )


# A few kilobytes can unpack to gigabytes: of that the size of a file says nothing. What is read
# in blocks of rows is never held whole; the limit is on one block, array or text.
VARIABLE: Final = "MIPAUDIT_MAX_UNPACKED"
_DEFAULT: Final = 1 << 30
_BLOCK: Final = 1 << 20
# Text takes several times its size while it is parsed.
_TEXT_SHARE: Final = 4
_SIZE: Final = re.compile(r"([0-9]{1,15}) ?(|[kmgt]i?)b?", re.IGNORECASE | re.ASCII)
_UNITS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# So large that the product is no longer computed without a buffer: with AVX-512, smaller ones
# than 101 are.
_SIDE: Final = 128


def claim_buffers() -> None:
    """Let OpenBLAS take its buffer now, of which it touches little.

    Where it finds no memory later on it ends the process with 1, which says not met.
    """
    import numpy as np

    ones = np.ones((_SIDE, _SIDE))
    np.matmul(ones, ones)


def largest_unpacked() -> int:
    """Return the most bytes that may be unpacked at once: 1 GiB unless the environment says.

    Raises:
        UsageError: ``environment``: the variable holds no size.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return _DEFAULT
    found = _SIZE.fullmatch(text)
    size = int(found[1]) << 10 * _UNITS[found[2][:1].lower()] if found else 0
    if not size:
        raise UsageError(
            "environment",
            f"{VARIABLE} is not a size.",
            "Write bytes, or a number with a unit such as 4GiB.",
        )
    return size


def largest_text() -> int:
    """Return the most bytes of text that may be parsed at once."""
    return max(1, largest_unpacked() // _TEXT_SHARE)


def require_room(blob: Blob, size: int) -> None:
    """Refuse to unpack more than is allowed; what is as large as its file is no surprise.

    Raises:
        InputError: ``too_large``.
    """
    if size > max(blob.size, largest_unpacked()):
        raise too_large(blob.name)


def read_whole(stream: IO[bytes], blob: Blob, kind: Format) -> bytes:
    """Return all of a text, without its compression.

    Raises:
        InputError: ``too_large``.
    """
    left = largest_text() if kind in {"gzip", "zstd"} else largest_unpacked()
    blocks: list[bytes] = []
    while block := stream.read(_BLOCK):
        blocks.append(block)
        left -= len(block)
        if left < 0:
            raise too_large(blob.name)
    return b"".join(blocks)


def too_large(name: str, what: str = "it") -> InputError:
    """Return the error for an input that would take more memory than is allowed."""
    return InputError(
        "too_large",
        f"{name}: {what} would take more than {largest_unpacked():,} bytes in memory at once.",
        f"If this is intended, set {VARIABLE} in the environment, for example to 8GiB.",
    )


@contextmanager
def plain_stream(blob: Blob, kind: Format) -> Iterator[IO[bytes]]:
    """Open ``blob`` without its compression.

    Raises:
        InputError: ``truncated`` when the compressed bytes end early or are damaged.
    """
    import gzip
    import zlib

    with blob.open() as raw:
        if kind not in {"gzip", "zstd"}:
            yield raw
            return
        try:
            with gzip.open(raw) if kind == "gzip" else _zstd_stream(raw) as stream:
                # gzip's reader is a buffered binary stream in all but its type.
                yield stream  # type: ignore[misc]
        except (EOFError, zlib.error, OSError) as error:
            # A full disk or a failing one has a number, a decoder's complaint has none.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InputError(
                "truncated", f"{blob.name}: the compressed file is cut off or damaged."
            ) from None


def _zstd_stream(raw: IO[bytes]) -> IO[bytes]:
    import pyarrow as pa

    stream: IO[bytes] = pa.input_stream(raw, compression="zstd")
    return stream


NPY_MAGIC: Final = b"\x93NUMPY"
# Version 3 differs only in names of fields, which no plain array has.
_PLAIN_VERSIONS: Final = ((1, 0), (2, 0))
_NUMBERS: Final = "biuf"
_END: Final = 1 << 10


def read_npy(blob: Blob, kind: Format, *, words: bool = False) -> NDArray[Any]:
    """Return the array of booleans, integers or floats in ``blob``; it may be read-only.

    It is read by hand: nothing in it is unpickled.

    Args:
        blob: the bytes.
        kind: how they are compressed; ``csv`` for not at all.
        words: whether it may hold text.

    Raises:
        InputError: ``bad_npy``, ``pickled``, ``not_numbers`` or ``too_large``.
    """
    with plain_stream(blob, kind) as stream:
        return read_array(stream, blob, packed=kind != "csv", words=words)


def read_array(stream: IO[bytes], blob: Blob, *, packed: bool, words: bool = False) -> NDArray[Any]:
    """Return the array of booleans, integers or floats in a stream.

    Args:
        stream: of the array's file.
        blob: that it is in.
        packed: whether it may be larger than the blob.
        words: whether it may hold text.

    Raises:
        InputError: ``bad_npy``, ``pickled``, ``not_numbers`` or ``too_large``.
    """
    import numpy as np

    name = blob.name
    shape, fortran, dtype = _header(stream, name)
    if dtype.hasobject:
        raise InputError(
            "pickled",
            f"{name}: the array holds Python objects, which are never loaded: they could run code.",
            "Save it as numbers: numpy.save(path, array.astype(float)).",
        )
    if dtype.kind not in _NUMBERS and not (words and dtype.kind == "U"):
        raise InputError(
            "not_numbers",
            f"{name}: the array holds neither booleans, integers nor floats.",
            "Save real numbers, one array in a file.",
        )
    count = math.prod(shape)
    if not packed and count * dtype.itemsize > blob.size:
        raise _damaged(name)
    require_room(blob, count * dtype.itemsize)
    data = stream.read(count * dtype.itemsize)
    stream.read(_END)  # checksums are looked at where the data end
    if len(data) < count * dtype.itemsize:
        raise _damaged(name)
    array = np.frombuffer(data, dtype=dtype, count=count)
    return array.reshape(shape, order="F" if fortran else "C")


def _header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    from tokenize import TokenError

    import numpy as np

    # numpy's messages quote the header: they end here.
    try:
        version = np.lib.format.read_magic(stream)
        if version in _PLAIN_VERSIONS:
            read = (np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0)
            shape, fortran, dtype = read[version[0] - 1](stream)
            if min(shape, default=0) >= 0:
                return shape, fortran, dtype
    except (ValueError, TypeError, SyntaxError, EOFError, MemoryError, RecursionError, TokenError):
        pass
    raise _damaged(name)


def _damaged(name: str) -> InputError:
    return InputError(
        "bad_npy",
        f"{name}: not a complete .npy file with a plain array.",
        "Write it with numpy.save.",
    )
