"""The same table by every route gives the same rows."""

from __future__ import annotations

import gzip
import io
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data.files import blob
from mipaudit.data.opening import ReadRequest, open_input

ROWS = 400
OPTIONS = [
    {},
    {"key_column": "team"},
    {"unit_column": "team", "seed": 4},
    {"where": "split_at = 3"},
    {"where": "team = p7", "score_columns": ("hits",)},
    {"score_columns": ("team", "hits", "loss")},
]


@pytest.fixture
def table():
    rng = np.random.default_rng(11)
    member = rng.random(ROWS) < 0.5
    loss = rng.normal(size=ROWS)
    loss[:4] = (np.inf, -np.inf, 1e-300, 0.1 + 0.2)
    return pa.table(
        {
            "member": np.where(member, "member", "non-member").tolist(),
            "loss": loss,
            "hits": rng.integers(0, 5, ROWS),
            "team": [f"p{at}" for at in rng.integers(0, 60, ROWS)],
            "split_at": rng.integers(0, 5, ROWS),
        }
    )


@pytest.fixture
def csv(table):
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    lines = [table.column_names, *([str(cell) for cell in row] for row in rows)]
    return "".join(",".join(line) + "\n" for line in lines).encode()


@pytest.fixture
def pipe(monkeypatch):
    """Return a function that makes bytes the standard input."""

    def feed(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return feed


def parquet_bytes(table, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


@pytest.mark.parametrize("options", OPTIONS)
def test_every_route_gives_the_same_rows(read, write, drained, pipe, table, csv, options):
    expected = read(write(csv), **options)
    assert expected.member
    packed = (gzip.compress(csv), pa.Codec("zstd").compress(csv, asbytes=True))
    for content in (*packed, parquet_bytes(table, row_group_size=37)):
        assert read(write(content), **options) == expected
    for content in (csv, parquet_bytes(table)):
        pipe(content)
        assert read("-", **options) == expected
    frames = (table, pl.from_arrow(table), table.to_pandas(), pa.table(table).to_reader())
    for frame in frames:
        asked = {name: value for name, value in options.items() if name != "seed"}
        with open_input(frame, None, None, ReadRequest(**asked)) as source:
            source.number_rows(options.get("seed", 0))
            assert drained(source) == expected


@pytest.mark.parametrize("options", OPTIONS)
def test_parts_of_a_directory_are_one_table(read, write, table, csv, options):
    expected = read(write(csv), **options)
    head, tail = table.slice(0, 150), table.slice(150, 100)
    lines = csv.splitlines(keepends=True)
    write(parquet_bytes(head, row_group_size=40), "d/a.parquet")
    write(parquet_bytes(tail), "d/b/x.parquet")
    rest = write(gzip.compress(lines[0] + b"".join(lines[251:])), "d/z.csv.gz")
    for junk in ("d/.hidden.csv", "d/_SUCCESS", "d/_temporary/x.csv", "d/.git/x.csv"):
        write(b"junk", junk)
    assert read(rest.parent, **options) == expected
    assert read(rest.parent / "**" / "*.*", **options) == expected


def test_large_standard_input_goes_to_an_unlinked_file(read, pipe, monkeypatch, table, csv):
    pipe(csv)
    expected = read("-")
    monkeypatch.setattr("mipaudit.data.opening._STDIN_IN_MEMORY", 100)
    for content in (csv, gzip.compress(csv), parquet_bytes(table, row_group_size=50)):
        pipe(content)
        assert read("-") == expected
    # It serves several threads.
    pipe(parquet_bytes(table, row_group_size=20))
    with open_input("-", None, None, ReadRequest()) as source, ThreadPoolExecutor(8) as pool:
        parts = source.partitions()
        found = list(pool.map(lambda part: list(part.batches()), parts))
        loss = [x for batches in found for rows in batches for x in rows.scores[0]]
        assert loss == table["loss"].to_pylist()
        assert len(parts) == ROWS // 20
        assert source.findings() == ()


def test_parts_must_agree(fails, write, table):
    write("member,loss\n1,0.5\n0,1.5\n", "d/a.csv")
    path = write("member,score\n1,0.5\n0,1.5\n", "d/b.csv")
    error = fails("columns_differ", path.parent)
    assert "a.csv: there is no column 'score'" in error.message
    path = write("member,loss\n1,abc\n0,def\n", "d/b.csv")
    fails("columns_differ", path.parent)


@pytest.mark.parametrize("path", ["set", "set/*/*.csv", "set/**"])
def test_a_folder_that_cannot_be_listed_hides_no_part(fails, write, tmp_path, monkeypatch, path):
    write("member,score\n1,0.5\n0,1.5\n", "set/open/a.csv")
    write("member,score\n1,0.5\n0,1.5\n", "set/closed/b.csv")

    def closed(listing):
        def listed(place):
            if str(place).endswith("closed"):
                raise PermissionError(13, "Permission denied", str(place))
            return listing(place)

        return listed

    for name in ("listdir", "scandir"):
        monkeypatch.setattr(os, name, closed(getattr(os, name)))
    error = fails("unreadable", tmp_path / path)
    assert "closed: the folder cannot be listed (Permission denied)." in error.message


def test_paths_that_lead_nowhere(fails, write, tmp_path):
    path = write("member,score\n1,0.5\n0,1.5\n")
    error = fails("no_such_file", tmp_path / "scorse.csv")
    assert error.hint == f"Did you mean {str(path)!r}?".replace("'", "")
    (tmp_path / "empty").mkdir()
    for code, place in (
        ("no_such_file", tmp_path / "nowhere" / "scores.csv"),
        ("no_parts", tmp_path / "*.parquet"),
        ("no_parts", tmp_path / "empty"),
        ("uri", "file://elsewhere/scores.parquet"),
        ("no_input", None),
    ):
        fails(code, place)
    fails("two_inputs", path, members=str(path))
    fails("no_input", members=str(path))


def test_parts_come_in_bytewise_order(read, write):
    for at, name in enumerate(("B.csv", "a.csv", "a10.csv", "a9.csv", "é.csv")):
        path = write(f"member,score\n1,{at}.5\n0,{at}.25\n", f"d/{name}")
    assert read(path.parent).scores[0][::2] == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_inputs_are_hashed_or_fingerprinted(write, monkeypatch, table):
    from hashlib import sha256

    path = write(parquet_bytes(table))
    data = path.read_bytes()
    with open_input(str(path), None, None, ReadRequest()) as source:
        (whole,) = source.inputs()
        assert whole.sha256 == sha256(data).hexdigest()
        assert (whole.rows, whole.bytes, whole.fingerprint) == (ROWS, len(data), None)
    monkeypatch.setattr(blob, "HASHED_WHOLE", 10)
    with open_input(str(path), None, None, ReadRequest()) as source:
        (ends,) = source.inputs()
        assert ends.sha256 is None
        assert ends.fingerprint.startswith("size-and-ends:")
        assert source.inputs(hash_all=True) == (whole,)


@pytest.fixture
def fingerprint(write, monkeypatch):
    """Return a function that gives the fingerprint of a file of some bytes."""
    monkeypatch.setattr(blob, "HASHED_WHOLE", 10)
    monkeypatch.setattr(blob, "_END", 8)
    return lambda data: (
        blob.describe_blob(blob.file_blob(write(bytes(data))), 1, hash_all=False).fingerprint
    )


def test_fingerprint_sees_size_head_and_tail_and_a_whole_parquet_footer(fingerprint, table):
    text = b"a" * 100
    others = (b"b" + text[1:], text[1:] + b"b", text + b"a")
    assert fingerprint(text) not in set(map(fingerprint, others))
    assert fingerprint(text[:50] + b"b" + text[51:]) == fingerprint(text)
    data = bytearray(parquet_bytes(table))
    before = fingerprint(data)
    data[-8 - int.from_bytes(data[-8:-4], "little")] ^= 1
    assert fingerprint(data) != before
