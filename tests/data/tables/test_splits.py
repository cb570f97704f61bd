"""Released vectors over random splits, pairs of them, and points of an ROC: read, or refused."""

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
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.data.formats import csv_file
from mipaudit.data.tables.splits import _codes, read_pairs, read_roc_points, read_splits
from mipaudit.errors import MipauditError
from tests.fixtures.codes import refused

PRIVATE, HIDDEN = "topsecret", 987654.125
SECRETS = (PRIVATE, "987654", "anna", "bert", "p7", "p2", "elsewhere", "1.7", "--score-col")
VALUES = np.array([[1.5, -2.0, 0.1], [1e-300, 2.5, 3.0], [4.0, 5.0, -1e300]])
CELLS = VALUES.tolist()
ABC, C012 = ("a", "b", "c"), ("c0", "c1", "c2")
NAME = "na\x1b[2Jme"


def saved(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def as_csv(rows=CELLS, names=ABC, delimiter=","):
    return "".join(delimiter.join(map(str, row)) + "\n" for row in [names, *rows])


def objects(rows=CELLS, names=ABC):
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.fixture
def put(tmp_path, write):
    """Return a function that writes a table, an array, or a text that is CSV or JSON."""

    def saver(content, name=None):
        if isinstance(content, (dict, pa.Table)):
            table = content if isinstance(content, pa.Table) else pa.table(content)
            pq.write_table(table, tmp_path / "s.parquet", row_group_size=2)
            return str(tmp_path / "s.parquet")
        if isinstance(content, np.ndarray):
            content = saved(content)
        text = content.decode("latin-1") if isinstance(content, bytes) else content
        ending = "npy" if isinstance(content, bytes) else "csv"
        is_json = text.lstrip("\ufeff ")[:1] in {"[", "{"} and len(text) > 1
        return str(write(content, name or ("s.json" if is_json else f"s.{ending}")))

    return saver


BARE = as_csv().partition("\n")[2]
INDEXED = ",0,1,2\n" + "".join(f"{at},{line}\n" for at, line in enumerate(BARE.split()))
ROW_LABELS = ("split", "rep", "Seed", "run_id", "Unnamed: 0", "person id")
STATISTICS = "target,label_0,group_a,y,pred,class,body_mass_index,grid"
LISTS = [[0, 1], [1, 1], [1, 0], [0, 0], [1, 1]]
FIVE = [[at + 0.5, *row, at] for at, row in enumerate(LISTS)]
LIST_KINDS = [
    *(pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.float64(), 2)),
    *(pa.list_(pa.int16()), pa.list_(pa.uint8(), 2)),
]
TWO_LISTS = {"t": np.arange(8.0).reshape(2, 4).tolist(), "u": [[8.0], [9.0]], "x": [0.5, 1.5]}
SOME = ("t[0]", "t[2]", "u[0]", "x")
IDS_AND_TEXT = "id,a,b\n1,0.5,x\n2,1.5,y\n"
NUMBERS = {
    "d": pa.array([1, 2], pa.decimal128(5, 2)),
    "h": pa.array(np.array([0.5, 1.5], np.float16)),
    "u": pa.array([3, 4], pa.uint64()),
}
TURNED = [objects()[0], dict(reversed(objects()[1].items())), objects()[2]]
READ = [
    *(
        (before + BARE.replace(",", delimiter), {}, C012, (), VALUES)
        for before in ("", "\ufeff", "\n\r\n")
        for delimiter in ",;"
    ),
    (as_csv(names=("0", "1", "2")), {}, ("0", "1", "2"), (), VALUES),
    (INDEXED, {}, ("0", "1", "2"), ("unnamed:0",), VALUES),
    *(
        (np.array([[0, 1, 1], [1, 0, 1]], kind, order=order), {}, C012, (), [[0, 1, 1], [1, 0, 1]])
        for kind in ("f2", "f4", ">f8", "f8", "i1", "u8", "?", np.longdouble)
        for order in "CF"
    ),
    ("\ufeff " + json.dumps(VALUES.tolist()), {}, C012, (), VALUES),
    (json.dumps(TURNED), {"name": "s.json.gz"}, ABC, (), VALUES),
    (gzip.compress(json.dumps(TURNED).encode()), {"name": "s.json.gz"}, ABC, (), VALUES),
    ("a,b\ntrue,1.5\nfalse,2.5\n", {}, ("a", "b"), (), [[1, 1.5], [0, 2.5]]),
    ("[[true, 1.5], [false, 2.5]]", {}, ("c0", "c1"), (), [[1, 1.5], [0, 2.5]]),
    ({"a": [True, False], "b": [1.5, 2.5]}, {}, ("a", "b"), (), [[1, 1.5], [0, 2.5]]),
    *(
        (table, {}, ("x", "t[0]", "t[1]", "y"), (), FIVE)
        for kind in LIST_KINDS
        for table in [{"x": np.arange(5) + 0.5, "t": pa.array(LISTS, kind), "y": np.arange(5)}]
    ),
    ({"x": np.arange(5), "t": LISTS}, {"columns": ("t",)}, ("t[0]", "t[1]"), ("x",), LISTS),
    *(
        (TWO_LISTS, {"columns": names}, SOME, (), [[0, 2, 8, 0.5], [4, 6, 9, 1.5]])
        for names in (("u", "t[2]", "x", "t[0]"), SOME)
    ),
    (NUMBERS, {}, ("d", "h", "u"), (), [[1, 0.5, 3], [2, 1.5, 4]]),
    (
        as_csv([(1, 2, 3, "x", 0, 7, 0.5), (2, 2, 4, "y", 1, 8, 1.5)], (*ROW_LABELS, "a")),
        *({}, ("a",), ROW_LABELS, [[0.5], [1.5]]),
    ),
    (
        f"{STATISTICS}\n1,2,3,4,5,6,7.5,8\n2,2,4,5,6,7,8.25,9\n",
        *({}, tuple(STATISTICS.split(",")), ()),
        [[1, 2, 3, 4, 5, 6, 7.5, 8], [2, 2, 4, 5, 6, 7, 8.25, 9]],
    ),
    (IDS_AND_TEXT, {"columns": ("a", "id")}, ("id", "a"), ("b",), [[1, 0.5], [2, 1.5]]),
    (IDS_AND_TEXT, {"ignore": ("b",)}, ("a",), ("id", "b"), [[0.5], [1.5]]),
    *(
        (f"[[1, 0.5], [2, {cell}]]", {"columns": ("c0",)}, ("c0",), ("c1",), [[1], [2]])
        for cell in ("null", '"x"')
    ),
    *(
        ({"a": [0.5, 1.5], NAME: odd}, {"ignore": (NAME,)}, ("a",), (NAME,), [[0.5], [1.5]])
        for odd in (["x", "y"], [["a"], ["b"]])
    ),
    ("mean\n0.5\n1.5\n", {}, ("mean",), (), [[0.5], [1.5]]),
    ("0.5\n1.5\n", {}, ("c0",), (), [[0.5], [1.5]]),
]


@pytest.mark.parametrize(("content", "asked", "columns", "skipped", "values"), READ)
def test_what_is_read_of_every_format(put, content, asked, columns, skipped, values):
    asked = dict(asked)
    splits = read_splits(put(content, asked.pop("name", None)), **asked)
    assert (splits.columns, splits.skipped) == (columns, skipped)
    assert splits.named == (columns[0] != "c0")
    found = splits.values  # noqa: PD011
    np.testing.assert_array_equal(found, values)
    assert found.dtype == np.float64
    assert found.flags.writeable or not isinstance(content, np.ndarray)


def test_a_file_is_named_by_its_bytes_and_standard_input_as_such(write, monkeypatch):
    content = gzip.compress(as_csv(delimiter=";").encode())
    splits = read_splits(str(write(content, "packed.csv.gz")))
    assert (splits.columns, splits.named, splits.source.rows) == (ABC, True, 3)
    assert splits.source.sha256 == hashlib.sha256(content).hexdigest()
    for data in (as_csv().encode(), saved(VALUES), json.dumps(VALUES.tolist()).encode(), content):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        splits = read_splits("-")
        assert np.array_equal(splits.values, VALUES)
        assert splits.source.name == "standard input"


def test_splits_in_memory():
    for data in (VALUES, VALUES.tolist(), np.asfortranarray(VALUES), np.ma.array(VALUES)):
        splits = read_splits(data)
        assert np.array_equal(splits.values, VALUES)
        assert (splits.columns, splits.named) == (C012, False)
        assert (splits.source.rows, splits.source.bytes) == (3, None)
        assert not np.shares_memory(splits.values, data)
    columns = {"id": [1, 2, 3], "a": VALUES[:, 0], "b": VALUES[:, 1]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        splits = read_splits(frame)
        assert np.array_equal(splits.values, VALUES[:, :2])
        assert (splits.columns, splits.skipped, splits.named) == (("a", "b"), ("id",), True)
        assert read_splits(frame, columns=("b",)).columns == ("b",)


def test_columns_are_decoded_in_blocks(put, monkeypatch):
    values = np.random.default_rng(3).normal(size=(7, 11))
    monkeypatch.setattr("mipaudit.data.tables.table._BLOCK_CELLS", 4 * 7)
    splits = read_splits(put({f"w{at}": values[:, at] for at in range(11)}))
    assert splits.columns == tuple(f"w{at}" for at in range(11))
    assert np.array_equal(splits.values, values)


def test_line_longer_than_the_head_of_a_large_file(write, monkeypatch):
    monkeypatch.setattr(csv_file, "SMALL_TEXT", 2000)
    values = np.random.default_rng(1).normal(size=(5, 1000))
    for names in ([f"w{at}" for at in range(1000)], range(1000)):
        splits = read_splits(str(write(as_csv(values.tolist(), [*map(str, names)]))))
        assert splits.named
        assert np.array_equal(splits.values, values)


# --- what is no splits

SEVENTH = [[at + 0.5, at] for at in range(6)] + [[PRIVATE, 6]]
HOLES = np.where(np.arange(54).reshape(6, 9) // 9 > 4, np.nan, HIDDEN)
HOLES[2, 1], HOLES[5, :4], HOLES[0, 0] = np.nan, HIDDEN, np.inf
MANY = "column 'c1' in 1 row, first in data row 3; column 'c4' in 1 row"
FAR = np.full((6, 9), HIDDEN, dtype=np.longdouble)
FAR[3, 2] = np.longdouble("1e4000")
VECTORS = [[0.5, 1.5]] * 4
TWICE = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
BEYOND = (2**53 + 1, -(2**53) - 1, 2**63 - 1)
GAPS, INFINITIES = ("", "nan", "NA"), ("inf", "1e400", "-1e999")
TWO_GAPS = "a,b\n0.5,1\n1.5,{0}\n2.5,{0}\n".format
LAST = "a,b\n0.5,1\n1.5,2\n2.5,{}\n".format
IN_JSON = "[[1, 0.5], [2, 1.5], [3, {}]]".format
ODD_CELLS = [[{"x": 1}] * 2, [[[1.0]], [[2.0]]], [["a"], ["b"]], [b"a", b"b"]]
ODD_CELLS.append(pa.array([1, 2], pa.date32()))
MAGIC = b"\x93NUMPY"
THIRD = "column 'c1' in 1 row, first in data row 3"
THIRD_TEXT = "data row 3, column 'c1': not a number"
GREEK = as_csv(names=("alpha", "beta", "c"))
ARCHIVE = io.BytesIO()
np.savez(ARCHIVE, a=VALUES)


class Bomb:
    """What must never be unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


def header(text):
    return MAGIC + b"\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def shaped(shape, kind="<f8"):
    return header(f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}}}")


# Code, words of the message, contents; a function returns what is in memory.
REFUSED = [
    ("missing_cells", "column 'b' in 2 rows, first in data row 2", *map(TWO_GAPS, GAPS)),
    ("infinite_cells", "column 'b' in 1 row, first in data row 3", *map(LAST, INFINITIES)),
    ("missing_cells", THIRD, *map(IN_JSON, ("null", "NaN"))),
    ("infinite_cells", THIRD, *map(IN_JSON, ("-Infinity", "1e400"))),
    ("large_integers", THIRD, IN_JSON("-1" + "0" * 400)),
    ("unparsable", THIRD_TEXT, *map(IN_JSON, ('"987654.125"', "[1]", '{"a": 1}'))),
    ("unparsable", "data row 7, column 'c0': not a number", json.dumps(SEVENTH)),
    *(("missing_cells", said, HOLES) for said in (MANY, "; and 3 more.")),
    ("missing_cells", "column 'b' in 1 row, first in data row 2", {"b": [1, None, 3]}),
    ("infinite_cells", "column 'a' in 1 row, first in data row 2", {"a": [0.5, -math.inf, 1]}),
    ("missing_cells", "column 'a' in 2 rows", {"a": pa.array([None, None])}),
    ("missing_cells", "no list in data row 5", {"t": [*VECTORS, None]}),
    ("missing_cells", "'t[1]' in 1 row, first in data row 5", {"t": [*VECTORS, [1, None]]}),
    ("missing_cells", "", lambda: [[1, np.nan]], lambda: np.ma.array([[1]], mask=[[True]])),
    ("infinite_cells", "", lambda: [[1.0, np.inf]]),
    *([("infinite_cells", "data row 4", FAR)] if np.isfinite(FAR[3, 2]) else []),
    ("ragged_rows", "list in data row 4", {"t": [[0.5], [1.5], [2.5], [3.5, HIDDEN]]}),
    ("ragged_rows", "", "1.5,2\n1\n", "[[1, 2], [987654.125]]"),
    ("no_numeric_column", "", {"t": pa.array([[], []], pa.list_(pa.int8()))}, np.ones((3, 0))),
    ("no_numeric_column", "", "id,seed\n1,2\n3,4\n", "[[], []]", "[{}, {}]"),
    ("duplicate_columns", "", {"t": [[0.5], [1.5]], "t[0]": [1.0, 2.0]}, TWICE),
    ("duplicate_columns", "", '[{"a": 1, "a": 987654.125}]'),
    ("duplicate_columns", "columns 1 and 3", "a,b,a\n1,2,3\n"),
    *(
        (*large, f"a\n1\n{last}\n", np.array([[1], [last]]), json.dumps([{"a": 1}, {"a": last}]))
        for last in BEYOND
        for large in [("large_integers", "in 1 row, first in data row 2", {"a": [1, last]})]
    ),
    *(("large_integers", "", {"a": [[1, 2], [3, last]]}, lambda: [[2**53 + 1]]) for last in BEYOND),
    *(
        ("text_column", "column 'na\\x1b[2Jme' holds text", content)
        for content in (
            f"a,{NAME}\n0.5,{PRIVATE}\n1.5,x\n",
            json.dumps([{"a": 0.5, NAME: PRIVATE}] * 2),
            {"a": [0.5, 1.5], NAME: [PRIVATE, "x"]},
        )
    ),
    ("text_column", "", '[["topsecret"], ["x"]]', lambda: pa.table({"a": [PRIVATE]})),
    ("unreadable_column", "'odd'", *({"a": [0.5, 1.5], "odd": cells} for cells in ODD_CELLS)),
    ("unreadable_column", "", "[" * 500 + "1" + "]" * 500),
    ("no_rows", "", {"a": pa.array([], pa.float64())}, "a,b", "[]", np.ones((0, 3))),
    ("no_rows", "", lambda: np.ones((0, 2)), lambda: pa.table({"a": pa.array([], pa.float64())})),
    ("no_header", "", "0,5;1,5\n1,5;2,5\n", "0\n" * 3, "0,1\n" * 3),
    ("bad_json", "", "[[1, 2], [3", "[" * 200_000, '{"a":' * 200_000, '[{"\\ud800": 1}]'),
    ("bad_json", "", "[[1], [" + "9" * 5000 + "]]", IN_JSON(PRIVATE)),
    ("wrong_shape", "", "[1, 2, 3]", '{"a": [1, 2]}', '[[1, 2], {"a": 1}]', lambda: [1.0, 2.0]),
    ("wrong_shape", "", np.arange(5.0), np.array(5.0), np.ones((2, 2, 2))),
    ("columns_differ", "", '[{"a": 1}, {"topsecret": 2}]'),
    ("not_utf8", "", b'[{"\xff": 1}]'),
    # Arrays that are broken, hold something else, or would run a program.
    ("pickled", "", np.array([[Bomb()]], dtype=object)),
    ("pickled", "", np.array([(1, Bomb())], dtype=[("a", "f8"), ("b", "O")])),
    ("not_a_table", "", pickle.dumps([[1.5]])),
    ("bad_npy", "", saved(VALUES)[:-1], saved(VALUES)[:20], MAGIC, MAGIC + b"\x09\x00"),
    ("bad_npy", "", header("{'descr': '<f8', 'shape': (10**9,)}"), as_csv().encode()),
    ("bad_npy", "", *map(shaped, ((-1, 2), (999999999999, 9))), shaped((1, 1), "topsecret")),
    ("bad_npy", "", header("(" * 5000), header("__import__('os').abort()")),
    ("not_numbers", "", *map(np.array, ([[1j]], [[PRIVATE]]))),
    ("not_numbers", "", np.array([["2020-01-01"]], dtype="M8[D]")),
    ("not_numbers", "", np.array([(1, 2.0)], dtype=[("a", "i8"), ("b", "f8")])),
    ("bad_array", "", lambda: [[1.0], [2.0, HIDDEN]], lambda: [[PRIVATE], ["x"]]),
    ("bad_array", "", lambda: [[1j]], object),
    ("empty_file", "", b""),
    ("archive", "numpy.save", ARCHIVE.getvalue()),
]


def said_of(code, reader, data, **asked):
    """Return the error that some data must end in, which tells nothing of it."""
    error = refused(code, reader, data, **asked)
    shown = str(error).replace(str(data), "") if isinstance(data, str) else str(error)
    assert not [one for one in SECRETS if one in shown]
    return f"{error.message} {error.hint}"


@pytest.mark.parametrize(
    ("code", "said", "content"), [(*row[:2], one) for row in REFUSED for one in row[2:]]
)
def test_what_is_no_splits(put, code, said, content):
    data = content() if callable(content) else put(content)
    assert said in said_of(code, read_splits, data)


@pytest.mark.parametrize(
    ("code", "said", "content", "asked"),
    [
        ("unknown_column", "'beta'", GREEK, {"columns": ("betta",)}),
        ("unknown_column", "", GREEK, {"ignore": ("zzz",)}),
        ("two_roles", "also in --ignore", GREEK, {"columns": ("c",), "ignore": ("c",)}),
        ("unknown_column", "'t[4]'", TWO_LISTS, {"columns": ("t[4]", "x")}),
        ("unknown_column", "'x[0]'", TWO_LISTS, {"columns": ("x[0]",)}),
    ],
)
def test_columns_that_are_not_there(put, code, said, content, asked):
    assert said in said_of(code, read_splits, put(content), **asked)


def test_one_whole_file_that_stays_as_it_is(write, tmp_path, monkeypatch):
    for name in "ab":
        write(as_csv(), f"parts/{name}.csv")
    assert "not 2." in said_of("several_files", read_splits, str(tmp_path / "parts"))
    said_of("no_such_file", read_splits, str(tmp_path / "none.csv"))
    whole = pa.table({"t": np.random.default_rng(0).normal(size=(500, 4)).tolist()})
    pq.write_table(whole, tmp_path / "s.parquet", write_page_checksum=True)
    damaged = bytearray((tmp_path / "s.parquet").read_bytes())
    damaged[3000:3100] = bytes(100)
    said_of("bad_parquet", read_splits, str(write(bytes(damaged), "s.parquet")))
    monkeypatch.setattr("mipaudit.data.files.blob.FileBlob.changed", lambda _: True)
    said_of("input_changed", read_splits, str(write(as_csv())))


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
def test_damaged_bytes_end_in_numbers_or_one_error(write, put, tmp_path, kind):
    put({"a": [0.5, 1.5], "t": [[1.5], [2.5]]})
    contents = {
        "csv": as_csv().encode(),
        "csv.gz": gzip.compress(as_csv().encode()),
        "npy": saved(VALUES),
        "json": json.dumps(objects()).encode(),
        "parquet": (tmp_path / "s.parquet").read_bytes(),
    }
    refusals = 0
    for content in mutated(contents[kind], np.random.default_rng(7)):
        try:
            found = read_splits(str(write(content, f"splits.{kind}")))
        except MipauditError as error:
            assert error.__context__ is None or error.__suppress_context__  # noqa: PT017
            refusals += 1
        else:
            assert np.isfinite(found.values).all()
            assert found.columns
    assert refusals > 10


# --- pairs

NAMES = ("pair_id", "side", "record", "a", "b")
ROWS = [
    ("p7", "with", "anna", 0.5, 1),
    ("p2", "without", "bert", 1.5, 2),
    ("p2", "with", "bert", 2.5, 3),
    ("p9", "with", "anna", 3.5, 4),
    ("p7", "without", "anna", 4.5, 5),
    ("p9", "without", "anna", 5.5, 6),
]


def csv_of(rows=ROWS, names=NAMES):
    return as_csv(rows, names)


ODD_NAMES = ("Unnamed: 0", "Pair_ID", " SIDE", "Record", "a", "b")
PAIRS = [
    csv_of(),
    json.dumps(objects(ROWS, NAMES)),
    pa.Table.from_pylist(objects(ROWS, NAMES)),
    csv_of([(at, *row) for at, row in enumerate(ROWS)], ODD_NAMES),
]


@pytest.mark.parametrize("content", PAIRS)
def test_pairs_from_every_format(put, content):
    path = put(content)
    pairs = read_pairs(path)
    assert pairs.columns == ("a", "b")
    assert pairs.one.tolist() == [[0.5, 1], [2.5, 3], [3.5, 4]]
    assert pairs.other.tolist() == [[4.5, 5], [1.5, 2], [5.5, 6]]
    assert (pairs.records.tolist(), pairs.source.rows) == ([0, 1, 0], 6)
    named = read_pairs(path, columns=("b",))
    assert (named.columns, named.one.tolist()) == (("b",), [[1], [3], [4]])


@pytest.mark.parametrize("columns", [(), ("v[0]", "v[1]")])
def test_pairs_of_vectors_in_one_column(put, columns):
    rows = {"pair_id": [1, 1, 2, 2], "side": [True, False, False, True], "x": [1, 2, 3, 4]}
    path = put({**rows, "v": [[at, 0.5] for at in range(4)]})
    pairs = read_pairs(path, columns=columns, ignore=["x"][len(columns) :])
    assert pairs.columns == ("v[0]", "v[1]")
    assert (pairs.one[:, 0].tolist(), pairs.other[:, 0].tolist()) == ([0, 3], [1, 2])
    assert pairs.records is None


@pytest.mark.parametrize("form", [lambda *table: json.dumps(objects(*table)), as_csv])
def test_pairs_of_numbered_labels(put, monkeypatch, form):
    # Lines longer than what is read to find the columns of a large file.
    monkeypatch.setattr(csv_file, "SMALL_TEXT", 20)
    rows = [(1, 0, 0.5), (1, 1, 1.5), (2, 1, 2.5), (2, 0, 3.5)]
    pairs = read_pairs(put(form(rows, ("pair_id", "side", "a"))))
    assert (pairs.one.tolist(), pairs.other.tolist()) == ([[0.5], [3.5]], [[1.5], [2.5]])
    # Ids beyond the floats are told apart.
    rows = [(2**62 + at // 2, at % 2, 0, at, at) for at in range(4)]
    assert read_pairs(put(csv_of(rows))).one[:, 0].tolist() == [0, 2]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_codes_follow_first_appearance(labels):
    first = list(dict.fromkeys(labels))
    found = _codes(np.array(labels, dtype=np.uint64))
    assert found.tolist() == [first.index(label) for label in labels]


@given(st.permutations(range(len(ROWS))))
def test_any_order_of_rows_gives_the_same_pairs(tmp_path_factory, order):
    path = tmp_path_factory.mktemp("pairs") / "p.csv"
    path.write_text(csv_of([ROWS[at] for at in order]), encoding="utf-8")
    pairs = read_pairs(str(path))
    first = ROWS[order[0]][1]
    by_place = {row[3]: row for row in ROWS}
    seen = list(dict.fromkeys(ROWS[at][0] for at in order))
    for one, other, pair in zip(pairs.one[:, 0], pairs.other[:, 0], seen, strict=True):
        assert by_place[one][0] == by_place[other][0] == pair
        assert by_place[one][1] == first != by_place[other][1]


def sided(sides):
    return [(at // 2, ("with", "without", "elsewhere")[at % sides], 0, at, at) for at in range(6)]


def emptied(at):
    return [(*row[:at], "", *row[at + 1 :]) if n in (3, 4) else row for n, row in enumerate(ROWS)]


def renamed(name):
    return csv_of(names=[one.replace(name, "x") for one in NAMES])


TWICE_THERE = [*ROWS, ROWS[0], ("p8", "with", "anna", 1.0, 1)]
OTHER_RECORD = [*ROWS[:-1], ("p9", "without", "bert", 5.5, 6)]
INFINITE = [*ROWS[:2], ("p2", "with", "bert", "inf", 3), *ROWS[3:]]
NOTED = csv_of([(*row, "anna") for row in ROWS], (*NAMES, "note"))


@pytest.mark.parametrize(
    ("code", "said", "content"),
    [
        ("incomplete_pairs", "1 of 3 pairs", csv_of(ROWS[:-1])),
        ("incomplete_pairs", "2 of 4 pairs", csv_of(TWICE_THERE)),
        *(("many_sides", f"different labels, not {n}", csv_of(sided(n))) for n in (1, 3)),
        ("record_differs", "in 1 of 3 pairs", csv_of(OTHER_RECORD)),
        ("infinite_cells", "data row 3", csv_of(INFINITE)),
        ("text_column", "", NOTED),
        ("no_pair_columns", "", "[[1, 2, 3], [1, 3, 4]]"),
        *(("no_pair_columns", f"'{name}'", renamed(name)) for name in NAMES[:2]),
        *(
            ("missing_labels", f"'{NAMES[at]}' is empty in data row 4 (such rows: 2)", text)
            for at, text in enumerate(map(csv_of, map(emptied, range(3))))
        ),
        ("two_roles", "", csv_of()),
        *(
            ("unreadable_column", "", {"pair_id": odd, "side": [0, 1], "a": [0.5, 1.5]})
            for odd in ([[1], [1]], [{"x": 1}, {"x": 1}])
        ),
    ],
)
def test_what_is_no_pairs(put, code, said, content):
    asked = {"columns": ("pair_id", "a")} if code == "two_roles" else {}
    assert said in said_of(code, read_pairs, put(content), **asked)


# --- points of an ROC that a guarantee allows

FPR, TPR = [0.0, 0.1, 0.5, 1.0], [0.05, 0.4, 0.8, 1.0]
POINTS = [*zip(FPR, TPR, strict=True)]
CURVES = [("trade-off", 0.0, 7.5), *(("roc", *one) for one in POINTS), ("other", 3, 4)]


@pytest.mark.parametrize(
    "content",
    [
        as_csv(POINTS, ("fpr", "tpr")),
        as_csv(CURVES, ("curve", "x", "y")),
        json.dumps({"fpr": FPR, "tpr": TPR, "epsilon": [1]}),
        {"note": ["a"] * 4, "tpr": TPR, "fpr": FPR},
    ],
)
def test_every_form_holds_the_same_points(put, content):
    rates, source = read_roc_points(put(content))
    assert rates.T.tolist() == [FPR, TPR]
    assert (source.rows, len(source.sha256)) == (4, 64)


@pytest.mark.parametrize(
    ("code", "said", "text"),
    [
        ("no_curve", "", "a,b\n0.1,0.2\n"),
        ("no_curve", "", "curve,x,y\nother,0.1,0.2\n"),
        ("no_curve", "", '{"fpr": [0.1]}'),
        ("bad_curve", "", '{"fpr": [0.1, 0.2], "tpr": [0.3]}'),
        ("bad_curve", "point 2", "fpr,tpr\n0.1,0.2\n0.5,1.7\n"),
        ("bad_curve", "point 2", "fpr,tpr\n0.1,0.2\n0.5,0.4\n"),
        ("missing_cells", "", "fpr,tpr\n0.1,0.2\nnan,0.4\n"),
    ],
)
def test_what_is_no_roc_is_refused(put, code, said, text):
    assert said in said_of(code, read_roc_points, put(text))
