"""Small files that unpack to large ones are refused by a limit that can be set."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pytest

from mipaudit.commands.query.model.array_files import described
from mipaudit.data.files.contents import VARIABLE, largest_text, largest_unpacked
from mipaudit.data.opening import ReadRequest, open_input
from mipaudit.data.tables.splits import read_splits
from mipaudit.data.tables.table import open_whole
from mipaudit.errors import InputError, UsageError

LIMIT = 32 << 20


@pytest.fixture(autouse=True)
def limit(monkeypatch):
    monkeypatch.setenv(VARIABLE, str(LIMIT))


def refused(work, path) -> str:
    with pytest.raises(InputError) as caught:
        work(str(path))
    return caught.value.code


def opened(path: str):
    return open_whole(path, "the outputs", several=True)


def scores(path: str) -> None:
    with open_input(path, None, None, ReadRequest()) as source:
        for part in source.partitions():
            for _ in part.batches():
                pass


def bomb(path, before: bytes, megabytes: int, after: bytes = b""):
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(before)
        for _ in range(megabytes):
            file.write(b"x" * (1 << 20))
        file.write(after)
    return path


ROWS = b"".join(b"%d,0.%d,y\n" % (at % 2, at) for at in range(30_000))


@pytest.mark.parametrize("quoted", [False, True])
def test_one_cell_that_fills_the_memory(tmp_path, quoted):
    mark = b'"' if quoted else b""
    head = b"member,score,note\n" + ROWS
    path = bomb(tmp_path / "s.csv.gz", head + b"1,0.5," + mark, 40, mark + b"\n")
    assert refused(scores, path) == "too_large"


def test_many_long_rows_are_no_bomb(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(16 << 20))
    row = b",%b\n" % (b"x" * 2000)
    with gzip.open(tmp_path / "s.csv.gz", "wb", compresslevel=1) as file:
        file.write(b"member,score,note\n")
        for at in range(6000):  # 12 MB, of which one block may have 4
            file.write(b"%d,0.%d" % (at % 2, at) + row)
    scores(str(tmp_path / "s.csv.gz"))


@pytest.mark.parametrize("header", [b"member,score,note\n1,0.5,", b"member,score,", b""])
def test_a_row_or_a_header_without_an_end(tmp_path, header):
    path = bomb(tmp_path / "s.csv.gz", header, 40)
    assert refused(scores, path) in {"long_row", "not_a_table"}
    assert refused(read_splits, path) == "too_large"


def test_json_text(tmp_path):
    path = bomb(tmp_path / "s.json.gz", b"[", 40)
    assert refused(read_splits, path) == "too_large"


def zeros(path, count: int, *, compressed: bool):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": "<f8", "fortran_order": False, "shape": (count, 1)}
    )
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind) as archive, archive.open("logits.npy", "w") as member:
        member.write(file.getvalue())
        for _ in range(8 * count >> 20):
            member.write(bytes(1 << 20))
    return path


def test_an_archive_of_zeros(tmp_path):
    path = zeros(tmp_path / "m.npz", 5 << 20, compressed=True)
    assert path.stat().st_size < 1 << 20
    assert refused(opened, path) == "too_large"


def test_an_archive_as_large_as_what_it_holds_is_no_surprise(tmp_path):
    path = zeros(tmp_path / "m.npz", 5 << 20, compressed=False)
    described([opened(str(path))], rows=0)


def test_an_array_that_says_that_it_is_large(tmp_path):
    with gzip.open(tmp_path / "m.npy.gz", "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 8)}
        )
    assert refused(opened, tmp_path / "m.npy.gz") == "too_large"


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 1 << 30), ("4096", 4096), ("2k", 2048), ("3 MiB", 3 << 20), ("8GB", 8 << 30)],
)
def test_sizes(monkeypatch, text, size):
    monkeypatch.setenv(VARIABLE, text)
    assert (largest_unpacked(), largest_text()) == (size, size // 4)


@pytest.mark.parametrize("text", ["0", "-1", "much", "1.5G", "4PB", "9" * 30, "٣", "nan"])
def test_what_is_no_size(monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(UsageError) as caught:
        largest_unpacked()
    assert caught.value.code == "environment"
    assert text not in str(caught.value)
