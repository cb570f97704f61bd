"""The same table by every route gives the same rows; what nobody meant to give, one clear error."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import os
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mipaudit
from mipaudit.commands.check.options import CheckOptions
from mipaudit.data.files import blob
from mipaudit.data.formats import csv_file
from tests.fixtures.codes import codes, refused
from tests.fixtures.files import drain, opened

ROWS = 400
OPTIONS = [
    *({}, {"key_column": "team"}, {"unit_column": "team", "seed": 4}, {"where": "split_at = 3"}),
    {"where": "team = p7", "score_columns": ("hits",)},
    {"score_columns": ("team", "hits", "loss")},
]
TWO = "member,score\n1,1.5\n0,2.5\n"


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
    return lambda content: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def stored(table, path=None, **options):
    """Return a table as Parquet, or write it to a path."""
    sink = io.BytesIO()
    pq.write_table(table, path or sink, **options)
    return path or sink.getvalue()


@pytest.mark.parametrize("options", OPTIONS)
def test_every_route_gives_the_same_rows(read, write, pipe, table, csv, options):
    expected = read(write(csv), **options)
    assert expected.member
    packed = (gzip.compress(csv), pa.Codec("zstd").compress(csv, asbytes=True))
    for content in (*packed, stored(table, row_group_size=37)):
        assert read(write(content), **options) == expected
    for content in (csv, stored(table)):
        pipe(content)
        assert read("-", **options) == expected
    asked = {name: value for name, value in options.items() if name != "seed"}
    for frame in (table, pl.from_arrow(table), table.to_pandas(), pa.table(table).to_reader()):
        with opened(frame, **asked) as source:
            source.number_rows(options.get("seed", 0))
            assert drain(source) == expected


@pytest.mark.parametrize("options", OPTIONS)
def test_parts_of_a_directory_are_one_table(read, write, table, csv, options):
    expected = read(write(csv), **options)
    lines = csv.splitlines(keepends=True)
    write(stored(table.slice(0, 150), row_group_size=40), "d/a-part.parquet")
    write(stored(table.slice(150, 100)), "d/b/part-x.parquet")
    rest = write(gzip.compress(lines[0] + b"".join(lines[251:])), "d/z-part.csv.gz")
    for junk in ("d/.hidden.csv", "d/_SUCCESS", "d/_temporary/x.csv", "d/.git/x.csv"):
        write(b"junk", junk)
    assert read(rest.parent, **options) == expected
    assert read(rest.parent / "**" / "*.*", **options) == expected


def test_large_standard_input_goes_to_an_unlinked_file(read, pipe, monkeypatch, table, csv):
    pipe(csv)
    expected = read("-")
    monkeypatch.setattr("mipaudit.data.files.blob._IN_MEMORY", 100)
    for content in (csv, gzip.compress(csv), stored(table, row_group_size=50)):
        pipe(content)
        assert read("-") == expected
    # It serves several threads.
    pipe(stored(table, row_group_size=20))
    with opened("-") as source, ThreadPoolExecutor(8) as pool:
        parts = source.partitions()
        found = list(pool.map(lambda part: list(part.batches()), parts))
        loss = [x for batches in found for rows in batches for x in rows.scores[0]]
        assert loss == table["loss"].to_pylist()
        assert (len(parts), source.findings()) == (ROWS // 20, ())


@pytest.fixture
def fifo(tmp_path):
    """Return a function that makes a named pipe and feeds it once."""
    feeders = []

    def maker(name, content):
        path = tmp_path / name
        os.mkfifo(path)
        feeders.append(threading.Thread(target=path.write_bytes, args=(content,), daemon=True))
        feeders[-1].start()
        return path

    yield maker
    for feeder in feeders:
        feeder.join(timeout=5)
        assert not feeder.is_alive()


def test_pipes_are_read_once_and_whole(fifo, read, write, table, csv):
    text = b"member,score\n" + b"".join(b"%d,%d\n" % (at % 2, at) for at in range(30_000))
    for name, content in (("text", text), ("csv", csv), ("parquet", stored(table))):
        assert read(fifo(name, content)) == read(write(content))
    members, holdout = fifo("m", b"score\n1.5\n2.5\n"), fifo("h", b"score\n3.5\n")
    everything = read(members=str(members), holdout=str(holdout))
    assert (everything.member, everything.scores) == ([True, True, False], [[1.5, 2.5, 3.5]])


# --- files, folders and what is in their place


def test_parts_must_agree_and_come_in_bytewise_order(read, fails, write):
    write("member,loss\n1,0.5\n0,1.5\n", "d/a.csv")
    path = write("member,score\n1,0.5\n0,1.5\n", "d/b.csv")
    error = fails("columns_differ", path.parent)
    assert "a.csv: there is no column 'score'" in error.message
    path = write("member,loss\n1,abc\n0,def\n", "d/b.csv")
    fails("columns_differ", path.parent)
    for at, name in enumerate(("B.csv", "a.csv", "a10.csv", "a9.csv", "é.csv")):
        path = write(f"member,score\n1,{at}.5\n0,{at}.25\n", f"e/{name}")
    assert read(path.parent).scores[0][::2] == [0.5, 1.5, 2.5, 3.5, 4.5]


@pytest.mark.parametrize("path", ["set", "set/*/*.csv", "set/**"])
def test_a_folder_that_cannot_be_listed_hides_no_part(fails, write, tmp_path, monkeypatch, path):
    for name in ("open", "closed"):
        write(TWO, f"set/{name}/a.csv")

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


def test_paths_that_lead_nowhere(fails, write, tmp_path, monkeypatch):
    path = write(TWO)
    hint = fails("no_such_file", tmp_path / "scorse.csv").hint
    assert hint == f"Did you mean {str(path)!r}?".replace("'", "")
    (tmp_path / "empty").mkdir()
    for code, place in (
        ("no_such_file", tmp_path / "nowhere" / "scores.csv"),
        *(("no_parts", tmp_path / name) for name in ("*.parquet", "empty")),
        *(("uri", "file://elsewhere/scores.parquet"), ("no_input", None)),
        *(("not_a_file", "/dev/zero"), ("empty_path", "")),
    ):
        fails(code, place)
    fails("two_inputs", path, members=str(path))
    fails("no_input", members=str(path))
    monkeypatch.chdir(tmp_path)
    for members, holdout in (("", "h"), (".", "")):
        fails("empty_path", members=members, holdout=holdout)
    for stream in (None, io.StringIO("member,score\n")):
        monkeypatch.setattr("sys.stdin", stream)
        fails("no_stdin", "-")


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_file_twice_in_one_side_is_an_error(write, fails, link):
    path = write(TWO, "parts/a.csv")
    link(path, path.with_name("b.csv"))
    assert re.search("a.csv.*b.csv|b.csv.*a.csv", fails("same_file", path.parent).message)
    fails("same_file", path.parent / "*.csv")
    other = write(TWO, "h.csv")
    fails("same_file", members=str(path.parent), holdout=str(other))


def test_a_csv_file_with_a_header_alone_is_listed_and_has_no_rows(write, fails):
    for name, text in (("a", "member,score\n"), ("b", TWO), ("c", "member,score\n")):
        folder = write(text, f"d/{name}.csv").parent
    with opened(str(folder)) as source:
        assert source.rows_hint == 2
        assert sorted(file.rows for file in source.inputs()) == [0, 0, 2]
        source.opened.check_unchanged()
        write("member,score\n1,9.5\n", "d/c.csv")
        refused("input_changed", source.opened.check_unchanged)
    for name in "bc":
        write("member,score\n", f"d/{name}.csv")
    fails("no_rows", folder)
    # A line of text that is name says Parquet is no such part.
    write(TWO, "d/a.csv")
    write("not found\n", "d/b.parquet")
    assert "name says Parquet" in fails("bad_parquet", folder).message


def test_a_part_without_rows_has_no_type(tmp_path, read):
    table = pa.table({"member": [1, 1, 0, 0], "score": [0.5, 1.5, 2.5, 3.5]})
    (tmp_path / "d").mkdir()
    stored(table, tmp_path / "d" / "b.parquet")
    narrow = table.schema.set(1, pa.field("score", pa.float32()))
    stored(table.slice(0, 0).cast(narrow), tmp_path / "d" / "a.parquet")
    everything = read(tmp_path / "d")
    assert (everything.scores, everything.findings) == ([[0.5, 1.5, 2.5, 3.5]], [])


def test_inputs_are_hashed_or_fingerprinted(write, monkeypatch, table):
    path = write(stored(table))
    data = path.read_bytes()
    with opened(str(path)) as source:
        (whole,) = source.inputs()
        assert whole.sha256 == sha256(data).hexdigest()
        assert (whole.rows, whole.bytes, whole.fingerprint) == (ROWS, len(data), None)
    monkeypatch.setattr(blob, "HASHED_WHOLE", 10)
    with opened(str(path)) as source:
        (ends,) = source.inputs()
        assert ends.sha256 is None
        assert ends.fingerprint.startswith("size-and-ends:")
        assert source.inputs(hash_all=True) == (whole,)


def test_fingerprint_sees_size_head_and_tail_and_a_whole_parquet_footer(write, monkeypatch, table):
    monkeypatch.setattr(blob, "HASHED_WHOLE", 10)
    monkeypatch.setattr(blob, "_END", 8)

    def fingerprint(data):
        found = blob.file_blob(write(bytes(data)))
        return blob.describe_blob(found, 1, hash_all=False).fingerprint

    text = b"a" * 100
    others = (b"b" + text[1:], text[1:] + b"b", text + b"a")
    assert fingerprint(text) not in set(map(fingerprint, others))
    assert fingerprint(text[:50] + b"b" + text[51:]) == fingerprint(text)
    data = bytearray(stored(table))
    before = fingerprint(data)
    data[-8 - int.from_bytes(data[-8:-4], "little")] ^= 1
    assert fingerprint(data) != before


# --- cells that are not what they seem

LIMIT = 2**53
DAY = dt.date(2020, 1, 1)
OTHERS = {
    "date": pa.array([DAY] * 4),
    "timestamp": pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * 4),
    "binary": pa.array([b"a", b"b", b"c", b"d"]),
    "fixed": pa.array([b"ab", b"cd", b"ef", b"gh"], pa.binary(2)),
    "list": pa.array([[1], [2], [], None]),
    "struct": pa.array([{"x": 1}] * 4),
}


@pytest.fixture
def four(tmp_path):
    """Return a function that writes four rows, with columns in place of others or beside them."""

    def save(**columns):
        plain = {"member": [1, 1, 0, 0], "score": [0.5, 1.5, 2.5, 3.5]}
        return stored(pa.table({**plain, **columns}), tmp_path / "s.parquet")

    return save


@pytest.mark.parametrize("last", [LIMIT + 1, -LIMIT - 1, 2**63 - 1, -(2**63), 2**64 - 1])
def test_large_integers_in_csv_are_an_error_with_count_and_first_row(write, fails, last):
    text = f"member,score\n1,1\n0,{last if last < 2**63 else 2}\n0,{last}\n1,3\n"
    error = fails("large_integers", write(text))
    rows = "1 row, first in data row 3" if last >= 2**63 else "2 rows, first in data row 2"
    assert rows in error.message
    assert str(last) not in str(error)


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_large_integers_in_parquet_are_an_error(four, fails, kind):
    path = four(score=pa.array([0, LIMIT, None, LIMIT + 1], kind))
    error = fails("large_integers", path, nan="drop")
    assert "column 'score' in 1 row, first in data row 4" in error.message


def test_integers_up_to_the_limit_are_exact(write, read, fails, monkeypatch):
    everything = read(write(f"member,score\n1,{LIMIT}\n0,{-LIMIT}\n0,3\n"))
    assert everything.scores == [[float(LIMIT), -float(LIMIT), 3.0]]
    # Those outside the filter do not matter.
    text = f"member,score,part\n1,1,a\n0,2,a\n0,{LIMIT + 1},b\n"
    assert read(write(text), where="part = a").scores == [[1.0, 2.0]]
    # Nor are those that missing cells made floats told apart.
    monkeypatch.setattr(csv_file, "SMALL_TEXT", 1 << 10)
    monkeypatch.setattr(csv_file, "HEAD_BYTES", 1 << 9)
    rows = "".join(f"{at % 2},{at}\n" for at in range(1000))
    fails("large_integers", write(f"member,score\n{rows}0,\n1,{LIMIT + 1}\n"), nan="drop")


@pytest.mark.parametrize("name", OTHERS)
def test_other_types_are_passed_over_as_ids_and_an_error_in_a_role(four, read, fails, name):
    assert read(four(id=OTHERS[name])).scores == [[0.5, 1.5, 2.5, 3.5]]
    path = four(odd=OTHERS[name])
    for role in ({"key_column": "odd"}, {"unit_column": "odd"}, {"where": "odd = 1"}):
        assert "'odd'" in fails("unreadable_column", path, **role).message
    fails("unreadable_column", path, member_column="odd")
    assert "'member'" in fails("unreadable_column", four(member=OTHERS[name])).message


def test_text_that_is_not_utf8_is_an_error(four, fails):
    bad = pa.array([b"\xff\xfe", b"a", b"b", b"c"]).view(pa.string())
    assert "'member'" in fails("unreadable_column", four(member=bad)).message


def test_a_bug_of_ours_is_not_blamed_on_the_file(four, read, monkeypatch):
    def broken(*_):
        raise ValueError("bug")

    monkeypatch.setattr("mipaudit.data.formats.cells.column_of", broken)
    with pytest.raises(ValueError, match="bug"):
        read(four())


@pytest.mark.parametrize(
    ("members", "holdout", "found"),
    [
        *((pa.float32(), pa.float64(), "scores_rounded"), (pa.int8(), pa.int64(), None)),
        *((pa.float64(), pa.float16(), "scores_rounded"), (pa.null(), pa.float32(), None)),
        *((pa.int64(), pa.float32(), "scores_rounded"), (pa.int64(), pa.float64(), "types_differ")),
        *((kind, kind, None) for kind in (pa.float64(), pa.float32())),
    ],
)
def test_types_that_differ_between_the_classes_are_found(tmp_path, read, members, holdout, found):
    sides = {}
    for side, kind in (("members", members), ("holdout", holdout)):
        values = [None] * 3 if pa.types.is_null(kind) else [1, 2, 3]
        values = np.array(values, np.float16) if kind == pa.float16() else values
        table = pa.table({"score": pa.array(values, kind)})
        sides[side] = str(stored(table, tmp_path / f"{side}.parquet"))
    everything = read(**sides, nan="category")
    assert {*everything.findings} & {"scores_rounded", "types_differ"} == {found} - {None}


def test_a_page_that_does_not_match_its_checksum_is_an_error(tmp_path, read, fails):
    scores = np.arange(4000.0)
    table = pa.table({"member": scores % 2 == 0, "score": scores})
    options = {"use_dictionary": False, "compression": "none", "write_page_checksum": True}
    path = stored(table, tmp_path / "s.parquet", **options)
    assert len(read(path).member) == 4000
    data = bytearray(path.read_bytes())
    data[data.index(np.array([1234.0]).tobytes()) + 6] ^= 1
    path.write_bytes(bytes(data))
    fails("bad_parquet", path)


# --- arrays, series and frames: what is asked of them is honoured or refused

MEMBERS = np.random.default_rng(1).normal(size=80) + 1
HOLDOUT = np.random.default_rng(2).normal(size=90)


def check(members=MEMBERS, holdout=HOLDOUT, **options):
    return mipaudit.check(members=members, holdout=holdout, **options)


def test_arrays():
    source = opened(None, np.array([1, 2, 3]), [0.5, np.inf])
    everything = drain(source)
    assert (everything.names, everything.kinds) == (["score"], ["float"])
    assert everything.member == [True] * 3 + [False] * 2
    assert everything.scores == [[1.0, 2.0, 3.0, 0.5, np.inf]]
    assert source.member_column is None
    assert [item.rows for item in source.inputs()] == [3, 2]
    several = opened(None, np.ones((2, 2)), np.zeros((3, 2)))
    assert drain(several).names == ["score_0", "score_1"]
    assert check(pd.Series(MEMBERS), pl.Series(HOLDOUT)).design.score_columns == ("score",)


@pytest.mark.parametrize(
    "option", ["score_col", "member_col", "member_value", "where", "unit_col", "key_col"]
)
def test_arrays_have_no_columns(option):
    asked = {option: "a = 1" if option == "where" else "a"}
    assert option in refused("not_for_arrays", check, **asked).message


@pytest.mark.parametrize(
    ("code", "members", "holdout"),
    [
        *(("empty_class", [], [1.0]), ("empty_class", [1.0], []), ("bad_array", ["a"], [1.0])),
        ("bad_array", np.zeros((2, 2, 2)), [1.0]),
        ("bad_array", np.float64(1), [1.0]),
        ("bad_array", [[1.0, 2.0], [3.0]], HOLDOUT),
        ("bad_array", MEMBERS, [[1.0], [[2.0]]]),
        *(("columns_differ", np.zeros((3, n)), np.zeros((3, 3 - n))) for n in (1, 2)),
        ("nan_scores", [1.0, np.nan], [1.0]),
        ("large_integers", np.array([2**60, 1]), np.array([1, 2])),
        ("mixed_inputs", pd.DataFrame({"score": MEMBERS}), HOLDOUT),
    ],
)
def test_arrays_that_cannot_be_audited(code, members, holdout):
    refused(code, check, members, holdout)


GAPS = np.arange(MEMBERS.size) < 3


@pytest.mark.parametrize(
    "members", [np.where(GAPS, np.nan, MEMBERS), np.ma.masked_array(MEMBERS, mask=GAPS)]
)
def test_missing_scores_of_arrays_follow_the_policy(members):
    assert "in 3 rows" in refused("nan_scores", check, members).message
    for nan, size, finding in (("drop", 77, "nan_dropped"), ("category", 80, "nan_category")):
        report = check(members, nan=nan)
        assert report.design.n_members == size
        assert finding in codes(report)
    data = pd.DataFrame({"score": MEMBERS, "member": [True, False] * 40})
    refused("nan", check, members, nan="ignore")
    refused("nan", mipaudit.check, data, nan="ignore")


def test_a_masked_matrix_hides_values_column_by_column():
    members = np.ma.masked_array(np.c_[MEMBERS, MEMBERS], mask=False)
    members[4, 1] = np.ma.masked
    error = refused("nan_scores", check, members, np.c_[HOLDOUT, HOLDOUT])
    assert "'score_1' in 1 row, first in data row 5" in error.message


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_both_classes_are_paired_by_name(frame):
    members = frame({"loss": MEMBERS, "conf": -MEMBERS, "g": ["a", "b"] * 40})
    holdout = frame({"conf": -HOLDOUT, "loss": HOLDOUT, "g": ["a", "b"] * 45})
    report = check(members, holdout)
    assert report.design.score_columns == ("loss", "conf")
    assert (report.design.n_members, report.design.n_holdout) == (80, 90)
    half = check(members, holdout, where="g = a", score_col=["conf"])
    assert half.design.score_columns == ("conf",)
    assert (half.design.n_members, half.design.n_holdout) == (40, 45)
    assert mipaudit.estimate(members=members, holdout=holdout).design.n_members == 80


def test_frames_that_cannot_be_read():
    mixed = pd.DataFrame({"score": [1, "topsecret", 2.5], "member": [1, 0, 1]})
    for frame in (object(), [1, 2], mixed, pd.DataFrame({"score": []})):
        assert "topsecret" not in str(refused(None, opened, frame))


def test_pandas_index_is_no_score():
    frame = pd.DataFrame({"score": [0.5, 1.5], "member": [True, False]}, index=pd.Index([7.5, 8.5]))
    with opened(frame) as source:
        assert drain(source).names == ["score"]


def test_types_that_differ_between_arrays_are_found():
    assert "scores_rounded" in codes(check(MEMBERS.astype(np.float32)))
    assert "types_differ" in codes(check(np.arange(MEMBERS.size)))
    assert not {"scores_rounded", "types_differ"} & codes(check())


def test_one_string_is_one_name():
    assert CheckOptions(score_col="score").score_col == ("score",)
    assert CheckOptions(score_col=["a", "b"]).score_col == ("a", "b")
