"""Other programs' files, and small ones that unpack to large ones, are refused as what they are."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from mipaudit.commands.check.run import check
from mipaudit.commands.query.model.array_files import described
from mipaudit.commands.query.model.losses import query_losses
from mipaudit.data.files.contents import VARIABLE, largest_text, largest_unpacked
from mipaudit.data.tables.splits import read_splits
from mipaudit.data.tables.table import open_whole
from tests.fixtures.codes import refused

FRAME = pd.DataFrame({"member": [0, 1] * 30, "score": np.arange(60) / 64})


def archive(member):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as found:
        found.writestr(member, "x" * 300)
    return packed.getvalue()


def saved(write):
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


JSON = FRAME.to_json(orient="records").encode()
BOOK = archive("[Content_Types].xml")
FILES = {
    "s.pkl": (saved(FRAME.to_pickle), "never opened", "pandas.read_pickle('s.pkl')"),
    "s.csv": (pickle.dumps([1]), "never opened", "pandas.read_pickle('s.csv')"),
    "s.feather": (saved(FRAME.to_feather), "Arrow file", ".to_parquet('s.parquet')"),
    "s.npy": (saved(lambda to: np.save(to, FRAME.to_numpy())), "an array", "--logits s.npy"),
    "m.npz": (saved(lambda to: np.savez(to, a=[1.0])), "of arrays", "query lira --shadow m.npz"),
    "s.zip": (archive("summary.json"), "not scores", "Give counts (*.summary) to"),
    "s.xlsx": (BOOK, "an Excel workbook", "read_excel('s.xlsx')"),
    "book.csv": (BOOK, "an Excel workbook", "read_excel('book.csv')"),
    "m.pt": (archive("archive/data.pkl"), "never opened", "numpy.savez('model.npz'"),
    "s.json": (JSON, "JSON", "pandas.read_json('s.json')"),
    "r.json": (b'{"schema": "mipaudit.report/1"}', "JSON", "mipaudit render r.json"),
    "s.jsonl": (b'{"member": 1, "score": 0.5}\n' * 9, "one record a line", "lines=True"),
    "s.h5": (b"\x89HDF\r\n\x1a\n" + bytes(60), "an HDF5 file", "read_hdf"),
    "s.pdf": (b"%PDF-1.7" + bytes(60), "a PDF document", "as CSV"),
    "page.csv": (b"<!DOCTYPE html><html><body>sign in", "a web page", "fetch the file itself"),
    "s.json.gz": (gzip.compress(JSON), "JSON", "read_json"),
    "s.sav": (b"$FL2" + bytes(60), "an SPSS file", "read_spss"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_it_is_and_what_to_do_is_said(tmp_path, monkeypatch, name):
    content, what, hint = FILES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    error = refused("not_a_table", check, name)
    assert error.message.startswith(f"{name}: ")
    assert what in error.message
    assert hint in str(error.hint)
    if name in {"s.pkl", "s.feather", "s.xlsx", "m.pt"}:
        # Outputs of models are no pickles either.
        assert what in refused("not_a_table", query_losses, logits=name).message


def test_another_archive_is_to_be_unpacked(write):
    error = refused("zip_file", check, write(archive("scores.csv")))
    assert "a zip archive" in error.message
    assert "Unpack" in error.hint


@pytest.mark.parametrize("name", ["s.csv", "s.json.csv", "s.pkl.txt", "s.json", "s.pkl"])
def test_a_table_is_read_whatever_its_name(tmp_path, name):
    FRAME.to_csv(tmp_path / name, index=False)
    assert check(tmp_path / name).columns[0].score == "score"


# --- small files that unpack to large ones


@pytest.fixture
def limit(monkeypatch):
    monkeypatch.setenv(VARIABLE, str(32 << 20))


def whole(path):
    return open_whole(path, "the outputs", several=True)


def bomb(path, before, megabytes, after=b""):
    with gzip.open(path, "wb", compresslevel=1) as file:
        for part in (before, *[b"x" * (1 << 20)] * megabytes, after):
            file.write(part)
    return str(path)


ROWS = b"member,score,note\n" + b"".join(b"%d,0.%d,y\n" % (at % 2, at) for at in range(30_000))


@pytest.mark.parametrize("mark", [b"", b'"'])
def test_one_cell_that_fills_the_memory(fails, tmp_path, limit, mark):
    fails("too_large", bomb(tmp_path / "s.csv.gz", ROWS + b"1,0.5," + mark, 40, mark + b"\n"))


def test_many_long_rows_are_no_bomb(read, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(16 << 20))
    rows = (b"%d,0.%d,%b\n" % (at % 2, at, b"x" * 2000) for at in range(6000))
    # 12 MB, of which one block may have 4.
    packed = gzip.compress(b"member,score,note\n" + b"".join(rows), compresslevel=1)
    (tmp_path / "s.csv.gz").write_bytes(packed)
    assert len(read(tmp_path / "s.csv.gz").member) == 6000


@pytest.mark.parametrize(
    ("name", "before", "code"),
    [
        ("s.csv.gz", b"member,score,note\n1,0.5,", "long_row"),
        ("s.csv.gz", b"member,score,", "not_a_table"),
        ("s.csv.gz", b"", "not_a_table"),
        ("s.json.gz", b"[", None),
    ],
)
def test_a_row_a_header_or_a_list_without_an_end(fails, tmp_path, limit, name, before, code):
    path = bomb(tmp_path / name, before, 40)
    refused("too_large", read_splits, path)
    if code:
        fails(code, path)


HEADER = {"descr": "<f8", "fortran_order": False}


def zeros(path, kind):
    """Write an archive with 40 MB of zeros."""
    with zipfile.ZipFile(path, "w", kind) as archive, archive.open("logits.npy", "w") as member:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {**HEADER, "shape": (5 << 20, 1)})
        for part in (header.getvalue(), *[bytes(1 << 20)] * 40):
            member.write(part)
    return path


def test_archives_of_zeros_and_arrays_that_say_they_are_large(tmp_path, limit):
    path = zeros(tmp_path / "m.npz", zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 1 << 20
    refused("too_large", whole, str(path))
    with gzip.open(tmp_path / "m.npy.gz", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {**HEADER, "shape": (1 << 40, 8)})
    refused("too_large", whole, str(tmp_path / "m.npy.gz"))
    # One as large as what it holds is no surprise.
    described([whole(str(zeros(tmp_path / "s.npz", zipfile.ZIP_STORED)))], rows=0)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("", 1 << 30), ("4096", 4096), ("2k", 2048), ("3 MiB", 3 << 20), ("8GB", 8 << 30)),
        *((text, None) for text in ("0", "-1", "much", "1.5G", "4PB", "9" * 30, "٣", "nan")),
    ],
)
def test_sizes(monkeypatch, text, size):
    monkeypatch.setenv(VARIABLE, text)
    if size is None:
        assert text not in str(refused("environment", largest_unpacked))
    else:
        assert (largest_unpacked(), largest_text()) == (size, size // 4)
