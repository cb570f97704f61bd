"""Released vectors: over random splits, or with one record swapped for another.

Vectors over random splits, from every format, and everything that is refused.

Vectors released with one record swapped for another.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.data.formats import csv_file
from mipaudit.data.tables.splits import _codes, read_pairs, read_roc_points, read_splits
from mipaudit.errors import InputError, MipauditError, UsageError

PRIVATE = "topsecret"
HIDDEN = 987654.125
VALUES = np.array([[1.5, -2.0, 0.1], [1e-300, 2.5, 3.0], [4.0, 5.0, -1e300]])
ROWS = [
    ("p7", "with", "anna", 0.5, 1),
    ("p2", "without", "bert", 1.5, 2),
    ("p2", "with", "bert", 2.5, 3),
    ("p9", "with", "anna", 3.5, 4),
    ("p7", "without", "anna", 4.5, 5),
    ("p9", "without", "anna", 5.5, 6),
]
NAMES = ("pair_id", "side", "record", "a", "b")


@pytest.fixture
def refused():
    """Return a function that reads splits, and returns the error that it must end in."""

    def reader(code, path, **options):
        with pytest.raises(MipauditError) as caught:
            read_splits(str(path), **options)
        error = caught.value
        assert error.code == code
        assert error.__cause__ is None
        assert error.__context__ is None or error.__suppress_context__
        said = str(error).replace(str(path), "")
        for value in (PRIVATE, "987654", "--score-col"):
            assert value not in said
        return error

    return reader


def saved(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def parquet(tmp_path, table, **options):
    path = tmp_path / "splits.parquet"
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), path, **options)
    return path


@pytest.fixture
def put(write, tmp_path):
    """Return a function that writes an array, a table, or a text that is CSV or JSON."""

    def saver(content):
        if isinstance(content, (dict, pa.Table)):
            return parquet(tmp_path, content, row_group_size=2)
        if isinstance(content, np.ndarray):
            return write(saved(content), "s.npy")
        is_json = content[:1] in ("[", "{", b"[") and len(content) > 1
        return write(content, "s.json" if is_json else "s.csv")

    return saver


def as_csv(delimiter=",", newline="\n", names=("a", "b", "c")):
    rows = [names, *([repr(x) for x in row] for row in VALUES.tolist())]
    return "".join(delimiter.join(row) + newline for row in rows)


def test_a_file_is_named_by_its_bytes(write):
    content = gzip.compress(as_csv(";").encode())
    splits = read_splits(str(write(content, "packed.csv.gz")))
    assert (splits.columns, splits.named, splits.source.rows) == (("a", "b", "c"), True, 3)
    assert np.array_equal(splits.values, VALUES)
    assert splits.source.sha256 == hashlib.sha256(content).hexdigest()


def test_standard_input(monkeypatch):
    for content in (as_csv().encode(), saved(VALUES), json.dumps(VALUES.tolist()).encode()):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        splits = read_splits("-")
        assert np.array_equal(splits.values, VALUES)
        assert splits.source.name == "standard input"


@pytest.mark.parametrize("before", ["", "\ufeff", "\n\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_numbers_without_a_header(write, before, delimiter):
    text = as_csv(delimiter).partition("\n")[2]
    splits = read_splits(str(write(before + text)))
    assert splits.columns == ("c0", "c1", "c2")
    assert not splits.named
    assert np.array_equal(splits.values, VALUES)


def test_header_that_counts_is_a_header(write):
    splits = read_splits(str(write(as_csv(names=("0", "1", "2")))))
    assert splits.columns == ("0", "1", "2")
    assert splits.named
    assert np.array_equal(splits.values, VALUES)
    indexed = "".join(f"{at},{line}\n" for at, line in enumerate(as_csv().split()[1:]))
    splits = read_splits(str(write(",0,1,2\n" + indexed)))
    assert splits.skipped == ("unnamed:0",)
    assert np.array_equal(splits.values, VALUES)


@pytest.mark.parametrize("first", ["0", "0,1"])
def test_short_header_that_counts_could_be_numbers(write, refused, first):
    refused("no_header", write(f"{first}\n" * 3))


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "f8", "i1", "u8", "?", np.longdouble])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_type(write, dtype, order):
    array = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype, order=order)
    splits = read_splits(str(write(saved(array), "splits.npy")))
    assert splits.values.tolist() == [[0, 1, 1], [1, 0, 1]]
    assert splits.values.dtype == np.float64
    assert splits.values.flags.writeable
    assert splits.columns == ("c0", "c1", "c2")
    assert not splits.named


def test_json_lists_and_objects(write):
    lists = read_splits(str(write("\ufeff " + json.dumps(VALUES.tolist()), "splits.json")))
    assert np.array_equal(lists.values, VALUES)
    assert not lists.named
    rows = [dict(zip("abc", row, strict=True)) for row in VALUES.tolist()]
    rows[1] = dict(reversed(rows[1].items()))
    objects = read_splits(str(write(json.dumps(rows), "splits.json.gz")))
    assert np.array_equal(objects.values, VALUES)
    assert objects.columns == ("a", "b", "c")
    assert objects.named
    packed = read_splits(str(write(gzip.compress(json.dumps(rows).encode()), "s.json.gz")))
    assert np.array_equal(packed.values, VALUES)


def test_booleans_are_numbers(write, tmp_path):
    for splits in (
        read_splits(str(write("a,b\ntrue,1.5\nfalse,2.5\n"))),
        read_splits(str(write("[[true, 1.5], [false, 2.5]]", "s.json"))),
        read_splits(str(parquet(tmp_path, {"a": [True, False], "b": [1.5, 2.5]}))),
    ):
        assert splits.values.tolist() == [[1.0, 1.5], [0.0, 2.5]]


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float32()),
        pa.large_list(pa.float64()),
        pa.list_(pa.float64(), 2),
        pa.list_(pa.int16()),
        pa.list_(pa.uint8(), 2),
    ],
)
def test_lists_in_parquet_are_vectors(tmp_path, kind):
    rows = [[0, 1], [1, 1], [1, 0], [0, 0], [1, 1]]
    x, y = np.arange(5) + 0.5, np.arange(5)
    table = pa.table({"x": x, "theta": pa.array(rows, kind), "y": y})
    path = parquet(tmp_path, table, row_group_size=2)
    splits = read_splits(str(path))
    assert splits.columns == ("x", "theta[0]", "theta[1]", "y")
    assert np.array_equal(splits.values, np.column_stack([x, rows, y]))
    assert read_splits(str(path), columns=("theta",)).columns == ("theta[0]", "theta[1]")


def test_numbers_of_lists_by_name(tmp_path, refused):
    rows = np.arange(8.0).reshape(2, 4)
    path = parquet(tmp_path, {"t": rows.tolist(), "u": [[8.0], [9.0]], "x": [0.5, 1.5]})
    named = ("u", "t[2]", "x", "t[0]")
    splits = read_splits(str(path), columns=named)
    assert splits.columns == ("t[0]", "t[2]", "u[0]", "x")
    assert splits.values.tolist() == [[0, 2, 8, 0.5], [4, 6, 9, 1.5]]
    assert read_splits(str(path), columns=splits.columns).columns == splits.columns
    assert "'t[4]'" in refused("unknown_column", path, columns=("t[4]", "x")).message
    assert "'x[0]'" in refused("unknown_column", path, columns=("x[0]",)).message


def test_columns_are_decoded_in_blocks(tmp_path, monkeypatch):
    values = np.random.default_rng(3).normal(size=(7, 11))
    table = pa.table({f"w{at}": values[:, at] for at in range(11)})
    monkeypatch.setattr("mipaudit.data.tables.table._BLOCK_CELLS", 4 * 7)
    splits = read_splits(str(parquet(tmp_path, table, row_group_size=3)))
    assert splits.columns == tuple(table.column_names)
    assert np.array_equal(splits.values, values)


def test_decimals_and_half_floats(tmp_path):
    table = pa.table(
        {
            "d": pa.array([1, 2], pa.decimal128(5, 2)),
            "h": pa.array(np.array([0.5, 1.5], np.float16)),
            "u": pa.array([3, 4], pa.uint64()),
        }
    )
    assert read_splits(str(parquet(tmp_path, table))).values.tolist() == [[1, 0.5, 3], [2, 1.5, 4]]


def test_row_labels_are_skipped_and_said(write):
    names = "split,rep,Seed,run_id,Unnamed: 0,person id,a"
    splits = read_splits(str(write(f"{names}\n1,2,3,x,0,7,0.5\n2,2,4,y,1,8,1.5\n")))
    assert splits.columns == ("a",)
    assert splits.skipped == ("split", "rep", "Seed", "run_id", "Unnamed: 0", "person id")
    assert splits.values.tolist() == [[0.5], [1.5]]


def test_statistics_are_not_taken_for_row_labels(write):
    names = "target,label_0,group_a,y,pred,class,body_mass_index,grid"
    splits = read_splits(str(write(f"{names}\n1,2,3,4,5,6,7.5,8\n2,2,4,5,6,7,8.25,9\n")))
    assert splits.columns == tuple(names.split(","))
    assert splits.skipped == ()


def test_named_columns_are_taken_whatever_they_are_called(write):
    path = str(write("id,a,b\n1,0.5,x\n2,1.5,y\n"))
    splits = read_splits(path, columns=("a", "id"))
    assert splits.columns == ("id", "a")
    assert splits.skipped == ("b",)
    assert read_splits(path, ignore=("b",)).columns == ("a",)


def test_column_that_is_not_there(write, refused):
    path = write(as_csv(names=("alpha", "beta", "c")))
    assert "'beta'" in refused("unknown_column", path, columns=("betta",)).hint
    refused("unknown_column", path, ignore=("zzz",))
    with pytest.raises(UsageError, match="another role"):
        read_splits(str(path), columns=("c",), ignore=("c",))


def test_line_longer_than_the_head_of_a_large_file(write, monkeypatch):
    monkeypatch.setattr(csv_file, "SMALL_TEXT", 2000)
    values = np.random.default_rng(1).normal(size=(5, 1000))
    rows = [",".join(map(repr, row)) for row in values.tolist()]
    for header in (",".join(f"w{at}" for at in range(1000)), ",".join(map(str, range(1000)))):
        splits = read_splits(str(write("\n".join([header, *rows]) + "\n")))
        assert splits.named
        assert np.array_equal(splits.values, values)


SEVENTH = [[at + 0.5, at] for at in range(6)] + [[PRIVATE, 6]]
HOLES = np.where(np.arange(54).reshape(6, 9) // 9 > 4, np.nan, HIDDEN)
HOLES[2, 1], HOLES[5, :4], HOLES[0, 0] = np.nan, HIDDEN, np.inf
MANY = "column 'c1' in 1 row, first in data row 3; column 'c4' in 1 row"
VECTORS = [[0.5, 1.5]] * 4
TWICE = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
NAME = "na\x1b[2Jme"
BEYOND = (2**53 + 1, -(2**53) - 1, 2**63 - 1)


def in_json(cell):
    return f"[[1, 0.5], [2, 1.5], [3, {cell}]]"


@pytest.mark.parametrize(
    ("code", "said", "content"),
    [
        *(
            ("missing_cells", "column 'b' in 2 rows, first in data row 2", text)
            for text in (f"a,b\n0.5,1\n1.5,{one}\n2.5,{one}\n" for one in ("", "nan", "NA"))
        ),
        *(
            ("infinite_cells", "column 'b' in 1 row, first in data row 3", text)
            for text in (f"a,b\n0.5,1\n1.5,2\n2.5,{one}\n" for one in ("inf", "1e400", "-1e999"))
        ),
        ("missing_cells", "column 'c1' in 1 row, first in data row 3", in_json("null")),
        ("missing_cells", "column 'c1' in 1 row, first in data row 3", in_json("NaN")),
        ("infinite_cells", "column 'c1' in 1 row, first in data row 3", in_json("-Infinity")),
        ("infinite_cells", "column 'c1' in 1 row, first in data row 3", in_json("1e400")),
        ("large_integers", "column 'c1' in 1 row, first in data row 3", in_json("-1" + "0" * 400)),
        ("unparsable", "data row 3, column 'c1': not a number", in_json('"987654.125"')),
        ("unparsable", "data row 3, column 'c1': not a number", in_json("[1]")),
        ("unparsable", "data row 3, column 'c1': not a number", in_json('{"a": 1}')),
        ("unparsable", "data row 7, column 'c0': not a number", json.dumps(SEVENTH)),
        ("missing_cells", MANY, HOLES),
        ("missing_cells", "; and 3 more columns.", HOLES),
        ("missing_cells", "column 'b' in 1 row, first in data row 2", {"b": [1, None, 3]}),
        ("infinite_cells", "column 'a' in 1 row, first in data row 2", {"a": [0.5, -math.inf, 1]}),
        ("missing_cells", "column 'a' in 2 rows", {"a": pa.array([None, None])}),
        ("missing_cells", "no list in data row 5", {"t": [*VECTORS, None]}),
        (
            "missing_cells",
            "column 't[1]' in 1 row, first in data row 5",
            {"t": [*VECTORS, [1, None]]},
        ),
        ("ragged_rows", "list in data row 4", {"t": [[0.5], [1.5], [2.5], [3.5, HIDDEN]]}),
        ("no_numeric_column", "", {"t": pa.array([[], []], pa.list_(pa.int8()))}),
        ("duplicate_columns", "", {"t": [[0.5], [1.5]], "t[0]": [1.0, 2.0]}),
        ("duplicate_columns", "columns 1 and 3", "a,b,a\n1,2,3\n"),
        ("duplicate_columns", "", '[{"a": 1, "a": 987654.125}]'),
        ("duplicate_columns", "", TWICE),
        *(
            ("large_integers", "in 1 row, first in data row 2", content)
            for last in BEYOND
            for content in (
                f"a\n1\n{last}\n",
                np.array([[1], [last]]),
                {"a": [1, last]},
                {"a": [[1, 2], [3, last]]},
                json.dumps([{"a": 1}, {"a": last}]),
            )
        ),
        *(
            ("text_column", "column 'na\\x1b[2Jme' holds text", content)
            for content in (
                f"a,{NAME}\n0.5,{PRIVATE}\n1.5,x\n",
                json.dumps([{"a": 0.5, NAME: PRIVATE}] * 2),
                {"a": [0.5, 1.5], NAME: [PRIVATE, "x"]},
            )
        ),
        *(
            ("unreadable_column", "'odd'", {"a": [0.5, 1.5], "odd": cells})
            for cells in (
                [{"x": 1}, {"x": 2}],
                [[[1.0]], [[2.0]]],
                [["a"], ["b"]],
                [b"a", b"b"],
                pa.array([1, 2], pa.date32()),
            )
        ),
        ("no_rows", "", {"a": pa.array([], pa.float64())}),
        ("no_rows", "", "a,b"),
        ("ragged_rows", "line 2", "1.5,2\n1\n"),
        ("no_header", "", "0,5;1,5\n1,5;2,5\n"),
        ("no_numeric_column", "", "id,seed\n1,2\n3,4\n"),
        ("bad_json", "", "[[1, 2], [3"),
        ("bad_json", "", f"[[1, 2], [3, {PRIVATE}]]"),
        ("bad_json", "", "[" * 200_000),
        ("bad_json", "", '{"a":' * 200_000),
        ("bad_json", "", "[[1], [" + "9" * 5000 + "]]"),
        ("bad_json", "", '[{"\\ud800": 1}]'),
        ("unreadable_column", "", "[" * 500 + "1" + "]" * 500),
        ("wrong_shape", "", "[1, 2, 3]"),
        ("wrong_shape", "", '{"a": [1, 2]}'),
        ("wrong_shape", "", '[[1, 2], {"a": 1}]'),
        ("no_rows", "", "[]"),
        ("no_numeric_column", "", "[[], []]"),
        ("no_numeric_column", "", "[{}, {}]"),
        ("ragged_rows", "", "[[1, 2], [987654.125]]"),
        ("columns_differ", "", '[{"a": 1}, {"topsecret": 2}]'),
        ("text_column", "", '[["topsecret"], ["x"]]'),
        ("not_utf8", "", b'[{"\xff": 1}]'),
    ],
)
def test_what_is_refused(put, refused, code, said, content):
    assert said in refused(code, put(content)).message


def test_what_is_refused_may_be_left_out(put):
    for content in (in_json("null"), in_json('"x"')):
        splits = read_splits(str(put(content)), columns=("c0",))
        assert splits.values.tolist() == [[1], [2], [3]]
    for odd in (["x", "y"], [["a"], ["b"]]):
        splits = read_splits(str(put({"a": [0.5, 1.5], NAME: odd})), ignore=(NAME,))
        assert (splits.columns, splits.skipped) == (("a",), (NAME,))


def test_long_doubles_beyond_the_floats(put, refused):
    array = np.full((6, 9), HIDDEN, dtype=np.longdouble)
    array[3, 2] = np.longdouble("1e4000")
    if np.isfinite(array[3, 2]):
        assert "data row 4" in refused("infinite_cells", put(array)).message


class Bomb:
    """What must never be unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


def header(text, version=(1, 0)):
    body = text.encode()
    size = len(body).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + bytes(version) + size + body


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("pickled", saved(np.array([[Bomb()]], dtype=object))),
        ("pickled", saved(np.array([(1, Bomb())], dtype=[("a", "f8"), ("b", "O")]))),
        ("not_a_table", pickle.dumps([[1.5]])),
        ("bad_npy", saved(VALUES)[:-1]),
        ("bad_npy", saved(VALUES)[:20]),
        ("bad_npy", b"\x93NUMPY"),
        ("bad_npy", b"\x93NUMPY\x09\x00"),
        ("bad_npy", header("{'descr': '<f8', 'shape': (10**9,)}")),
        ("bad_npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2)}")),
        ("bad_npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999, 9)}")),
        ("bad_npy", header("(" * 5000)),
        ("bad_npy", header("__import__('os').abort()")),
        ("bad_npy", header("{'descr': 'topsecret', 'fortran_order': False, 'shape': (1, 1)}")),
        ("bad_npy", as_csv().encode()),
        ("not_numbers", saved(np.array([[1j]]))),
        ("not_numbers", saved(np.array([[PRIVATE]]))),
        ("not_numbers", saved(np.array([(1, 2.0)], dtype=[("a", "i8"), ("b", "f8")]))),
        ("not_numbers", saved(np.array([["2020-01-01"]], dtype="M8[D]"))),
        ("wrong_shape", saved(np.arange(5.0))),
        ("wrong_shape", saved(np.float64(5.0))),
        ("wrong_shape", saved(np.ones((2, 2, 2)))),
        ("no_rows", saved(np.ones((0, 3)))),
        ("no_numeric_column", saved(np.ones((3, 0)))),
        ("empty_file", b""),
    ],
)
def test_broken_arrays(write, refused, code, content):
    refused(code, write(content, "splits.npy"))


def test_archive_of_arrays(write, refused):
    stream = io.BytesIO()
    np.savez(stream, a=VALUES)
    assert "numpy.save" in refused("archive", write(stream.getvalue(), "splits.npz")).hint


def test_damaged_lists(write, refused, tmp_path):
    table = pa.table({"t": np.random.default_rng(0).normal(size=(500, 4)).tolist()})
    whole = bytearray(parquet(tmp_path, table, write_page_checksum=True).read_bytes())
    whole[3000:3100] = bytes(100)
    refused("bad_parquet", write(bytes(whole), "s.parquet"))


def test_one_file_is_expected(write, refused, tmp_path):
    write(as_csv(), "parts/a.csv")
    write(as_csv(), "parts/b.csv")
    assert "2 files" in refused("several_files", tmp_path / "parts").message
    refused("no_such_file", tmp_path / "none.csv")


def test_file_that_changes_while_it_is_read(write, refused, monkeypatch):
    from mipaudit.data.files.blob import FileBlob

    monkeypatch.setattr(FileBlob, "changed", lambda _: True)
    refused("input_changed", write(as_csv()))


def test_one_column_is_a_vector_of_one(write):
    splits = read_splits(str(write("mean\n0.5\n1.5\n")))
    assert splits.columns == ("mean",)
    assert splits.values.shape == (2, 1)
    assert read_splits(str(write("0.5\n1.5\n"))).values.shape == (2, 1)


def test_splits_in_memory():
    import pandas as pd
    import polars as pl

    for data in (VALUES, VALUES.tolist(), np.asfortranarray(VALUES), np.ma.array(VALUES)):
        splits = read_splits(data)
        assert np.array_equal(splits.values, VALUES)
        assert splits.columns == ("c0", "c1", "c2")
        assert (splits.named, splits.source.rows, splits.source.bytes) == (False, 3, None)
        assert not np.shares_memory(splits.values, data)
    columns = {"id": [1, 2, 3], "a": VALUES[:, 0], "b": VALUES[:, 1]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        splits = read_splits(frame)
        assert np.array_equal(splits.values, VALUES[:, :2])
        assert (splits.columns, splits.skipped, splits.named) == (("a", "b"), ("id",), True)
        assert read_splits(frame, columns=("b",)).columns == ("b",)


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("bad_array", [[1.0], [2.0, HIDDEN]]),
        ("bad_array", [[PRIVATE], ["x"]]),
        ("bad_array", [[1j]]),
        ("bad_array", object()),
        ("wrong_shape", [1.0, 2.0]),
        ("no_rows", np.ones((0, 2))),
        ("missing_cells", [[1.0, np.nan]]),
        ("missing_cells", np.ma.array([[1, 2]], mask=[[False, True]])),
        ("infinite_cells", [[1.0, np.inf]]),
        ("large_integers", [[2**53 + 1]]),
        ("no_rows", pa.table({"a": pa.array([], pa.float64())})),
        ("text_column", pa.table({"a": [PRIVATE]})),
    ],
)
def test_what_is_no_splits_in_memory(code, data):
    with pytest.raises(InputError) as caught:
        read_splits(data)
    assert caught.value.code == code
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert PRIVATE not in str(caught.value)


def mutated(content, rng):
    """Yield copies of ``content`` with bytes changed, cut out or repeated."""
    for _ in range(60):
        data = bytearray(content)
        at, stop = np.sort(rng.integers(0, len(data) + 1, size=2))
        match rng.integers(3):
            case 0:
                for place in rng.integers(0, len(data), size=3):
                    data[place] = rng.integers(256)
            case 1:
                del data[at:stop]
            case _:
                data[at:at] = data[at:stop]
        yield bytes(data)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "npy", "json", "parquet"])
def test_damaged_bytes_end_in_numbers_or_one_error(write, tmp_path, kind):
    contents = {
        "csv": as_csv().encode(),
        "csv.gz": gzip.compress(as_csv().encode()),
        "npy": saved(VALUES),
        "json": json.dumps(
            [dict(zip("abc", row, strict=True)) for row in VALUES.tolist()]
        ).encode(),
        "parquet": parquet(tmp_path, {"a": [0.5, 1.5], "t": [[1.5], [2.5]]}).read_bytes(),
    }
    refusals = 0
    for content in mutated(contents[kind], np.random.default_rng(7)):
        path = write(content, f"splits.{kind}")
        try:
            found = read_splits(str(path))
        except MipauditError as error:
            assert error.__context__ is None or error.__suppress_context__  # noqa: PT017
            refusals += 1
        else:
            assert np.isfinite(found.values).all()
            assert found.columns
    assert refusals > 10


def as_csv_of_pairs(rows=ROWS, names=NAMES):
    return "".join(",".join(map(str, row)) + "\n" for row in [names, *rows])


def check(pairs):
    assert pairs.columns == ("a", "b")
    assert pairs.one.tolist() == [[0.5, 1], [2.5, 3], [3.5, 4]]
    assert pairs.other.tolist() == [[4.5, 5], [1.5, 2], [5.5, 6]]
    assert pairs.records.tolist() == [0, 1, 0]
    assert pairs.source.rows == 6


def test_pairs_from_every_format(write, tmp_path):
    check(read_pairs(str(write(as_csv_of_pairs()))))
    objects = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    check(read_pairs(str(write(json.dumps(objects), "p.json"))))
    table = pa.Table.from_pylist(objects)
    pq.write_table(table, tmp_path / "p.parquet", row_group_size=2)
    check(read_pairs(str(tmp_path / "p.parquet")))


@pytest.mark.parametrize("columns", [(), ("v[0]", "v[1]")])
def test_pairs_of_vectors_in_one_column(tmp_path, columns):
    rows = {"pair_id": [1, 1, 2, 2], "side": [True, False, False, True], "x": [1, 2, 3, 4]}
    table = pa.table({**rows, "v": [[at, 0.5] for at in range(4)]})
    pq.write_table(table, tmp_path / "p.parquet", row_group_size=3)
    pairs = read_pairs(str(tmp_path / "p.parquet"), columns=columns, ignore=["x"][len(columns) :])
    assert pairs.columns == ("v[0]", "v[1]")
    assert (pairs.one[:, 0].tolist(), pairs.other[:, 0].tolist()) == ([0, 3], [1, 2])
    assert pairs.records is None


@pytest.mark.parametrize("name", ["p.json", "p.csv"])
def test_pairs_of_numbered_labels(write, monkeypatch, name):
    # Lines longer than what is read to find the columns of a large file.
    monkeypatch.setattr(csv_file, "SMALL_TEXT", 20)
    names, rows = ("pair_id", "side", "a"), [(1, 0, 0.5), (1, 1, 1.5), (2, 1, 2.5), (2, 0, 3.5)]
    objects = json.dumps([dict(zip(names, row, strict=True)) for row in rows])
    pairs = read_pairs(
        str(write(as_csv_of_pairs(rows, names) if name == "p.csv" else objects, name))
    )
    assert pairs.one.tolist() == [[0.5], [3.5]]
    assert pairs.other.tolist() == [[1.5], [2.5]]


def test_names_in_another_case_and_skipped_columns(write):
    rows = [(at, *row) for at, row in enumerate(ROWS)]
    text = as_csv_of_pairs(rows, ("Unnamed: 0", "Pair_ID", " SIDE", "Record", "a", "b"))
    pairs = read_pairs(str(write(text)))
    check(pairs)


def test_coordinates_may_be_named(write):
    pairs = read_pairs(str(write(as_csv_of_pairs())), columns=("b",))
    assert pairs.columns == ("b",)
    assert pairs.one.tolist() == [[1], [3], [4]]


TWICE_THERE = [*ROWS, ROWS[0], ("p8", "with", "anna", 1.0, 1)]
OTHER_RECORD = [*ROWS[:-1], ("p9", "without", "bert", 5.5, 6)]
INFINITE = [*ROWS[:2], ("p2", "with", "bert", "inf", 3), *ROWS[3:]]


def sided(sides):
    return [(at // 2, ("with", "without", "elsewhere")[at % sides], 0, at, at) for at in range(6)]


def emptied(at):
    return [
        row if n not in (3, 4) else (*row[:at], "", *row[at + 1 :]) for n, row in enumerate(ROWS)
    ]


def renamed(name):
    return as_csv_of_pairs(names=[one.replace(name, "x") for one in NAMES])


@pytest.mark.parametrize(
    ("code", "said", "text"),
    [
        ("incomplete_pairs", "1 of 3 pairs", as_csv_of_pairs(ROWS[:-1])),
        ("incomplete_pairs", "2 of 4 pairs", as_csv_of_pairs(TWICE_THERE)),
        ("many_sides", "1 different labels", as_csv_of_pairs(sided(1))),
        ("many_sides", "3 different labels", as_csv_of_pairs(sided(3))),
        ("record_differs", "1 of 3 pairs", as_csv_of_pairs(OTHER_RECORD)),
        ("infinite_cells", "data row 3", as_csv_of_pairs(INFINITE)),
        ("text_column", "", as_csv_of_pairs([(*row, "anna") for row in ROWS], (*NAMES, "note"))),
        ("no_pair_columns", "", "[[1, 2, 3], [1, 3, 4]]"),
        *(("no_pair_columns", f"'{name}'", renamed(name)) for name in NAMES[:2]),
        *(
            (
                "missing_labels",
                f"column '{NAMES[at]}' is empty in 2 rows, first in data row 4",
                as_csv_of_pairs(emptied(at)),
            )
            for at in range(3)
        ),
        ("two_roles", "", as_csv_of_pairs()),
    ],
)
def test_what_is_no_pairs(write, code, said, text):
    path = write(text, "pairs.json" if text[0] == "[" else "pairs.csv")
    with pytest.raises(MipauditError) as caught:
        read_pairs(str(path), columns=("pair_id", "a") if code == "two_roles" else ())
    error = caught.value
    assert error.code == code
    assert said in error.message
    assert error.__context__ is None or error.__suppress_context__
    shown = str(error).replace(str(path), "")
    assert not any(one in shown for one in ("anna", "bert", "p7", "p2", "without", "elsewhere"))


def test_labels_that_cannot_be_compared(tmp_path):
    for odd in ([[1], [1]], [{"x": 1}, {"x": 1}]):
        table = pa.table({"pair_id": odd, "side": [0, 1], "a": [0.5, 1.5]})
        pq.write_table(table, tmp_path / "p.parquet")
        with pytest.raises(MipauditError) as caught:
            read_pairs(str(tmp_path / "p.parquet"))
        assert caught.value.code == "unreadable_column"


def test_pair_ids_beyond_the_floats_are_told_apart(write):
    rows = [(2**62 + at // 2, at % 2, 0, at, at) for at in range(4)]
    assert read_pairs(str(write(as_csv_of_pairs(rows)))).one[:, 0].tolist() == [0, 2]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_codes_follow_first_appearance(labels):
    first = list(dict.fromkeys(labels))
    found = _codes(np.array(labels, dtype=np.uint64))
    assert found.tolist() == [first.index(label) for label in labels]


@given(st.permutations(range(len(ROWS))))
def test_any_order_of_rows_gives_the_same_pairs(tmp_path_factory, order):
    path = tmp_path_factory.mktemp("pairs") / "p.csv"
    path.write_text(as_csv_of_pairs([ROWS[at] for at in order]), encoding="utf-8")
    pairs = read_pairs(str(path))
    first = ROWS[order[0]][1]
    by_place = {row[3]: row for row in ROWS}
    seen = list(dict.fromkeys(ROWS[at][0] for at in order))
    for one, other, pair in zip(pairs.one[:, 0], pairs.other[:, 0], seen, strict=True):
        assert by_place[one][0] == by_place[other][0] == pair
        assert by_place[one][1] == first != by_place[other][1]


# --- points of an ROC that a guarantee allows

FPR, TPR = [0.0, 0.1, 0.5, 1.0], [0.05, 0.4, 0.8, 1.0]


def write_csv(path):
    lines = [f"{x},{y}" for x, y in zip(FPR, TPR, strict=True)]
    path.write_text("\n".join(["fpr,tpr", *lines]) + "\n")


def write_curves(path):
    rows = [f"roc,{x},{y}" for x, y in zip(FPR, TPR, strict=True)]
    path.write_text("\n".join(["curve,x,y", "trade-off,0.0,7.5", *rows, "other,3,4"]) + "\n")


def write_json(path):
    path.write_text(json.dumps({"fpr": FPR, "tpr": TPR, "epsilon": [1]}))


def write_parquet(path):
    pq.write_table(pa.table({"note": ["a"] * 4, "tpr": TPR, "fpr": FPR}), path)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("c.csv", write_csv),
        ("c.csv", write_curves),
        ("c.json", write_json),
        ("c.parquet", write_parquet),
    ],
)
def test_every_form_holds_the_same_points(tmp_path, name, written):
    written(tmp_path / name)
    rates, source = read_roc_points(str(tmp_path / name))
    assert rates.T.tolist() == [FPR, TPR]
    assert (source.rows, len(source.sha256)) == (4, 64)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a,b\n0.1,0.2\n", "no_curve"),
        ("curve,x,y\nother,0.1,0.2\n", "no_curve"),
        ('{"fpr": [0.1]}', "no_curve"),
        ('{"fpr": [0.1, 0.2], "tpr": [0.3]}', "bad_curve"),
        ("fpr,tpr\n0.1,0.2\n0.5,1.7\n", "bad_curve"),
        ("fpr,tpr\n0.1,0.2\n0.5,0.4\n", "bad_curve"),
        ("fpr,tpr\n0.1,0.2\nnan,0.4\n", "missing_cells"),
    ],
)
def test_what_is_no_roc_is_refused(tmp_path, text, code):
    path = tmp_path / ("c.json" if text.startswith("{") else "c.csv")
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_roc_points(str(path))
    assert refused.value.code == code
    if "point" in str(refused.value) and code == "bad_curve" and not text.startswith("{"):
        assert "point 2" in str(refused.value)
        assert "1.7" not in str(refused.value)
