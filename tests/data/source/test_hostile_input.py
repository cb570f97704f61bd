"""Inputs that nobody meant to give: each must end in a true answer or one clear error."""

from __future__ import annotations

import datetime as dt
import io
import os
import re
import threading
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data.formats.parquet import RowGroup
from mipaudit.data.opening import ReadRequest, open_input
from mipaudit.errors import InputError, UsageError
from mipaudit.statements.printable_names import quoted_name

if TYPE_CHECKING:
    from pathlib import Path

    from mipaudit.data.column import Column

_LIMIT = 2**53
_DAY = dt.date(2020, 1, 1)
_OTHERS = {
    "date": pa.array([_DAY] * 4),
    "timestamp": pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * 4),
    "binary": pa.array([b"a", b"b", b"c", b"d"]),
    "fixed": pa.array([b"ab", b"cd", b"ef", b"gh"], pa.binary(2)),
    "list": pa.array([[1], [2], [], None]),
    "struct": pa.array([{"x": 1}] * 4),
}


def _table(**columns: object) -> pa.Table:
    plain = {"member": [1, 1, 0, 0], "score": [0.5, 1.5, 2.5, 3.5]}
    return pa.table({**plain, **columns})


def _save(table: pa.Table, path: Path) -> Path:
    pq.write_table(table, path)
    return path


@pytest.mark.parametrize("last", [_LIMIT + 1, -_LIMIT - 1, 2**63 - 1, -(2**63), 2**64 - 1])
def test_large_integers_in_csv_are_an_error_with_count_and_first_row(write, fails, last):
    text = f"member,score\n1,1\n0,{last if last < 2**63 else 2}\n0,{last}\n1,3\n"
    error = fails("large_integers", write(text))
    rows = "1 row, first in data row 3" if last >= 2**63 else "2 rows, first in data row 2"
    assert rows in error.message
    assert str(last) not in str(error)


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_large_integers_in_parquet_are_an_error(tmp_path, fails, kind):
    scores = pa.array([0, _LIMIT, None, _LIMIT + 1], kind)
    path = _save(_table(score=scores), tmp_path / "s.parquet")
    error = fails("large_integers", path, nan="drop")
    assert "column 'score' in 1 row, first in data row 4" in error.message


def test_integers_up_to_the_limit_are_exact_and_those_outside_the_filter_do_not_matter(write, read):
    everything = read(write(f"member,score\n1,{_LIMIT}\n0,{-_LIMIT}\n0,3\n"))
    assert everything.scores == [[float(_LIMIT), -float(_LIMIT), 3.0]]
    text = f"member,score,part\n1,1,a\n0,2,a\n0,{_LIMIT + 1},b\n"
    assert read(write(text), where="part = a").scores == [[1.0, 2.0]]


def test_large_integers_that_missing_cells_made_floats_are_an_error(write, fails, monkeypatch):
    from mipaudit.data.formats import csv_file

    monkeypatch.setattr(csv_file, "SMALL_TEXT", 1 << 10)
    monkeypatch.setattr(csv_file, "HEAD_BYTES", 1 << 9)
    rows = "".join(f"{at % 2},{at}\n" for at in range(1000))
    fails("large_integers", write(f"member,score\n{rows}0,\n1,{_LIMIT + 1}\n"), nan="drop")


@pytest.mark.parametrize("name", sorted(_OTHERS))
def test_other_types_are_passed_over_as_ids_and_an_error_in_a_role(tmp_path, read, fails, name):
    path = _save(_table(id=_OTHERS[name]), tmp_path / "s.parquet")
    assert read(path).scores == [[0.5, 1.5, 2.5, 3.5]]
    path = _save(_table(odd=_OTHERS[name]), tmp_path / "s.parquet")
    for role in ({"key_column": "odd"}, {"unit_column": "odd"}, {"where": "odd = 1"}):
        assert "'odd'" in fails("unreadable_column", path, **role).message
    fails("unreadable_column", path, member_column="odd")
    member = _save(_table(member=_OTHERS[name]), tmp_path / "m.parquet")
    assert "'member'" in fails("unreadable_column", member).message


def test_a_bug_of_ours_is_not_blamed_on_the_file(tmp_path, read, monkeypatch):
    path = _save(_table(), tmp_path / "s.parquet")
    pieces = open_input(str(path), None, None, ReadRequest()).partitions()
    assert isinstance(pieces[0].piece.chunks.__self__, RowGroup)

    def broken(*_: object) -> Column:
        raise ValueError("bug")

    monkeypatch.setattr("mipaudit.data.formats.cells.column_of", broken)
    with pytest.raises(ValueError, match="bug"):
        read(path)


def test_text_that_is_not_utf8_is_an_error(tmp_path, fails):
    bad = pa.array([b"\xff\xfe", b"a", b"b", b"c"]).view(pa.string())
    path = _save(_table(member=bad), tmp_path / "s.parquet")
    assert "'member'" in fails("unreadable_column", path).message


@pytest.fixture
def fifo(tmp_path):
    """Return a function that makes a named pipe and feeds it once."""
    feeders = []

    def maker(name: str, content: bytes) -> Path:
        path = tmp_path / name
        os.mkfifo(path)
        feeders.append(threading.Thread(target=path.write_bytes, args=(content,), daemon=True))
        feeders[-1].start()
        return path

    yield maker
    for feeder in feeders:
        feeder.join(timeout=5)
        assert not feeder.is_alive()


def test_pipes_are_read_once_and_whole(tmp_path, fifo, read, write):
    text = "member,score\n" + "".join(f"{at % 2},{at}\n" for at in range(3000))
    stored = _save(_table(), tmp_path / "s.parquet")
    for name, path in (("csv", write(text)), ("parquet", stored)):
        assert read(fifo(name, path.read_bytes())) == read(path)
    members, holdout = fifo("m", b"score\n1.5\n2.5\n"), fifo("h", b"score\n3.5\n")
    everything = read(members=str(members), holdout=str(holdout))
    assert everything.member == [True, True, False]
    assert everything.scores == [[1.5, 2.5, 3.5]]


@pytest.mark.parametrize("stream", [None, io.StringIO("member,score\n")])
def test_neither_a_device_nor_closed_standard_input_is_a_file(fails, monkeypatch, stream):
    fails("not_a_file", "/dev/zero")
    monkeypatch.setattr("sys.stdin", stream)
    fails("no_stdin", "-")


@pytest.mark.parametrize(
    "sides", [{"scores": ""}, {"members": "", "holdout": "h"}, {"members": ".", "holdout": ""}]
)
def test_an_empty_path_is_no_directory(tmp_path, monkeypatch, sides):
    (tmp_path / "a.csv").write_text("member,score\n1,1.5\n0,2.5\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        open_input(sides.get("scores"), sides.get("members"), sides.get("holdout"), ReadRequest())
    assert caught.value.code == "empty_path"


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_file_twice_in_one_side_is_an_error(write, fails, link):
    path = write("member,score\n1,1.5\n0,2.5\n", "parts/a.csv")
    link(path, path.with_name("b.csv"))
    assert re.search("a.csv.*b.csv|b.csv.*a.csv", fails("same_file", path.parent).message)
    fails("same_file", path.parent / "*.csv")
    other = write("member,score\n1,1.5\n0,2.5\n", "h.csv")
    fails("same_file", members=str(path.parent), holdout=str(other))


@pytest.mark.parametrize(
    ("members", "holdout", "found"),
    [
        (pa.float32(), pa.float64(), {"scores_rounded"}),
        (pa.float64(), pa.float16(), {"scores_rounded"}),
        (pa.int64(), pa.float32(), {"scores_rounded"}),
        (pa.int64(), pa.float64(), {"types_differ"}),
        (pa.float64(), pa.float64(), set()),
        (pa.float32(), pa.float32(), set()),
        (pa.int8(), pa.int64(), set()),
        (pa.null(), pa.float32(), set()),
    ],
)
def test_types_that_differ_between_the_classes_are_found(tmp_path, read, members, holdout, found):
    for name, kind in (("m", members), ("h", holdout)):
        values = [None, None, None] if pa.types.is_null(kind) else [1, 2, 3]
        if kind == pa.float16():
            values = np.array(values, dtype=np.float16)
        _save(pa.table({"score": pa.array(values, kind)}), tmp_path / f"{name}.parquet")
    everything = read(
        members=str(tmp_path / "m.parquet"), holdout=str(tmp_path / "h.parquet"), nan="category"
    )
    assert set(everything.findings) & {"scores_rounded", "types_differ"} == found


def test_a_part_without_rows_has_no_type(tmp_path, read):
    table = _table()
    (tmp_path / "d").mkdir()
    _save(table, tmp_path / "d" / "b.parquet")
    narrow = table.schema.set(1, pa.field("score", pa.float32()))
    _save(table.slice(0, 0).cast(narrow), tmp_path / "d" / "a.parquet")
    everything = read(tmp_path / "d")
    assert everything.scores == [[0.5, 1.5, 2.5, 3.5]]
    assert everything.findings == []


def test_a_page_that_does_not_match_its_checksum_is_an_error(tmp_path, read, fails):
    path = tmp_path / "s.parquet"
    scores = np.arange(4000.0)
    table = pa.table({"member": scores % 2 == 0, "score": scores})
    options = {"use_dictionary": False, "compression": "none", "write_page_checksum": True}
    pq.write_table(table, path, **options)
    assert len(read(path).member) == 4000
    data = bytearray(path.read_bytes())
    at = data.index(np.array([1234.0]).tobytes())
    data[at + 6] ^= 1
    path.write_bytes(bytes(data))
    fails("bad_parquet", path)


def test_quoted_names_keep_single_backslashes(write, fails):
    assert quoted_name("back\\slash") == "'back\\slash'"
    assert quoted_name("a\x1b[2J") == "'a\\x1b[2J'"
    error = fails("nan_scores", write("member,a\\b\n1,\n0,2.5\n"))
    assert "column 'a\\b' in 1 row" in error.message


def test_a_csv_file_with_a_header_alone_is_listed_and_has_no_rows(write, fails):
    write("member,score\n", "d/a.csv")
    write("member,score\n1,1.5\n0,2.5\n", "d/b.csv")
    folder = write("member,score\n", "d/c.csv").parent
    with open_input(str(folder), None, None, ReadRequest()) as source:
        assert source.rows_hint == 2
        assert sorted(file.rows for file in source.inputs()) == [0, 0, 2]
        source.opened.check_unchanged()
        write("member,score\n1,9.5\n", "d/c.csv")
        with pytest.raises(InputError, match="changed"):
            source.opened.check_unchanged()
    write("member,score\n", "d/b.csv")
    write("member,score\n", "d/c.csv")
    fails("no_rows", folder)


def test_a_line_of_text_that_is_named_as_parquet_is_no_part_without_rows(write, fails):
    write("member,score\n1,1.5\n0,2.5\n", "d/a.csv")
    folder = write("not found\n", "d/b.parquet").parent
    assert "named as Parquet" in fails("bad_parquet", folder).message
