"""Files that hold no table as it is read here: what each is, and how to make one of it.

They are known by their first bytes or by their ending. None is opened: a pickle could run code.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from mipaudit.errors import InputError

# As much as tells any of them apart, the name of an archive's first member with it.
HEAD: Final = 256
_ZIP: Final = b"PK\x03\x04"
# Of an entry of a zip archive: where the length of its name stands, and where its name begins.
_NAME_LENGTH: Final = slice(26, 28)
_NAME: Final = 30
_JSON: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*\"")


class Foreign(NamedTuple):
    """What is no table.

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
    "What a model says of records becomes scores by `mipaudit query losses --logits {name} -o "
    "scores.parquet`, and what shadow models say by `mipaudit query lira --shadow {name} -o "
    "scores.parquet`."
)
_TABLE: Final = (
    Foreign(
        "a PyTorch checkpoint, which is never opened: it could run code",
        "Save what the model says of records: numpy.savez('model.npz', logits=..., labels=..., "
        "membership=...); then mipaudit query losses --logits model.npz -o scores.parquet",
        (".pt", ".pth", ".ckpt"),
        member="data.pkl",
    ),
    Foreign(
        "counts or cuts by `mipaudit summarize`, which hold no scores",
        "Only `mipaudit estimate` reads counts (files named *.summary), and `mipaudit compare` its "
        "reports (-f json). Cuts are for `mipaudit summarize`.",
        (),
        member="summary.json",
    ),
    Foreign("an archive of arrays", _OF_MODELS, (".npz",), member=".npy", numbers=True),
    Foreign(
        "an array, whose columns have no names",
        _OF_MODELS + " If it holds scores, give its columns names, one of them member: "
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
        "If you trust whoever made it, in Python: import pandas; "
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
    Foreign("a PDF document", "Save its table as CSV.", (".pdf",), (b"%PDF-",)),
    Foreign(
        "a web page, not a table",
        "A page to sign in may have been saved in place of the file: fetch the file itself. A "
        "report of mipaudit is shown again by mipaudit render {name}.",
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
        _BY_PANDAS.format("read_json", "")
        + " - or, if it is a report of mipaudit: mipaudit render {name}",
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
    if head.startswith(_ZIP):
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
        raise InputError("not_a_table", f"{name}: {found.what}.", hint=what_to_do(found, name))
    if head.startswith(_ZIP) and not numbers:
        raise InputError(
            "zip_file",
            f"{name}: a zip archive, not a table.",
            hint="Unpack it, and give the files in it; .csv.gz is read as it is.",
        )
