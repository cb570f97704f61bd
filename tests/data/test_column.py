"""Columns as arrays: hashes of identities, groups, and the store between the passes."""

from __future__ import annotations

import os
import stat
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.data.column import (
    ChunkStore,
    Column,
    Vocabulary,
    column_hashes,
    column_missing,
    column_scores,
    compact_column,
    mix64,
    words64,
)
from mipaudit.data.rows.units import MOST_GROUPS, GroupColumns
from mipaudit.data.source import column_values
from tests.fixtures.codes import refused
from tests.fixtures.files import opened


def labels(words, codes, kind=np.int64):
    return Column(values=np.array(codes, kind), vocabulary=Vocabulary(tuple(words)))


def numbers(values, kind=None, missing=None):
    return Column(values=np.array(values, kind), missing=missing)


GAP = np.array([False, True, False])


def columns():
    return {
        "x": numbers([0.5, -1.5, np.inf]),
        "n": numbers([1, 2, 300], missing=GAP),
        "b": numbers([True, False, True]),
        "w": labels("ba", [0, -1, 1], np.int8),
        "h": Column(values=np.array([1, 2, 2**64 - 1], dtype=np.uint64), hashed=True),
    }


@pytest.mark.parametrize("pread", [True, False])
@pytest.mark.parametrize("in_memory", [0, 30, 60, 1 << 20])
def test_what_is_stored_comes_back(in_memory, pread, monkeypatch):
    if not pread:  # as on Windows
        monkeypatch.delattr(os, "pread")
    store = ChunkStore(in_memory=in_memory)
    for _ in range(3):
        store.append(columns(), 3)
        store.get(0, ("x",))
    for at in range(3):
        for name, column in columns().items():
            found = store.get(at, (name,))[name]
            assert (found.words, found.hashed) == (column.words, column.hashed)
            np.testing.assert_array_equal(column_scores(found), column_scores(column))
            missing = (column_missing(found), column_missing(column))
            assert (missing[0] is None) == (missing[1] is None)
    assert (store._file is None) == (in_memory == 1 << 20)
    store.clear()


def test_temporary_file_is_unlinked_and_private():
    store = ChunkStore(in_memory=0)
    store.append({"x": numbers([])}, 0)
    assert store.rows == []
    store.append(columns(), 3)
    state = os.fstat(store._file.fileno())
    assert (state.st_nlink, stat.S_IMODE(state.st_mode)) == (0, 0o600)
    store.clear()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_compacting_changes_no_value(values):
    column = compact_column(numbers(values, np.int64))
    assert column.values.tolist() == values


def test_hashes_are_fixed_for_ever():
    # The first outputs of the reference implementation of splitmix with seed 0.
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        states = np.arange(3, dtype=np.uint64) * golden
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert mix64(states).tolist() == expected
    word = int.from_bytes(blake2b(b"caf\xc3\xa9", digest_size=8).digest(), "little")
    assert words64(("café", "")).tolist()[0] == word
    assert words64(()).size == 0


def test_equal_values_are_equal_whatever_their_type_or_vocabulary():
    types = (np.int8, np.int64, np.uint64, np.float32, np.float64, np.bool_)
    hashed = [column_hashes(numbers([0, 1], kind)) for kind in types]
    assert len({(*one.values.tolist(),) for one in hashed}) == 1
    halves = column_hashes(numbers([0.5, 1.5, 0.5]))
    first, second, third = halves.values.tolist()
    assert first == third != second
    one, other = labels("ab", [0, 1, -1]), labels("ba", [1, 0, -1])
    np.testing.assert_array_equal(column_scores(one), column_scores(other))
    assert np.isnan(column_scores(one)[2])
    assert column_values(labels("uv", [1, 0, -1])).tolist() == ["v", "u", None]
    assert column_values(numbers([3, 4])).tolist() == [3, 4]


# --- groups


def test_equal_values_make_equal_groups_whatever_their_codes():
    groups = GroupColumns(columns=("a", "b"))
    first = groups.hashes({"a": labels("FM", [0, 1, 0]), "b": numbers([1, 1, 2], np.int8)})
    second = groups.hashes({"a": labels("MF", [1, 0, 1]), "b": numbers([1.0, 1.0, 2.0])})
    assert first.tolist() == second.tolist()
    assert set(groups.found.values()) == {("F", "1"), ("M", "1"), ("F", "2")}
    one, other = groups.hashes({"a": labels("xy", [0, 1]), "b": labels("xy", [1, 0])})
    assert one != other


QUOTED = ['"x, b=y"', '"say ""x"""', '"""missing"""']


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (numbers([1234567.5, 1234568.25]), ["1234567.5", "1234568.25"]),
        (numbers([np.inf, -np.inf, 1e300]), ["inf", "-inf", "1e+300"]),
        (numbers([4.5, np.nan, 4.5]), ["4.5", "missing", "4.5"]),
        (numbers([3, 0, 3], missing=GAP), ["3", "missing", "3"]),
        (numbers([True, False, True], missing=GAP), ["true", "missing", "true"]),
        (labels(["missing", "x"], [0, -1, 1]), ['"missing"', "missing", "x"]),
        (labels(["x, b=y", 'say "x"', '"missing"'], [0, 1, 2]), QUOTED),
    ],
)
def test_unequal_values_have_unequal_words(column, wanted):
    groups = GroupColumns(columns=("a",))
    found = groups.hashes({"a": column})
    assert [word for (word,) in map(groups.found.get, found.tolist())] == wanted


def test_rows_left_out_make_no_group_and_measurements_are_none():
    groups = GroupColumns(columns=("a",))
    values = np.arange(MOST_GROUPS + 1)
    kept = np.array([3, 5, 9])
    every = GroupColumns(columns=("a",)).hashes({"a": numbers([1.5, 2.5, 4.5])})
    assert groups.hashes({"a": numbers(values * 0.5)}, kept).tolist() == every.tolist()
    assert set(groups.found.values()) == {("1.5",), ("2.5",), ("4.5",)}
    assert groups.hashes({"a": numbers(values * 0.5)}, kept[:0]).size == 0
    error = refused("too_many_groups", groups.hashes, {"a": numbers(values * 0.37)})
    assert "combinations" in error.message
    assert "0.37" not in str(error)


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_groups_and_names_travel_with_the_rows(form, tmp_path):
    n = 300
    table = pa.table(
        {
            "member": [i % 2 == 0 for i in range(n)],
            "score": [i / 7 if i % 5 else None for i in range(n)],
            "sex": [["F", "M", None][i % 3] for i in range(n)],
            "who": [f"p, {i}" for i in range(n)],
        }
    )
    if form == "csv":
        table.to_pandas().to_csv(tmp_path / "s.csv", index=False)
    if form == "parquet":
        pq.write_table(table, tmp_path / "s.parquet", row_group_size=70)
    place = table if form == "frame" else str(tmp_path / f"s.{form}")
    request = {"key_column": "who", "named": True, "group_columns": ("sex",), "nan": "drop"}
    with opened(place, **request, where="sex = F") as source:
        assert [column.name for column in source.columns] == ["score"]
        batches = list(source.partitions().rows())
        names = [name for rows in batches for name in rows.names.tolist()]
        assert names == [f"p, {i}" for i in range(n) if i % 5 and i % 3 == 0]
        groups = np.concatenate([rows.groups for rows in batches])
        assert np.unique(groups).size == 1
        assert source.choice.groups.found[int(groups[0])] == ("F",)
        head = batches[0].head(20)
        assert head.groups.size == head.names.size == head.member.size
