"""Vectors released with one record swapped for another."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.errors import MipauditError
from mipaudit.reading.csv import part as csv_part
from mipaudit.reading.sheets.pairs import _codes, read_pairs

ROWS = [
    ("p7", "with", "anna", 0.5, 1),
    ("p2", "without", "bert", 1.5, 2),
    ("p2", "with", "bert", 2.5, 3),
    ("p9", "with", "anna", 3.5, 4),
    ("p7", "without", "anna", 4.5, 5),
    ("p9", "without", "anna", 5.5, 6),
]
NAMES = ("pair_id", "side", "record", "a", "b")


def as_csv(rows=ROWS, names=NAMES):
    return "".join(",".join(map(str, row)) + "\n" for row in [names, *rows])


@pytest.fixture
def refused(write):
    """Return a function that reads pairs from a CSV text, and returns the error."""

    def reader(code, text, name="pairs.csv", **options):
        path = write(text, name)
        with pytest.raises(MipauditError) as caught:
            read_pairs(str(path), **options)
        error = caught.value
        assert error.code == code
        assert error.__context__ is None or error.__suppress_context__
        said = str(error).replace(str(path), "")
        for value in ("anna", "bert", "p7", "p2", "without", "elsewhere"):
            assert value not in said
        return error

    return reader


def check(pairs):
    assert pairs.columns == ("a", "b")
    assert pairs.one.tolist() == [[0.5, 1], [2.5, 3], [3.5, 4]]
    assert pairs.other.tolist() == [[4.5, 5], [1.5, 2], [5.5, 6]]
    assert pairs.records.tolist() == [0, 1, 0]
    assert pairs.source.rows == 6
    assert pairs.named


def test_pairs_from_every_format(write, tmp_path):
    check(read_pairs(str(write(as_csv()))))
    objects = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    check(read_pairs(str(write(json.dumps(objects), "p.json"))))
    table = pa.Table.from_pylist(objects)
    pq.write_table(table, tmp_path / "p.parquet", row_group_size=2)
    check(read_pairs(str(tmp_path / "p.parquet")))


def test_pairs_of_vectors_in_one_column(tmp_path):
    table = pa.table(
        {
            "pair_id": [1, 1, 2, 2],
            "side": [True, False, False, True],
            "v": [[at, 0.5] for at in range(4)],
        }
    )
    pq.write_table(table, tmp_path / "p.parquet", row_group_size=3)
    pairs = read_pairs(str(tmp_path / "p.parquet"))
    assert pairs.columns == ("v[0]", "v[1]")
    assert pairs.one[:, 0].tolist() == [0, 3]
    assert pairs.other[:, 0].tolist() == [1, 2]
    assert pairs.records is None


def test_pairs_take_the_columns_of_splits(tmp_path):
    rows = {"pair_id": [1, 1], "side": [0, 1], "v": [[0.5, 1.5], [2.5, 3.5]], "x": [1, 2]}
    pq.write_table(pa.table(rows), tmp_path / "p.parquet")
    pairs = read_pairs(str(tmp_path / "p.parquet"), columns=("v[0]", "v[1]"))
    assert pairs.columns == ("v[0]", "v[1]")
    assert pairs.one.tolist() == [[0.5, 1.5]]


@pytest.mark.parametrize("name", ["p.json", "p.csv"])
def test_pairs_of_numbered_labels(write, monkeypatch, name):
    # Lines longer than what is read to find the columns of a large file.
    monkeypatch.setattr(csv_part, "SMALL_TEXT", 20)
    names, rows = ("pair_id", "side", "a"), [(1, 0, 0.5), (1, 1, 1.5), (2, 1, 2.5), (2, 0, 3.5)]
    objects = json.dumps([dict(zip(names, row, strict=True)) for row in rows])
    pairs = read_pairs(str(write(as_csv(rows, names) if name == "p.csv" else objects, name)))
    assert pairs.one.tolist() == [[0.5], [3.5]]
    assert pairs.other.tolist() == [[1.5], [2.5]]


def test_names_in_another_case_and_skipped_columns(write):
    rows = [(at, *row) for at, row in enumerate(ROWS)]
    text = as_csv(rows, ("Unnamed: 0", "Pair_ID", " SIDE", "Record", "a", "b"))
    pairs = read_pairs(str(write(text)))
    check(pairs)
    assert pairs.skipped == ("Unnamed: 0",)


def test_coordinates_may_be_named(write):
    pairs = read_pairs(str(write(as_csv())), columns=("b",))
    assert pairs.columns == ("b",)
    assert pairs.skipped == ("a",)
    assert pairs.one.tolist() == [[1], [3], [4]]


def test_role_is_no_coordinate(refused):
    refused("two_roles", as_csv(), columns=("pair_id", "a"))


def test_incomplete_pairs_are_counted(refused):
    message = refused("incomplete_pairs", as_csv(ROWS[:-1])).message
    assert "1 of 3 pairs" in message
    twice = [*ROWS, ROWS[0], ("p8", "with", "anna", 1.0, 1)]
    assert "2 of 4 pairs" in refused("incomplete_pairs", as_csv(twice)).message


@pytest.mark.parametrize("sides", [1, 3])
def test_two_sides_are_expected(refused, sides):
    rows = [(at // 2, ("with", "without", "elsewhere")[at % sides], 0, at, at) for at in range(6)]
    message = refused("many_sides", as_csv(rows)).message
    assert f"{sides} different labels" in message


def test_rows_of_a_pair_name_one_record(refused):
    rows = [*ROWS[:-1], ("p9", "without", "bert", 5.5, 6)]
    assert "1 of 3 pairs" in refused("record_differs", as_csv(rows)).message


@pytest.mark.parametrize("at", [0, 1, 2])
def test_every_row_has_its_labels(refused, at):
    rows = [list(row) for row in ROWS]
    rows[3][at] = rows[4][at] = ""
    message = refused("missing_labels", as_csv(rows)).message
    assert f"column '{NAMES[at]}' is empty in 2 rows, first in data row 4" in message


@pytest.mark.parametrize("absent", ["pair_id", "side"])
def test_columns_that_pairs_need(refused, absent):
    names = [name.replace(absent, "x") for name in NAMES]
    assert f"'{absent}'" in refused("no_pair_columns", as_csv(names=names)).message


def test_unnamed_columns_make_no_pairs(refused):
    refused("no_pair_columns", "[[1, 2, 3], [1, 3, 4]]", "p.json")


def test_labels_that_cannot_be_compared(tmp_path):
    for odd in ([[1], [1]], [{"x": 1}, {"x": 1}]):
        table = pa.table({"pair_id": odd, "side": [0, 1], "a": [0.5, 1.5]})
        pq.write_table(table, tmp_path / "p.parquet")
        with pytest.raises(MipauditError) as caught:
            read_pairs(str(tmp_path / "p.parquet"))
        assert caught.value.code == "unreadable_column"


def test_bad_cell_in_a_pair(refused):
    rows = [*ROWS[:2], ("p2", "with", "bert", "inf", 3), *ROWS[3:]]
    assert "data row 3" in refused("infinite_cells", as_csv(rows)).message
    refused("text_column", as_csv([(*row, "anna") for row in ROWS], (*NAMES, "note")))


def test_pair_ids_beyond_the_floats_are_told_apart(write):
    rows = [(2**62 + at // 2, at % 2, 0, at, at) for at in range(4)]
    assert read_pairs(str(write(as_csv(rows)))).one[:, 0].tolist() == [0, 2]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_codes_follow_first_appearance(labels):
    first = list(dict.fromkeys(labels))
    found = _codes(np.array(labels, dtype=np.uint64))
    assert found.tolist() == [first.index(label) for label in labels]


@given(st.permutations(range(len(ROWS))))
def test_any_order_of_rows_gives_the_same_pairs(tmp_path_factory, order):
    path = tmp_path_factory.mktemp("pairs") / "p.csv"
    path.write_text(as_csv([ROWS[at] for at in order]), encoding="utf-8")
    pairs = read_pairs(str(path))
    first = ROWS[order[0]][1]
    by_place = {row[3]: row for row in ROWS}
    seen = list(dict.fromkeys(ROWS[at][0] for at in order))
    for one, other, pair in zip(pairs.one[:, 0], pairs.other[:, 0], seen, strict=True):
        assert by_place[one][0] == by_place[other][0] == pair
        assert by_place[one][1] == first != by_place[other][1]
